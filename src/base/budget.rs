//! The memory that a job may take, and the parts it is divided into.
//!
//! Every table and every sort of a job takes its share from one [`Budget`], so that the parts that exist at
//! the same time never add up to more than the whole. Some bytes for each page of a batch come on top;
//! `held_bytes` counts them.
//! Two tables that are written as Parquet hold a row group each, of 16 MiB at most: the bytes of a file may not depend on the
//! memory, so neither may a row group.
//!
//! ```text
//! reading   |  documents 1/4  |  rows 1/4  |  ahead 1/8  |  windows 1/4  |
//! joining   |  tables 3/8  |  itself 1/8  |  keys 1/8  |  reading 1/8  |  pairs 1/4  |
//! confirm   |  pairs 1/4  |  signatures 1/4  |  confirmed 1/8  |  finalize 1/16 each, 2 at once  |
//! finalize  |  ids 1/4  |  confirmed 1/8  |  finalize 1/16 each, 2 at once      |    while pairs are read
//!           |  ids 1/4  |  signatures 1/4  |  finalize 1/16 each, at most 7 at once        |    afterwards
//! passages  |  documents 1/4  |  passages 3/4, of which windows and those repeated 1/4 each    |    of a day without documents
//! clusters  |  clustering 1/4 each, at most 3 at once        |    and 4 to 12 bytes for each member
//! ```
//!
//! With the default of 2 GiB, a join plans tables of at most 768 MiB and holds pairs of up to 512 MiB before
//! it sorts them to disk:
//!
//! ```
//! use dupsieve_base::budget::Budget;
//!
//! let budget = Budget::default();
//! assert_eq!(budget.tables(), 768 << 20);
//! assert_eq!(budget.pairs(), 512 << 20);
//! assert!(budget.tables() + 2 * budget.itself() + budget.pairs() as u64 <= budget.whole());
//! ```

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    bytes: u64,
}

impl Default for Budget {
    /// 2 GiB.
    fn default() -> Budget {
        Budget::of(2 << 30)
    }
}

impl Budget {
    pub fn of(bytes: u64) -> Budget {
        Budget { bytes }
    }

    /// All of it, in bytes: for a job that has one large part only.
    pub fn whole(self) -> u64 {
        self.bytes
    }

    /// For the batch arranged for probing, with the scratch of all workers.
    pub fn tables(self) -> u64 {
        self.bytes / 8 * 3
    }

    /// For the batch arranged for itself, with the scratch of all workers; and as much for its anchors.
    pub fn itself(self) -> u64 {
        self.bytes / 8
    }

    /// For what all workers read of a store and have not probed yet.
    pub fn reading(self) -> u64 {
        self.bytes / 8
    }

    /// For unpacking a file: the window that it refers back to. What `zstd` and `xz` unpack without being asked fits in any case.
    pub fn windows(self) -> u64 {
        (self.bytes / 4).max(128 << 20)
    }

    /// For all sorts that find passages in what was made of documents, or in the pages of a day and a store.
    pub fn passages(self) -> usize {
        self.part(4).saturating_mul(3)
    }

    fn part(self, of: u64) -> usize {
        usize::try_from(self.bytes / of).unwrap_or(usize::MAX)
    }
}

macro_rules! parts {
    ($($(#[$about:meta])* $name:ident: 1 / $of:literal;)*) => {
        impl Budget { $($(#[$about])* pub fn $name(self) -> usize { self.part($of) })* }
    };
}

parts! {
    /// For the pairs that a join finds, which are sorted as they arrive.
    pairs: 1 / 4;
    /// For the pairs that are confirmed, which are sorted as they arrive.
    confirmed: 1 / 8;
    /// For each sort that turns pairs into verdicts.
    finalize: 1 / 16;
    /// For the ids of the batch, which are sorted and listed.
    ids: 1 / 4;
    /// For the signatures of the batch, which confirm pairs.
    signatures: 1 / 4;
    /// For what is made of documents, which is sorted as it arrives.
    documents: 1 / 4;
    /// For what is on its way from object stores to those who read pages.
    ahead: 1 / 8;
    /// For the rows of a segment, which are sorted while the documents are read back.
    rows: 1 / 4;
    /// For each sort of a clustering.
    clustering: 1 / 4;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sorts beside the pairs: while they are confirmed and while the confirmed ones are read, those within the batch and those with the store.
    const BESIDE_PAIRS: u64 = 2;
    /// The sorts that exist after that: edges, unnamed rows and verdicts, held pages, rows, verdicts, and
    /// those being merged.
    const AFTER_PAIRS: u64 = 7;
    /// The sorts that exist while changes of clusters are found: pages that go, those that come, and both with their clusters.
    const CLUSTERING: u64 = 3;

    #[test]
    fn parts_that_exist_together_fit_into_the_whole() {
        for bytes in [0, 1, 7, 64 << 20, 2 << 30, u64::MAX] {
            let budget = Budget::of(bytes);
            let [pairs, finalize] = [budget.pairs(), budget.finalize()].map(|part| part as u64);
            let held = (budget.ids() + budget.signatures()) as u64;
            let [documents, rows] = [budget.documents(), budget.rows()].map(|part| part as u64);
            let together = [
                documents + rows + budget.ahead() as u64,
                budget.tables() + 2 * budget.itself() + budget.reading() + pairs,
                pairs + (budget.signatures() + budget.confirmed()) as u64 + BESIDE_PAIRS * finalize,
                (budget.ids() + budget.confirmed()) as u64 + BESIDE_PAIRS * finalize,
                held + AFTER_PAIRS * finalize,
                documents + budget.passages() as u64,
                CLUSTERING * budget.clustering() as u64,
            ];
            assert!(together.iter().all(|&parts| parts <= budget.whole()), "{bytes}: {together:?}");
        }
    }
}
