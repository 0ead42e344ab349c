//! The items of a reference set, and the index by which a page meets those that may stand in it.

use std::collections::HashMap;

use crate::error::{Error, Kind, Result};
use crate::features::by_hash::ByHash;
use crate::features::shingle_hashes::{Buffer, each_word, of_words};
use crate::store::Digest;

/// The words of a shingle; an item of fewer words is one shingle.
pub(super) const WORDS: usize = 3;

#[derive(Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) words: usize,
    /// Its distinct shingles, ascending.
    pub(super) shingles: Vec<u64>,
}

impl Item {
    fn new(id: String, text: &str, buffer: &mut Buffer) -> Item {
        let mut words = Vec::new();
        each_word(text, buffer, |word| words.push(word));
        let width = words.len().clamp(1, WORDS);
        let mut shingles: Vec<u64> = words.windows(width).map(of_words).collect();
        shingles.sort_unstable();
        shingles.dedup();
        Item { id, words: words.len(), shingles }
    }

    pub(super) fn width(&self) -> usize {
        self.words.min(WORDS)
    }

    /// How many of its shingles a stretch must have at least to have this share of them.
    pub(super) fn least(&self, share: f64) -> usize {
        let count = self.shingles.len();
        (0..=count).find(|&shared| shared as f64 >= share * count as f64).unwrap_or(count).max(1)
    }

    /// The most words of a stretch in which it may stand.
    pub(super) fn longest(&self) -> usize {
        self.words + self.words / 2
    }
}

/// A shingle that more items have is a common phrase: an item whose second shingle is one is looked for by the first one alone.
const COMMON: u32 = 8;

/// The items of a reference set.
///
/// A page that has the least number of an item's shingles lacks few of them. So of any choice of one more than these it has one, and of two
/// more it has two. The index has those that the fewest items have: common phrases lead to no item, and what a page has by chance leads to few.
#[derive(Debug)]
pub struct Items {
    pub(super) items: Vec<Item>,
    /// The share of its shingles by which an item is found.
    pub(super) share: f64,
    /// Shingles, each with where its items begin and end in `listed`.
    index: ByHash<u64, (u32, u32)>,
    listed: Vec<u32>,
    /// The items that are looked for only in a page that has two shingles of theirs in the index.
    pub(super) by_two: Vec<bool>,
    /// Of how many words there are shingles.
    pub(super) widths: [bool; WORDS],
    digest: Digest,
}

impl Items {
    /// Items by their ids and texts, each found where a page has this share of its shingles.
    pub fn new(mut texts: Vec<(String, String)>, share: f64) -> Result<Items> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::new(Kind::Usage, "no share of an item")
                .expected("above 0, at most 1")
                .found(share));
        }
        texts.sort();
        if let Some(pair) = texts.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::new(Kind::BadData, "two items have one id")
                .found(&pair[0].0)
                .help("give each item an id of its own"));
        }
        let mut buffer = Buffer::default();
        let digest = Digest::of(&bincode::serialize(&texts).expect("texts have bytes"));
        let items = texts.into_iter().map(|(id, text)| Item::new(id, &text, &mut buffer));
        let items: Vec<Item> = items.collect();
        if items.iter().all(|item| item.words == 0) {
            return Err(Error::new(Kind::BadData, "no item has a word")
                .found(format_args!("{} items", items.len())));
        }
        let mut found = Items {
            items,
            share,
            index: ByHash::default(),
            listed: Vec::new(),
            by_two: Vec::new(),
            widths: [false; WORDS],
            digest,
        };
        found.index();
        Ok(found)
    }

    fn index(&mut self) {
        let mut common: HashMap<u64, u32> = HashMap::new();
        for shingle in self.items.iter().flat_map(|item| &item.shingles) {
            *common.entry(*shingle).or_default() += 1;
        }
        let mut postings = Vec::new();
        self.by_two = vec![false; self.items.len()];
        for (at, item) in self.items.iter().enumerate().filter(|(_, item)| item.words > 0) {
            self.widths[item.width() - 1] = true;
            let mut rarest: Vec<(u32, u64)> =
                item.shingles.iter().map(|shingle| (common[shingle], *shingle)).collect();
            rarest.sort_unstable();
            let lacking = rarest.len() - item.least(self.share);
            let by_two = rarest.get(lacking + 1).is_some_and(|&(items, _)| items <= COMMON);
            self.by_two[at] = by_two;
            let chosen = &rarest[..=lacking + usize::from(by_two)];
            postings.extend(chosen.iter().map(|&(_, shingle)| (shingle, at as u32)));
        }
        postings.sort_unstable();
        for of_one in postings.chunk_by(|one, other| one.0 == other.0) {
            let start = self.listed.len() as u32;
            self.listed.extend(of_one.iter().map(|posting| posting.1));
            self.index.insert(of_one[0].0, (start, self.listed.len() as u32));
        }
    }

    /// The items that are looked for where a page has this shingle.
    #[inline]
    pub(super) fn with(&self, shingle: u64) -> &[u32] {
        match self.index.get(&shingle) {
            Some(&(start, end)) => &self.listed[start as usize..end as usize],
            None => &[],
        }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The ids of those without a word, which stand in no page.
    pub fn without_words(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter(|item| item.words == 0).map(|item| &*item.id)
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }
}
