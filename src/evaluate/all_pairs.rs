//! All pairs of documents with how alike they are, one byte for each pair.

use std::sync::Mutex;
use std::thread;

use super::Step;
use crate::progress::{self, Activity};

/// All pairs of some documents.
pub(super) struct AllPairs {
    /// The numbers of the documents, ascending.
    documents: Vec<u32>,
    /// How alike the first is to each that follows, then the second, and so on.
    steps: Vec<Step>,
}

/// How many pairs there are of this many documents.
pub(super) fn count(documents: u64) -> u64 {
    documents * documents.saturating_sub(1) / 2
}

impl AllPairs {
    /// Compares every two of `documents` on `workers` threads.
    pub(super) fn compare(
        documents: Vec<u32>,
        workers: usize,
        similarity: impl Fn(u32, u32) -> f64 + Sync,
    ) -> AllPairs {
        let mut steps = vec![Step::default(); count(documents.len() as u64) as usize];
        let rows = Mutex::new(rows(&documents, &mut steps));
        let take = || rows.lock().expect("no thread panics").next();
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some((one, others, row)) = take() {
                        for (step, &another) in row.iter_mut().zip(others) {
                            *step = Step::of(similarity(one, another));
                        }
                        progress::tick(Activity::Working);
                    }
                });
            }
        });
        drop(rows);
        AllPairs { documents, steps }
    }

    /// The pairs, the smaller number first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, Step)> + Clone {
        let pairs = (1..=self.documents.len()).flat_map(|end| {
            let one = self.documents[end - 1];
            self.documents[end..].iter().map(move |&another| (one, another))
        });
        pairs.zip(&self.steps).map(|((one, another), &step)| (one, another, step))
    }
}

/// Each document with those that follow it, and the steps of these pairs.
fn rows<'a>(
    documents: &'a [u32],
    mut steps: &'a mut [Step],
) -> impl Iterator<Item = (u32, &'a [u32], &'a mut [Step])> {
    documents.iter().enumerate().map(move |(at, &one)| {
        let others = &documents[at + 1..];
        let (row, rest) = std::mem::take(&mut steps).split_at_mut(others.len());
        steps = rest;
        (one, others, row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_comes_once_with_its_step() {
        let similarity = |one: u32, another: u32| f64::from((7 * one + another) % 11) / 10.0;
        for (count, workers) in [(0, 1), (1, 2), (2, 3), (9, 1), (40, 4)] {
            let documents: Vec<u32> = (0..count).map(|at| 3 * at).collect();
            let before = progress::own_ticks();
            let found = AllPairs::compare(documents.clone(), workers, similarity);
            assert!(count == 0 || progress::own_ticks() > before);
            let mut expected = Vec::new();
            for (at, &one) in documents.iter().enumerate() {
                for &another in &documents[at + 1..] {
                    expected.push((one, another, Step::of(similarity(one, another))));
                }
            }
            assert_eq!(found.iter().collect::<Vec<_>>(), expected);
            assert_eq!(expected.len() as u64, super::count(u64::from(count)));
        }
    }
}
