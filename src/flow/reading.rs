//! Documents lifted to a stream: one thread of each process reads and unpacks, and its workers take
//! batches of records from it as they become free, so that one large file keeps all of them busy.
//! What they make of a document is up to a [`Hand`]; here is the one that makes fingerprints.

use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use serde::{Deserialize, Serialize};

use super::{Claim, Collect, Fatal, Work, Yield};
use crate::document::{
    self, Batch, Content, Document, Fields, Inputs, Position, Quarantine, Quarantined, ReadOptions,
    Reason, Share, Time, Times,
};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Class, PageTime, Recipe, Signer, Sketcher};
use crate::runs::{Record, Sorter};
use crate::store::FingerprintedDocument;

/// Batches read ahead for each worker.
const AHEAD: usize = 4;

/// What becomes of records.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Taken<R> {
    /// Something was made of documents.
    Made(R),
    /// A record could not be read.
    Quarantined(Quarantined),
}

/// What one worker makes of documents.
pub trait Hand: 'static {
    /// What it makes.
    type Made: timely::ExchangeData;

    /// Takes a document, and may make something of it at once. One that fails with
    /// [`Kind::BadData`] is quarantined.
    fn take(&mut self, position: Position, document: Document<'_>) -> Result<Option<Self::Made>>;

    /// Calls `made` with what was made of several documents, at the end of each batch.
    fn end_batch(&mut self, _made: &mut dyn FnMut(Self::Made)) {}
}

/// What was read besides records; the sums over all processes prove that nothing was lost between.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Read {
    /// Blank lines.
    pub blank: u64,
    /// Files that broke off and were accepted all the same.
    pub truncated: u64,
    /// Documents that were taken.
    pub documents: u64,
    /// Records that could not be read.
    pub bad: u64,
    /// Batches that workers took.
    pub taken: u64,
    /// Batches that the reading threads delivered.
    pub delivered: u64,
    /// Reading threads that came to the end.
    pub ends: u64,
    /// How the times of documents were written, where times are wanted.
    pub times: Times,
    /// The first document without the field of its time, and the fields that it has.
    pub without_time: Option<(Position, String)>,
    /// For each process by its number the sum of what the files held that it read.
    pub contents: Vec<(u32, u128)>,
}

impl Read {
    /// Counts how the time of a document is written.
    fn note_time(&mut self, position: Position, document: &Document<'_>) {
        self.times.count(document.time);
        if document.time == Time::NoField && self.without_time.is_none() {
            self.without_time = Some((position, document.fields_found()));
        }
    }

    /// Fails unless every process read its share to the end and every batch was taken.
    pub fn check_complete(&self, processes: usize) -> Result<()> {
        if self.ends == processes as u64 && self.taken == self.delivered {
            return Ok(());
        }
        let told = |ends, batches| format!("{batches} batches and {ends} ends of input");
        Err(Error::new(Kind::Internal, "not all that was read has arrived")
            .expected(told(processes as u64, self.delivered))
            .found(told(self.ends, self.taken)))
    }
}

/// All that came of the inputs, sorted as it comes in.
#[derive(Debug)]
pub struct Collected<R> {
    /// What was made.
    pub made: Sorter<R>,
    /// The records that could not be read.
    pub quarantined: Quarantine,
}

impl<R: Record + 'static> Collect<Taken<R>> for Collected<R> {
    fn collect(&mut self, records: &mut Vec<Taken<R>>) -> Result<()> {
        records.drain(..).try_for_each(|record| match record {
            Taken::Made(made) => self.made.push(made),
            Taken::Quarantined(record) => {
                self.quarantined.push(record);
                Ok(())
            }
        })
    }
}

/// What the reading thread sends.
pub enum Portion {
    /// Records.
    Batch(Batch),
    /// The end of what this process reads.
    End(Read),
}

/// The share of the inputs that this process reads, as its workers receive it.
#[derive(Clone)]
pub struct Portions {
    portions: Receiver<Portion>,
    received: Arc<AtomicU64>,
}

impl Portions {
    /// Begins to read on a thread of its own, ahead of `workers` by a few batches each. `progress`
    /// grows by the bytes read on disk; an error of reading goes to `fatal`.
    pub fn read(
        inputs: Arc<Inputs>,
        share: Share,
        options: ReadOptions,
        workers: usize,
        progress: Arc<AtomicU64>,
        fatal: Fatal,
    ) -> Portions {
        let (send, portions) = bounded(AHEAD * workers);
        thread::spawn(move || read(&inputs, share, &options, &progress, &send, &fatal));
        Portions { portions, received: Arc::default() }
    }

    fn claim(&self) -> Claim<Portion> {
        match self.portions.try_recv() {
            Ok(portion) => {
                let received = self.received.fetch_add(1, Ordering::Relaxed);
                Claim::Unit(received, portion)
            }
            Err(TryRecvError::Empty) => Claim::Later,
            Err(TryRecvError::Disconnected) => Claim::Done,
        }
    }
}

fn read(
    inputs: &Inputs,
    share: Share,
    options: &ReadOptions,
    progress: &AtomicU64,
    send: &Sender<Portion>,
    fatal: &Fatal,
) {
    let mut delivered = 0;
    let mut deliver = |batch| {
        delivered += 1;
        send.send(Portion::Batch(batch)).is_ok()
    };
    match document::read(inputs, share, options, progress, &mut deliver) {
        Ok(tally) => {
            let truncated = tally.truncated.len() as u64;
            let contents = vec![(share.index, tally.contents)];
            let read = Read { truncated, delivered, ends: 1, contents, ..Read::default() };
            let _ = send.send(Portion::End(read));
        }
        Err(error) => fatal.raise(error),
    }
}

/// One worker's part in reading: whatever its hand makes.
pub struct Reading<H> {
    portions: Portions,
    fields: Fields,
    hand: H,
}

impl<H: Hand> Reading<H> {
    /// A part in which `hand` takes the documents.
    pub fn new(portions: Portions, fields: Fields, hand: H) -> Reading<H> {
        Reading { portions, fields, hand }
    }
}

impl<H: Hand> Work for Reading<H> {
    type Unit = Portion;
    type Record = Taken<H::Made>;
    type Receipt = Read;

    fn claim(&mut self) -> Claim<Portion> {
        self.portions.claim()
    }

    fn run(&mut self, portion: Portion) -> Result<(Yield<Taken<H::Made>>, Read)> {
        let batch = match portion {
            Portion::Batch(batch) => batch,
            Portion::End(read) => return Ok((Box::new(iter::empty()), read)),
        };
        let Reading { fields, hand, .. } = self;
        let (mut records, mut failure) = (Vec::new(), None);
        let mut read = Read { taken: 1, ..Read::default() };
        let times_wanted = fields.time.is_some();
        read.blank = batch.parse(fields, &mut |position, document| {
            if let (true, Ok(document)) = (times_wanted, &document) {
                read.note_time(position, document);
            }
            let reason = match document.map(|document| hand.take(position, document)) {
                Ok(Ok(made)) => {
                    read.documents += 1;
                    return records.extend(made.map(Taken::Made));
                }
                Ok(Err(error)) if error.kind() == Kind::BadData => Reason::from(&error),
                Ok(Err(error)) => return failure = failure.take().or(Some(error)),
                Err(reason) => reason,
            };
            read.bad += 1;
            records.push(Taken::Quarantined(Quarantined { position, reason }));
        });
        hand.end_batch(&mut |made| records.push(Taken::Made(made)));
        failure.map_or_else(|| Ok((Box::new(records.into_iter().map(Ok)) as Yield<_>, read)), Err)
    }
}

/// Makes fingerprints.
pub struct Sketching {
    /// None where fingerprints come ready made.
    sketcher: Option<Sketcher>,
    /// None where no check is kept.
    signer: Option<Signer>,
}

impl Sketching {
    /// A hand that makes fingerprints by `recipe`, or takes ready-made ones. A page that takes longer
    /// than `time` is quarantined.
    pub fn new(recipe: &Recipe, time: PageTime) -> Result<Sketching> {
        let sketcher = (!recipe.is_external()).then(|| recipe.sketcher()).transpose()?;
        let signer = recipe.check().map(Check::signer);
        Ok(Sketching {
            sketcher: sketcher.map(|sketcher| sketcher.allow(time)),
            signer: signer.map(|signer| signer.allow(time)),
        })
    }
}

impl Hand for Sketching {
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

/// The fingerprint of a document and its class, none if it has no feature.
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

/// The signature of a document that has a fingerprint, empty where none is kept.
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

/// The failure of a text, with the id of its document where the document is at fault. A long id is cut.
pub(super) fn naming(error: Error, document: &Document<'_>) -> Error {
    const SHOWN: usize = 64;
    match error.kind() {
        Kind::BadData => {
            let id: String = document.id.chars().take(SHOWN).collect();
            error.found(format_args!("the page {id:?}"))
        }
        _ => error,
    }
}

fn misfit(input: &str, recipe: &str) -> Error {
    Error::new(Kind::Usage, format!("the recipe does not fit the input, which holds {input}"))
        .help(format!("choose --recipe {recipe}, or the --format that the input has"))
}

impl Collect<Read> for Read {
    fn collect(&mut self, parts: &mut Vec<Read>) -> Result<()> {
        for part in parts.drain(..) {
            self.blank += part.blank;
            self.truncated += part.truncated;
            self.documents += part.documents;
            self.bad += part.bad;
            self.taken += part.taken;
            self.delivered += part.delivered;
            self.ends += part.ends;
            self.times.add(part.times);
            self.without_time = self.without_time.take().into_iter().chain(part.without_time).min();
            self.contents.extend(part.contents);
        }
        Ok(())
    }
}

impl<R: Record> Collected<R> {
    /// Nothing yet; what is made spills into `folder` when it takes more than `memory_bytes`.
    pub fn new(folder: &Path, memory_bytes: usize) -> Collected<R> {
        Collected { made: Sorter::new(folder, memory_bytes), quarantined: Quarantine::default() }
    }
}
