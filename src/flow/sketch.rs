//! Fingerprinting lifted to a stream: one thread of each process reads and unpacks, and its workers
//! take batches of records from it as they become free, so that one large file keeps all of them busy.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use serde::{Deserialize, Serialize};

use super::{Claim, Collect, Fatal, Work};
use crate::document::{
    self, Batch, Content, Document, Fields, Inputs, Quarantined, ReadOptions, Share,
};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Recipe, Signer, Sketcher};
use crate::runs::Sorter;
use crate::store::Arrival;

/// Batches read ahead for each worker.
const AHEAD: usize = 4;

/// What becomes of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Sketched {
    /// A document, with its fingerprint if it has any feature.
    Document(Arrival),
    /// It could not be read.
    Quarantined(Quarantined),
}

/// What was read besides records; the sums over all processes prove that nothing was lost between.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Read {
    /// Blank lines.
    pub blank: u64,
    /// Files that broke off and were accepted all the same.
    pub truncated: u64,
    /// Batches that workers took.
    pub taken: u64,
    /// Batches that the reading threads delivered.
    pub delivered: u64,
    /// Reading threads that came to the end.
    pub ends: u64,
}

impl Read {
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
pub struct Collected {
    /// The documents.
    pub documents: Sorter<Arrival>,
    /// The records that could not be read, in the order of the input.
    pub quarantined: Sorter<Quarantined>,
    /// How many records there were.
    pub records: u64,
    /// How many of them could not be read.
    pub bad: u64,
}

impl Collect<Sketched> for Collected {
    fn collect(&mut self, records: &mut Vec<Sketched>) -> Result<()> {
        self.records += records.len() as u64;
        records.drain(..).try_for_each(|record| match record {
            Sketched::Document(document) => self.documents.push(document),
            Sketched::Quarantined(record) => {
                self.bad += 1;
                self.quarantined.push(record)
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
            let _ =
                send.send(Portion::End(Read { truncated, delivered, ends: 1, ..Read::default() }));
        }
        Err(error) => fatal.raise(error),
    }
}

/// One worker's hand in fingerprinting.
pub struct Sketching {
    portions: Portions,
    fields: Fields,
    /// None where fingerprints come ready made.
    sketcher: Option<Sketcher>,
    /// None where no check is kept.
    signer: Option<Signer>,
}

impl Sketching {
    /// A hand that makes fingerprints by `recipe`, or takes ready-made ones.
    pub fn new(portions: Portions, fields: Fields, recipe: &Recipe) -> Result<Sketching> {
        let sketcher = (!recipe.is_external()).then(|| recipe.sketcher()).transpose()?;
        let signer = recipe.check().map(Check::signer);
        Ok(Sketching { portions, fields, sketcher, signer })
    }
}

impl Work for Sketching {
    type Unit = Portion;
    type Record = Sketched;
    type Receipt = Read;

    fn claim(&mut self) -> Claim<Portion> {
        self.portions.claim()
    }

    fn run(&mut self, portion: Portion) -> Result<(Vec<Sketched>, Read)> {
        let batch = match portion {
            Portion::Batch(batch) => batch,
            Portion::End(read) => return Ok((Vec::new(), read)),
        };
        let Sketching { fields, sketcher, signer, .. } = self;
        let (mut records, mut failure) = (Vec::new(), None);
        let blank = batch.parse(fields, &mut |position, document| {
            let sketched = match document {
                Ok(document) => sketch(sketcher.as_mut(), &document).map(|fingerprint| Arrival {
                    length: document.content.text_bytes(),
                    time: document.time,
                    check: sign(signer.as_mut(), fingerprint, &document),
                    id: document.id.into_owned(),
                    fingerprint,
                    position,
                }),
                Err(reason) => {
                    return records.push(Sketched::Quarantined(Quarantined { position, reason }));
                }
            };
            match sketched {
                Ok(arrival) => records.push(Sketched::Document(arrival)),
                Err(error) if error.kind() == Kind::BadData => {
                    let reason = error.to_string().into();
                    records.push(Sketched::Quarantined(Quarantined { position, reason }));
                }
                Err(error) => failure = failure.take().or(Some(error)),
            }
        });
        match failure {
            Some(error) => Err(error),
            None => Ok((records, Read { blank, taken: 1, ..Read::default() })),
        }
    }
}

/// The fingerprint of a document, none if it has no feature.
fn sketch(sketcher: Option<&mut Sketcher>, document: &Document<'_>) -> Result<Option<u128>> {
    match (&document.content, sketcher) {
        (Content::Fingerprint(fingerprint), None) => Ok(Some(*fingerprint)),
        (Content::Text(text), Some(sketcher)) => sketcher.text(text),
        (Content::Features(features), Some(sketcher)) => sketcher.features(features),
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
) -> Vec<u8> {
    let mut signature = Vec::new();
    if let (Some(signer), Some(_), Content::Text(text)) = (signer, fingerprint, &document.content) {
        signer.sign(text, &mut signature);
    }
    signature
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
            self.taken += part.taken;
            self.delivered += part.delivered;
            self.ends += part.ends;
        }
        Ok(())
    }
}

impl Collected {
    /// Nothing yet; both sorts spill into `folder` when they take more than `memory_bytes`.
    pub fn new(folder: &Path, memory_bytes: usize) -> Collected {
        let (documents, quarantined) =
            (Sorter::new(folder, memory_bytes), Sorter::new(folder, memory_bytes));
        Collected { documents, quarantined, records: 0, bad: 0 }
    }
}
