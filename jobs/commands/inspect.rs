//! `dupsieve inspect`: what a segment holds, and whether it is undamaged.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::Args;
use dupsieve::Result;
use dupsieve::rooms::error::{At, Named};
use dupsieve::rooms::fingerprint::{Fingerprint, Width, hex};
use dupsieve::rooms::join::Preset;
use dupsieve::rooms::results::{ResultColumn, ResultFormat, ResultWriter, Values};
use dupsieve::rooms::store::{Codec, Column, ColumnSize, KeyRange, Segment};
use serde_json::{Value, json};

use crate::commands::help::examples;
use crate::flags::global::GlobalFlags;
use crate::flags::place::Place;
use crate::outcome::summary::Summary;

const EXAMPLES: &[(&str, &str)] = &[
    ("Show what a segment holds", "dupsieve inspect day.seg"),
    ("Print its ids and fingerprints", "dupsieve inspect day.seg --dump"),
];

/// Show what a segment holds, and check every byte of it
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// A segment
    file: Place,
    /// Print its rows instead, as `id<TAB>0x...` in stored order
    #[arg(long)]
    dump: bool,
    /// With --dump, how the rows are printed: tsv, parquet or jsonl. Only tsv has no names of columns [default: tsv]
    #[arg(long, value_name = "FORMAT", requires = "dump")]
    output_format: Option<ResultFormat>,
}

/// Runs `inspect`.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let segment = Segment::open(arguments.file.here()?)?;
    let mut out = BufWriter::new(io::stdout());
    match (arguments.dump, segment.width()) {
        (true, width) => {
            let asked = arguments.output_format;
            let json = global.json.then_some(ResultFormat::JsonLines);
            let format = asked.or(json).unwrap_or_default();
            match width {
                Width::W64 => dump::<u64>(&segment, format, &mut out)?,
                Width::W128 => dump::<u128>(&segment, format, &mut out)?,
            }
        }
        (false, width) => {
            segment.verify()?;
            let gaps = match width {
                Width::W64 => Gaps::of::<u64>(&segment)?,
                Width::W128 => Gaps::of::<u128>(&segment)?,
            };
            let codecs = segment.codecs()?;
            if global.json {
                writeln!(out, "{}", object(&segment, &codecs, &gaps)).at("stdout")?;
            } else {
                describe(&segment, &mut out).at("stdout")?;
                describe_codecs(&codecs, &mut out).at("stdout")?;
                gaps.describe(&segment, &mut out).at("stdout")?;
            }
        }
    }
    out.flush().at("stdout")?;
    Ok(Summary::answered())
}

/// What the segment holds as one JSON object.
fn object(segment: &Segment, codecs: &BTreeMap<Codec, u64>, gaps: &Gaps) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
    let columns = segment.columns().map(|size| {
        let column = format!("{:?}", size.column).to_lowercase();
        let coding = format!("{:?}", size.coding).to_lowercase();
        json!({ "column": column, "rows": size.rows, "bytes": size.bytes, "coding": coding })
    });
    let codecs: BTreeMap<String, u64> =
        codecs.iter().map(|(codec, &bytes)| (codec.to_string(), bytes)).collect();
    json!({
        "segment": segment.path().named(),
        "digest": segment.digest().to_string(),
        "recipe": parsed(segment.stamp()),
        "preset": Preset::of(segment.stamp()),
        "made_from": parsed(segment.identity()),
        "counts": segment.counts(),
        "bytes": segment.bytes(),
        "columns": columns.collect::<Vec<_>>(),
        "codecs": codecs,
        "neighbours": gaps.first_differing,
    })
}

/// Prints every row.
fn dump<F: Fingerprint>(
    segment: &Segment,
    format: ResultFormat,
    out: &mut (impl Write + Send),
) -> Result<()> {
    let columns = [
        ResultColumn::new("id", Values::Text),
        ResultColumn::new("fingerprint", Values::Text).ascending(),
    ];
    let mut table = match format {
        ResultFormat::Tsv => ResultWriter::without_names(out, Path::new("stdout")),
        _ => ResultWriter::new(out, Path::new("stdout"), format, &columns)?,
    };
    let mut scan = segment.scan::<F>(KeyRange::all());
    let mut ids = segment.ids();
    let mut run = Vec::new();
    while let Some(first) = scan.next(&mut run)? {
        for (row, fingerprint) in (first..).zip(&run) {
            let id = ids.get(row)?;
            let fingerprint = hex(fingerprint.to_u128(), F::WIDTH);
            table.row(format_args!("{id}\t{fingerprint}"))?;
        }
    }
    table.finish().map(drop)
}

/// Prints the header of the segment and its columns.
fn describe(segment: &Segment, out: &mut impl Write) -> io::Result<()> {
    let counts = segment.counts();
    writeln!(out, "segment       {}", segment.path().named())?;
    writeln!(out, "digest        {} (sound)", segment.digest())?;
    writeln!(out, "recipe        {}", segment.stamp())?;
    if let Some(preset) = Preset::of(segment.stamp()) {
        writeln!(out, "preset        {preset}")?;
    }
    writeln!(out, "made from     {}", segment.identity())?;
    writeln!(
        out,
        "counts        {} read = {} fingerprinted + {} empty + {} repeated + {} quarantined",
        counts.read, counts.fingerprinted, counts.empty, counts.repeated, counts.quarantined,
    )?;
    writeln!(out, "bytes         {}", segment.bytes())?;
    for size in segment.columns() {
        let column = format!("{:?}", size.column).to_lowercase();
        let coding = format!("{:?}", size.coding).to_lowercase();
        writeln!(
            out,
            "column        {column:<12} {:>13} rows {:>15} bytes  {coding}",
            size.rows, size.bytes,
        )?;
    }
    Ok(())
}

/// Prints how the fingerprints are coded.
fn describe_codecs(codecs: &BTreeMap<Codec, u64>, out: &mut impl Write) -> io::Result<()> {
    codecs.iter().try_for_each(|(codec, bytes)| {
        writeln!(out, "codec         {codec:<12} {:>13}      {bytes:>15} bytes", "")
    })
}

/// How each fingerprint differs from the one before it.
struct Gaps {
    /// How many neighbours first differ in each bit, counted from the highest; equal neighbours last.
    first_differing: Vec<u64>,
    lowest: u128,
    highest: u128,
}

impl Gaps {
    fn of<F: Fingerprint>(segment: &Segment) -> Result<Gaps> {
        let mut first_differing = vec![0; F::BITS as usize + 1];
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut run = Vec::new();
        let mut lowest: Option<F> = None;
        let mut last: Option<F> = None;
        while scan.next(&mut run)?.is_some() {
            for &fingerprint in &run {
                if let Some(last) = last {
                    let differing = (fingerprint ^ last).to_u128().leading_zeros();
                    first_differing[(differing + F::BITS - u128::BITS) as usize] += 1;
                }
                lowest = lowest.or(Some(fingerprint));
                last = Some(fingerprint);
            }
        }
        let wide = |fingerprint: Option<F>| fingerprint.unwrap_or_default().to_u128();
        Ok(Gaps { first_differing, lowest: wide(lowest), highest: wide(last) })
    }

    /// Prints the size against the bound for random fingerprints of this density, and the histogram.
    fn describe(&self, segment: &Segment, out: &mut impl Write) -> io::Result<()> {
        let rows = segment.rows() as f64;
        if self.highest > self.lowest {
            let fingerprints = |size: &ColumnSize| size.column == Column::Fingerprints;
            let bytes: u64 = segment.columns().filter(fingerprints).map(|size| size.bytes).sum();
            let bits = 8.0 * bytes as f64 / rows;
            let span = (self.highest - self.lowest) as f64;
            let bound = span.log2() - rows.log2() + std::f64::consts::LOG2_E;
            writeln!(
                out,
                "bits          {bits:.3} a fingerprint, {:.3} in the whole file; \
                 random ones as dense take {bound:.3} or more",
                8.0 * segment.bytes() as f64 / rows,
            )?;
        }
        writeln!(out, "neighbours    first bit that differs (0 is the highest), pairs")?;
        let width = self.first_differing.len() - 1;
        for (bit, pairs) in self.first_differing.iter().enumerate().filter(|(_, pairs)| **pairs > 0)
        {
            if bit == width {
                writeln!(out, "              equal {pairs:>13}")?;
            } else {
                writeln!(out, "              {bit:>5} {pairs:>13}")?;
            }
        }
        Ok(())
    }
}
