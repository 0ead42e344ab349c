//! The tables of several layers side by side, key by key.

use super::cursor::Cursor;
use crate::error::Result;

/// Cursors that move forward together.
pub(super) struct Merge<'a> {
    pub(super) cursors: Vec<Cursor<'a>>,
    /// Those that stand on the least key, the oldest layer first.
    at: Vec<usize>,
    has_begun: bool,
}

impl<'a> Merge<'a> {
    /// Of cursors that have not moved, the oldest layer first.
    pub(super) fn of(cursors: Vec<Cursor<'a>>) -> Merge<'a> {
        Merge { cursors, at: Vec::new(), has_begun: false }
    }

    /// Moves to the next key, and returns the layers that have it, the oldest first; none at the end.
    pub(super) fn next(&mut self) -> Result<&[usize]> {
        if self.has_begun {
            self.at.iter().try_for_each(|&at| self.cursors[at].next().map(drop))?;
        } else {
            self.cursors.iter_mut().try_for_each(|cursor| cursor.next().map(drop))?;
            self.has_begun = true;
        }
        self.at.clear();
        for (at, cursor) in self.cursors.iter().enumerate().filter(|(_, it)| it.is_on_row()) {
            let least = self.at.first().map(|&least| self.cursors[least].key());
            match least.map(|least| cursor.key().cmp(least)) {
                Some(std::cmp::Ordering::Greater) => {}
                Some(std::cmp::Ordering::Equal) => self.at.push(at),
                _ => {
                    self.at.clear();
                    self.at.push(at);
                }
            }
        }
        Ok(&self.at)
    }
}
