//! Documents to a segment: read, fingerprint on every worker, sort, write.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::document::{Inputs, MaxBad, QUARANTINE_HEADER, Quarantined, ReadOptions, Share};
use dupsieve::error::At;
use dupsieve::fingerprint::{Check, Recipe, Width};
use dupsieve::flow::{
    Cluster, Collected, End, Gather, Gathered, Portions, Read, Sketching, Worker, deal,
};
use dupsieve::output::{self, Lock, NewFile};
use dupsieve::runs::Sorted;
use dupsieve::store::{Counts, Digest, IdKind, Segment, SegmentOptions, take_in};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use crate::arguments::Common;
use crate::cluster::cluster;
use crate::progress::{Progress, Unit};
use crate::report::{self, Parameters, beside};
use crate::settings::FingerprintSettings;
use crate::summary::Summary;

/// Make fingerprints of documents, and a segment of them
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Files, folders, globs, or - for standard input
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// The segment to make
    #[arg(long, value_name = "FILE.seg")]
    output: PathBuf,
    #[command(flatten)]
    settings: FingerprintSettings,
}

/// One segment that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) output: PathBuf,
    pub(crate) settings: FingerprintSettings,
}

/// What process 0 tells the others.
#[derive(Debug, Serialize, Deserialize)]
enum Decision {
    /// It stands there already.
    Done,
    /// It was only asked about.
    Asked,
    /// Make it, from so many files of so many bytes.
    Make(u64, u64),
}

/// Runs the job as its command line asks.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Summary> {
    let request = Request {
        inputs: arguments.input.clone(),
        output: arguments.output.clone(),
        settings: arguments.settings.clone().or(common.config()?.fingerprint),
    };
    let mut cluster = cluster(common, &format!("{request:?}"))?;
    let summary = fingerprint(&mut cluster, &request, common)?;
    if cluster.is_leader() && !common.dry_run {
        let [read, made, empty, repeated, bad] =
            ["read", "fingerprinted", "empty", "repeated", "quarantined"]
                .map(|it| summary.counted(it));
        tracing::info!(
            "{read} records read: {made} fingerprinted, {empty} empty, {repeated} repeated, {bad} quarantined"
        );
    }
    Ok(summary)
}

/// Makes one segment; every process of the cluster calls this, and process 0 writes it.
pub(crate) fn fingerprint(
    cluster: &mut Cluster,
    request: &Request,
    common: &Common,
) -> Result<Summary> {
    let is_leader = cluster.is_leader();
    report::on_failure(&request.output, is_leader, common, || make(cluster, request, common))
}

fn make(cluster: &mut Cluster, request: &Request, common: &Common) -> Result<Summary> {
    let output = &request.output;
    let job = Job::find(request, cluster.topology().processes)?;
    let (mut lock, mut parameters) = (None, Parameters::new());
    let decision = cluster.agree(&format!("fingerprint {}", output.display()), || {
        lock = (!common.dry_run).then(|| Lock::on_file(output)).transpose()?;
        lock.as_ref().map_or(Ok(()), |lock| lock.remove_unfinished(&quarantine(output)))?;
        parameters = job.parameters()?;
        job.decide(&parameters, common)
    })?;
    let (files, bytes) = match decision {
        Decision::Make(files, bytes) => (files, bytes),
        _ if !cluster.is_leader() => return Ok(Summary::new().untold()),
        Decision::Asked => return Ok(job.would()),
        Decision::Done => return already_done(output),
    };
    job.check_inputs(files, bytes)?;
    let (found, read) = job.sketch(cluster, common)?;
    let (mut summary, processes) = (Summary::new().untold(), cluster.topology().processes);
    cluster.agree(&format!("write {}", output.display()), || {
        read.check_complete(processes)?;
        let lock = lock.expect("process 0 holds the lock");
        summary = job.write(found, &read, &parameters, common, &lock)?;
        Ok(())
    })?;
    Ok(summary)
}

fn already_done(output: &Path) -> Result<Summary> {
    tracing::info!("{} is done already", output.display());
    let segment = Segment::open(output)?;
    Ok(summary(&segment.counts(), output).already_done())
}

fn summary(counts: &Counts, output: &Path) -> Summary {
    Summary::new()
        .count("read", counts.read)
        .count("fingerprinted", counts.fingerprinted)
        .count("empty", counts.empty)
        .count("repeated", counts.repeated)
        .count("quarantined", counts.quarantined)
        .count("blank", counts.blank)
        .count("truncated", counts.truncated)
        .path("output", output)
}

/// The list of what could not be read.
fn quarantine(output: &Path) -> PathBuf {
    beside(output, ".quarantine.tsv")
}

/// What came from a stream cannot be known again.
fn stream_again(output: &Path) -> Error {
    Error::new(
        Kind::Exists,
        "the output exists, and standard input cannot be compared with what it was made from",
    )
    .at(output)
    .help("choose another output, or replace this one with --overwrite")
}

/// A segment to be made, with its inputs found.
struct Job {
    inputs: Arc<Inputs>,
    output: PathBuf,
    recipe: Recipe,
    options: ReadOptions,
    max_bad: MaxBad,
}

impl Job {
    fn find(request: &Request, processes: usize) -> Result<Job> {
        let settings = &request.settings;
        let format = settings.format.unwrap_or_default();
        let (inputs, options) = settings.inputs(&request.inputs)?;
        let recipe = settings.recipe(format)?;
        if processes > 1 && inputs.files().iter().any(|file| file.is_stream()) {
            return Err(Error::new(
                Kind::Usage,
                "standard input cannot be read by several processes",
            )
            .help("write it to a file first, or use one process"));
        }
        Ok(Job {
            inputs: Arc::new(inputs),
            output: request.output.clone(),
            options,
            max_bad: settings.max_bad.unwrap_or_default(),
            recipe,
        })
    }

    fn decide(&self, asked: &Parameters, common: &Common) -> Result<Decision> {
        if let Some(made) = self.standing().or_else(|damage| match common.overwrite {
            true => Ok(None),
            false => Err(damage.help("replace it with --overwrite")),
        })? {
            let made: Parameters = serde_json::from_str(made.identity()).unwrap_or_default();
            match asked.get("inputs") {
                Some(_) if made == *asked => return Ok(Decision::Done),
                _ if common.overwrite => {}
                Some(_) => return Err(report::made_otherwise(&self.output, &made, asked)),
                None => return Err(stream_again(&self.output)),
            }
        }
        match common.dry_run {
            true => Ok(Decision::Asked),
            false => Ok(Decision::Make(self.inputs.files().len() as u64, self.inputs.bytes())),
        }
    }

    /// The segment that stands where this one is to be made, if it is sound.
    fn standing(&self) -> Result<Option<Segment>> {
        if !self.output.exists() {
            return Ok(None);
        }
        let segment = Segment::open(&self.output)?;
        segment.verify().map(|()| Some(segment))
    }

    /// What there is to do, for a dry run.
    fn would(&self) -> Summary {
        let (files, bytes) = (self.inputs.files().len() as u64, self.inputs.bytes());
        tracing::info!("would make {} by recipe {}", self.output.display(), self.recipe.name());
        Summary::new().count("files", files).count("bytes", bytes)
    }

    /// What decides the segment. Standard input has no digest: it is never done already.
    fn parameters(&self) -> Result<Parameters> {
        let ReadOptions { fields, max_record_bytes, accept_truncated, .. } = &self.options;
        let digest = self.inputs.digest()?.map(|digest| ("inputs", Digest(digest).to_string()));
        let named = [
            ("recipe", self.recipe.stamp().to_string()),
            ("id_field", fields.id.clone()),
            ("text_field", fields.text.clone()),
            ("time_field", fields.time.clone().unwrap_or_default()),
            ("max_record_bytes", max_record_bytes.to_string()),
            ("accept_truncated", accept_truncated.to_string()),
            ("max_bad", self.max_bad.to_string()),
        ];
        Ok(named.into_iter().chain(digest).map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The inputs must be the ones that process 0 sees.
    fn check_inputs(&self, files: u64, bytes: u64) -> Result<()> {
        let found = (self.inputs.files().len() as u64, self.inputs.bytes());
        if found == (files, bytes) {
            return Ok(());
        }
        Err(Error::new(Kind::Missing, "this process sees other inputs than process 0")
            .expected(format!("{files} files of {bytes} bytes"))
            .found(format!("{} files of {} bytes", found.0, found.1))
            .help("put the inputs where all hosts see the same"))
    }

    fn sketch(&self, cluster: &mut Cluster, common: &Common) -> Result<(Collected, Read)> {
        let topology = *cluster.topology();
        let progress = Arc::new(AtomicU64::new(0));
        let share = Share { index: topology.process as u32, of: topology.processes as u32 };
        let (inputs, options) = (Arc::clone(&self.inputs), self.options.clone());
        let (workers, fatal) = (topology.workers, cluster.fatal());
        let _shown = Progress::show(
            "fingerprinting",
            Unit::Bytes,
            self.inputs.bytes(),
            Arc::clone(&progress),
            common.quiet,
        );
        let portions = Portions::read(inputs, share, options, workers, progress, fatal.clone());
        let (fields, recipe) = (self.options.fields.clone(), self.recipe.clone());
        let folder = output::parent_of(&self.output).to_path_buf();
        let sort_bytes = common.memory_bytes() as usize / 4;
        let results = cluster.execute(move |worker| {
            let work = Sketching::new(portions.clone(), fields.clone(), &recipe)?;
            let collected = Collected::new(&folder, sort_bytes);
            make_fingerprints(worker, work, collected, End::new(fatal.clone()))
        })?;
        Ok(results.into_iter().next().expect("there is a first worker"))
    }

    /// Process 0 sorts what came, refuses what is too bad, and writes the rest.
    fn write(
        &self,
        found: Collected,
        read: &Read,
        parameters: &Parameters,
        common: &Common,
        lock: &Lock,
    ) -> Result<Summary> {
        self.inputs.check_unchanged()?;
        let Collected { documents, quarantined, records, bad } = found;
        let quarantine = self.write_quarantine(quarantined.sorted()?, bad, lock)?;
        if self.max_bad.exceeded(bad, records) {
            return Err(Error::new(Kind::BadData, "too many records cannot be read")
                .at(quarantine)
                .expected(format!("at most {}", self.max_bad))
                .found(format!("{bad} of {records}"))
                .help("the file lists them; mend them, or raise --max-bad"));
        }
        let &Read { blank, truncated, .. } = read;
        let counts =
            Counts { read: records, quarantined: bad, blank, truncated, ..Counts::default() };
        let options = SegmentOptions {
            ids: IdKind::Text,
            lengths: !self.recipe.is_external(),
            times: self.options.fields.time.is_some(),
            check_bytes: self.recipe.check().map_or(0, Check::bytes),
            stamp: self.recipe.stamp().to_string(),
            ..SegmentOptions::default()
        };
        let identity = serde_json::to_string(parameters).expect("parameters are text");
        let take_in = match self.recipe.width() {
            Width::W64 => take_in::<u64>,
            Width::W128 => take_in::<u128>,
        };
        let memory = common.memory_bytes() as usize / 4;
        let documents = documents.sorted()?;
        let segment = take_in(documents, &self.output, options, counts, &identity, memory, lock)?;
        let summary = summary(&segment.counts(), &self.output);
        Ok(if bad > 0 { summary.path("quarantine", &quarantine) } else { summary })
    }

    fn write_quarantine(
        &self,
        records: Sorted<Quarantined>,
        bad: u64,
        lock: &Lock,
    ) -> Result<PathBuf> {
        let path = quarantine(&self.output);
        if bad == 0 {
            let _ = std::fs::remove_file(&path);
            return Ok(path);
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
        Ok(path)
    }
}

/// The dataflow: batches of records are taken by whoever is free, and what was made of them is
/// gathered by the first worker.
fn make_fingerprints(
    worker: &mut Worker,
    work: Sketching,
    collected: Collected,
    end: End,
) -> Result<(Collected, Read)> {
    let (collected, read) = (Gathered::new(collected), Gathered::new(Read::default()));
    worker.dataflow(|scope| {
        let dealt = deal(scope, work, &end);
        dealt.receipts.gather(&read, &end);
        dealt.window.close(dealt.records.gather(&collected, &end));
    });
    end.wait(worker)?;
    Ok((collected.take(), read.take()))
}
