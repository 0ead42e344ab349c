//! Documents to a segment: read, fingerprint on every worker, sort, write.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::document::{
    Fields, Format, Inputs, MaxBad, QUARANTINE_HEADER, Quarantined, ReadOptions, Share,
};
use dupsieve::fingerprint::{Recipe, Width};
use dupsieve::flow::{
    Cluster, Collected, End, Gather, Gathered, Portions, Read, Sketching, Worker, deal,
};
use dupsieve::output::{self, Lock, OutputFile};
use dupsieve::runs::Sorted;
use dupsieve::store::{Counts, Digest, IdKind, Segment, SegmentOptions, take_in};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use crate::arguments::Common;
use crate::cluster::cluster;
use crate::progress::{Progress, Unit};
use crate::report::{self, Parameters, beside};
use crate::settings::{ByteSize, RecipeChoice, parse_width, typed};
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

/// How documents are read, and what is made of them.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FingerprintSettings {
    /// The recipe, by name [default: default]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// 64 or 128 bits, where the recipe allows both
    #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
    width: Option<Width>,
    /// auto, jsonl, text, tsv, fingerprints or features [default: auto]
    #[arg(long, env = "DUPSIEVE_FORMAT")]
    #[serde(deserialize_with = "typed")]
    format: Option<Format>,
    /// The field of a record that holds its id, dotted where it lies deeper [default: id]
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_ID_FIELD")]
    id_field: Option<String>,
    /// The field that holds the text [default: text]
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_TEXT_FIELD")]
    text_field: Option<String>,
    /// The field that holds the time, RFC 3339 or seconds
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_TIME_FIELD")]
    time_field: Option<String>,
    /// How many records may be bad: a number, or a share such as 0.5% [default: 1%]
    #[arg(long, value_name = "N|P%", env = "DUPSIEVE_MAX_BAD")]
    #[serde(deserialize_with = "typed")]
    max_bad: Option<MaxBad>,
    /// The longest record, such as 64MiB; longer ones are quarantined [default: 64MiB]
    #[arg(long, value_name = "SIZE", env = "DUPSIEVE_MAX_RECORD")]
    #[serde(deserialize_with = "typed")]
    max_record: Option<ByteSize>,
    /// Take what can be read of compressed files that break off
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    accept_truncated: Option<bool>,
}

impl FingerprintSettings {
    /// These settings, and where they are silent those of a file.
    pub(crate) fn or(self, file: FingerprintSettings) -> FingerprintSettings {
        FingerprintSettings {
            recipe: self.recipe.or(file.recipe),
            width: self.width.or(file.width),
            format: self.format.or(file.format),
            id_field: self.id_field.or(file.id_field),
            text_field: self.text_field.or(file.text_field),
            time_field: self.time_field.or(file.time_field),
            max_bad: self.max_bad.or(file.max_bad),
            max_record: self.max_record.or(file.max_record),
            accept_truncated: self.accept_truncated.or(file.accept_truncated),
        }
    }

    /// The inputs that `paths` stand for, and how they are read.
    pub(crate) fn inputs(&self, paths: &[PathBuf]) -> Result<(Inputs, ReadOptions)> {
        let format = self.format.unwrap_or_default();
        let options = self.read_options(self.recipe(format)?.width());
        Ok((Inputs::find(paths, format)?, options))
    }

    /// The recipe that was chosen, or the one that goes with the format.
    fn recipe(&self, format: Format) -> Result<Recipe> {
        let width = self.width;
        match &self.recipe {
            Some(choice) => choice.recipe(width),
            None if format == Format::Fingerprints => match width {
                Some(Width::W128) => Recipe::named("external-128", None),
                _ => Recipe::named("external-64", None),
            },
            None if format == Format::Features => Recipe::named("features", width),
            None => Recipe::named("default", width),
        }
    }

    fn read_options(&self, width: Width) -> ReadOptions {
        let usual = ReadOptions::default();
        let fields = Fields {
            id: self.id_field.clone().unwrap_or(usual.fields.id),
            text: self.text_field.clone().unwrap_or(usual.fields.text),
            time: self.time_field.clone(),
            width_bits: width.bits(),
        };
        let max_record_bytes =
            self.max_record.map_or(usual.max_record_bytes, |ByteSize(bytes)| bytes as usize);
        let accept_truncated = self.accept_truncated.unwrap_or(usual.accept_truncated);
        ReadOptions { fields, max_record_bytes, accept_truncated, ..usual }
    }
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
    report::on_failure(&request.output, cluster.is_leader(), || make(cluster, request, common))
}

fn make(cluster: &mut Cluster, request: &Request, common: &Common) -> Result<Summary> {
    let output = &request.output;
    let job = Job::find(request, cluster.topology().processes)?;
    let mut lock = None;
    let decision = cluster.agree(&format!("fingerprint {}", output.display()), || {
        lock = (!common.dry_run).then(|| lock_output(output)).transpose()?;
        job.decide(common)
    })?;
    let (files, bytes) = match decision {
        Decision::Make(files, bytes) => (files, bytes),
        _ if !cluster.is_leader() => return Ok(Summary::new().untold()),
        Decision::Asked => return Ok(job.would()),
        Decision::Done => return already_done(output),
    };
    job.check_inputs(files, bytes)?;
    let (found, read) = job.sketch(cluster, common)?;
    match cluster.is_leader() {
        true => job.write(found, &read, common),
        false => Ok(Summary::new().untold()),
    }
}

fn lock_output(output: &Path) -> Result<Lock> {
    let folder = output::parent_of(output);
    std::fs::create_dir_all(folder).map_err(|cause| Error::io(folder, &cause))?;
    Lock::on_file(output)
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

    fn decide(&self, common: &Common) -> Result<Decision> {
        if self.output.exists() {
            let made = Segment::open(&self.output)?;
            let made: Parameters = serde_json::from_str(made.identity()).unwrap_or_default();
            let asked = self.parameters()?;
            if made == asked && asked.contains_key("inputs") {
                return Ok(Decision::Done);
            }
            if !common.overwrite {
                return Err(report::made_otherwise(&self.output, &made, &asked));
            }
        }
        match common.dry_run {
            true => Ok(Decision::Asked),
            false => Ok(Decision::Make(self.inputs.files().len() as u64, self.inputs.bytes())),
        }
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
    fn write(&self, found: Collected, read: &Read, common: &Common) -> Result<Summary> {
        let Collected { documents, quarantined, records, bad } = found;
        let quarantine = self.write_quarantine(quarantined.sorted()?, bad)?;
        if self.max_bad.exceeded(bad, records) {
            return Err(Error::new(Kind::BadData, "too many records cannot be read")
                .at(quarantine)
                .expected(format!("at most {}", self.max_bad))
                .found(format!("{bad} of {records}"))
                .help("the file lists them; mend them, or raise --max-bad"));
        }
        let &Read { blank, truncated } = read;
        let counts =
            Counts { read: records, quarantined: bad, blank, truncated, ..Counts::default() };
        let options = SegmentOptions {
            ids: IdKind::Text,
            lengths: !self.recipe.is_external(),
            times: self.options.fields.time.is_some(),
            stamp: self.recipe.stamp().to_string(),
        };
        let identity = serde_json::to_string(&self.parameters()?).expect("parameters are text");
        let take_in = match self.recipe.width() {
            Width::W64 => take_in::<u64>,
            Width::W128 => take_in::<u128>,
        };
        let memory = common.memory_bytes() as usize / 4;
        let documents = documents.sorted()?;
        let segment = take_in(documents, &self.output, options, counts, &identity, memory)?;
        check_counts(&segment.counts())?;
        let summary = summary(&segment.counts(), &self.output);
        Ok(if bad > 0 { summary.path("quarantine", &quarantine) } else { summary })
    }

    fn write_quarantine(&self, records: Sorted<Quarantined>, bad: u64) -> Result<PathBuf> {
        let path = beside(&self.output, ".quarantine.tsv");
        if bad == 0 {
            let _ = std::fs::remove_file(&path);
            return Ok(path);
        }
        let mut file = OutputFile::create(&path)?;
        file.write(|out| out.write_all(QUARANTINE_HEADER.as_bytes()))?;
        for record in records {
            let record = record?;
            file.write(|out| record.write(&self.inputs, out))?;
        }
        file.finish()?;
        tracing::warn!("{bad} records could not be read; they are listed in {}", path.display());
        Ok(path)
    }
}

/// Nothing may be lost: what was read is what was fingerprinted, empty, repeated or quarantined.
fn check_counts(counts: &Counts) -> Result<()> {
    let Counts { read, fingerprinted, empty, repeated, quarantined, .. } = *counts;
    let told = fingerprinted + empty + repeated + quarantined;
    if read == told {
        return Ok(());
    }
    Err(Error::new(Kind::Internal, "records were lost").expected(read).found(told))
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
