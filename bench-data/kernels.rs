//! The cost of a probe, in memory and on one thread: every design at points of the cost model.
//!
//! ```text
//! cargo bench --bench kernels -- [--batch 1e6] [--density 8e9] [--count 3e7] [--distance 3]
//!                                [--width 64] [--shape uniform] [--designs conditioned+10+paper] [--times 3]
//!                                [--itself 0]
//! ```
//!
//! From a set of `density` random fingerprints, the first `count` are probed, in the windows that the join
//! uses, against a random batch. Every tenth fingerprint of the batch is moved near one of the set. `paper`
//! is the reference: the ten sorted tables of Manku, Jain and Das Sarma with a binary search in each. All
//! designs must find the same number of pairs. The output has the median, the least and the greatest time
//! of each. With `--designs within:4` they are the one that the cost model chooses and those that it prices at
//! less than four times as much; the estimates are for all of the set. With `--itself 1` the batch is joined with
//! itself, which designs of masks and `multi-index` can do. The shapes are told at [`Shape`].
//!
//! The clock is read by hand and not by `criterion`: a line also has the time to build, the memory and the
//! pairs, which `cost_model.py` reads, and one turn of a slow design takes minutes, so the number of turns
//! is a flag.

use std::sync::Arc;
use std::time::Instant;

use dupsieve::fingerprint::Fingerprint;
use dupsieve::synthetic::RandomSorted;
use dupsieve::tables::{
    ArrangedBatch, Design, Distribution, Estimate, Masked, MethodScratch, Plan, Probe, Problem,
    SelfJoin, plan,
};

/// How many fingerprints tell how the set is distributed.
const SAMPLES: u64 = 8192;
/// What a join allows tables by default.
const MEMORY_BYTES: u64 = 1 << 30;
/// How many chunks a store has; a window is no larger than one. A store whose chunks would be smaller than a window has the fewest.
const CHUNKS: u64 = 64;
const FEWEST: u64 = 16;
const WINDOW: u64 = 1 << 20;
/// One of this many fingerprints of the batch is moved near the next one of the set. It is moved, not added,
/// so that the batch is no denser where it is probed than elsewhere.
const PLANTED_EVERY: usize = 10;

#[derive(Debug)]
struct Point {
    batch: u64,
    density: u64,
    count: usize,
    k: u32,
    shape: Shape,
    designs: Vec<String>,
    times: usize,
}

/// How the fingerprints lie in the key space.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// `uniform`.
    Uniform,
    /// `cold:N`: the last N bits are zeros.
    Cold(u32),
    /// `slice:N`: the first N bits are zeros.
    Slice(u32),
    /// `store-slice:N`: those of the set alone.
    StoreSlice(u32),
    /// `zeros:N`: N bits in the middle are zeros, in every second one.
    Zeros(u32),
    /// `light:N`: the bits of N uniform ones joined by AND, so that few are ones.
    Light(u32),
}

impl Shape {
    fn named(name: &str) -> Shape {
        let (name, bits) = name.split_once(':').unwrap_or((name, "0"));
        let bits = bits.parse().expect("a number of bits");
        match name {
            "uniform" => Shape::Uniform,
            "cold" => Shape::Cold(bits),
            "slice" => Shape::Slice(bits),
            "store-slice" => Shape::StoreSlice(bits),
            "zeros" => Shape::Zeros(bits),
            "light" => Shape::Light(bits),
            _ => panic!("no shape"),
        }
    }

    /// Gives uniform fingerprints this shape, and sorts them.
    fn of<F: Fingerprint>(self, set: &mut Vec<F>, is_store: bool) {
        let zeros = |bits: u32| F::MAX >> (F::BITS - bits) << 24;
        match self {
            Shape::Uniform => {}
            Shape::Cold(bits) => set.iter_mut().for_each(|f| *f = *f >> bits << bits),
            Shape::Slice(bits) => set.iter_mut().for_each(|f| *f = *f >> bits),
            Shape::StoreSlice(bits) if is_store => set.iter_mut().for_each(|f| *f = *f >> bits),
            Shape::StoreSlice(_) => {}
            Shape::Zeros(bits) => {
                set.iter_mut().step_by(2).for_each(|f| *f = *f & !zeros(bits));
            }
            Shape::Light(count) => {
                let others = |at| (1..count).map(move |turn| F::from_u128(mixed(at, turn)));
                let ands = set.iter().zip(0..).map(|(&f, at)| others(at).fold(f, |f, it| f & it));
                *set = ands.collect();
            }
        }
        set.sort_unstable();
        set.dedup();
    }
}

fn mixed(at: u64, turn: u32) -> u128 {
    let at = u128::from(at) << 32 | u128::from(turn) | 1 << 100;
    let mix = |it: u128| (it ^ it >> 61).wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645);
    let mixed = mix(mix(mix(at)));
    mixed ^ mixed >> 64
}

impl Point {
    /// How the set and the batch are distributed. Of the set a part is held only, which says nothing of the rest,
    /// so the rest is made again.
    fn distribution<F: Fingerprint>(&self, batch: &[F]) -> Distribution {
        let mut some = take(3, SAMPLES, SAMPLES as usize);
        self.shape.of(&mut some, true);
        Distribution::of(batch, &some)
    }
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
        shape: Shape::named(&value("--shape", "uniform")),
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

fn measure_itself<F: Fingerprint>(point: &Point) {
    let (_, batch) = inputs::<F>(point);
    println!("{point:?}, the batch and itself at {} bits", F::BITS);
    println!("| design | s | least | greatest | build s | pairs |");
    println!("|---|---|---|---|---|---|");
    for name in &point.designs {
        let begun = Instant::now();
        let design = name.parse().expect("a design");
        let join = SelfJoin::new(&batch, design, point.k, u64::MAX, 1);
        let join = join.expect("it joins a batch with itself");
        let built = begun.elapsed().as_secs_f64();
        let mut scratch = Default::default();
        let ([median, least, greatest], pairs) = turns(point.times, |pairs| {
            (0..join.parts()).for_each(|part| join.join(part, &mut scratch, &mut |_| *pairs += 1));
        });
        println!("| {name} | {median:.3} | {least:.3} | {greatest:.3} | {built:.3} | {pairs} |");
    }
}

fn measure<F: Fingerprint>(point: &Point) {
    let (store, batch) = inputs::<F>(point);
    println!("{point:?}, {} probed at {} bits", store.len(), F::BITS);
    println!("| design | ns each | least | greatest | M/s | build s | MiB | pairs | estimate s |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, estimate) in designs(point, &batch) {
        let begun = Instant::now();
        let name = name.as_str();
        let method = (name != "paper").then(|| {
            let design = name.parse().expect("a design");
            ArrangedBatch::build(&batch, design, point.k, 1).expect("it covers k")
        });
        let paper = (name == "paper").then(|| Paper::new(&batch, point.k));
        let built = begun.elapsed().as_secs_f64();
        let bytes = method.as_ref().map_or(0, ArrangedBatch::memory_bytes);
        let (seconds, pairs) = turns(point.times, |pairs| match (&method, &paper) {
            (Some(method), _) => probe(method, &store, point.density, pairs),
            (_, paper) => {
                store.iter().for_each(|&f| *pairs += paper.as_ref().expect("one").find(f));
            }
        });
        let [median, least, greatest] = seconds.map(|it| it * 1e9 / store.len() as f64);
        let rate = 1e3 / median;
        let mebibytes = bytes >> 20;
        println!(
            "| {name} | {median:.2} | {least:.2} | {greatest:.2} | {rate:.0} | {built:.3} | {mebibytes} | {pairs} | {estimate:.3} |"
        );
    }
}

/// The median, the least and the greatest of the seconds that turns take, and the pairs that a turn finds.
fn turns(times: usize, mut turn: impl FnMut(&mut u64)) -> ([f64; 3], u64) {
    let mut turns: Vec<(f64, u64)> = Vec::new();
    for _ in 0..times {
        let (begun, mut pairs) = (Instant::now(), 0);
        turn(&mut pairs);
        turns.push((begun.elapsed().as_secs_f64(), pairs));
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (median, pairs) = turns[turns.len() / 2];
    ([median, turns[0].0, turns[turns.len() - 1].0], pairs)
}

/// The designs to measure, each with the seconds that the cost model expects, if it was asked.
fn designs<F: Fingerprint>(point: &Point, batch: &[F]) -> Vec<(String, f64)> {
    let within =
        point.designs[0].strip_prefix("within:").map(|it| it.parse::<f64>().expect("a factor"));
    let Some(within) = within else {
        return point.designs.iter().map(|name| (name.clone(), 0.0)).collect();
    };
    let &Point { density, k, .. } = point;
    let distribution = point.distribution(batch);
    let uniform = Problem::uniform(batch.len() as u64, density, k, F::WIDTH, 1);
    let problem = Problem { distribution, ..uniform };
    let Plan { chosen, alternatives, .. } =
        plan::choose(Design::Auto, &problem, MEMORY_BYTES).expect("a plan");
    let most = chosen.seconds * within;
    let fits = |it: &Estimate| it.memory_bytes <= MEMORY_BYTES && it.seconds <= most;
    let others = alternatives.iter().filter(|it| fits(it));
    [&chosen].into_iter().chain(others).map(|it| (it.design.to_string(), it.seconds)).collect()
}

fn probe<F: Fingerprint>(method: &ArrangedBatch<F>, store: &[F], density: u64, pairs: &mut u64) {
    let mut scratch = MethodScratch::default();
    let chunk = (density / CHUNKS).max((density / FEWEST).min(WINDOW)).max(1);
    for window in store.chunks(method.window().min(chunk as usize)) {
        method.probe(&[window], &mut scratch, &mut |_| *pairs += 1);
    }
}

/// The first `most` of `count` random fingerprints.
fn take<F: Fingerprint>(seed: u64, count: u64, most: usize) -> Vec<F> {
    let mut sorted = RandomSorted::new(seed, count, Vec::new());
    let mut run = Vec::new();
    let mut all = Vec::new();
    while all.len() < most && sorted.next(&mut run) {
        all.extend(&run);
    }
    all.truncate(most);
    all
}

fn inputs<F: Fingerprint>(point: &Point) -> (Vec<F>, Arc<[F]>) {
    let everywhere = matches!(point.shape, Shape::Light(_));
    let most = if everywhere { point.density as usize } else { point.count };
    let mut store: Vec<F> = take(1, point.density, most);
    let mut batch: Vec<F> = take(2, point.batch, point.batch as usize);
    point.shape.of(&mut store, true);
    point.shape.of(&mut batch, false);
    // Where the shape is not the same everywhere, what is probed is from its middle.
    let skipped = store.len().saturating_sub(point.count) / 2;
    let store = store.split_off(skipped).into_iter().take(point.count).collect::<Vec<F>>();
    for (at, place) in (0..batch.len()).step_by(PLANTED_EVERY).enumerate() {
        let Some(&fingerprint) = store.get(store.partition_point(|&f| f < batch[place])) else {
            break;
        };
        batch[place] = fingerprint ^ F::from_u128((1 << (at % 60)) | (1 << (at % 7)) | 1);
    }
    batch.sort_unstable();
    batch.dedup();
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
