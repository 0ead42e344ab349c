//! Ids that come in order, in portions of about the size of a shard.

use std::iter::{self, Peekable};
use std::ops::Range;

use super::shard::{Shard, push};
use super::shards::{Portion, SHARD_BYTES};
use crate::error::Result;
use crate::matches::numbers::{Number, SegmentRow};

/// Ids that were in order already. Their rows are their ranks.
pub(crate) struct InOrder {
    bytes: Vec<u8>,
    ranks: Range<u32>,
    bound: Option<String>,
}

/// Divides `ids`, which come in order, into portions.
pub(crate) fn in_order(
    ids: impl Iterator<Item = Result<String>>,
) -> impl Iterator<Item = Result<InOrder>> {
    let mut ids = ids.peekable();
    let mut first = 0;
    iter::from_fn(move || {
        let portion = InOrder::next(first, &mut ids);
        first = portion.as_ref().map_or(first, |portion| portion.ranks.end);
        portion.map(|portion| (!portion.ranks.is_empty()).then_some(portion)).transpose()
    })
}

impl InOrder {
    fn next(
        first: u32,
        ids: &mut Peekable<impl Iterator<Item = Result<String>>>,
    ) -> Result<InOrder> {
        let mut portion = InOrder { bytes: Vec::new(), ranks: first..first, bound: None };
        let InOrder { bytes, ranks, bound } = &mut portion;
        while bytes.len() < SHARD_BYTES
            && let Some(id) = ids.next().transpose()?
        {
            push(bytes, SegmentRow::from(ranks.end), &id);
            ranks.end += 1;
        }
        *bound = ids.peek().and_then(|next| next.as_ref().ok().cloned());
        Ok(portion)
    }
}

impl Portion for InOrder {
    fn ranks(&self) -> Range<u32> {
        self.ranks.clone()
    }

    fn bound(&self) -> Option<&str> {
        self.bound.as_deref()
    }

    fn load(&self) -> Result<Shard> {
        let first = self.ranks.start as usize;
        Ok(Shard::ordered(self.bytes.clone(), |row| row.index() - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_follow_each_other() {
        let ids: Vec<String> = (100_000..400_000).map(|id| format!("page-{id}")).collect();
        let portions: Result<Vec<InOrder>> = in_order(ids.iter().cloned().map(Ok)).collect();
        let portions = portions.unwrap();
        assert!(portions.len() > 2);
        let mut listed: Vec<String> = Vec::new();
        for portion in &portions {
            assert_eq!(portion.ranks().start as usize, listed.len());
            listed.extend(portion.load().unwrap().ids().map(str::to_owned));
            assert_eq!(portion.bound(), ids.get(listed.len()).map(String::as_str));
        }
        assert!(listed == ids);
        assert_eq!(in_order(std::iter::empty()).count(), 0);
    }
}
