//! A set of rows: one bit each.

#[derive(Clone, Debug, Default)]
pub(super) struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// Adds a row; false if it was there.
    pub(super) fn insert(&mut self, row: u32) -> bool {
        let is_new = !self.contains(row);
        let word = (row / 64) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (row % 64);
        is_new
    }

    pub(super) fn contains(&self, row: u32) -> bool {
        self.words.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}

impl Extend<u32> for RowSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, rows: I) {
        for row in rows {
            self.insert(row);
        }
    }
}
