//! The cost of a probe, in memory and on one thread: every design at points of the cost model.
//!
//! ```text
//! cargo bench --bench kernels -- [--batch 1e6] [--density 8e9] [--count 3e7] [--distance 3]
//!                                [--width 64] [--cold 0] [--designs conditioned+10+paper] [--times 3]
//!                                [--itself 0]
//! ```
//!
//! From a set of `density` random fingerprints, the first `count` are probed, in the windows that the join
//! uses, against a random batch. Every tenth fingerprint of the batch is moved near one of the set. `paper`
//! is the reference: the ten sorted tables of Manku, Jain and Das Sarma with a binary search in each. All
//! designs must find the same number of pairs. The output has the median, the least and the greatest time
//! of each. With `--cold N` the last N bits of all fingerprints are zeros. With `--itself 1` the batch is
//! joined with itself, which designs of masks and `multi-index` can do.
//!
//! The clock is read by hand and not by `criterion`: a line also has the time to build, the memory and the
//! pairs, which `cost_model.py` reads, and one turn of a slow design takes minutes, so the number of turns
//! is a flag.

use std::sync::Arc;
use std::time::Instant;

use dupsieve::fingerprint::Fingerprint;
use dupsieve::synthetic::RandomSorted;
use dupsieve::tables::{Design, Masked, Method, MethodScratch, Probe, SelfJoin, Way};

/// How many chunks a store has at least; a window is no larger than one.
const CHUNKS: u64 = 64;
/// One of this many fingerprints of the batch is moved near the next one of the set. It is moved, not added,
/// so that the batch is no denser where it is probed than elsewhere.
const PLANTED_EVERY: usize = 10;

/// One point to measure.
#[derive(Debug)]
struct Point {
    batch: u64,
    density: u64,
    count: usize,
    k: u32,
    cold: u32,
    designs: Vec<String>,
    times: usize,
}

fn main() {
    let flags: Vec<String> = std::env::args().skip(1).filter(|flag| flag != "--bench").collect();
    let value = |name: &str, default: &str| {
        let at = flags.iter().position(|flag| flag == name);
        at.map_or(default.to_owned(), |at| flags[at + 1].clone())
    };
    let number = |name, default| value(name, default).parse::<f64>().expect("a number") as u64;
    let point = Point {
        batch: number("--batch", "1e6"),
        density: number("--density", "8e9"),
        count: number("--count", "3e7") as usize,
        k: number("--distance", "3") as u32,
        cold: number("--cold", "0") as u32,
        designs: value("--designs", "conditioned").split('+').map(str::to_owned).collect(),
        times: number("--times", "3") as usize,
    };
    match (number("--width", "64"), number("--itself", "0")) {
        (64, 0) => measure::<u64>(&point),
        (64, _) => measure_itself::<u64>(&point),
        (_, 0) => measure::<u128>(&point),
        _ => measure_itself::<u128>(&point),
    }
}

/// The batch joined with itself by each design.
fn measure_itself<F: Fingerprint>(point: &Point) {
    let (_, batch) = inputs::<F>(point);
    println!("{point:?}, the batch and itself at {} bits", F::BITS);
    println!("| design | s | least | greatest | build s | pairs |");
    println!("|---|---|---|---|---|---|");
    for name in &point.designs {
        let begun = Instant::now();
        let design = name.trim_end_matches("/sorted").parse().expect("a design");
        let join = SelfJoin::new(&batch, design, point.k, 1).expect("it joins a batch with itself");
        let built = begun.elapsed().as_secs_f64();
        let mut scratch = Default::default();
        let mut turn = |_| {
            let begun = Instant::now();
            let mut pairs = 0_u64;
            (0..join.parts()).for_each(|part| join.join(part, &mut scratch, &mut |_| pairs += 1));
            (begun.elapsed().as_secs_f64(), pairs)
        };
        let mut turns: Vec<(f64, u64)> = (0..point.times).map(&mut turn).collect();
        turns.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (median, pairs) = turns[turns.len() / 2];
        let (least, greatest) = (turns[0].0, turns[turns.len() - 1].0);
        println!("| {name} | {median:.3} | {least:.3} | {greatest:.3} | {built:.3} | {pairs} |");
    }
}

fn measure<F: Fingerprint>(point: &Point) {
    let (store, batch) = inputs::<F>(point);
    println!("{point:?}, {} probed at {} bits", store.len(), F::BITS);
    println!("| design | ns each | least | greatest | M/s | build s | MiB | pairs |");
    println!("|---|---|---|---|---|---|---|---|");
    for design in &point.designs {
        let begun = Instant::now();
        let name = design.as_str();
        let method = (name != "paper").then(|| {
            let (design, way) = match name.strip_suffix("/sorted") {
                Some(design) => (design, Way::Sorted),
                None => (name, Way::Indexed),
            };
            let design = design.parse().expect("a design");
            Method::build(&batch, design, way, point.k, 1).expect("it covers k")
        });
        let paper = (name == "paper").then(|| Paper::new(&batch, point.k));
        let built = begun.elapsed().as_secs_f64();
        let bytes = method.as_ref().map_or(0, Method::memory_bytes);
        let turn = |_| {
            let begun = Instant::now();
            let mut pairs = 0_u64;
            match (&method, &paper) {
                (Some(method), _) => probe(method, &store, point.density, &mut pairs),
                (_, paper) => {
                    store.iter().for_each(|&f| pairs += paper.as_ref().expect("one").find(f))
                }
            }
            (begun.elapsed().as_secs_f64() * 1e9 / store.len() as f64, pairs)
        };
        let mut turns: Vec<(f64, u64)> = (0..point.times).map(turn).collect();
        turns.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (median, pairs) = turns[turns.len() / 2];
        let least = turns[0].0;
        let greatest = turns[turns.len() - 1].0;
        let rate = 1e3 / median;
        let mebibytes = bytes >> 20;
        println!(
            "| {design} | {median:.2} | {least:.2} | {greatest:.2} | {rate:.0} | {built:.2} | {mebibytes} | {pairs} |"
        );
    }
}

fn probe<F: Fingerprint>(method: &Method<F>, store: &[F], density: u64, pairs: &mut u64) {
    let mut scratch = MethodScratch::default();
    for window in store.chunks(method.window().min(density.div_ceil(CHUNKS) as usize)) {
        method.probe(&[window], &mut scratch, &mut |_| *pairs += 1);
    }
}

/// The part of the store that is probed, and the batch.
fn inputs<F: Fingerprint>(point: &Point) -> (Vec<F>, Arc<[F]>) {
    let take = |seed, count: u64, most: usize| {
        let mut sorted = RandomSorted::new(seed, count, Vec::new());
        let mut run = Vec::new();
        let mut all = Vec::new();
        while all.len() < most && sorted.next(&mut run) {
            all.extend(&run);
        }
        all.truncate(most);
        all
    };
    let hot = |fingerprint: F| fingerprint >> point.cold << point.cold;
    let store: Vec<F> = take(1, point.density, point.count);
    let mut batch: Vec<F> = take(2, point.batch, point.batch as usize);
    for (at, place) in (0..batch.len()).step_by(PLANTED_EVERY).enumerate() {
        let Some(&fingerprint) = store.get(store.partition_point(|&f| f < batch[place])) else {
            break;
        };
        batch[place] = fingerprint ^ F::from_u128((1 << (at % 60)) | (1 << (at % 7)) | 1);
    }
    let mut sets = [store, batch].map(|set| set.into_iter().map(hot).collect::<Vec<F>>());
    sets.iter_mut().for_each(|set| {
        set.sort_unstable();
        set.dedup();
    });
    let [store, batch] = sets;
    (store, batch.into())
}

/// The batch in ten tables, each sorted by the bits that its mask chooses.
struct Paper<F> {
    tables: Vec<Vec<(F, F)>>,
    masks: Vec<F>,
    k: u32,
}

impl<F: Fingerprint> Paper<F> {
    fn new(batch: &[F], k: u32) -> Paper<F> {
        let masks = Design::from(Masked::Ten).masks(F::WIDTH, k).expect("ten masks cover k");
        let masks: Vec<F> = masks.into_iter().map(F::from_u128).collect();
        let table = |&mask: &F| {
            let mut table: Vec<(F, F)> = batch.iter().map(|&b| (b & mask, b)).collect();
            table.sort_unstable();
            table
        };
        Paper { tables: masks.iter().map(table).collect(), masks, k }
    }

    fn find(&self, fingerprint: F) -> u64 {
        let mut near: Vec<F> = Vec::new();
        for (table, &mask) in self.tables.iter().zip(&self.masks) {
            let key = fingerprint & mask;
            let from = table.partition_point(|&(entry, _)| entry < key);
            let equal = table[from..].iter().take_while(|&&(entry, _)| entry == key);
            near.extend(equal.map(|&(_, b)| b).filter(|b| b.distance(fingerprint) <= self.k));
        }
        near.sort_unstable();
        near.dedup();
        near.len() as u64
    }
}
