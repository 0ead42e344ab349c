//! `dupsieve doctor`: what this machine, its disks, object stores and the other processes allow, what is wrong, and what to do.

mod finding;
mod folder;
mod machine;

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::mount;
use dupsieve::object_storage::Address;
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::{examples, places};
use crate::flags::{GlobalFlags, Memory, Processes, Workers, check_output, shared};
use crate::outcome::{Summary, answer};
use crate::processes::machines;
use finding::{Finding, State};

const EXAMPLES: &str = "
# Look at this machine and the folder you stand in
dupsieve doctor
# Look at the disks of the store and of the outputs
dupsieve doctor /data/store /data/out --memory 8GiB
# On each machine, see whether the processes of a hosts file meet
dupsieve doctor --hosts hosts.txt --process 0 --secret-file secret";

/// Show what this machine allows, what is wrong with it, and what to do
///
/// Looks at cores, memory, limits and the clock, and at the disk of each folder: its room and speed, and whether
/// locks and renames work there. Below an address an object is put, read and deleted. With --hosts, started on
/// every machine, it also meets the other processes as a job does. Ends with 78 if a job would fail.
#[derive(Args, Debug)]
#[command(args = shared(&[Workers, Memory, Processes]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Folders that jobs will write to, such as that of the store; 128 MiB are written there and removed. Or addresses
    /// (s3://BUCKET/...)
    #[arg(value_name = "DIR", default_value = ".")]
    folders: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let mut findings = machine::findings(global);
    findings.extend(arguments.folders.iter().flat_map(
        |place| match Address::of(place).transpose() {
            None => folder::findings(place),
            Some(address) => vec![of_address(place, address)],
        },
    ));
    if global.machines.hosts.is_some() {
        findings.push(peers(global));
    }
    let object = json!({ "findings": findings });
    let summary = answer::print(&object, include_str!("doctor.txt"), global.json)?;
    match findings.iter().find(|finding| finding.state == State::Wrong) {
        Some(Finding { what, found, advice, .. }) => {
            Err(Error::new(Kind::Config, format!("{what}: {found}")).help(advice))
        }
        None => Ok(summary),
    }
}

/// What an object store does with what jobs will write to an address.
fn of_address(typed: &Path, address: Result<Address>) -> Finding {
    let tried = address.and_then(|address| {
        check_output(&address)?;
        mount::try_out(&address)
    });
    let what = format!("address {}", places::shown_input(&typed.to_string_lossy()));
    let works = || "an object was put, read and deleted; a put keeps to its condition".to_owned();
    let found = tried.as_ref().map_or_else(Error::to_string, |()| works());
    Finding::ok(what, found).wrong_if(
        tried.is_err(),
        "no output and no store can be written there: mend what is said above",
    )
}

/// Whether all processes of the hosts file come together, know the secret and are of this version.
fn peers(global: &GlobalFlags) -> Finding {
    let met = machines::join(global, env!("CARGO_PKG_VERSION"))
        .and_then(|mut joined| joined.agree("meet the other processes", || Ok(())));
    let found = met.as_ref().map_or_else(Error::to_string, |()| "all met".to_owned());
    Finding::ok("other processes", found)
        .wrong_if(met.is_err(), "start `dupsieve doctor` with the same hosts file on every machine")
}
