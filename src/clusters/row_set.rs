//! A set of rows: one bit each, with their ranks.

/// Rows by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct RowSet {
    words: Vec<u64>,
}

/// A set that is complete, and knows how many of its rows come before any one of them.
#[derive(Debug)]
pub(super) struct RankedRows {
    words: Vec<u64>,
    /// For each word, how many rows come before it.
    before: Vec<u32>,
}

impl RowSet {
    pub(super) fn insert(&mut self, row: u32) {
        let word = (row / 64) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (row % 64);
    }

    pub(super) fn contains(&self, row: u32) -> bool {
        contains(&self.words, row)
    }

    pub(super) fn ranked(self) -> RankedRows {
        let mut sum = 0;
        let mut add = |word: &u64| {
            let before = sum;
            sum += word.count_ones();
            before
        };
        let before = self.words.iter().map(&mut add).collect();
        RankedRows { words: self.words, before }
    }
}

impl RankedRows {
    /// How many rows of the set come before this one; none if it is not in the set.
    pub(super) fn rank(&self, row: u32) -> Option<usize> {
        if !contains(&self.words, row) {
            return None;
        }
        let word = (row / 64) as usize;
        let below = self.words[word] & ((1 << (row % 64)) - 1);
        Some((self.before[word] + below.count_ones()) as usize)
    }
}

fn contains(words: &[u64], row: u32) -> bool {
    words.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_rows_before() {
        let rows = [0, 5, 63, 64, 200, 1000];
        let mut set = RowSet::default();
        rows.iter().for_each(|&row| set.insert(row));
        assert!(set.contains(200) && !set.contains(201) && !set.contains(u32::MAX));
        let ranked = set.ranked();
        let ranks: Vec<_> = rows.iter().map(|&row| ranked.rank(row)).collect();
        assert_eq!(ranks, (0..rows.len()).map(Some).collect::<Vec<_>>());
        assert_eq!(ranked.rank(1), None);
    }
}
