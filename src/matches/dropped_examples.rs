//! Examples of dropped pages, for people who look at a report: three of each class.
//!
//! Where it is known which share of a page the page that stays holds, the classes are those of [`DroppedPages::containment`](super::DroppedPages), and
//! of each class the pages are shown of which least is contained. Else each distance is a class. Among equal pages the digest of the id decides, so the examples
//! are of many hosts, and the same for any number of workers.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::dropped_pages::class_of;
use super::frequent::shown;
use super::similarity::Similarity;

/// How many pages of each class are shown.
const OF_EACH: usize = 3;

/// A dropped page, as its row of the verdicts has it. An id that is too long to show is cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedExample {
    /// Its id.
    pub id: String,
    /// The id of the page that stays.
    pub of: String,
    /// The distance of both.
    pub distance: u32,
    /// The day of the store that has the page that stays, or `batch`.
    pub against: String,
    /// The share of the dropped page that the page that stays holds, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<f64>,
}

/// What decides which pages of a class are shown: the containment, then the digest of the id. Those that come first are shown.
type Order = (Option<Similarity>, u64);

/// Collects examples by class. Pages must be added in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Examples(BTreeMap<u32, BTreeMap<Order, DroppedExample>>);

impl Examples {
    /// Takes the dropped page `id`, and the page `of` in favour of which it goes.
    pub(super) fn add(
        &mut self,
        [id, of]: [&str; 2],
        distance: u32,
        against: impl Display,
        containment: Option<Similarity>,
    ) {
        let class = containment.map_or(distance, |containment| class_of(containment) as u32);
        let example = || DroppedExample {
            id: shown(id),
            of: shown(of),
            distance,
            against: against.to_string(),
            containment: containment.map(Similarity::number),
        };
        self.take(class, (containment, xxh3_64(id.as_bytes())), example);
    }

    /// Takes those of pages with larger ids.
    pub(super) fn append(&mut self, others: Examples) {
        for (class, examples) in others.0 {
            for (order, example) in examples {
                self.take(class, order, || example);
            }
        }
    }

    fn take(&mut self, class: u32, order: Order, example: impl FnOnce() -> DroppedExample) {
        let of_class = self.0.entry(class).or_default();
        let is_full = of_class.len() == OF_EACH;
        if is_full && of_class.last_key_value().is_some_and(|(last, _)| *last < order) {
            return;
        }
        of_class.entry(order).or_insert_with(example);
        if of_class.len() > OF_EACH {
            of_class.pop_last();
        }
    }

    /// The examples: the class of which least is contained first, or that of the largest distance.
    pub(super) fn listed(self) -> Vec<DroppedExample> {
        self.0.into_values().rev().flat_map(BTreeMap::into_values).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_each_class_are_shown_whatever_the_portions_are() {
        let containment = |page: u32| format!("0.9{:03}", page * 37 % 1000).parse().ok();
        let pages = |from: u32, to: u32, tells: bool| {
            let mut examples = Examples::default();
            for page in from..to {
                let ids = [&*format!("p{page:03}"), "kept"];
                examples.add(ids, page % 4, "batch", if tells { containment(page) } else { None });
            }
            examples
        };
        for (tells, classes) in [(true, 3), (false, 4)] {
            let all = pages(100, 600, tells).listed();
            let mut parts = pages(100, 130, tells);
            parts.append(pages(130, 131, tells));
            parts.append(pages(131, 600, tells));
            assert_eq!(parts.listed(), all);
            assert_eq!(all.len(), classes * OF_EACH);
            assert!(tells || all.is_sorted_by_key(|it| 4 - it.distance));
            assert!(all.is_sorted_by(|a, b| a.containment <= b.containment));
        }
        let mut long = Examples::default();
        long.add([&"ü".repeat(300), "b"], 1, "batch", None);
        assert_eq!(long.listed()[0].id, "ü".repeat(200));
    }
}
