//! Where one shard of ids ends and the next begins, by a sample.

use super::shard;
use crate::error::Result;
use crate::store::Segment;

/// How many rows are sampled one after another: those of a block of ids.
const SAMPLED_ROWS: u64 = 256;

/// From how many places rows are sampled.
const SAMPLED_PLACES: u64 = 256;

/// The most bytes of a sample, about.
const SAMPLE_BYTES: usize = 16 << 20;

/// Ids that divide all of a segment into shards of about so many bytes.
pub(super) fn bounds(segment: &Segment, shard_bytes: usize) -> Result<Vec<String>> {
    let mut sample = sampled(segment)?;
    let bytes: usize = sample.iter().map(|id| shard::bytes_of(id)).sum();
    let all = bytes as u64 / sample.len().max(1) as u64 * segment.rows();
    let shards = (all / shard_bytes.max(1) as u64).clamp(1, sample.len().max(1) as u64) as usize;
    sample.sort_unstable();
    let mut bounds: Vec<String> =
        (1..shards).map(|shard| sample[shard * sample.len() / shards].clone()).collect();
    bounds.dedup();
    Ok(bounds)
}

/// Ids of a segment, from places all over it.
fn sampled(segment: &Segment) -> Result<Vec<String>> {
    let rows = segment.rows();
    let blocks = rows.div_ceil(SAMPLED_ROWS);
    let mut step = blocks.div_ceil(SAMPLED_PLACES).max(1);
    let mut ids = segment.ids();
    let mut sample: Vec<String> = Vec::new();
    let mut bytes = 0;
    let mut block = 0;
    while block < blocks {
        let first = block * SAMPLED_ROWS;
        for row in first..rows.min(first + SAMPLED_ROWS) {
            let id = ids.get(row)?;
            bytes += id.len();
            sample.push(id.to_owned());
        }
        while bytes > SAMPLE_BYTES && sample.len() > 1 {
            // Half of them will do, here and from now on.
            sample = sample.into_iter().step_by(2).collect();
            bytes = sample.iter().map(String::len).sum();
            step *= 2;
        }
        block += step;
    }
    Ok(sample)
}
