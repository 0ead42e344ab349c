//! The processes in which a command runs, and who watches them.
//!
//! With `--processes N` the [`supervisor`] starts [`children`] and restarts them when an attempt fails; each
//! [`child`] meets the others through it. [`machines`] joins this process with the others, whether they are
//! children or lines of a hosts file ([`listen`]). [`signals`] and [`stall`] end a process that is interrupted or hangs.
//!
//! Start with `machines::join`, which every command that can be shared calls.

pub(crate) mod child;
pub(crate) mod children;
mod listen;
pub(crate) mod machines;
pub(crate) mod signals;
pub(crate) mod stall;
pub(crate) mod supervisor;
