//! `generate segment`: random fingerprints, some of them near-duplicates of another segment's rows.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dupsieve::fingerprint::{Fingerprint, Width};
use dupsieve::output::{self, PackedFile};
use dupsieve::store::{Codec, IdKind, Segment, SegmentOptions};
use dupsieve::synthetic::{self, MAX_COUNT, Planted, SegmentSpec};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::examples;
use crate::flags::{DryRun, GlobalFlags, Output, Overwrite, parse_count, parse_width, shared};
use crate::outcome::Summary;

const EXAMPLES: &str = "
# Make a million random fingerprints
dupsieve generate segment --count 1e6 --output random.seg
# Add 100 near-duplicates of another segment's rows, and list them
dupsieve generate segment --count 1e6 --seed 2 --near random.seg --planted 100 \\
  --truth truth.tsv --output store.seg";

/// Write a segment of random fingerprints, sorted and distinct
#[derive(Args, Debug)]
#[command(args = shared(&[DryRun, Overwrite]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// How many fingerprints, including planted ones
    #[arg(long, value_name = "N", value_parser = parse_count)]
    count: u64,
    /// Random seed: the same seed gives the same segment
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Draw a set of this many fingerprints and take the smallest ones, so that they are as dense as
    /// those of a store of this size [default: the count]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    density: Option<u64>,
    /// Write a segment with the width, the recipe and the columns of this one, such as ids and sketches. Ids are
    /// the numbers of the rows; lengths, times, sketches and band keys are random
    #[arg(long, value_name = "FILE.seg", conflicts_with_all = ["ids", "width"])]
    like: Option<PathBuf>,
    /// Plant near-duplicates of random rows of this segment
    #[arg(long, value_name = "FILE.seg", requires = "planted")]
    near: Option<PathBuf>,
    /// How many to plant
    #[arg(long, value_name = "M", value_parser = parse_count, requires = "near", default_value = "0")]
    planted: u64,
    /// A planted fingerprint differs from its row in this many bits
    #[arg(long, value_name = "K", default_value_t = 3)]
    planted_distance: u32,
    /// File for the list of planted pairs: `planted near distance`
    #[arg(long, value_name = "FILE", requires = "near")]
    truth: Option<PathBuf>,
    /// Ids of the rows
    #[arg(long, value_enum, default_value_t)]
    ids: Ids,
    /// Codec of the fingerprints: elias-fano or huffman
    #[arg(long, value_name = "C", default_value_t)]
    codec: Codec,
    /// Bits of a fingerprint, 64 or 128
    #[arg(long, value_name = "W", value_parser = parse_width, default_value = "64")]
    width: Width,
    /// Output file
    #[arg(long, value_name = "FILE.seg")]
    output: Output,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Ids {
    /// No ids are stored: the id of a row is its fingerprint, as 0x...
    #[default]
    None,
    /// The numbers of the rows, from 0
    Numbers,
    /// Text like URLs, as crawls have them
    Urls,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let output = &*arguments.output.here()?;
    let near = arguments.near.as_ref().map(Segment::open).transpose()?;
    let like = arguments.like.as_ref().map(Segment::open).transpose()?;
    let width = like.as_ref().map_or(arguments.width, Segment::width);
    let wanted = arguments.wanted(like.as_ref());
    arguments.check(&wanted, width, near.as_ref())?;
    let identity = arguments.identity(&wanted, width, near.as_ref());
    let exists = arguments.exists(output, &identity, global.overwrite)?;
    if exists && arguments.truth.is_none() {
        return Ok(arguments.summary(output, Summary::new().already_done()));
    }
    if !global.dry_run {
        match width {
            Width::W64 => {
                arguments.write::<u64>(output, (&wanted, &identity), near.as_ref(), global)?
            }
            Width::W128 => {
                arguments.write::<u128>(output, (&wanted, &identity), near.as_ref(), global)?
            }
        }
    }
    Ok(arguments.summary(output, Summary::new()))
}

impl Arguments {
    fn wanted(&self, like: Option<&Segment>) -> SegmentSpec {
        let ids = match self.ids {
            Ids::None => IdKind::None,
            Ids::Numbers => IdKind::Numbers,
            Ids::Urls => IdKind::Text,
        };
        let urls = matches!(self.ids, Ids::Urls);
        let stamp = format!("external-{}", self.width.bits());
        let mut options = like.map_or_else(SegmentOptions::default, SegmentOptions::like);
        if like.is_none() {
            options.ids = ids;
            options.stamp = stamp;
        }
        options.codec = self.codec;
        let density = self.density.unwrap_or(self.count);
        SegmentSpec { seed: self.seed, count: self.count, density, options, urls }
    }

    fn check(&self, wanted: &SegmentSpec, width: Width, near: Option<&Segment>) -> Result<()> {
        if let Some(near) = near.filter(|near| near.width() != width) {
            return Err(Error::new(Kind::Usage, "the segment of --near has another width")
                .at(near.path())
                .expected(width.bits())
                .found(near.width().bits()));
        }
        let limits = [
            ("--planted exceeds --count", self.planted, self.count),
            ("--count exceeds --density", self.count, wanted.density),
            ("--density or --count is too large", wanted.density, MAX_COUNT),
        ];
        match limits.into_iter().find(|(_, found, most)| found > most) {
            None => Ok(()),
            Some((what, found, most)) => Err(Error::new(Kind::Usage, what)
                .expected(format_args!("at most {most}"))
                .found(found)),
        }
    }

    fn identity(&self, wanted: &SegmentSpec, width: Width, near: Option<&Segment>) -> String {
        let near = near.map(|near| {
            json!({
                "segment": near.digest(), "planted": self.planted,
                "distance": self.planted_distance,
            })
        });
        let SegmentOptions { ids, codec, lengths, times, classes, check_bytes, stamp, .. } =
            &wanted.options;
        let mut identity = json!({
            "generated": 1, "count": wanted.count, "density": wanted.density, "seed": wanted.seed,
            "ids": ids, "codec": codec.to_string(), "width": width.bits(), "near": near,
        });
        if self.like.is_some() {
            identity["like"] = json!({
                "lengths": lengths, "times": times, "classes": classes, "check_bytes": check_bytes,
                "stamp": stamp,
            });
        }
        identity.to_string()
    }

    /// Whether the output exists already, made from the same parameters. The file of --truth does not say
    /// which output it belongs to; it is compared when it is written again.
    fn exists(&self, output: &Path, identity: &str, overwrite: bool) -> Result<bool> {
        let exists = output.exists();
        if exists && !Segment::is_segment(output)? {
            return Err(output::foreign(output, "a segment"));
        }
        if overwrite {
            return Ok(false);
        }
        if exists {
            let found = Segment::open(output)?;
            if found.identity() != identity {
                let what = "the output was made from other parameters";
                return Err(Error::new(Kind::Exists, what)
                    .at(output)
                    .expected(identity)
                    .found(found.identity())
                    .help("choose another output, or replace this one with --overwrite"));
            }
        }
        if let Some(truth) = self.truth.as_ref().filter(|truth| truth.exists() && !exists) {
            return Err(Error::new(Kind::Exists, "the file of --truth belongs to another output")
                .at(truth)
                .help("choose another --truth, or replace both with --overwrite"));
        }
        Ok(exists)
    }

    fn write<F: Fingerprint>(
        &self,
        output: &Path,
        (wanted, identity): (&SegmentSpec, &str),
        near: Option<&Segment>,
        global: &GlobalFlags,
    ) -> Result<()> {
        let planted = near.map_or(Ok(Vec::new()), |near| {
            synthetic::plant::<F>(near, self.planted, self.planted_distance, self.seed)
        })?;
        let (segment, rows) = synthetic::generate(output, wanted, &planted, identity)?;
        match &self.truth {
            Some(path) => {
                let truth = PackedFile::create(path)?;
                write_truth(truth, &segment, &planted, &rows, self.planted_distance)?
                    .finish(global.overwrite)
                    .map(drop)
            }
            None => Ok(()),
        }
    }

    fn summary(&self, output: &Path, summary: Summary) -> Summary {
        let summary = summary
            .count("fingerprints", self.count)
            .count("planted", self.planted)
            .path("output", output);
        self.truth.iter().fold(summary, |summary, truth| summary.path("truth", truth))
    }
}

fn write_truth<F>(
    mut truth: PackedFile,
    segment: &Segment,
    planted: &[Planted<F>],
    rows: &[u64],
    distance: u32,
) -> Result<PackedFile> {
    let mut ids = segment.ids();
    truth.line(b"planted\tnear\tdistance")?;
    for (Planted { near, .. }, &row) in planted.iter().zip(rows) {
        truth.line(format!("{}\t{near}\t{distance}", ids.get(row)?).as_bytes())?;
    }
    Ok(truth)
}
