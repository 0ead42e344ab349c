//! `dupsieve plan`: how a batch would be joined with a store, given their sizes, and why.

use clap::Args;
use dupsieve::Result;
use dupsieve::fingerprint::{Check, Width};
use dupsieve::join::Preset;
use dupsieve::matches::{AnchorCost, held_bytes};
use dupsieve::passages::PassageCost;
use dupsieve::tables::{Design, Estimate, Problem, plan};
use serde_json::json;

use crate::commands::examples;
use crate::flags::{GlobalFlags, Memory, Workers, parse_count, parse_width, shared};
use crate::outcome::{Summary, answer};

const EXAMPLES: &str = "
# See how a million pages would be joined with eight billion
dupsieve plan --batch 1e6 --store 8e9 --distance 3";

/// Estimate the time and memory of a join, by each design
#[derive(Args, Debug)]
#[command(args = shared(&[Workers, Memory]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Number of distinct fingerprints in the batch
    #[arg(long, value_name = "N", value_parser = parse_count)]
    batch: u64,
    /// Number of fingerprints in the store
    #[arg(long, value_name = "N", value_parser = parse_count)]
    store: u64,
    /// What counts as near, paper or balanced [default: balanced]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_PRESET")]
    preset: Option<Preset>,
    /// Near-duplicates differ in at most this many bits [default: that of the preset]
    #[arg(long, short = 'k', value_name = "K", env = "DUPSIEVE_DISTANCE")]
    distance: Option<u32>,
    /// Bits of a fingerprint [default: 64]
    #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
    width: Option<Width>,
    /// Check that confirms matches; with one, each page needs a few bytes more [default: that of the preset]
    #[arg(long, value_name = "C")]
    check: Option<Check>,
    /// Estimate the passages of the day too, as the section [passages] of --config does
    #[arg(long)]
    passages: bool,
    /// Words of a page, for --passages
    #[arg(long, value_name = "N", default_value = "500", value_parser = parse_count)]
    page_words: u64,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let &Arguments { batch, store, preset, distance, width, check, passages, page_words } =
        arguments;
    let file = global.config()?;
    let named = preset.or(file.dedup.preset).or(file.fingerprint.made.preset);
    // A recipe without a preset is joined as the paper does.
    let unnamed =
        if file.fingerprint.made.recipe.is_some() { Preset::Paper } else { Preset::default() };
    let preset = named.unwrap_or(unnamed);
    let distance = distance.or(file.dedup.distance).unwrap_or(preset.distance());
    let width = width.or(file.fingerprint.made.width).unwrap_or(Width::W64);
    let check = check.or(file.fingerprint.made.check).or(preset.check().map(|it| it.check));
    let workers = global.workers(1) as u64;
    let problem = Problem::uniform(batch, store, distance, width, workers);
    // As in dedup, half of the memory is for tables, the rest for sorts.
    let memory_bytes = global.budget().tables();
    let plan = plan::choose(Design::Auto, &problem, memory_bytes)?;
    let read = bytes_at_rest(store, width);
    let held = held_bytes(width, check, workers);
    let anchors = AnchorCost::of(batch, store, check, global.budget().itself());
    let passages = (passages || file.passages.is_some())
        .then(|| PassageCost::of(batch, store, page_words, global.budget().passages()));
    let row = |estimate: &Estimate| {
        let Estimate { design, tables, nanoseconds, seconds, memory_bytes, .. } = estimate;
        json!({
            "design": design.to_string(), "tables": tables,
            "nanoseconds": nanoseconds, "thread_seconds": seconds, "memory_bytes": memory_bytes,
        })
    };
    let passages = passages.map(|cost| {
        let PassageCost { word_bytes, anchor_bytes, passes, bytes_read, memory_bytes, seconds } =
            cost;
        json!({
            "page_words": page_words, "word_bytes_a_page": word_bytes, "anchor_bytes_a_page": anchor_bytes,
            "passes": passes, "bytes_read": bytes_read, "memory_bytes": memory_bytes, "thread_seconds": seconds,
        })
    });
    let AnchorCost { passes, bytes_read, memory_bytes: of_anchors } = anchors;
    let object = json!({
        "batch": batch,
        "store": store,
        "distance": distance,
        "memory_bytes": memory_bytes,
        "chosen": row(&plan.chosen),
        "alternatives": plan.alternatives.iter().map(row).collect::<Vec<_>>(),
        "itself": row(&plan.itself),
        "bytes_read": read,
        "anchors": { "bytes_read": bytes_read, "passes": passes, "memory_bytes": of_anchors },
        "held_bytes_a_page": held,
        "passages": passages,
        "why": plan.why,
    });
    answer::print(&object, include_str!("plan.txt"), global.json)
}

/// About how many bytes `count` random fingerprints take in a segment. They are coded by Elias-Fano with
/// whole low bytes, one bit for each fingerprint and one for each step of the high part.
fn bytes_at_rest(count: u64, width: Width) -> u64 {
    let free = f64::from(width.bits()) - (count.max(1) as f64).log2();
    let bits = |low: u32| f64::from(low) + 1.0 + (free - f64::from(low)).exp2();
    let least = (0..=width.bits()).step_by(8).map(bits).fold(f64::INFINITY, f64::min);
    (count as f64 * least / 8.0) as u64
}
