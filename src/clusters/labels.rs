//! Ids of clusters with numbers in place of them: those that an update touches.

use std::collections::HashMap;

/// Ids by number and numbers by id.
#[derive(Debug, Default)]
pub(super) struct Labels {
    numbers: HashMap<String, u32>,
    ids: Vec<String>,
}

impl Labels {
    /// The number of an id, which is a new one if it has none yet.
    pub(super) fn number(&mut self, id: &str) -> u32 {
        if let Some(&number) = self.numbers.get(id) {
            return number;
        }
        let number = self.ids.len() as u32;
        self.numbers.insert(id.to_owned(), number);
        self.ids.push(id.to_owned());
        number
    }

    pub(super) fn id(&self, number: u32) -> &str {
        &self.ids[number as usize]
    }

    pub(super) fn len(&self) -> u32 {
        self.ids.len() as u32
    }
}
