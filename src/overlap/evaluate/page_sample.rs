//! A sample of pages, bounded in number and bytes, drawn in one pass.
//!
//! The pages are kept whose ids have the smallest hashes, so the sample depends on the seed and the pages
//! alone, not on their order or on how they are divided into files (bottom-k sampling, Cohen 1997).

use std::collections::BTreeMap;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The longest page that is sampled, in bytes. A few very long ones would take the room of all others.
pub const LONGEST_PAGE: usize = 256 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledPage {
    pub id: Box<str>,
    pub text: Box<str>,
}

#[derive(Debug, Default)]
pub struct PageSample {
    seed: u64,
    most_pages: usize,
    most_bytes: usize,
    kept: BTreeMap<(u64, Box<str>), Box<str>>,
    bytes: usize,
    /// The smallest key that was turned away for want of room. No page from there on is kept.
    end: Option<(u64, Box<str>)>,
    pub seen: u64,
    pub too_long: u64,
}

impl PageSample {
    pub fn new(seed: u64, most_pages: usize, most_bytes: usize) -> PageSample {
        PageSample { seed, most_pages, most_bytes, ..PageSample::default() }
    }

    /// Offers a page. Of pages with one id, the sample takes the longest. So what an id takes of the room
    /// only grows, and a page that was turned away never fits again.
    pub fn offer(&mut self, id: &str, text: &str) {
        self.seen += 1;
        if text.len() > LONGEST_PAGE {
            self.too_long += 1;
            return;
        }
        let hash = xxh3_64_with_seed(id.as_bytes(), self.seed);
        if self.end.as_ref().is_some_and(|end| (hash, id) >= (end.0, &*end.1)) {
            return;
        }
        let key = (hash, id.into());
        let order = |text: &str| (text.len(), xxh3_64(text.as_bytes()));
        match self.kept.get(&key) {
            Some(held) if order(held) >= order(text) => return,
            held => self.bytes -= held.map_or(0, |held| held.len()),
        }
        self.bytes += text.len();
        self.kept.insert(key, text.into());
        while self.kept.len() > self.most_pages || self.bytes > self.most_bytes {
            let Some((last, text)) = self.kept.pop_last() else { break };
            self.bytes -= text.len();
            self.end = Some(last);
        }
    }

    /// Whether pages were turned away because those of the sample are long, so that it has fewer than it may.
    pub fn ended_by_bytes(&self) -> bool {
        self.end.is_some() && self.kept.len() < self.most_pages
    }

    pub fn pages(self) -> Vec<SampledPage> {
        self.kept.into_iter().map(|((_, id), text)| SampledPage { id, text }).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;
    use proptest::prelude::*;

    fn sample(pages: &[(String, String)], seed: u64, most: (usize, usize)) -> Vec<SampledPage> {
        let mut sample = PageSample::new(seed, most.0, most.1);
        pages.iter().for_each(|(id, text)| sample.offer(id, text));
        assert_eq!(sample.seen, pages.len() as u64);
        sample.pages()
    }

    proptest! {
        /// The definition: sort all pages by the hash, and take from the front while there is room.
        #[test]
        fn the_sample_is_the_front_of_all_pages_sorted(
            lengths in prop::collection::vec((0..30_usize, 0..50_usize), 0..40),
            most in (1..20_usize, 1..400_usize),
            seed in 0..3_u64,
            turned in 0..40_usize,
        ) {
            let page = |&(id, length): &(usize, usize)| (format!("page {id}"), "x".repeat(length));
            let mut pages: Vec<(String, String)> = lengths.iter().map(page).collect();
            let mut sorted = pages.clone();
            let hash = |id: &str| xxh3_64_with_seed(id.as_bytes(), seed);
            sorted.sort_by_key(|(id, text)| (hash(id), Reverse(text.len())));
            sorted.dedup_by(|one, two| one.0 == two.0);
            let mut room = most;
            let fits = |(_, text): &&(String, String)| {
                let fits = room.0 > 0 && room.1 >= text.len();
                room = (room.0.saturating_sub(1), room.1.saturating_sub(text.len()));
                fits
            };
            let expected: Vec<&str> = sorted.iter().take_while(fits).map(|it| &*it.0).collect();
            let found = sample(&pages, seed, most);
            prop_assert_eq!(found.iter().map(|it| &*it.id).collect::<Vec<_>>(), expected);
            let turned = turned.min(pages.len());
            pages.rotate_left(turned);
            prop_assert_eq!(sample(&pages, seed, most), found);
        }
    }

    #[test]
    fn an_id_is_taken_once_and_a_page_without_end_never() {
        let pages = [("a", "one"), ("a", "two"), ("a", "one"), ("b", "x")];
        let mut pages = pages.map(|(id, text)| (id.to_owned(), text.to_owned())).to_vec();
        let found = sample(&pages, 1, (9, 99));
        assert_eq!(found.len(), 2);
        pages.reverse();
        assert_eq!(sample(&pages, 1, (9, 99)), found);
        let mut sample = PageSample::new(1, 9, usize::MAX);
        sample.offer("long", &"x".repeat(LONGEST_PAGE + 1));
        assert_eq!((sample.too_long, sample.ended_by_bytes(), sample.pages().len()), (1, false, 0));
        for (most, ended) in [((9, 5), true), ((1, 99), false), ((9, 99), false)] {
            let mut sample = PageSample::new(1, most.0, most.1);
            ["a", "b"].into_iter().for_each(|id| sample.offer(id, "four"));
            assert_eq!(sample.ended_by_bytes(), ended, "{most:?}");
        }
    }
}
