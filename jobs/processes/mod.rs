//! Where a command runs: the processes of a cluster, and who watches them.

pub(crate) mod child;
pub(crate) mod children;
pub(crate) mod cluster;
pub(crate) mod signals;
pub(crate) mod stall;
pub(crate) mod supervisor;
