//! What the disk of a folder does: room, speed, and the things that keep an output all or nothing.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use dupsieve::error::Named;
use rustix::fs::{Advice, FlockOperation, fadvise, flock, fstatfs, statvfs};

use super::finding::{Finding, bytes};

/// What is written to measure a disk, in pieces of a mebibyte.
const PIECES: usize = 128;
/// Below this a disk is named slow: a spinning one writes twice as fast.
const SLOW: f64 = 60e6;
/// A day of ten million pages takes some GiB.
const LITTLE: u64 = 4 << 30;

/// Looks at the disk of `folder`, and writes and removes a file there.
pub(super) fn findings(folder: &Path) -> Vec<Finding> {
    let name = folder.named();
    let looked = look(folder, &name);
    looked.unwrap_or_else(|cause| {
        let advice = "make the folder, or let this user write there";
        vec![Finding::ok(format!("folder {name}"), cause).wrong_if(true, advice)]
    })
}

fn look(folder: &Path, name: &str) -> io::Result<Vec<Finding>> {
    let disk = statvfs(folder)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let mut file = tempfile::Builder::new().prefix(".unfinished-doctor-").tempfile_in(folder)?;
    let kind = kind_of(fstatfs(file.as_file())?.f_type as i64);
    let room = Finding::ok(format!("folder {name}"), format!("{kind}, {} free", bytes(free)))
        .poor_if(free < LITTLE, "a large day or its sorts may fill the disk");
    let (write, sync) = write(file.as_file_mut())?;
    let read = read(file.path())?;
    let speed = |rate: f64| format!("{}/s", bytes(rate as u64));
    let found = format!("writes {}, reads {}, a sync takes {sync:.1?}", speed(write), speed(read));
    let rates = Finding::ok(format!("speed of {name}"), found).poor_if(
        write.min(read) < SLOW,
        "a job waits for this disk: put the store and the outputs on a faster one",
    );
    Ok(vec![room, rates, locks(name, file.as_file()), renames(name, folder)])
}

/// Bytes written a second, and how long the last sync took.
fn write(file: &mut File) -> io::Result<(f64, Duration)> {
    let piece = vec![0x5a; 1 << 20];
    let start = Instant::now();
    for _ in 0..PIECES {
        file.write_all(&piece)?;
    }
    file.sync_all()?;
    let rate = (PIECES << 20) as f64 / start.elapsed().as_secs_f64();
    file.write_all(b"once more")?;
    let start = Instant::now();
    file.sync_all()?;
    Ok((rate, start.elapsed()))
}

/// Bytes read a second. The system is asked to forget what it has of the file.
fn read(path: &Path) -> io::Result<f64> {
    let file = File::open(path)?;
    let _ = fadvise(&file, 0, None, Advice::DontNeed);
    let start = Instant::now();
    let bytes = io::copy(&mut BufReader::with_capacity(1 << 20, file), &mut io::sink())?;
    Ok(bytes as f64 / start.elapsed().as_secs_f64())
}

fn locks(name: &str, file: &File) -> Finding {
    let locked = flock(file, FlockOperation::NonBlockingLockExclusive);
    let found = locked.map_or_else(|cause| cause.to_string(), |()| "work".to_owned());
    Finding::ok(format!("locks in {name}"), found).wrong_if(
        locked.is_err(),
        "a store and an output are locked while they are made: mount this file system with locks",
    )
}

/// Whether a file takes the place of another in one step, which is how everything is committed.
fn renames(name: &str, folder: &Path) -> Finding {
    let tried = || -> io::Result<()> {
        let scratch = tempfile::Builder::new().prefix(".unfinished-doctor-").tempdir_in(folder)?;
        let [new, old] = ["new", "old"].map(|name| scratch.path().join(name));
        fs::write(&old, "old")?;
        fs::write(&new, "new")?;
        fs::rename(&new, &old)?;
        File::open(scratch.path())?.sync_all()?;
        match fs::read_to_string(&old)?.as_str() {
            "new" => Ok(()),
            _ => Err(io::Error::other("the old file is still there")),
        }
    };
    let renamed = tried();
    let found = renamed.as_ref().map_or_else(io::Error::to_string, |()| "work".to_owned());
    Finding::ok(format!("renames in {name}"), found).wrong_if(
        renamed.is_err(),
        "nothing can be committed here: choose a folder on another file system",
    )
}

/// The name of a file system by its number in statfs(2).
fn kind_of(number: i64) -> &'static str {
    match number {
        0xef53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x2fc1_2fc1 => "zfs",
        0x0102_1994 => "tmpfs",
        0x6969 => "nfs",
        0x794c_7630 => "overlay",
        0x6573_5546 => "fuse",
        0xff53_4d42 | 0xfe53_4d42 => "smb",
        _ => "a file system",
    }
}
