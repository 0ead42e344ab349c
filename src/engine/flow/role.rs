//! What process 0 keeps to itself at a step that all processes take.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that process 0 has and the others do not: the lock on the output, or the result.
///
/// It may be a part of a decision, see [`Processes::agree`](crate::flow::Processes::agree). It is not sent: the
/// other processes receive [`Role::Follower`] in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<L> {
    /// Process 0, which decides and writes, with what only it has.
    Leader(L),
    Follower,
}

impl<L> Role<L> {
    pub fn leader(self) -> Option<L> {
        match self {
            Role::Leader(held) => Some(held),
            Role::Follower => None,
        }
    }
}

impl<L> Serialize for Role<L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de, L> Deserialize<'de> for Role<L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Role<L>, D::Error> {
        <()>::deserialize(deserializer).map(|()| Role::Follower)
    }
}

/// How a job starts, as process 0 decides. `D` is the answer of a job that has nothing to make. `T` is what
/// all processes learn of a job that has, and `H` is what process 0 holds until the output is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub enum Start<T, H, D> {
    /// There is nothing to make: the output exists, or this is a dry run.
    Done(Role<D>),
    Make(T, Role<H>),
}

impl<T, H, D> Start<T, H, D> {
    pub fn done(answer: D) -> Start<T, H, D> {
        Start::Done(Role::Leader(answer))
    }

    /// Tell all processes `told`, and hold `held` in process 0 until the output is written.
    pub fn make(told: T, held: H) -> Start<T, H, D> {
        Start::Make(told, Role::Leader(held))
    }
}
