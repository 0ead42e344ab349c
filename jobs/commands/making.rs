//! How a job makes its output. A job says what it makes; the order of the steps is here, once for all jobs:
//!
//! ```text
//!           process 0                                           the other processes
//! agree     lock the output; end here if the output exists      wait, then learn what the output is made of,
//!           or if this is a dry run                             and check that they see the same inputs
//!           show what it has made at addresses                  fetch what they lack of it
//! execute   compute, gather the results                         compute
//! conclude  write the output, put the output into its place     wait until the output is written
//! ```
//!
//! [`from_pages`] makes an output of documents. `dedup` makes one of a segment and a store, and takes [`begin`] and [`make`]; `cluster`
//! computes in process 0 alone, and takes only [`begin`].

use std::ops::ControlFlow;
use std::path::Path;

use dupsieve::error::Named;
use dupsieve::flow::{Processes, Role, Start};
use dupsieve::output::{self, Lock};
use dupsieve::report::{self, Parameters};
use dupsieve::results::ResultFormat;
use dupsieve::{Error, Kind, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::commands::reading;
use crate::commands::reading::Pages;
use crate::flags::GlobalFlags;
use crate::outcome::{Summary, failure, tally};
use crate::processes::machines;

/// An output that is made of documents: what it is, what decides it, and how it is made.
pub(crate) trait FromPages {
    /// The command, in the names of steps.
    const COMMAND: &'static str;
    /// What the output is, as an error says it.
    const WHAT: &'static str;
    const LOCK: fn(&Path) -> Result<Lock> = Lock::on_file;
    type Found;

    fn pages(&self) -> &Pages;

    /// What decides the output, but for the contents of the inputs.
    fn parameters(&self) -> Parameters;

    /// Whether what is at `output` is an output of this kind, damaged or not.
    fn is_ours(output: &Path) -> Result<bool>;

    /// What decided the output that is there, which is read whole.
    fn decided(output: &Path) -> Result<Parameters>;

    /// Fails if replacing the output would remove something else.
    fn check_replaceable(_: &Path) -> Result<()> {
        Ok(())
    }

    fn standing(&self) -> Result<Summary>;

    fn would_make(&self) -> Result<Summary> {
        let pages = self.pages();
        Ok(pages.would(format!("would make {}", pages.output.named())))
    }

    fn is_made(&self, overwrite: bool) -> Result<bool> {
        let output = &*self.pages().output;
        if !output.exists() && !output.is_symlink() {
            return Ok(false);
        }
        if !output.exists() || !Self::is_ours(output)? {
            return Err(output::foreign(output, Self::WHAT));
        }
        let is_made = match Self::decided(output) {
            Err(_) if overwrite => false,
            Err(damage) => {
                return Err(damage.help("make it again with --overwrite, or choose another output"));
            }
            Ok(_) if self.pages().has_stream() => match overwrite {
                true => false,
                false => return Err(reading::stream_again(output)),
            },
            Ok(made) => {
                let asked = self.pages().with_inputs(&self.parameters(), &made)?;
                if made != asked && !overwrite {
                    return Err(report::made_otherwise(output, &made, &asked));
                }
                made == asked
            }
        };
        if !is_made {
            Self::check_replaceable(output)?;
        }
        Ok(is_made)
    }

    fn read(&self, processes: &mut Processes, global: &GlobalFlags) -> Result<Self::Found>;

    fn write(&self, found: Self::Found, lock: Lock, global: &GlobalFlags) -> Result<Summary>;
}

/// Makes `output` of documents, which `find` finds for so many processes. Every process of the job calls this.
pub(crate) fn from_pages<J: FromPages>(
    processes: &mut Processes,
    output: &Path,
    global: &GlobalFlags,
    find: impl FnOnce(usize) -> Result<J>,
) -> Result<Summary> {
    reported(processes, output, global, |processes| {
        let job = find(processes.topology().processes)?;
        let existing = || {
            job.pages().announce();
            if !job.is_made(global.overwrite)? {
                return Ok(None);
            }
            reading::remove_stale(output, true, true);
            let standing = job.standing()?;
            job.pages().expect_few_bad(&standing)?;
            Ok(Some(standing))
        };
        let start = || {
            let lock = || job.pages().lock(J::LOCK);
            Ok(match begin(output, global, lock, existing, || job.would_make())? {
                ControlFlow::Break(done) => Start::done(done),
                ControlFlow::Continue(lock) => Start::make(job.pages().listing(), lock),
            })
        };
        make(processes, (J::COMMAND, output), start, |processes, listing, lock| {
            job.pages().listing().check(&listing)?;
            let found = job.read(processes, global)?;
            let step = format!("write {}", output.named());
            processes.conclude(&step, lock, |lock| job.write(found, lock, global))
        })
    })
}

/// Runs `job`. If the job fails in process 0, a report of the failure stands beside the output.
pub(crate) fn reported(
    processes: &mut Processes,
    output: &Path,
    global: &GlobalFlags,
    job: impl FnOnce(&mut Processes) -> Result<Summary>,
) -> Result<Summary> {
    let reports = processes.is_leader() && !global.dry_run;
    failure::reported_beside(output, reports, || job(processes))
}

/// All processes learn by `start` what process 0 decides, and `make` the output if there is one to make.
pub(crate) fn make<T: Serialize + DeserializeOwned, H>(
    processes: &mut Processes,
    (command, output): (&str, &Path),
    start: impl FnOnce() -> Result<Start<T, H, Summary>>,
    make: impl FnOnce(&mut Processes, T, Role<H>) -> Result<Role<Summary>>,
) -> Result<Summary> {
    let topology = *processes.topology();
    let start = || {
        Ok(match start()? {
            Start::Done(done) => Start::Done(done),
            Start::Make(task, held) => Start::Make((task, machines::shown(&topology)?), held),
        })
    };
    let made = match processes.agree(&format!("{command} {}", output.named()), start)? {
        Start::Done(done) => done,
        Start::Make((task, shown), held) => {
            machines::see(processes, &shown)?;
            make(processes, task, held)?
        }
    };
    Ok(made.leader().unwrap_or_default())
}

/// Process 0 locks the output, unless this is a dry run, and looks whether there is something to make: the lock, or the summary of a job
/// that has nothing to make. `existing` is that of the very output that is asked for, if it exists, and `would` what a dry run says.
pub(crate) fn begin(
    output: &Path,
    global: &GlobalFlags,
    lock: impl FnOnce() -> Result<Lock>,
    existing: impl FnOnce() -> Result<Option<Summary>>,
    would: impl FnOnce() -> Result<Summary>,
) -> Result<ControlFlow<Summary, Lock>> {
    let lock = (!global.dry_run).then(lock).transpose()?;
    if let Some(done) = existing()? {
        tracing::info!("{} is done already", output.named());
        lock.map_or(Ok(()), |lock| output::remove_leftovers(output, &lock))?;
        return Ok(ControlFlow::Break(done.already_done()));
    }
    let would = would()?;
    Ok(lock.map_or(ControlFlow::Break(would), ControlFlow::Continue))
}

/// The output replaces its folder as a whole, so no input may be in that folder. Nor may the output lie in an input.
pub(crate) fn check_apart<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let place = output::resolved(output);
    let mut inputs = inputs.into_iter().map(output::resolved);
    match inputs.find(|input| input.starts_with(&place) || place.starts_with(input)) {
        None => Ok(()),
        Some(input) => Err(Error::new(Kind::Usage, "the output and an input are in one place")
            .at(output)
            .found(input.named())
            .help("choose another --output")),
    }
}

pub(crate) fn say_verdicts(summary: Summary, output: &Path, format: ResultFormat) -> Summary {
    let [documents, kept, dropped, empty] =
        ["documents", "kept", "dropped", "empty"].map(|it| summary.counted(it));
    summary
        .say(tally(
            documents,
            "document(s)",
            &[(kept, "kept"), (dropped, "duplicate(s) dropped"), (empty, "empty")],
        ))
        .say(format!(
            "written to {}: verdicts.{format}, matches.{format}, keep.txt, drop.txt, report.json, report.html",
            output.named()
        ))
}
