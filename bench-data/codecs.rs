//! The size of a segment by each codec, and the speed of decoding it on one thread.
//!
//! ```text
//! cargo bench --bench codecs -- [--density 8e9] [--count 3e7] [--width 64] [--times 5]
//! ```
//!
//! From a set of `density` random fingerprints the first `count` are written by each codec, into a file
//! that stays in the system's cache. The output has, for each codec, the bits of a fingerprint, their ratio
//! to the bound (the least number of bits that tells one such set from all others), and how many
//! fingerprints are read, checked and decoded in a second: the median, the least and the greatest.
//!
//! The clock is read by hand and not by `criterion`: the sizes belong in the same table, and the number of
//! turns over a file of 30 million fingerprints is a flag.

use std::error::Error;
use std::f64::consts::{LOG2_E, PI};
use std::time::Instant;

use dupsieve::rooms::fingerprint::Fingerprint;
use dupsieve::rooms::store::{KeyRange, Segment, SegmentOptions};
use dupsieve::rooms::synthetic::{SegmentSpec, generate};

const CODECS: [&str; 2] = ["elias-fano", "huffman"];

fn main() -> Result<(), Box<dyn Error>> {
    let flags: Vec<String> = std::env::args().skip(1).filter(|flag| flag != "--bench").collect();
    let number = |name: &str, default: f64| {
        let at = flags.iter().position(|flag| flag == name);
        at.map_or(default, |at| flags[at + 1].parse().expect("a number"))
    };
    let density = number("--density", 8e9);
    let count = number("--count", 3e7);
    let width = number("--width", 64.0);
    let times = number("--times", 5.0) as usize;
    let bound = bound(width, density);
    println!("{count:e} of {density:e} fingerprints of {width} bits; bound: {bound:.3} bits each");
    println!(
        "| codec | bits each | over the bound | M/s | least | greatest |\n|---|---|---|---|---|---|"
    );
    for codec in CODECS {
        let mut options = SegmentOptions::default();
        options.codec = codec.parse()?;
        let random = SegmentSpec {
            seed: 1,
            count: count as u64,
            density: density as u64,
            options,
            urls: false,
        };
        let (bits, mut rates) = match width as u32 {
            64 => measure::<u64>(&random, times)?,
            _ => measure::<u128>(&random, times)?,
        };
        rates.sort_by(f64::total_cmp);
        let over = bits / bound;
        let median = rates[times / 2];
        let least = rates[0];
        let greatest = rates[times - 1];
        println!("| {codec} | {bits:.3} | {over:.4} | {median:.0} | {least:.0} | {greatest:.0} |");
    }
    Ok(())
}

/// The bits of a fingerprint, and millions decoded in a second, so many `times`.
fn measure<F: Fingerprint>(
    random: &SegmentSpec,
    times: usize,
) -> Result<(f64, Vec<f64>), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("random.seg");
    let (segment, _) = generate::<F>(&path, random, &[], "")?;
    let rates = (0..times).map(|_| decode::<F>(&segment)).collect::<Result<_, _>>()?;
    Ok((8.0 * segment.bytes() as f64 / segment.rows() as f64, rates))
}

fn decode<F: Fingerprint>(segment: &Segment) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    let mut run = Vec::new();
    let mut rows = 0;
    let mut sum = F::default();
    let mut scan = segment.scan::<F>(KeyRange::all());
    while scan.next(&mut run)?.is_some() {
        rows += run.len() as u64;
        sum = run.iter().fold(sum, |sum, &fingerprint| sum ^ fingerprint);
    }
    std::hint::black_box(sum);
    assert_eq!(rows, segment.rows());
    Ok(rows as f64 / begun.elapsed().as_secs_f64() / 1e6)
}

/// The bits that each of `count` takes of the logarithm of 2^`width` over `count`, by Stirling.
fn bound(width: f64, count: f64) -> f64 {
    width - count.log2() + LOG2_E - (2.0 * PI * count).log2() / (2.0 * count)
}
