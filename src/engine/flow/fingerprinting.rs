//! The handler that makes fingerprints of documents. It needs no dataflow: a query uses it page by page.

use super::read::Read;
use super::reading::Handler;
use crate::document::{Content, Declared, Document, PageKey, Position, host};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Boilerplate, Check, Class, PageTime, Recipe, Rest, Signer, Sketcher};
use crate::lsh::{Bands, Family, Hyperplanes, Sketch, Sketches, Space};
use crate::passages::{self, PageWords};
use crate::seen::{HeldId, HeldPage, Seeker};
use crate::store::{Details, FingerprintedDocument, MAX_PACKED_ROW_BYTES, SegmentOptions};

pub struct Fingerprinting {
    makers: Makers,
    /// None if texts are taken whole.
    boilerplate: Option<Boilerplate>,
    digests: bool,
    /// What the keys of pages are made of; none if none are kept.
    key: Option<PageKey>,
    /// Finds the pages that a store holds; none if everything is computed.
    known: Option<Seeker>,
    only_boilerplate: u64,
    /// How many the store holds.
    unchanged: u64,
}

struct Makers {
    sketcher: Option<Sketcher>,
    /// What vectors are fingerprinted by; none if others come.
    planes: Option<Hyperplanes>,
    signer: Option<Signer>,
    bands: Option<Sketches>,
    points: bool,
    /// The words of the page at hand; none if words are not kept.
    words: Option<PageWords>,
}

impl Fingerprinting {
    /// Makes fingerprints by `recipe`, or takes ready-made ones. A page that takes longer
    /// than `time` is quarantined.
    pub fn new(recipe: &Recipe, time: PageTime) -> Result<Fingerprinting> {
        let is_made_here = !recipe.is_external() && !recipe.takes_vectors();
        let sketcher = is_made_here.then(|| recipe.sketcher()).transpose()?;
        let bands = recipe.bands().map(str::parse::<Bands>).transpose()?;
        let points = recipe.check().is_some_and(Check::is_of_points);
        if points && bands.is_none() {
            return Err(Error::new(Kind::Usage, "the check points needs bands")
                .help("say which documents are compared")
                .setting("keep-bands minhash-14x8"));
        }
        let signer = recipe.check().filter(|_| !points).map(Check::signer);
        let planes = || Hyperplanes::new(recipe.width().bits() as usize, 0);
        let makers = Makers {
            sketcher: sketcher.map(|sketcher| sketcher.allow(time)),
            planes: recipe.takes_vectors().then(planes),
            signer: signer.map(|signer| signer.allow(time)),
            bands: bands.map(|bands| bands.sketches(recipe.width(), time)),
            points,
            words: recipe.has_passages().then(PageWords::default),
        };
        Ok(Fingerprinting {
            makers,
            boilerplate: recipe.boilerplate(),
            digests: recipe.has_digests(),
            key: recipe.key().cloned(),
            known: None,
            only_boilerplate: 0,
            unchanged: 0,
        })
    }

    /// The options of a segment with the columns that it fills by `recipe`. The caller adds times or keys of another order,
    /// which the inputs have.
    pub fn columns(recipe: &Recipe) -> Result<SegmentOptions> {
        let bands = recipe.bands().map(str::parse::<Bands>).transpose()?;
        Ok(SegmentOptions {
            lengths: !recipe.is_external() && !recipe.takes_vectors(),
            band_bytes: bands.map_or(0, |bands| bands.bytes()),
            ..SegmentOptions::of(recipe)
        })
    }

    /// Takes what `known` finds of a page instead of computing it. Its store is of the same recipe.
    #[must_use]
    pub fn knowing(self, known: Option<Seeker>) -> Fingerprinting {
        Fingerprinting { known, ..self }
    }
}

impl Fingerprinting {
    /// Makes the fingerprint of a document, and all that stands beside it in a segment.
    pub fn page(
        &mut self,
        position: Position,
        document: Document<'_>,
    ) -> Result<FingerprintedDocument> {
        let Fingerprinting { makers, boilerplate, digests, known, .. } = self;
        let digest = digests.then(|| document.content.text_digest()).flatten();
        let by_host = boilerplate.as_ref().is_some_and(Boilerplate::is_by_host);
        let text = match (&document.content, boilerplate) {
            (Content::Text(text), Some(boilerplate)) => {
                let Rest { text, is_whole } = boilerplate.drop_from(&document.id, text);
                self.only_boilerplate += u64::from(is_whole);
                text
            }
            (Content::Text(text), None) => text,
            _ => "",
        };
        // The boilerplate of another host leaves another text.
        let is_alike = |id: HeldId<'_>| Ok(!by_host || host(id.get()?) == host(&document.id));
        let held = match (&mut *known, digest) {
            (Some(seeker), Some(digest)) => seeker.page(digest, is_alike).unwrap_or_else(|error| {
                // The page is not at fault, and what cannot be looked up can be computed.
                tracing::warn!("{error}; the pages that it has are computed again");
                *known = None;
                None
            }),
            _ => None,
        };
        self.unchanged += u64::from(held.is_some());
        let page = match held {
            Some(page) => Some(page),
            None => makers.page(&document, text)?,
        };
        let (fingerprint, computed) = match page {
            Some(page) => (Some(page.fingerprint), page.details),
            None => (None, Details::default()),
        };
        let (key, declared) = match &self.key {
            Some(key) => of_key(key, &document),
            None => (0, Vec::new()),
        };
        let details = Details {
            length: document.content.text_bytes(),
            time: document.order.key(),
            digest: digest.unwrap_or(0),
            key,
            declared,
            ..computed
        };
        Ok(FingerprintedDocument {
            content: document.content.digest(),
            position,
            details,
            ..FingerprintedDocument::new(document.id, fingerprint)
        })
    }
}

impl Handler for Fingerprinting {
    type Made = FingerprintedDocument;

    fn take(
        &mut self,
        position: Position,
        document: Document<'_>,
    ) -> Result<Option<FingerprintedDocument>> {
        self.page(position, document).map(Some)
    }

    fn end_batch(&mut self, read: &mut Read, _made: &mut dyn FnMut(FingerprintedDocument)) {
        read.only_boilerplate += std::mem::take(&mut self.only_boilerplate);
        read.unchanged += std::mem::take(&mut self.unchanged);
    }
}

impl Makers {
    /// Computes what a segment has of a document; none if it has no feature. `text` is what the recipe takes of its text.
    fn page(&mut self, document: &Document<'_>, text: &str) -> Result<Option<HeldPage>> {
        let Some((fingerprint, class)) = self.fingerprint(document, text)? else { return Ok(None) };
        let Makers { signer, bands, points, words, .. } = self;
        let mut details = Details { class, ..Details::default() };
        if let Some(signer) = signer {
            let signed = signer.sign(text, &mut details.check);
            signed.map_err(|error| naming(error, document))?;
            details.anchors.extend(signer.anchors());
        }
        if let Some(sketches) = bands {
            let sketched = match &document.content {
                _ if sketches.space() == Space::Hamming => {
                    sketches.of(&Content::Fingerprint(fingerprint))
                }
                Content::Text(_) => sketches.of(&Content::Text(text.into())),
                content => sketches.of(content),
            };
            let Sketch { keys, point } = sketched.map_err(|error| naming(error, document))?;
            details.bands = keys;
            if *points {
                details.check = point;
            }
        }
        if let (Some(words), Content::Text(text)) = (words, &document.content) {
            words.take(text).map_err(|error| naming(error, document))?;
            words.write(&mut details.words);
            expect_room(&details.words).map_err(|error| naming(error, document))?;
            details.passage_anchors = passages::anchors_of(&words.hashes);
        }
        Ok(Some(HeldPage { fingerprint, details }))
    }

    /// The fingerprint of a document and its class; none if it has no feature. `text` is what the recipe takes of
    /// its text.
    fn fingerprint(
        &mut self,
        document: &Document<'_>,
        text: &str,
    ) -> Result<Option<(u128, Class)>> {
        let full = |fingerprint| (fingerprint, Class::Full);
        match (&document.content, &mut self.sketcher, &mut self.planes) {
            (Content::Vector(vector), _, Some(planes)) => {
                let mut sides = Vec::new();
                planes.hash(&vector[..], &mut sides);
                let bits = sides.iter().rev().fold(0, |bits, side| bits << 1 | u128::from(*side));
                Ok((!vector.is_empty()).then_some(full(bits)))
            }
            (Content::Fingerprint(fingerprint), None, None) => Ok(Some(full(*fingerprint))),
            (Content::Text(_), Some(sketcher), _) => {
                sketcher.page(text).map_err(|error| naming(error, document))
            }
            (Content::Features(features), Some(sketcher), _) => {
                Ok(sketcher.features(features)?.map(full))
            }
            (Content::Fingerprint(_), ..) => Err(misfit("fingerprints ready made", "external-64")),
            (Content::Text(_), ..) => Err(misfit("text", "words")),
            (Content::Vector(_), ..) => Err(misfit("vectors", "vectors")),
            (Content::Features(_), ..) => Err(misfit("features ready made", "features")),
        }
    }
}

/// The hash of the key of a page, and what is kept of what its record declares.
fn of_key(
    key: &PageKey,
    Document { id, key: value, declared, .. }: &Document<'_>,
) -> (u128, Vec<u8>) {
    let value = value.as_deref();
    let named = declared.canonical.as_ref();
    let canonical = named.and_then(|named| key.canonical(id, value, named));
    (key.hash(id, value), Declared { canonical, ..*declared }.to_row())
}

/// The failure of a text. If the document is at fault, the error names its id, cut if it is long.
pub(super) fn naming(error: Error, document: &Document<'_>) -> Error {
    const SHOWN: usize = 64;
    if error.kind() != Kind::BadData {
        return error;
    }
    let id: String = document.id.chars().take(SHOWN).collect();
    error.found(format_args!("the page {id:?}"))
}

/// Fails if the words of a page are more than a segment can have of it.
fn expect_room(words: &[u8]) -> Result<()> {
    if words.len() <= MAX_PACKED_ROW_BYTES {
        return Ok(());
    }
    Err(Error::new(Kind::BadData, "the page has too many words to find passages in it")
        .expected(format_args!("words that take at most {MAX_PACKED_ROW_BYTES} bytes"))
        .found(words.len()))
}

fn misfit(input: &str, recipe: &str) -> Error {
    Error::new(Kind::Usage, format!("the recipe does not fit the input, which holds {input}"))
        .help(format_args!("choose the recipe {recipe}, or the format that the input has"))
        .settings(["recipe", "format"])
}
