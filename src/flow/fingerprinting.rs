//! The handler that makes fingerprints of documents. It needs no dataflow: a query uses it page by page.

use super::read::Read;
use super::reading::Handler;
use crate::document::{Content, Document, Position, host};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Boilerplate, Check, Class, PageTime, Recipe, Rest, Signer, Sketcher};
use crate::lsh::{Bands, Sketches};
use crate::seen::{HeldId, HeldPage, Seeker};
use crate::store::{Details, FingerprintedDocument, SegmentOptions};

/// Makes fingerprints of documents by a recipe.
pub struct Fingerprinting {
    /// None if fingerprints come ready-made.
    sketcher: Option<Sketcher>,
    /// None if no check is kept.
    signer: Option<Signer>,
    /// None if no bands are kept.
    bands: Option<(Bands, Sketches)>,
    /// None if texts are taken whole.
    boilerplate: Option<Boilerplate>,
    /// Whether the digests of texts are kept.
    digests: bool,
    /// Finds the pages that a store holds; none if everything is computed.
    known: Option<Seeker>,
    /// How many documents of this batch are nothing but boilerplate.
    only_boilerplate: u64,
    /// How many the store holds.
    unchanged: u64,
}

impl Fingerprinting {
    /// Makes fingerprints by `recipe`, or takes ready-made ones. A page that takes longer
    /// than `time` is quarantined.
    ///
    /// # Errors
    /// As [`Recipe::sketcher`].
    pub fn new(recipe: &Recipe, time: PageTime) -> Result<Fingerprinting> {
        let sketcher = (!recipe.is_external()).then(|| recipe.sketcher()).transpose()?;
        let signer = recipe.check().map(Check::signer);
        let bands = recipe.bands().map(str::parse::<Bands>).transpose()?;
        Ok(Fingerprinting {
            sketcher: sketcher.map(|sketcher| sketcher.allow(time)),
            signer: signer.map(|signer| signer.allow(time)),
            bands: bands.map(|bands| (bands, bands.scheme().sketches(time))),
            boilerplate: recipe.boilerplate(),
            digests: recipe.has_digests(),
            known: None,
            only_boilerplate: 0,
            unchanged: 0,
        })
    }

    /// The options of a segment with the columns that it fills by `recipe`. The caller adds times or keys of another order,
    /// which the inputs have.
    ///
    /// # Errors
    /// [`Kind::Usage`] if the bands of the recipe are wrong.
    pub fn columns(recipe: &Recipe) -> Result<SegmentOptions> {
        let bands = recipe.bands().map(str::parse::<Bands>).transpose()?;
        Ok(SegmentOptions {
            lengths: !recipe.is_external(),
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
    ///
    /// # Errors
    /// [`Kind::BadData`] if the document is at fault, [`Kind::Usage`] if it does not fit the recipe.
    pub fn page(
        &mut self,
        position: Position,
        document: Document<'_>,
    ) -> Result<FingerprintedDocument> {
        let Fingerprinting { sketcher, signer, bands, boilerplate, digests, known, .. } = self;
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
            None => computed(sketcher.as_mut(), signer.as_mut(), bands.as_mut(), &document, text)?,
        };
        let (fingerprint, computed) = match page {
            Some(page) => (Some(page.fingerprint), page.details),
            None => (None, Details::default()),
        };
        let details = Details {
            length: document.content.text_bytes(),
            time: document.order.key(),
            digest: digest.unwrap_or(0),
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

/// Computes what a segment has of a document; none if it has no feature. `text` is what the recipe takes of its text.
fn computed(
    mut sketcher: Option<&mut Sketcher>,
    signer: Option<&mut Signer>,
    bands: Option<&mut (Bands, Sketches)>,
    document: &Document<'_>,
    text: &str,
) -> Result<Option<HeldPage>> {
    let Some((fingerprint, class)) = sketch(sketcher.as_deref_mut(), document, text)? else {
        return Ok(None);
    };
    let [mut check, mut anchors] = [Vec::new(), Vec::new()];
    if let (Some(signer), Some(sketcher)) = (signer, sketcher) {
        let signed = signer.sign_known(text, sketcher.normal_form(), &mut check);
        signed.map_err(|error| naming(error, document))?;
        anchors.extend(signer.anchors());
    }
    let bands = match bands {
        Some((bands, sketches)) => {
            keys(bands, sketches, document, text).map_err(|error| naming(error, document))?
        }
        None => Vec::new(),
    };
    let details = Details { class, check, anchors, bands, ..Details::default() };
    Ok(Some(HeldPage { fingerprint, details }))
}

/// The band keys of a document as a segment holds them. `text` is what the recipe takes of its text.
fn keys(
    bands: &Bands,
    sketches: &mut Sketches,
    document: &Document<'_>,
    text: &str,
) -> Result<Vec<u8>> {
    let keys = match &document.content {
        Content::Text(_) => sketches.keys(&Content::Text(text.into())),
        content => sketches.keys(content),
    };
    Ok(bands.write(keys?.as_deref()))
}

/// The fingerprint of a document and its class; none if it has no feature. `text` is what the recipe takes of
/// its text.
fn sketch(
    sketcher: Option<&mut Sketcher>,
    document: &Document<'_>,
    text: &str,
) -> Result<Option<(u128, Class)>> {
    let full = |fingerprint| (fingerprint, Class::Full);
    match (&document.content, sketcher) {
        (Content::Fingerprint(fingerprint), None) => Ok(Some(full(*fingerprint))),
        (Content::Text(_), Some(sketcher)) => {
            sketcher.page(text).map_err(|error| naming(error, document))
        }
        (Content::Features(features), Some(sketcher)) => Ok(sketcher.features(features)?.map(full)),
        (Content::Fingerprint(_), Some(_)) => Err(misfit("fingerprints ready made", "external-64")),
        (Content::Text(_), None) => Err(misfit("text", "words")),
        (Content::Vector(_), _) => Err(Error::new(Kind::Usage, "vectors have no fingerprint")
            .help("locality-sensitive hashing takes vectors")
            .job("lsh")),
        (Content::Features(_), None) => Err(misfit("features ready made", "features")),
    }
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

fn misfit(input: &str, recipe: &str) -> Error {
    Error::new(Kind::Usage, format!("the recipe does not fit the input, which holds {input}"))
        .help(format_args!("choose the recipe {recipe}, or the format that the input has"))
        .settings(["recipe", "format"])
}
