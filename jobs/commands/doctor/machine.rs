//! What the machine allows a job: cores and their instructions, memory, limits, and the clock.

use std::fs;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use dupsieve::hamming::multiversion::Instructions;
use rustix::process::{Resource, getrlimit};
use rustix::system::sysinfo;

use super::finding::{Finding, bytes};
use crate::flags::GlobalFlags;

/// The open files of a job with a store in tiers, its inputs and its sorts.
const FEW_FILES: u64 = 1024;
/// When this program was written, about: 1 January 2026. A clock before that is wrong.
const WRITTEN: u64 = 1_767_225_600;

pub(super) fn findings(global: &GlobalFlags) -> Vec<Finding> {
    vec![
        Finding::ok("program", program()),
        cores(global),
        instructions(),
        memory(global),
        address_space(global),
        open_files(),
        clock(),
    ]
}

fn program() -> String {
    let kind = if cfg!(debug_assertions) { ", built without optimisation" } else { "" };
    format!(
        "dupsieve {} for {}-{}{kind}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS
    )
}

fn cores(global: &GlobalFlags) -> Finding {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let workers = global.workers(1);
    let load = sysinfo().loads[0] as f64 / f64::from(1_u32 << 16);
    Finding::ok("cores", format!("{cores} for this process, {workers} workers, load {load:.1}"))
        .poor_if(
            workers > cores,
            format!("more workers than cores: give --workers {cores} or fewer"),
        )
        .poor_if(
            load > cores as f64,
            "other programs keep the cores busy: a job takes longer than it need",
        )
}

fn instructions() -> Finding {
    let widest = Instructions::widest();
    let name = match widest {
        Instructions::IceLake => "vectors of 512 bits",
        Instructions::Haswell => "vectors of 256 bits",
        Instructions::Any => "those of every processor of its kind",
    };
    Finding::ok("instructions", name).poor_if(
        widest == Instructions::Any && cfg!(target_arch = "x86_64"),
        "no AVX2: joins and sketches take several times as long",
    )
}

fn memory(global: &GlobalFlags) -> Finding {
    let budget = global.budget().whole();
    let machine = sysinfo();
    let whole = machine.totalram as u64 * u64::from(machine.mem_unit);
    let usable = available().unwrap_or(whole);
    let (usable, limit) = match control_group() {
        Some(limit) if limit < usable => (limit, ", the limit of its control group"),
        _ => (usable, ""),
    };
    let found = format!("{} usable{limit}, --memory is {}", bytes(usable), bytes(budget));
    let smaller = "a job would take more than there is: give a smaller --memory";
    let room = "ids and tables of a batch come on top of --memory, some 100 bytes a page: leave room for them";
    Finding::ok("memory", found)
        .wrong_if(budget > usable, smaller)
        .poor_if(budget > usable / 4 * 3, room)
}

/// What programs can take without others being sent to swap.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// What the control group of this process may still take, if it has a limit. Containers have one.
fn control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let read = |folder: &str, name: &str| {
        let text = fs::read_to_string(format!("/sys/fs/cgroup{folder}/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    // In a container its own group is the root.
    [path, ""].iter().find_map(|folder| {
        let most = read(folder, "memory.max")?;
        Some(most.saturating_sub(read(folder, "memory.current").unwrap_or(0)))
    })
}

fn address_space(global: &GlobalFlags) -> Finding {
    let limit = getrlimit(Resource::As).current;
    let found = limit.map_or("no limit".to_owned(), bytes);
    Finding::ok("address space", found).poor_if(
        limit.is_some_and(|limit| limit < 2 * global.budget().whole()),
        "`ulimit -v` is less than twice --memory: raise it, or give a smaller --memory",
    )
}

fn open_files() -> Finding {
    let limit = getrlimit(Resource::Nofile).current;
    let found = limit.map_or("no limit".to_owned(), |limit| limit.to_string());
    Finding::ok("open files", found).poor_if(
        limit.is_some_and(|limit| limit < FEW_FILES),
        format!(
            "a store of many segments opens them all: raise `ulimit -n` to {FEW_FILES} or more"
        ),
    )
}

fn clock() -> Finding {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs());
    let shown =
        i64::try_from(now).ok().and_then(|at| time::UtcDateTime::from_unix_timestamp(at).ok());
    let found = shown.map_or("out of range".to_owned(), |at| {
        format!("{} {:02}:{:02} UTC", at.date(), at.hour(), at.minute())
    });
    Finding::ok("clock", found).poor_if(
        now < WRITTEN,
        "the clock is behind: logs and the owners of locks will name a wrong time",
    )
}
