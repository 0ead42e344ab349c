//! What a worker does with a page: which items stand in it, and where.

use std::ops::Range;
use std::sync::Arc;

use super::reference::{Items, WORDS};
use super::stretch::Stretch;
use crate::error::Result;
use crate::features::by_hash::{self, ByHash};
use crate::features::shingle_hashes::{Buffer, each_place, each_word, of_words};
use crate::fingerprint::{PageClock, PageTime};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemFound {
    /// The number of the item in the order of the ids.
    pub item: u32,
    /// How many distinct shingles of the item the stretch has.
    pub shared: u32,
    pub shingles: u32,
    /// The stretch, in bytes of the page's text: from its first word to the end of its last one.
    pub place: Range<usize>,
}

/// Finds items in pages. It has buffers, so each worker needs its own. What it holds of a page does not grow with the page.
#[derive(Debug)]
pub struct Finder {
    items: Arc<Items>,
    clock: PageClock,
    buffer: Buffer,
    /// The items that may stand in the page at hand.
    candidates: Vec<u32>,
    /// The items of which the page has a shingle that is in the index, and what is known of each item.
    met: Vec<u32>,
    states: Vec<Met>,
    /// The shingles of the candidates: whose, and which of its shingles.
    wanted: ByHash<u64, Vec<(usize, u32)>>,
}

/// What a page has of the shingles of an item that are in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    Nothing,
    /// This one alone, and the item needs two.
    One(u64),
    /// Enough: the item may stand in the page.
    Enough,
}

impl Finder {
    /// Finds these items. A page that takes longer than `time` is an error.
    pub fn new(items: Arc<Items>, time: PageTime) -> Finder {
        Finder {
            clock: PageClock::new(time),
            buffer: Buffer::default(),
            candidates: Vec::new(),
            met: Vec::new(),
            states: vec![Met::Nothing; items.len()],
            wanted: ByHash::default(),
            items,
        }
    }

    /// The items that stand in a page with this text, in their order.
    pub fn find(&mut self, text: &str) -> Result<Vec<ItemFound>> {
        self.clock.start(text);
        self.find_candidates(text);
        let found = if self.candidates.is_empty() { Vec::new() } else { self.compare(text) };
        self.clock.finish()?;
        Ok(found)
    }

    fn find_candidates(&mut self, text: &str) {
        let Finder { items, clock, buffer, candidates, met, states, .. } = self;
        met.drain(..).for_each(|item| states[item as usize] = Met::Nothing);
        candidates.clear();
        each_shingle(text, buffer, items.widths, |_, shingle| {
            if !clock.step() {
                return;
            }
            for &item in items.with(shingle) {
                let state = &mut states[item as usize];
                match *state {
                    Met::Enough => continue,
                    Met::One(first) if first == shingle => continue,
                    Met::One(_) => {}
                    Met::Nothing => met.push(item),
                }
                if *state == Met::Nothing && items.by_two[item as usize] {
                    *state = Met::One(shingle);
                } else {
                    *state = Met::Enough;
                    candidates.push(item);
                }
            }
        });
        candidates.sort_unstable();
    }

    fn compare(&mut self, text: &str) -> Vec<ItemFound> {
        let Finder { items, clock, buffer, candidates, wanted, .. } = self;
        by_hash::clear(wanted);
        let item = |candidate: &u32| &items.items[*candidate as usize];
        for (at, candidate) in candidates.iter().enumerate() {
            for (number, &shingle) in (0..).zip(&item(candidate).shingles) {
                wanted.entry(shingle).or_default().push((at, number));
            }
        }
        let mut stretches: Vec<Stretch> =
            candidates.iter().map(|candidate| Stretch::of(item(candidate))).collect();
        each_shingle(text, buffer, items.widths, |word, shingle| {
            for &(at, number) in wanted.get(&shingle).into_iter().flatten() {
                if clock.step() {
                    stretches[at].meet(word, number);
                }
            }
        });
        let has_enough = |it: &(&u32, Stretch)| it.1.shared >= item(it.0).least(items.share);
        let best: Vec<_> = candidates.iter().zip(stretches).filter(has_enough).collect();
        if best.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<ItemFound> = (best.iter())
            .map(|(candidate, stretch)| ItemFound {
                item: **candidate,
                shared: stretch.shared as u32,
                shingles: item(candidate).shingles.len() as u32,
                place: 0..text.len(),
            })
            .collect();
        let mut starts: ByHash<u64, Vec<usize>> = ByHash::default();
        let mut ends: ByHash<u64, Vec<usize>> = ByHash::default();
        for (at, (_, stretch)) in best.iter().enumerate() {
            starts.entry(stretch.start as u64).or_default().push(at);
            ends.entry(stretch.end as u64 - 1).or_default().push(at);
        }
        let mut word = 0;
        each_place(text, |place| {
            for &at in starts.get(&word).into_iter().flatten() {
                found[at].place.start = place.start;
            }
            for &at in ends.get(&word).into_iter().flatten() {
                found[at].place.end = place.end;
            }
            word += 1;
        });
        found
    }
}

/// Calls `shingle` with each shingle of the text of so many words as are wanted, and the number of the word at which it begins.
fn each_shingle(
    text: &str,
    buffer: &mut Buffer,
    widths: [bool; WORDS],
    mut shingle: impl FnMut(usize, u64),
) {
    let mut last = [0; WORDS];
    let mut words = 0;
    each_word(text, buffer, |word| {
        last.rotate_left(1);
        last[WORDS - 1] = word;
        words += 1;
        for width in (1..=WORDS.min(words)).filter(|width| widths[width - 1]) {
            shingle(words - width, of_words(&last[WORDS - width..]));
        }
    });
}
