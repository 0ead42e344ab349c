//! Pages that are asked for as they are read: on all workers, answered in the order of the input, in bounded memory.
//!
//! ```text
//! reader -> records -> worker -+-> answers -> put in order -> stdout
//!    ^                 worker -+                  |
//!    +---------------- leave to read on <---------+
//! ```

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use dupsieve::Result;
use dupsieve::document::{
    self, FilesRead, Inputs, Quarantine, ReadOptions, Records, Share, Tolerance,
};
use dupsieve::error::At;
use dupsieve::output::{Lock, NewFile};

use super::answering::{Answered, Answerer, Answering};
use crate::commands::reading::too_many_bad;
use crate::outcome::terminal;

/// Portions of records for each worker that are read and not yet answered.
const AHEAD: usize = 4;

pub(super) struct Stream<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) options: &'a ReadOptions,
    pub(super) max_bad: Tolerance,
    pub(super) quarantine: Option<&'a Path>,
}

type Numbered = (u64, Result<Answered>);

impl Stream<'_> {
    pub(super) fn answer(&self, answering: &Answering<'_>, workers: usize) -> Result<()> {
        let (leave, has_leave) = bounded(AHEAD * workers);
        let (to_workers, records) = unbounded();
        let (to_printer, answers) = unbounded();
        let answerers = (0..workers)
            .map(|_| Answerer::new(*answering))
            .collect::<Result<Vec<Answerer<'_>>>>()?;
        let mut printer =
            Printer { next: 0, waiting: BTreeMap::new(), documents: 0, bad: Quarantine::default() };
        let read = thread::scope(|scope| {
            let reader = scope.spawn(move || self.read(&to_workers, &leave));
            for answerer in answerers {
                let (records, to_printer) = (records.clone(), to_printer.clone());
                scope.spawn(move || self.work(answerer, &records, &to_printer));
            }
            drop((records, to_printer));
            let printed = printer.print(&answers, has_leave);
            drop(answers);
            let read = reader.join().expect("reading does not panic");
            printed.and(read)
        })?;
        self.inputs.check_unchanged(&read.contents)?;
        self.conclude(&printer)
    }

    fn read(&self, to_workers: &Sender<Records>, leave: &Sender<()>) -> Result<FilesRead> {
        let progress = AtomicU64::new(0);
        document::read(self.inputs, &Share::whole(), self.options, &progress, &mut |records| {
            leave.send(()).is_ok() && to_workers.send(records).is_ok()
        })
    }

    fn work(
        &self,
        mut answerer: Answerer<'_>,
        records: &Receiver<Records>,
        to_printer: &Sender<Numbered>,
    ) {
        for records in records {
            let answered = answerer.answer(&records, &self.options.fields);
            if to_printer.send((records.sequence, answered)).is_err() {
                break;
            }
        }
    }

    fn conclude(&self, printer: &Printer) -> Result<()> {
        let bad = printer.bad.count();
        if bad == 0 {
            return Ok(());
        }
        let records = printer.documents + bad;
        let reasons = printer.bad.commonest(records);
        if let Some(path) = self.quarantine {
            let lock = Lock::on_file(path)?;
            let mut list = NewFile::beside(path)?;
            list.fenced(lock.fence());
            printer.bad.write(self.inputs, &mut list).at(path)?;
            list.publish()?;
        }
        if self.max_bad.exceeded(bad, records) {
            return Err(too_many_bad(bad, records, self.max_bad)
                .found(reasons)
                .help("--quarantine lists them; correct them or the flags, such as --id-field and --text-field, or raise --max-bad"));
        }
        tracing::warn!("{bad} records could not be read and have no answer: {reasons}");
        Ok(())
    }
}

struct Printer {
    next: u64,
    waiting: BTreeMap<u64, Answered>,
    documents: u64,
    bad: Quarantine,
}

impl Printer {
    /// Prints until all workers are done. Each printed portion gives leave to read another one.
    fn print(&mut self, answers: &Receiver<Numbered>, leave: Receiver<()>) -> Result<()> {
        let mut out = terminal::stdout();
        for (number, answered) in answers {
            self.waiting.insert(number, answered?);
            while let Some(answered) = self.waiting.remove(&self.next) {
                self.next += 1;
                self.documents += answered.documents;
                answered.bad.into_iter().for_each(|record| self.bad.push(record));
                out.write_all(&answered.lines).at("stdout")?;
                let _ = leave.try_recv();
            }
            out.flush().at("stdout")?;
        }
        Ok(())
    }
}
