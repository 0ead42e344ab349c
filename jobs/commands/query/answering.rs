//! What one worker does: it makes the fingerprints of pages and asks for what is near to them.

use std::sync::Arc;

use dupsieve::document::{Content, Document, Fields, Position, Quarantined, Reason, Records};
use dupsieve::fingerprint::{PageTime, Recipe};
use dupsieve::flow::Fingerprinting;
use dupsieve::index::{Asker, Lookup};
use dupsieve::matches::{Answer, Question};
use dupsieve::report::Copies;
use dupsieve::store::FingerprintedDocument;
use dupsieve::work::Work;
use dupsieve::{Kind, Result};

use crate::commands::near;

#[derive(Clone, Copy)]
pub(super) struct Answering<'a> {
    pub(super) lookup: &'a Arc<Lookup>,
    pub(super) copies: Option<&'a Copies>,
    pub(super) recipe: &'a Recipe,
    pub(super) page_time: PageTime,
    pub(super) limit: usize,
    pub(super) max_work: Option<u64>,
}

#[derive(Default)]
pub(super) struct Answered {
    pub(super) lines: Vec<u8>,
    pub(super) documents: u64,
    pub(super) bad: Vec<Quarantined>,
}

pub(super) struct Answerer<'a> {
    answering: Answering<'a>,
    asker: Asker,
    fingerprinting: Fingerprinting,
}

impl<'a> Answerer<'a> {
    pub(super) fn new(answering: Answering<'a>) -> Result<Answerer<'a>> {
        let asker = Asker::new(answering.lookup);
        let fingerprinting = Fingerprinting::new(answering.recipe, answering.page_time)?;
        Ok(Answerer { answering, asker, fingerprinting })
    }

    pub(super) fn answer(&mut self, records: &Records, fields: &Fields) -> Result<Answered> {
        let mut answered = Answered::default();
        let mut failure = None;
        records.parse(fields, &mut |position, document| {
            if failure.is_some() {
                return;
            }
            let taken = match document {
                Ok(document) => self.document(position, document, &mut answered),
                Err(reason) => Ok(Err(reason)),
            };
            match taken {
                Ok(Ok(())) => {}
                Ok(Err(reason)) => answered.bad.push(Quarantined { position, reason }),
                Err(error) => failure = Some(error),
            }
        });
        failure.map_or(Ok(answered), Err)
    }

    /// Adds the line of a document, or says why the document is bad.
    fn document(
        &mut self,
        position: Position,
        document: Document<'_>,
        answered: &mut Answered,
    ) -> Result<std::result::Result<(), Reason>> {
        let id = document.id.clone().into_owned();
        let answer = match document.content {
            Content::Fingerprint(fingerprint) => {
                Some(self.ask(&Question { fingerprint, page: None })?)
            }
            _ => match self.fingerprinting.page(position, document) {
                Ok(made) => self.ask_made(&made)?,
                Err(error) if error.kind() == Kind::BadData => {
                    return Ok(Err(Reason::from(&error)));
                }
                Err(error) => return Err(error),
            },
        };
        let Answering { lookup, copies, .. } = self.answering;
        let answer = near::Answer::of(&id, (lookup, copies), answer.as_ref());
        answered.lines.extend_from_slice(answer.to_line().as_bytes());
        answered.documents += 1;
        Ok(Ok(()))
    }

    fn ask_made(&mut self, made: &FingerprintedDocument) -> Result<Option<Answer>> {
        let Some(fingerprint) = made.fingerprint else { return Ok(None) };
        self.ask(&Question { fingerprint, page: Some(&made.details) }).map(Some)
    }

    fn ask(&mut self, question: &Question<'_>) -> Result<Answer> {
        let Answering { limit, max_work, .. } = self.answering;
        self.asker.ask(question, limit, &mut max_work.map_or(Work::unbounded(), Work::of))
    }
}
