//! The ground of the program: what a command leaves when it ends. Its exit code and summary ([`exit`],
//! [`summary`]), the report of a failure ([`failure`]), and what it shows meanwhile: log lines ([`log`]) and progress ([`progress`]). [`identity`] is which job it is.
//!
//! May import: files of this room and the library. No flag and no command is known here: these files take
//! plain arguments, such as `quiet: bool`.
//!
//! Start with `exit::end`, through which every run of the program ends.

pub(crate) mod exit;
pub(crate) mod failure;
pub(crate) mod identity;
pub(crate) mod log;
pub(crate) mod progress;
pub(crate) mod summary;
