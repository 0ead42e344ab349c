//! What this process asked object stores for: requests and bytes by their kind, as providers bill them.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

#[cfg(feature = "object-store")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    List,
    Head,
    Get,
    Put,
    Delete,
}

/// Requests and bytes by their kind. Each try is a request, also one that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Bill {
    pub list: Used,
    pub head: Used,
    pub get: Used,
    pub put: Used,
    pub delete: Used,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Used {
    pub requests: u64,
    pub bytes: u64,
}

/// Requests and bytes of each kind, in the order of `Request`. A process has one count, because the threads of its one
/// [runtime](super::connect) send the requests. Two users of the library at once see the sum.
static COUNTS: [[AtomicU64; 2]; 5] = [const { [const { AtomicU64::new(0) }; 2] }; 5];

#[cfg(feature = "object-store")]
pub(super) fn count(kind: Request, requests: u64, bytes: u64) {
    for (count, more) in COUNTS[kind as usize].iter().zip([requests, bytes]) {
        count.fetch_add(more, Ordering::Relaxed);
    }
}

impl Bill {
    pub fn so_far() -> Bill {
        Bill::of(COUNTS.each_ref().map(|count| {
            let [requests, bytes] = count.each_ref().map(|it| it.load(Ordering::Relaxed));
            Used { requests, bytes }
        }))
    }

    fn of([list, head, get, put, delete]: [Used; 5]) -> Bill {
        Bill { list, head, get, put, delete }
    }

    pub fn kinds(&self) -> [(&'static str, Used); 5] {
        let Bill { list, head, get, put, delete } = *self;
        [("list", list), ("head", head), ("get", get), ("put", put), ("delete", delete)]
    }

    pub fn is_empty(&self) -> bool {
        *self == Bill::default()
    }

    pub fn plus(self, other: Bill) -> Bill {
        self.with(other, u64::wrapping_add)
    }

    /// What came after `before`, which is part of this.
    pub fn since(self, before: Bill) -> Bill {
        self.with(before, u64::wrapping_sub)
    }

    fn with(self, other: Bill, of: fn(u64, u64) -> u64) -> Bill {
        let [own, others] = [self, other].map(|bill| bill.kinds().map(|(_, used)| used));
        Bill::of(std::array::from_fn(|at| Used {
            requests: of(own[at].requests, others[at].requests),
            bytes: of(own[at].bytes, others[at].bytes),
        }))
    }
}
