//! What the buckets of a scheme keep of texts, and which of these they find.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::document::Content;
use crate::error::Result;
use crate::fingerprint::PageTime;
use crate::lsh::{Comparison, Scheme, Sketch, Sketches};

/// What a scheme keeps of texts.
pub(super) struct BucketTexts<'m> {
    pub(super) scheme: &'m Scheme,
    sketches: Sketches,
    comparison: Comparison,
    kept: Vec<Option<Sketch>>,
    /// How long it took to make that.
    pub(super) time: Duration,
}

impl<'m> BucketTexts<'m> {
    /// A start without any text.
    pub(super) fn new(scheme: &'m Scheme) -> Result<BucketTexts<'m>> {
        scheme.check()?;
        let sketches = scheme.sketches(PageTime::default());
        let comparison = scheme.comparison();
        Ok(BucketTexts { scheme, sketches, comparison, kept: Vec::new(), time: Duration::ZERO })
    }

    /// Adds the next text. Gives the bytes that it takes.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        let began = Instant::now();
        let sketch = self.sketches.of(&Content::Text(Cow::Borrowed(text)))?;
        self.time += began.elapsed();
        self.kept.push(sketch);
        Ok(())
    }

    /// Moves the texts of `other` behind these.
    pub(super) fn append(&mut self, other: BucketTexts<'m>) {
        self.kept.extend(other.kept);
        self.time += other.time;
    }

    /// Keeps the first `count` texts.
    pub(super) fn truncate(&mut self, count: usize) {
        self.kept.truncate(count);
    }

    /// The bytes of the keys, and of what confirms a match.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = |sketch: &Sketch| size_of_val(&sketch.keys[..]) + sketch.evidence.len();
        self.kept.iter().flatten().map(|sketch| bytes(sketch) as u64).sum()
    }

    /// Whether a text has anything to compare.
    pub(super) fn has(&self, text: u32) -> bool {
        self.kept[text as usize].is_some()
    }

    /// Whether two texts share a bucket and are confirmed, or nothing tells them apart.
    pub(super) fn is_near(&self, one: u32, another: u32) -> bool {
        let [one, another] = [one, another].map(|text| self.kept[text as usize].as_ref());
        let (Some(one), Some(another)) = (one, another) else { return false };
        let shares = one.keys.iter().zip(&another.keys).any(|(one, another)| one == another);
        shares
            && (one == another
                || self.comparison.compare(&one.evidence, &another.evidence).is_some())
    }
}
