//! Documents read by all processes together, for the jobs that make one file of them: found, dealt to
//! the workers, and what cannot be read set apart.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dupsieve::document::{Inputs, MaxBad, QUARANTINE_HEADER, Quarantined, ReadOptions, Share};
use dupsieve::error::At;
use dupsieve::flow::{
    Cluster, Collected, End, Gather, Gathered, Hand, Portions, Read, Reading, Worker, deal,
};
use dupsieve::output::{self, Lock, NewFile};
use dupsieve::runs::{Record, Sorted};
use dupsieve::store::Digest;
use dupsieve::{Error, Kind, Result};

use crate::arguments::Common;
use crate::progress::{Progress, Unit};
use crate::report::{Parameters, beside};
use crate::settings::FingerprintSettings;

/// The documents that one file is made of.
pub(crate) struct Pages {
    inputs: Arc<Inputs>,
    output: PathBuf,
    options: ReadOptions,
    max_bad: MaxBad,
}

/// What was made of documents, and what was read.
pub(crate) struct Found<R> {
    collected: Collected<R>,
    read: Read,
    processes: usize,
}

impl Pages {
    /// Finds the inputs of `output`, as `settings` have them read.
    pub(crate) fn find(
        inputs: &[PathBuf],
        output: &Path,
        settings: &FingerprintSettings,
        processes: usize,
    ) -> Result<Pages> {
        let (inputs, options) = settings.inputs(inputs)?;
        if processes > 1 && inputs.files().iter().any(|file| file.is_stream()) {
            return Err(Error::new(
                Kind::Usage,
                "standard input cannot be read by several processes",
            )
            .help("write it to a file first, or use one process"));
        }
        inputs.check_apart(&written(output))?;
        Ok(Pages {
            inputs: Arc::new(inputs),
            output: output.to_path_buf(),
            options,
            max_bad: settings.max_bad.unwrap_or_default(),
        })
    }

    /// The file that is made.
    pub(crate) fn output(&self) -> &Path {
        &self.output
    }

    /// Whether the time of each document is read.
    pub(crate) fn has_times(&self) -> bool {
        self.options.fields.time.is_some()
    }

    /// Says what the files are read as, and which files of the folders given are not read.
    pub(crate) fn announce(&self) {
        let formats = self.inputs.formats().into_iter();
        let formats: Vec<String> =
            formats.map(|(format, files)| format!("{files} files as {format}")).collect();
        if !formats.is_empty() {
            tracing::info!("reading {}", formats.join(", "));
        }
        let passed_over = self.inputs.passed_over();
        if !passed_over.is_empty() {
            tracing::warn!("files that do not fit the format are not read, {passed_over}");
        }
    }

    /// How many files of the folders given are not read.
    pub(crate) fn passed_over(&self) -> u64 {
        self.inputs.passed_over().count()
    }

    /// How many files there are, and their bytes.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.inputs.files().len() as u64, self.inputs.bytes())
    }

    /// What decides the documents. Standard input has no digest: it is never done already.
    pub(crate) fn parameters(&self) -> Result<Parameters> {
        let ReadOptions { fields, max_record_bytes, accept_truncated, .. } = &self.options;
        let digest = self.inputs.digest()?.map(|digest| ("inputs", Digest(digest).to_string()));
        let named = [
            ("id_field", fields.id.clone()),
            ("text_field", fields.text.clone()),
            ("time_field", fields.time.clone().unwrap_or_default()),
            ("max_record_bytes", max_record_bytes.to_string()),
            ("accept_truncated", accept_truncated.to_string()),
            ("max_bad", self.max_bad.to_string()),
        ];
        Ok(named.into_iter().chain(digest).map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The inputs must be the ones that process 0 sees: so many files of so many bytes.
    pub(crate) fn check_size(&self, files: u64, bytes: u64) -> Result<()> {
        let found = self.size();
        if found == (files, bytes) {
            return Ok(());
        }
        Err(Error::new(Kind::Missing, "this process sees other inputs than process 0")
            .expected(format!("{files} files of {bytes} bytes"))
            .found(format!("{} files of {} bytes", found.0, found.1))
            .help("put the inputs where all hosts see the same"))
    }

    /// Reads the documents, each worker with a hand of its own; worker 0 of process 0 gathers what
    /// the hands make. `doing` names the work to whoever watches.
    pub(crate) fn read<H: Hand<Made: Record>>(
        &self,
        cluster: &mut Cluster,
        common: &Common,
        doing: &'static str,
        hand: impl Fn() -> Result<H> + Send + Sync + 'static,
    ) -> Result<Found<H::Made>> {
        let topology = *cluster.topology();
        let progress = Arc::new(AtomicU64::new(0));
        let share = Share { index: topology.process as u32, of: topology.processes as u32 };
        let (inputs, options) = (Arc::clone(&self.inputs), self.options.clone());
        let (workers, fatal) = (topology.workers, cluster.fatal());
        let bytes = self.inputs.bytes();
        let _shown = Progress::show(doing, Unit::Bytes, bytes, Arc::clone(&progress), common.quiet);
        let portions = Portions::read(inputs, share, options, workers, progress, fatal.clone());
        let fields = self.options.fields.clone();
        let folder = output::parent_of(&self.output).to_path_buf();
        let sort_bytes = common.memory_bytes() as usize / 4;
        let results = cluster.execute(move |worker| {
            let work = Reading::new(portions.clone(), fields.clone(), hand()?);
            let collected = Collected::new(&folder, sort_bytes);
            flow(worker, work, collected, End::new(fatal.clone()))
        })?;
        let (collected, read) = results.into_iter().next().expect("there is a first worker");
        Ok(Found { collected, read, processes: topology.processes })
    }

    /// What was found, sorted, once all of it has come and not too much of it is bad; with the list
    /// of what is, where there is any.
    pub(crate) fn accept<R: Record>(
        &self,
        found: Found<R>,
        lock: &Lock,
    ) -> Result<(Sorted<R>, Read, Option<PathBuf>)> {
        let Found { collected, read, processes } = found;
        read.check_complete(processes)?;
        self.inputs.check_unchanged()?;
        let quarantine = self.write_quarantine(collected.quarantined.sorted()?, read.bad, lock)?;
        let records = read.documents + read.bad;
        if self.max_bad.exceeded(read.bad, records) {
            return Err(Error::new(Kind::BadData, "too many records cannot be read")
                .at(quarantine.unwrap_or_default())
                .expected(format!("at most {}", self.max_bad))
                .found(format!("{} of {records}", read.bad))
                .help("the file lists them; mend them, or raise --max-bad"));
        }
        Ok((collected.made.sorted()?, read, quarantine))
    }

    fn write_quarantine(
        &self,
        records: Sorted<Quarantined>,
        bad: u64,
        lock: &Lock,
    ) -> Result<Option<PathBuf>> {
        let path = quarantine(&self.output);
        if bad == 0 {
            let _ = std::fs::remove_file(&path);
            return Ok(None);
        }
        let mut file = NewFile::beside(&path)?;
        file.fenced(lock.fence());
        let mut file = BufWriter::new(file);
        file.write_all(QUARANTINE_HEADER.as_bytes()).at(&path)?;
        for record in records {
            record?.write(&self.inputs, &mut file).at(&path)?;
        }
        file.into_inner().map_err(|failed| Error::io(&path, failed.error()))?.publish()?;
        tracing::warn!("{bad} records could not be read; they are listed in {}", path.display());
        Ok(Some(path))
    }
}

/// All that a job may write in making `output`.
pub(crate) fn written(output: &Path) -> Vec<PathBuf> {
    vec![output.to_path_buf(), quarantine(output), beside(output, ".failed.json")]
}

/// The list of what could not be read, beside an output.
pub(crate) fn quarantine(output: &Path) -> PathBuf {
    beside(output, ".quarantine.tsv")
}

/// What came from a stream cannot be known again.
pub(crate) fn stream_again(output: &Path) -> Error {
    Error::new(
        Kind::Exists,
        "the output exists, and standard input cannot be compared with what it was made from",
    )
    .at(output)
    .help("choose another output, or replace this one with --overwrite")
}

/// The dataflow: batches of records are taken by whoever is free, and what was made of them is
/// gathered by the first worker.
fn flow<H: Hand<Made: Record>>(
    worker: &mut Worker,
    work: Reading<H>,
    collected: Collected<H::Made>,
    end: End,
) -> Result<(Collected<H::Made>, Read)> {
    let (collected, read) = (Gathered::new(collected), Gathered::new(Read::default()));
    worker.dataflow(|scope| {
        let dealt = deal(scope, work, &end);
        dealt.receipts.gather(&read, &end);
        dealt.window.close(dealt.records.gather(&collected, &end));
    });
    end.wait(worker)?;
    Ok((collected.take(), read.take()))
}
