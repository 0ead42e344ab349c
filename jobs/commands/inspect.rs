//! `dupsieve inspect`: what a segment holds, and whether it is undamaged.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::Args;
use dupsieve::Result;
use dupsieve::error::{At, Named};
use dupsieve::fingerprint::{Fingerprint, Stamp, Width, hex};
use dupsieve::join::Preset;
use dupsieve::results::{ResultColumn, ResultFormat, ResultWriter, Values};
use dupsieve::store::{Codec, KeyRange, Segment};
use serde_json::{Value, json};

use crate::commands::examples;
use crate::flags::{GlobalFlags, Place};
use crate::outcome::{Summary, answer, terminal};

const EXAMPLES: &str = "
# Show what a segment holds
dupsieve inspect day.seg
# Print its ids and fingerprints
dupsieve inspect day.seg --dump";

/// Show what a segment holds, and check every byte of it
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// A segment
    file: Place,
    /// Print its rows instead, as `id<TAB>0x...` in stored order, and behind another tab the key, if pages have keys (of a field, its hash)
    #[arg(long)]
    dump: bool,
    /// With --dump, how the rows are printed: tsv, parquet or jsonl. Only tsv has no names of columns [default: tsv]
    #[arg(long, value_name = "FORMAT", requires = "dump")]
    output_format: Option<ResultFormat>,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let segment = Segment::open(arguments.file.here()?)?;
    if !arguments.dump {
        segment.verify()?;
        let object = object(&segment, &segment.codecs()?);
        return answer::print(&object, include_str!("inspect.txt"), global.json);
    }
    let mut out = BufWriter::new(terminal::stdout());
    let json = global.json.then_some(ResultFormat::JsonLines);
    let format = arguments.output_format.or(json).unwrap_or_default();
    match segment.width() {
        Width::W64 => dump::<u64>(&segment, format, &mut out)?,
        Width::W128 => dump::<u128>(&segment, format, &mut out)?,
    }
    out.flush().at("stdout")?;
    Ok(Summary::new())
}

fn object(segment: &Segment, codecs: &BTreeMap<Codec, u64>) -> Value {
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
    })
}

fn dump<F: Fingerprint>(
    segment: &Segment,
    format: ResultFormat,
    out: &mut (impl Write + Send),
) -> Result<()> {
    let mut columns = vec![
        ResultColumn::new("id", Values::Text),
        ResultColumn::new("fingerprint", Values::Text).ascending(),
    ];
    let mut keys = segment.keys();
    let key = Stamp::parse(segment.stamp()).ok().and_then(|stamp| stamp.key());
    let key = key.filter(|key| key.field().is_none());
    if keys.is_some() {
        columns.push(ResultColumn::new("key", Values::Text));
    }
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
            match (&mut keys, &key) {
                (None, _) => table.row(format_args!("{id}\t{fingerprint}"))?,
                (Some(_), Some(key)) => {
                    table.row(format_args!("{id}\t{fingerprint}\t{}", key.of(id, None)))?;
                }
                (Some(keys), None) => {
                    table.row(format_args!("{id}\t{fingerprint}\t{:032x}", keys.get(row)?))?;
                }
            }
        }
    }
    table.finish().map(drop)
}
