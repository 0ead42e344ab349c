//! The point that a document is, as a family takes it.

use crate::document::Content;
use crate::error::{Error, Kind, Result};
use crate::features::{ONE, fixed};
use crate::fingerprint::check::points;
use crate::fingerprint::{PageClock, PageTime, Width};
use crate::hash::Hash;

use super::shingle::Shingle;
use super::space::Space;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Point {
    /// Hashes of elements, ascending, each once.
    Set(Vec<u64>),
    /// Hashes of features, ascending, each once, with weights in fixed point that are not 0.
    Weighted(Vec<(u64, i64)>),
    Bits(u128),
    Vector(Vec<f64>),
}

/// Makes points of documents. It has buffers, so each worker has its own.
#[derive(Debug)]
pub(super) struct Points {
    space: Space,
    shingle: Shingle,
    clock: PageClock,
    prepared: String,
}

impl Points {
    /// Points of a `space`. A text that takes longer than `time` fails.
    pub(super) fn new(space: Space, shingle: Shingle, time: PageTime) -> Points {
        Points { space, shingle, clock: PageClock::new(time), prepared: String::new() }
    }

    /// The point of a document; none if it has no element, or no direction where only that counts.
    ///
    /// Fails with [`Kind::Usage`] if the space has no such points, with [`Kind::BadData`] if a text takes too
    /// long or a weight is out of range.
    pub(super) fn of(&mut self, content: &Content<'_>) -> Result<Option<Point>> {
        self.clock.start(match content {
            Content::Text(text) => text,
            _ => "",
        });
        match (self.space, content) {
            (Space::Cosine | Space::Euclidean, Content::Vector(components)) => {
                // As they are kept.
                let vector: Vec<f64> = components.iter().map(|&it| f64::from(it as f32)).collect();
                if vector.iter().any(|component| !component.is_finite()) {
                    return Err(Error::new(
                        Kind::BadData,
                        "a component of the vector is too large",
                    ));
                }
                let is_none = self.space == Space::Cosine && vector.iter().all(|&it| it == 0.0);
                Ok((!is_none && !vector.is_empty()).then_some(Point::Vector(vector)))
            }
            (Space::Hamming, &Content::Fingerprint(bits)) => Ok(Some(Point::Bits(bits))),
            (Space::Jaccard, Content::Text(text)) => {
                let mut elements = self.elements(text)?;
                elements.dedup();
                Ok((!elements.is_empty()).then_some(Point::Set(elements)))
            }
            (Space::Jaccard | Space::Cosine, Content::Text(_) | Content::Features(_)) => {
                let weighted = self.weighted(content)?;
                Ok((!weighted.is_empty()).then(|| match self.space {
                    Space::Jaccard => Point::Set(weighted.into_iter().map(|it| it.0).collect()),
                    _ => Point::Weighted(weighted),
                }))
            }
            (space, content) => Err(misfit(space, content)),
        }
    }

    /// Ends the time of the document whose point was made last. Fails with [`Kind::BadData`] if it took too long.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.clock.look();
        self.clock.finish()
    }

    /// The hashes of the elements of a text, ascending, each as often as it occurs.
    fn elements(&mut self, text: &str) -> Result<Vec<u64>> {
        let Points { shingle, clock, prepared, .. } = self;
        let mut elements = Vec::new();
        shingle.each(text, prepared, |element| {
            if clock.step() {
                elements.push(element);
            }
        });
        clock.finish()?;
        elements.sort_unstable();
        Ok(elements)
    }

    /// The features of a document with their weights: how often they occur, for a text.
    fn weighted(&mut self, content: &Content<'_>) -> Result<Vec<(u64, i64)>> {
        let features = match content {
            Content::Text(text) => {
                let elements = self.elements(text)?;
                let weight = |same: &[u64]| ONE.saturating_mul(same.len() as i64);
                let same = elements.chunk_by(|one, other| one == other);
                return Ok(same.map(|same| (same[0], weight(same))).collect());
            }
            Content::Features(features) => features,
            Content::Fingerprint(_) | Content::Vector(_) => unreachable!("they have no features"),
        };
        let weighted = features.iter();
        let weighted = weighted.map(|(name, weight)| Ok((Hash::Xxh3.of(name), fixed(*weight)?)));
        let mut weighted = weighted.collect::<Result<Vec<(u64, i64)>>>()?;
        weighted.sort_unstable();
        weighted.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            if is_same {
                sum.1 = sum.1.saturating_add(next.1);
            }
            is_same
        });
        weighted.retain(|&(_, weight)| weight != 0);
        Ok(weighted)
    }
}

impl Point {
    /// The point as the check `points` takes it.
    ///
    /// Fails with [`Kind::BadData`] if a vector has too many components.
    pub(super) fn bytes(&self, space: Space, width: Width) -> Result<Vec<u8>> {
        match self {
            Point::Set(set) => Ok(points::of_set(set)),
            Point::Weighted(features) => Ok(points::of_features(features)),
            Point::Bits(bits) => Ok(points::of_bits(*bits, width.bits())),
            Point::Vector(components) => points::of_vector(components, space == Space::Cosine),
        }
    }
}

fn misfit(space: Space, content: &Content<'_>) -> Error {
    let found = match content {
        Content::Text(_) => "texts",
        Content::Features(_) => "features",
        Content::Fingerprint(_) => "fingerprints",
        Content::Vector(_) => "vectors",
    };
    let takes = match space {
        Space::Jaccard => "texts or features",
        Space::Cosine => "texts, features or vectors",
        Space::Hamming => "fingerprints",
        Space::Euclidean => "vectors",
    };
    Error::new(Kind::Usage, format!("the family {space} does not fit the input"))
        .expected(takes)
        .found(found)
        .help("choose another family, or the format that the input has")
        .settings(["family", "format"])
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::time::Duration;

    use super::*;

    /// A short text is not looked at while its elements are made, and it has its time for what is made of them, too.
    #[test]
    fn what_is_made_of_a_point_takes_of_its_time() {
        let mut points = Points::new(Space::Jaccard, Shingle::Words(1), PageTime(Duration::ZERO));
        let features = Content::Features(vec![("a", 1.0)]);
        for content in [Content::Text(Cow::Borrowed("a page")), features] {
            assert!(points.of(&content).unwrap().is_some());
            assert_eq!(points.finish().unwrap_err().kind(), Kind::BadData);
        }
        let mut points = Points::new(Space::Jaccard, Shingle::Words(1), PageTime::default());
        points.of(&Content::Fingerprint(7)).unwrap_err();
        assert!(points.finish().is_ok());
    }
}
