//! Documents read by all processes together: what each worker makes of them is gathered by process 0.
//!
//! ```text
//! files -> reading thread -> dispatch(Reading) -+- made -> gather -+-> window
//!                                               +- read -> gather
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use timely::worker::Worker;

use super::counting::{Counted, Counting};
use super::dispatch::dispatch;
use super::fatal::Fatal;
use super::fingerprinting::Fingerprinting;
use super::gather::{End, Gather, Gathered};
use super::host_counting::HostCounting;
use super::portions::Portions;
use super::processes::Processes;
use super::read::Read;
use super::reading::{Collected, Handler, Reading};
use super::sketching::Sketching;
use crate::document::{Inputs, ReadOptions, Share};
use crate::error::Result;
use crate::features::host_lines::HostRecord;
use crate::fingerprint::{PageTime, Recipe};
use crate::lsh::{Scheme, SketchedDocument};
use crate::seen::{Holdings, Seeker};
use crate::store::FingerprintedDocument;

/// Documents to be read.
#[derive(Clone, Debug)]
pub struct Documents {
    /// The files. All processes must see the same ones; each reads its share.
    pub inputs: Arc<Inputs>,
    /// How they are read.
    pub options: ReadOptions,
    /// Where sorted runs go that do not fit into memory.
    pub folder: PathBuf,
    /// The memory that sorting what is made may take, in bytes.
    pub memory_bytes: usize,
    /// Grows by the bytes that this process reads from disk.
    pub progress: Arc<AtomicU64>,
}

/// What was made of documents, and what was read. It is in process 0; elsewhere both are empty.
#[derive(Debug)]
pub struct Harvest<R> {
    /// What was made, and what could not be read.
    pub collected: Collected<R>,
    /// What was read.
    pub read: Read,
}

impl Documents {
    /// Makes fingerprints by `recipe`. A page that takes longer than `time` is quarantined. Of pages whose text is in
    /// `holdings`, which were made by the same recipe, nothing is computed.
    ///
    /// # Errors
    /// The first error of any worker, as `Processes::execute`.
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

    /// Makes sketches by `scheme`. A page that takes longer than `time` is quarantined.
    ///
    /// # Errors
    /// The first error of any worker, as `Processes::execute`.
    pub fn sketch(
        self,
        processes: &mut Processes,
        scheme: &Scheme,
        time: PageTime,
    ) -> Result<Harvest<SketchedDocument>> {
        let scheme = scheme.clone();
        self.handle(processes, move || Ok(Sketching::new(&scheme, time)))
    }

    /// Counts in how many documents each feature of `recipe` occurs; with `lines`, each line. A page that
    /// takes longer than `time` is quarantined.
    ///
    /// # Errors
    /// The first error of any worker, as `Processes::execute`.
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
    ///
    /// # Errors
    /// The first error of any worker, as `Processes::execute`.
    pub fn count_by_host(
        self,
        processes: &mut Processes,
        recipe: &Recipe,
    ) -> Result<Harvest<HostRecord>> {
        let recipe = recipe.clone();
        self.handle(processes, move || HostCounting::new(&recipe))
    }

    /// Reads the documents, each worker with a handler of its own.
    fn handle<H: Handler>(
        self,
        processes: &mut Processes,
        handler: impl Fn() -> Result<H> + Send + Sync + 'static,
    ) -> Result<Harvest<H::Made>> {
        let topology = *processes.topology();
        let [index, of] = [topology.process, topology.processes].map(|it| it as u32);
        let share = Share::new(processes.desk(), index, of);
        let fatal = processes.fatal();
        let Documents { inputs, options, folder, memory_bytes, progress } = self;
        let fields = options.fields.clone();
        let workers = topology.workers;
        let portions = Portions::read(inputs, share, options, workers, progress, fatal.clone());
        processes.execute_gathered(move |worker| {
            let reading = Reading::new(portions.clone(), fields.clone(), handler()?);
            read(worker, reading, Collected::new(&folder, memory_bytes), &fatal)
        })
    }
}

fn read<H: Handler>(
    worker: &mut Worker,
    reading: Reading<H>,
    collected: Collected<H::Made>,
    fatal: &Fatal,
) -> Result<Harvest<H::Made>> {
    let end = End::new(fatal.clone());
    let collected = Gathered::new(collected);
    let read = Gathered::new(Read::default());
    worker.dataflow(|scope| {
        let dispatched = dispatch(scope, reading, &end);
        dispatched.receipts.gather(&read, &end);
        dispatched.window.close(dispatched.records.gather(&collected, &end));
    });
    end.wait(worker)?;
    Ok(Harvest { collected: collected.take(), read: read.take() })
}
