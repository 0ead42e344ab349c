//! The processes of one run: how they find each other, prove who they are, and keep in touch.
//!
//! Each process calls the others from a [hosts file](hosts), proves that it knows the [`Secret`], and
//! shows that it runs the same job ([`JobIdentity`]). What passes between two processes afterwards is
//! sealed against change and against reading. A process that says nothing for too long counts as lost.
//!
//! This room knows sockets and clocks, and nothing of the engine: `flow` runs its dataflows over the
//! connections made here. Start reading at `mesh.rs`, which makes one connection to every other process.

mod acceptor;
mod callers;
pub mod hosts;
mod identity;
mod link;
mod mesh;
mod seal;
mod secret;
mod topology;
mod wait;
mod wire;

pub use identity::JobIdentity;
pub use secret::Secret;
pub use topology::{Patience, Peers, Topology};

pub(crate) use acceptor::Links;
pub(crate) use link::Link;
pub(crate) use mesh::Mesh;
