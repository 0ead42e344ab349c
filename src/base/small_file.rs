//! Small files read whole: configurations, recipes, lists of hosts. The user gives the path, and it may
//! lead to a device without an end or to a pipe that nobody writes into. So the bytes and the time
//! are both limited.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use crate::error::{At, Error, Kind, Result};
use crate::parallel;

const PATIENCE: Duration = Duration::from_secs(30);

pub fn read(path: &Path, most: u64, kind: Kind) -> Result<Vec<u8>> {
    let whole = move |path: &Path| {
        let mut bytes = Vec::new();
        File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = in_time(path, PATIENCE, whole)?;
    within(bytes, most, kind).map_err(|error| error.at(path))
}

pub fn read_text(path: &Path, most: u64, kind: Kind) -> Result<String> {
    text(read(path, most, kind)?, most, kind).map_err(|error| error.at(path))
}

/// The bytes of a file as text; they are too many if they are more than `most`.
pub fn text(bytes: Vec<u8>, most: u64, kind: Kind) -> Result<String> {
    String::from_utf8(within(bytes, most, kind)?).map_err(|error| {
        let offset = error.utf8_error().valid_up_to() as u64;
        Error::new(kind, "the file is not UTF-8").offset(offset)
    })
}

fn within(bytes: Vec<u8>, most: u64, kind: Kind) -> Result<Vec<u8>> {
    if bytes.len() as u64 > most {
        return Err(Error::new(kind, "the file is too long")
            .expected(format_args!("at most {most} bytes"))
            .help("check the path"));
    }
    Ok(bytes)
}

/// Opens the file at `path`. A pipe must get a writer within half a minute.
pub fn open(path: &Path) -> Result<File> {
    in_time(path, PATIENCE, |path| File::open(path))
}

/// Calls `read`; for anything but a regular file on a thread of its own, which is abandoned after
/// `limit`.
fn in_time<T: Send + 'static>(
    path: &Path,
    limit: Duration,
    read: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T> {
    if fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return read(path).at(path);
    }
    let there = path.to_path_buf();
    match parallel::in_time("small file", limit, move || read(&there)).at(path)? {
        Some(read) => read.at(path),
        None => Err(Error::new(Kind::Temporary, "the file was not written in time")
            .at(path)
            .expected(format_args!("its end within {} s", limit.as_secs_f32()))
            .help("this is a pipe or a device: check that a program writes into it and closes it")),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5, Kind::Config).unwrap(), "12345");
        let error = read(&path, 4, Kind::Config).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.to_string().contains("at most 4 bytes"), "{error}");
        assert_eq!(read(&path.join("x"), 5, Kind::Config).unwrap_err().kind(), Kind::Usage);
        fs::write(&path, b"ab\xff").unwrap();
        let error = read_text(&path, 5, Kind::Config).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.to_string().contains("small at byte 2"), "{error}");
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&path, 5, Kind::Config).unwrap_err().kind(), Kind::Missing);
    }

    #[test]
    fn a_device_without_an_end_is_too_long() {
        let error = read(Path::new("/dev/zero"), 1 << 20, Kind::Config).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert_eq!(read(Path::new("/dev/null"), 1, Kind::Config).unwrap(), b"");
    }

    #[test]
    fn a_pipe_is_read_and_waited_for_no_longer_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        // Two pipes: the reader that was left alone at the first would take what is written there.
        let [alone, path] = ["alone", "pipe"].map(|name| folder.path().join(name));
        for pipe in [&alone, &path] {
            mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        let limit = Duration::from_millis(50);
        let error = in_time(&alone, limit, |path| File::open(path)).unwrap_err();
        assert_eq!(error.kind(), Kind::Temporary, "{error}");
        let writer = path.clone();
        let writer = thread::spawn(move || fs::write(writer, "through the pipe"));
        assert_eq!(read_text(&path, 100, Kind::Config).unwrap(), "through the pipe");
        writer.join().unwrap().unwrap();
    }
}
