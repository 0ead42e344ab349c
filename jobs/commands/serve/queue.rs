//! The order in which waiting requests are worked on.
//!
//! First come, first served, lets one client make all others wait: it needs only to send many large requests. So requests wait in
//! *flows*, one for each machine and size of a request, and the flows are served in turn, each with the same number of bytes of bodies
//! (self-clocked fair queueing, Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994). A request
//! gets a number when it comes: the number at which the one before it in its flow ends, or that of the request which was begun
//! last if that is more, and its own bytes. The least number comes first.
//!
//! ```text
//! one thread; A sends three requests of 1 MiB, then B one of 1 MiB, then A one of 1 KiB
//! numbers (MiB)   A 1   A 2   A 3   B 1   A 0.001
//! order           A 0.001, A 1, B 1, A 2, A 3
//! ```
//!
//! The small request waits for nothing but what is at work already. No flow starves: whatever comes later gets a greater number after
//! its flow has had as many bytes.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use axum::extract::Request;

const LEAST_BYTES: u64 = 1 << 10;

/// The machine from which a connection comes, if the system tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer(pub(super) Option<IpAddr>);

impl Peer {
    pub(super) fn of(request: &Request) -> Peer {
        request.extensions().get().copied().unwrap_or(Peer(None))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) peer: Peer,
    pub(super) bytes: usize,
}

/// Requests of one machine and about one size: each size is up to sixteen times the one before.
type Flow = (Peer, u32);

pub(super) struct Queue<T> {
    waiting: BTreeMap<(u64, u64), T>,
    /// The greatest number of each flow that is not served yet.
    ends: HashMap<Flow, u64>,
    /// The number of what was begun last.
    now: u64,
    /// How many have come; of equal numbers the first comes first.
    come: u64,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue { waiting: BTreeMap::new(), ends: HashMap::new(), now: 0, come: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn push(&mut self, Asked { peer, bytes }: Asked, item: T) {
        let bytes = (bytes as u64).max(LEAST_BYTES);
        let end = self.ends.entry((peer, bytes.ilog2() / 4)).or_default();
        *end = (*end).max(self.now) + bytes;
        self.waiting.insert((*end, self.come), item);
        self.come += 1;
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let ((number, _), item) = self.waiting.pop_first()?;
        self.now = number;
        // What is over says nothing about what comes.
        self.ends.retain(|_, end| *end > number);
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 1 << 20;

    fn asked(machine: u8, bytes: usize) -> Asked {
        Asked { peer: Peer(Some(IpAddr::from([10, 0, 0, machine]))), bytes }
    }

    fn drain(queue: &mut Queue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn many_large_requests_of_one_client_let_others_come_between() {
        let mut queue = Queue::new();
        for name in ["a1", "a2", "a3", "a4"] {
            queue.push(asked(1, LARGE), name);
        }
        assert_eq!(queue.pop(), Some("a1"));
        queue.push(asked(2, LARGE), "b1");
        queue.push(asked(1, 100), "small of a");
        queue.push(asked(3, 100), "small of c");
        let order = drain(&mut queue);
        assert_eq!(order, ["small of a", "small of c", "a2", "b1", "a3", "a4"]);
        assert_eq!((queue.len(), queue.ends.len()), (0, 0));
    }

    #[test]
    fn small_requests_without_end_do_not_starve_a_large_one() {
        let mut queue = Queue::new();
        queue.push(asked(1, LARGE), "large");
        for before in 0.. {
            queue.push(asked(2, 1 << 10), "small");
            if queue.pop() == Some("large") {
                assert!((1000..1100).contains(&before), "{before}");
                break;
            }
        }
    }

    #[test]
    fn equals_are_served_as_they_come() {
        let mut queue = Queue::new();
        for (machine, name) in [(1, "a1"), (2, "b1"), (1, "a2"), (3, "c1"), (2, "b2")] {
            queue.push(asked(machine, LARGE), name);
        }
        assert_eq!(drain(&mut queue), ["a1", "b1", "c1", "a2", "b2"]);
    }
}
