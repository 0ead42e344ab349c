//! The handler that makes fingerprints of documents.

use super::reading::Handler;
use crate::document::{Content, Document, Position};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Class, PageTime, Recipe, Signer, Sketcher};
use crate::store::FingerprintedDocument;

/// Makes fingerprints.
pub(super) struct Fingerprinting {
    /// None if fingerprints come ready-made.
    sketcher: Option<Sketcher>,
    /// None if no check is kept.
    signer: Option<Signer>,
}

impl Fingerprinting {
    /// A handler that makes fingerprints by `recipe`, or takes ready-made ones. A page that takes longer
    /// than `time` is quarantined.
    ///
    /// # Errors
    /// As [`Recipe::sketcher`].
    pub(super) fn new(recipe: &Recipe, time: PageTime) -> Result<Fingerprinting> {
        let sketcher = (!recipe.is_external()).then(|| recipe.sketcher()).transpose()?;
        let signer = recipe.check().map(Check::signer);
        Ok(Fingerprinting {
            sketcher: sketcher.map(|sketcher| sketcher.allow(time)),
            signer: signer.map(|signer| signer.allow(time)),
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
        let (fingerprint, class) = sketch(self.sketcher.as_mut(), &document)?.unzip();
        let check = sign(self.signer.as_mut(), fingerprint, &document)?;
        Ok(Some(FingerprintedDocument {
            length: document.content.text_bytes(),
            time: document.time.seconds(),
            content: document.content.digest(),
            class: class.unwrap_or_default(),
            check,
            id: document.id.into_owned(),
            fingerprint,
            position,
        }))
    }
}

/// The fingerprint of a document and its class; none if it has no feature.
fn sketch(
    sketcher: Option<&mut Sketcher>,
    document: &Document<'_>,
) -> Result<Option<(u128, Class)>> {
    let full = |fingerprint| (fingerprint, Class::Full);
    match (&document.content, sketcher) {
        (Content::Fingerprint(fingerprint), None) => Ok(Some(full(*fingerprint))),
        (Content::Text(text), Some(sketcher)) => {
            sketcher.page(text).map_err(|error| naming(error, document))
        }
        (Content::Features(features), Some(sketcher)) => Ok(sketcher.features(features)?.map(full)),
        (Content::Fingerprint(_), Some(_)) => Err(misfit("fingerprints ready made", "external-64")),
        (Content::Text(_), None) => Err(misfit("text", "default")),
        (Content::Features(_), None) => Err(misfit("features ready made", "features")),
    }
}

/// The signature of a document that has a fingerprint; empty if no signature is kept.
fn sign(
    signer: Option<&mut Signer>,
    fingerprint: Option<u128>,
    document: &Document<'_>,
) -> Result<Vec<u8>> {
    let mut signature = Vec::new();
    if let (Some(signer), Some(_), Content::Text(text)) = (signer, fingerprint, &document.content) {
        signer.sign(text, &mut signature).map_err(|error| naming(error, document))?;
    }
    Ok(signature)
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
        .help(format!("choose --recipe {recipe}, or the --format that the input has"))
}
