//! The one error type of dupsieve, written for the person on call: what is wrong, where, what was
//! expected, what was found, and what to do about it.
//!
//! ```
//! use dupsieve_base::{Error, Kind};
//!
//! let error = Error::new(Kind::BadData, "the header line lacks a column")
//!     .at("pages.tsv")
//!     .line(1)
//!     .expected("text")
//!     .found("id, body")
//!     .help("name the column")
//!     .setting("text-field");
//! assert_eq!(
//!     error.to_string(),
//!     "pages.tsv:1: the header line lacks a column: expected text, found id, body; \
//!      name the column"
//! );
//! assert_eq!(error.facts(), ["pages.tsv:1", "expected: text", "found: id, body"]);
//! assert_eq!(error.remedy().settings, ["text-field"]);
//! assert_eq!(error.name(), "bad-data");
//! assert_eq!((error.kind().code(), error.kind().retryable()), (65, false));
//! ```

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use serde::{Deserialize, Serialize, Serializer};

use super::naming::name_of;

/// A result whose failure is an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of a failure. Each kind has one documented exit code, in parentheses below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Kind {
    /// The command line asks for something impossible, or a path cannot be one of this file
    /// system (2).
    Usage,
    /// Too many bad records, a damaged file of dupsieve, or too many matches (65).
    BadData,
    /// An input or a store does not exist (66).
    Missing,
    /// A peer never connected or was refused, or an address is in use (69).
    Unavailable,
    /// A bug in dupsieve (70).
    Internal,
    /// The output exists and was made from other inputs or parameters (73).
    Exists,
    /// Reading or writing failed, or the disk is full (74).
    Io,
    /// A peer was lost, another run holds the lock, the run was interrupted or made no progress for
    /// minutes, or memory or threads ran out (75).
    Temporary,
    /// Permissions or a limit of the system forbid to read or write (77).
    Permission,
    /// The configuration file is wrong (78).
    Config,
}

impl Kind {
    /// The exit code of the process. Orchestrators rely on it, so it never changes.
    pub fn code(self) -> u8 {
        self.code_and_name().0
    }

    /// The name of the kind: `missing`, for one.
    pub fn name(self) -> &'static str {
        self.code_and_name().1
    }

    fn code_and_name(self) -> (u8, &'static str) {
        match self {
            Kind::Usage => (2, "usage"),
            Kind::BadData => (65, "bad-data"),
            Kind::Missing => (66, "missing"),
            Kind::Unavailable => (69, "unavailable"),
            Kind::Internal => (70, "defect"),
            Kind::Exists => (73, "exists"),
            Kind::Io => (74, "io"),
            Kind::Temporary => (75, "temporary"),
            Kind::Permission => (77, "permission"),
            Kind::Config => (78, "config"),
        }
    }

    /// Whether running the same command again may succeed.
    pub fn retryable(self) -> bool {
        matches!(self, Kind::Unavailable | Kind::Io | Kind::Temporary | Kind::Internal)
    }
}

/// The kind of a failed system call, and what to do about it. A call that would fail again gets a kind that is not
/// [retryable](Kind::retryable).
fn judged(cause: &io::Error) -> (Kind, &'static str) {
    use Kind::*;
    use io::ErrorKind::*;
    match (cause.kind(), Errno::from_io_error(cause)) {
        (NotFound, _) => (Missing, "check the path; relative paths start at the working directory"),
        (PermissionDenied, _) => (Permission, "give this user access, or choose another place"),
        (ReadOnlyFilesystem, _) => {
            (Permission, "this file system is read-only; choose another place")
        }
        (NotADirectory, _) => (Usage, "a part of the path is a file, not a folder; check the path"),
        (AlreadyExists, _) => (Usage, "something else has this name; check the path"),
        (IsADirectory, _) => (Usage, "name a file here, not a folder"),
        (InvalidFilename, _) => {
            (Usage, "the name is too long for this file system; choose a shorter one")
        }
        (_, Some(Errno::LOOP)) => (Usage, "links on the path lead in a circle; check the path"),
        (Unsupported, _) | (_, Some(Errno::INVAL)) => {
            (Usage, "this file system cannot do that; choose another place")
        }
        // Limits of this process: a rerun would meet them again.
        (FileTooLarge, _) => (Permission, "raise the limit on the size of files (ulimit -f)"),
        (_, Some(Errno::MFILE)) => (Permission, "raise the limit on open files (ulimit -n)"),
        (StorageFull | QuotaExceeded, _) => (Io, "free some space and try again"),
        // Limits that other programs have used up.
        (OutOfMemory, _) => (Temporary, "free some memory, or allow the job less of it"),
        (_, Some(Errno::AGAIN)) => (
            Temporary,
            "too many processes or threads run here (ulimit -u); wait until there are fewer",
        ),
        (_, Some(Errno::NFILE)) => {
            (Temporary, "too many files are open on this machine; try again later")
        }
        // Text that is not UTF-8.
        (InvalidData, _) => (BadData, ""),
        _ => (Io, ""),
    }
}

fn told(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        _ => cause.to_string(),
    }
}

/// A failure: its kind, what happened, and where known the place and the remedy. Processes send it to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error(Box<Facts>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Facts {
    kind: Kind,
    name: Option<Cow<'static, str>>,
    what: String,
    #[serde(serialize_with = "as_shown")]
    path: Option<PathBuf>,
    place: Option<Place>,
    expected: Option<String>,
    found: Option<String>,
    help: Option<String>,
    remedy: Remedy,
    #[serde(skip)]
    cause: Option<Cause>,
}

/// A path need not be UTF-8.
fn as_shown<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// With what the advice of an error is followed. The library names settings and jobs; a program tells its user how to
/// give them. The program `dupsieve` names flags and commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Remedy {
    /// A job, such as `store index`, and what the job takes, if that is known: `store log crawl`. Without a job, the
    /// settings are those of the job that failed.
    pub job: Option<Cow<'static, str>>,
    /// The settings, such as `memory`. A value follows its name: `confirm exact`.
    pub settings: Vec<Cow<'static, str>>,
}

/// The failure of the system that led to an error. Two are equal if the same failed.
#[derive(Clone, Debug)]
struct Cause(Arc<io::Error>);

impl Cause {
    fn of(cause: &io::Error) -> Cause {
        let copy = match cause.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(cause.kind(), cause.to_string()),
        };
        Cause(Arc::new(copy))
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Cause) -> bool {
        let facts = |cause: &Cause| (cause.0.kind(), cause.0.raw_os_error());
        facts(self) == facts(other)
    }
}

impl Eq for Cause {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    Line(u64),
    Offset(u64),
}

impl Error {
    /// A failure of `kind`; `what` is a phrase such as "the block's checksum is wrong".
    pub fn new(kind: Kind, what: impl Into<String>) -> Error {
        Error(Box::new(Facts {
            kind,
            name: None,
            what: what.into(),
            path: None,
            place: None,
            expected: None,
            found: None,
            help: None,
            remedy: Remedy::default(),
            cause: None,
        }))
    }

    /// A failed read or write of `path`; kind and help follow from the cause.
    pub fn io(path: impl AsRef<Path>, cause: &io::Error) -> Error {
        // A reader of ours that failed says more.
        Error::within(cause)
            .cloned()
            .unwrap_or_else(|| Error::of_system(told(cause), cause).at(path))
    }

    /// The error of a reader of ours that a library handed on.
    pub fn within(cause: &io::Error) -> Option<&Error> {
        cause.get_ref()?.downcast_ref()
    }

    /// Something else that the system refused, such as a new thread; `what` names it.
    pub fn system(what: impl fmt::Display, cause: &io::Error) -> Error {
        Error::of_system(format!("{what}: {cause}"), cause)
    }

    fn of_system(what: String, cause: &io::Error) -> Error {
        let (kind, advice) = judged(cause);
        let mut error = Error::new(kind, what);
        error.0.cause = Some(Cause::of(cause));
        error.0.help = Some(advice.to_owned()).filter(|advice| !advice.is_empty());
        match cause.kind() {
            io::ErrorKind::OutOfMemory => error.setting("memory").called("out-of-memory"),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => error.called("disk-full"),
            _ => error,
        }
    }

    /// Names the file or folder.
    pub fn at(mut self, path: impl AsRef<Path>) -> Error {
        self.0.path = Some(name_of(path.as_ref()).into_owned());
        self
    }

    /// Names the line, counted from 1.
    pub fn line(mut self, line: u64) -> Error {
        self.0.place = Some(Place::Line(line));
        self
    }

    /// Names the offset in bytes, counted from 0.
    pub fn offset(mut self, offset: u64) -> Error {
        self.0.place = Some(Place::Offset(offset));
        self
    }

    /// What should have been there.
    pub fn expected(mut self, expected: impl fmt::Display) -> Error {
        self.0.expected = Some(expected.to_string());
        self
    }

    /// What was there.
    pub fn found(mut self, found: impl fmt::Display) -> Error {
        self.0.found = Some(found.to_string());
        self
    }

    /// What to do about it, in the terms of the library. Replaces earlier advice.
    pub fn help(mut self, help: impl fmt::Display) -> Error {
        self.0.help = Some(help.to_string());
        self.0.remedy = Remedy::default();
        self
    }

    /// Names the job with which the advice is followed.
    pub fn job(mut self, job: impl Into<Cow<'static, str>>) -> Error {
        self.0.remedy.job = Some(job.into());
        self
    }

    /// Names a setting with which the advice is followed.
    pub fn setting(mut self, setting: impl Into<Cow<'static, str>>) -> Error {
        self.0.remedy.settings.push(setting.into());
        self
    }

    /// Names several settings.
    pub fn settings(self, settings: impl IntoIterator<Item = &'static str>) -> Error {
        settings.into_iter().fold(self, Error::setting)
    }

    /// Gives the failure a name of its own, such as `store-locked`. The name never changes; the text may.
    pub fn called(mut self, name: &'static str) -> Error {
        self.0.name = Some(name.into());
        self
    }

    /// The name of the failure: its own, or that of its kind.
    pub fn name(&self) -> &str {
        self.0.name.as_deref().unwrap_or(self.0.kind.name())
    }

    /// Where it happened, what was expected and what was found, as far as known, each as a line.
    pub fn facts(&self) -> Vec<String> {
        let Facts { expected, found, .. } = &*self.0;
        let expected = expected.as_ref().map(|it| format!("expected: {it}"));
        let found = found.as_ref().map(|it| format!("found: {it}"));
        self.place().into_iter().chain(expected).chain(found).collect()
    }

    /// The file or folder, with the line or the offset.
    fn place(&self) -> Option<String> {
        let path = self.0.path.as_ref().map(|path| path.display());
        Some(match (path, self.0.place) {
            (Some(path), Some(Place::Line(line))) => format!("{path}:{line}"),
            (Some(path), Some(Place::Offset(at))) => format!("{path} at byte {at}"),
            (Some(path), None) => path.to_string(),
            (None, Some(Place::Line(line))) => format!("line {line}"),
            (None, Some(Place::Offset(at))) => format!("at byte {at}"),
            (None, None) => return None,
        })
    }

    /// The kind of failure.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What happened, without the place and the remedy.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// With what the advice is followed.
    pub fn remedy(&self) -> &Remedy {
        &self.0.remedy
    }
}

impl fmt::Display for Error {
    /// `path:line: what: expected E, found F (help)`, each part where it is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { what, expected, found, help, .. } = &*self.0;
        if let Some(place) = self.place() {
            write!(f, "{place}: ")?;
        }
        f.write_str(what)?;
        match (expected, found) {
            (Some(expected), Some(found)) => write!(f, ": expected {expected}, found {found}")?,
            (Some(expected), None) => write!(f, ": expected {expected}")?,
            (None, Some(found)) => write!(f, ": found {found}")?,
            (None, None) => {}
        }
        if let Some(help) = help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    /// The [`io::Error`] of a failed read, write or call of the system. The text of the error says it too.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_ref().map(|Cause(cause)| &**cause as _)
    }
}

const EXCERPT_CHARACTERS: usize = 48;

/// Shows the beginning of a value from outside, quoted and escaped, so that a message stays one short
/// line whatever the value is.
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'a>(pub &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.escape_debug();
        let shown: String = rest.by_ref().take(EXCERPT_CHARACTERS).collect();
        let more = if rest.next().is_some() { "..." } else { "" };
        write!(f, "\"{shown}{more}\"")
    }
}

/// Adds the path to a failed read or write.
pub trait At<T> {
    /// Turns an I/O failure into an [`Error`] that names `path`.
    fn at(self, path: impl AsRef<Path>) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|cause| Error::io(path, &cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failure_of_the_system_is_the_source_of_an_error() {
        use std::error::Error as _;

        let number = Errno::NOSPC.raw_os_error();
        let error = Error::io("p", &io::Error::from_raw_os_error(number));
        let source = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        assert_eq!(source.and_then(io::Error::raw_os_error), Some(number));
        assert!(Error::new(Kind::Usage, "w").source().is_none());
        assert_ne!(error, Error::io("p", &Errno::DQUOT.into()));
    }

    #[test]
    fn what_fails_the_same_way_again_is_not_retryable() {
        let failed = |number: Errno| Error::io("p", &number.into());
        for (number, kind) in [
            (Errno::NOENT, Kind::Missing),
            (Errno::ACCESS, Kind::Permission),
            (Errno::PERM, Kind::Permission),
            (Errno::ROFS, Kind::Permission),
            (Errno::MFILE, Kind::Permission),
            (Errno::FBIG, Kind::Permission),
            (Errno::NAMETOOLONG, Kind::Usage),
            (Errno::LOOP, Kind::Usage),
            (Errno::NOTDIR, Kind::Usage),
            (Errno::ISDIR, Kind::Usage),
            (Errno::INVAL, Kind::Usage),
            (Errno::OPNOTSUPP, Kind::Usage),
        ] {
            let error = failed(number);
            assert_eq!((error.kind(), error.kind().retryable()), (kind, false), "{error}");
            assert!(error.to_string().contains("; "), "no advice: {error}");
        }
        for (number, kind) in [
            (Errno::NOSPC, Kind::Io),
            (Errno::DQUOT, Kind::Io),
            (Errno::IO, Kind::Io),
            (Errno::NFILE, Kind::Temporary),
            (Errno::NOMEM, Kind::Temporary),
            (Errno::AGAIN, Kind::Temporary),
        ] {
            let error = failed(number);
            assert_eq!((error.kind(), error.kind().retryable()), (kind, true), "{error}");
        }
    }
}
