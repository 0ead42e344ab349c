//! Documents read by all processes together: what each worker makes of them is gathered by process 0.
//!
//! ```text
//! files -> reading thread -> dispatch(Reading) -+- made -> gather -+-> window
//!                                               +- read -> gather
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::checkpoint::Checkpoint;
use super::counting::{Counted, Counting, HostCounting};
use super::dispatch::run_units;
use super::fingerprinting::{Fingerprinting, naming};
use super::portions::Portions;
use super::processes::Processes;
use super::read::Read;
use super::reading::{Collected, Handler, Reading};
use crate::document::{Content, Document, Inputs, Position, ReadOptions, Share};
use crate::error::{Error, Kind, Result};
use crate::features::host_lines::HostRecord;
use crate::fingerprint::{PageTime, Recipe};
use crate::items::{Finder, ItemHit, Items};
use crate::matches::KeepOrder;
use crate::output::resume_folder;
use crate::passages::{CorpusPage, PageWords};
use crate::runs::Record;
use crate::seen::{Holdings, Seeker};
use crate::store::{Digest, FingerprintedDocument};

#[derive(Clone, Debug)]
pub struct Documents {
    /// The files. All processes must see the same ones; each reads its share.
    pub inputs: Arc<Inputs>,
    pub options: ReadOptions,
    /// Where sorted runs go that do not fit into memory.
    pub folder: PathBuf,
    pub memory_bytes: usize,
    /// Grows by the bytes that this process reads from disk.
    pub progress: Arc<AtomicU64>,
    /// Where what is made of each file is kept until the output is complete, and the key of what decides it.
    pub kept: Option<(PathBuf, Digest)>,
}

/// What was made of documents, and what was read. It is in process 0; elsewhere both are empty.
#[derive(Debug)]
pub struct Harvest<R> {
    pub collected: Collected<R>,
    pub read: Read,
}

impl Documents {
    /// Keeps what is made of each file beside the `output`, so that a job that was killed does not read the files again that were done.
    /// All that decides what is made of a file has this `key`.
    #[must_use]
    pub fn kept_beside(self, output: &Path, key: Digest) -> Documents {
        // Of a single file nothing is done before all is.
        let has_several = self.inputs.files().len() > 1;
        Documents { kept: has_several.then(|| (resume_folder(output), key)), ..self }
    }

    /// Makes fingerprints by `recipe`. A page that takes longer than `time` is quarantined. Of pages whose text is in
    /// `holdings`, which were made by the same recipe, nothing is computed.
    pub fn fingerprint(
        self,
        processes: &mut Processes,
        recipe: &Recipe,
        time: PageTime,
        holdings: Option<Arc<Holdings>>,
    ) -> Result<Harvest<FingerprintedDocument>> {
        let recipe = recipe.clone();
        self.handle(processes, move || {
            Ok(Fingerprinting::new(&recipe, time)?.knowing(holdings.as_ref().map(Seeker::new)))
        })
    }

    /// Counts in how many documents each feature of `recipe` occurs; with `lines`, each line. A page that
    /// takes longer than `time` is quarantined.
    pub fn count(
        self,
        processes: &mut Processes,
        recipe: &Recipe,
        lines: bool,
        time: PageTime,
    ) -> Result<Harvest<Counted>> {
        let recipe = recipe.clone();
        self.handle(processes, move || Counting::new(&recipe, lines, time))
    }

    /// Gathers the lines of the documents for their hosts, as `recipe` normalises them.
    pub fn count_by_host(
        self,
        processes: &mut Processes,
        recipe: &Recipe,
    ) -> Result<Harvest<HostRecord>> {
        let recipe = recipe.clone();
        self.handle(processes, move || HostCounting::new(&recipe))
    }

    /// Finds which of the `items` stand in the documents. A page that takes longer than `time` is quarantined.
    pub fn find_items(
        self,
        processes: &mut Processes,
        items: Arc<Items>,
        time: PageTime,
    ) -> Result<Harvest<ItemHit>> {
        self.handle(processes, move || {
            let mut finder = Finder::new(Arc::clone(&items), time);
            let find = move |_: Position, document: &Document<'_>, text: &str| {
                finder.hits(&document.id, text)
            };
            Ok(Finding(find, Vec::new()))
        })
    }

    /// Reads the words of the documents, in which passages are looked for, and puts the pages in this order.
    pub fn read_words(
        self,
        processes: &mut Processes,
        keep: KeepOrder,
    ) -> Result<Harvest<CorpusPage>> {
        self.handle(processes, move || {
            let mut words = PageWords::default();
            let find = move |position, document: &Document<'_>, text: &str| {
                CorpusPage::of(position, document, text, keep, &mut words).map(Some)
            };
            Ok(Finding(find, Vec::new()))
        })
    }

    fn handle<H: Handler>(
        self,
        processes: &mut Processes,
        handler: impl Fn() -> Result<H> + Send + Sync + 'static,
    ) -> Result<Harvest<H::Made>> {
        let topology = *processes.topology();
        let [index, of] = [topology.process, topology.processes].map(|it| it as u32);
        let mut share = Share::new(processes.work(), index, of);
        let fatal = processes.fatal();
        let Documents { inputs, options, folder, memory_bytes, progress, kept } = self;
        let kept = kept.map(|(folder, key)| Checkpoint::open(&folder, key, &inputs)).transpose()?;
        let kept = kept.map(Arc::new);
        if let Some(done) = kept.as_ref().map(|kept| kept.files()).filter(|done| !done.is_empty()) {
            tracing::info!("{} of {} files were done already", done.len(), inputs.files().len());
            share = share.without(done);
        }
        let fields = options.fields.clone();
        let workers = topology.workers;
        let portions =
            Portions::read(inputs, share, options, workers, progress, kept.clone(), fatal.clone());
        processes.execute_gathered(move |worker| {
            let (portions, fields, kept) = (portions.clone(), fields.clone(), kept.clone());
            let reading = Reading { portions, fields, kept, handler: handler()? };
            let into = (Collected::new(&folder, memory_bytes), Read::default());
            let (collected, read) = run_units(worker, reading, |_| 0, into, &fatal)?;
            Ok(Harvest { collected, read })
        })
    }
}

/// Finds something in the texts of documents: items of a reference set, or the words in which passages are looked for. Holds what it has found.
struct Finding<F, M>(F, Vec<M>);

impl<F, I, M> Handler for Finding<F, M>
where
    F: FnMut(Position, &Document<'_>, &str) -> Result<I> + 'static,
    I: IntoIterator<Item = M>,
    M: timely::ExchangeData + Record,
{
    type Made = M;

    fn take(&mut self, position: Position, document: Document<'_>) -> Result<Option<M>> {
        let Content::Text(text) = &document.content else {
            return Err(Error::new(Kind::Usage, "this is looked for in texts alone"));
        };
        let found = (self.0)(position, &document, text);
        self.1.extend(found.map_err(|error| naming(error, &document))?);
        Ok(None)
    }

    fn end_batch(&mut self, _read: &mut Read, made: &mut dyn FnMut(M)) {
        self.1.drain(..).for_each(made);
    }
}
