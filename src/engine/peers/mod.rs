//! The processes of one run: how they find each other, prove who they are, and keep in touch.
//!
//! Each process calls the others from a [hosts file](hosts), proves that it knows the [`Secret`], and shows
//! that it runs the same job ([`JobIdentity`]). Everything that two processes send afterwards is sealed:
//! nobody else can change it or read it. A process that is silent for too long counts as lost.
//!
//! This room knows sockets and clocks, and nothing of the engine: `flow` runs its dataflows over the
//! connections that are made here. It may import `error`, `progress`, `small_file` and `work_queues`. Start reading at
//! `mesh.rs`, which makes a connection to every other process; `acceptor.rs` is the side that is called,
//! `link.rs` one connection, and `seal.rs` its handshake.

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
