//! Single queries of a store: the time of each, one after the other on one thread.
//!
//! ```text
//! cargo bench --bench query -- STORE [--design mirror] [--distance 3] [--queries 1e5] [--resident] [--cold 100]
//! ```
//!
//! With `--design` it makes that index of the store first, and keeps it.
//!
//! It asks for random fingerprints, which are near to nothing, and for pages of the store with as many bits flipped.
//! It prints the bytes of a fingerprint with its index, and the time of a query in microseconds. Before it begins to
//! measure, it asks a number of times, so that what is read from the disk is in memory.
//!
//! With `--cold` it then asks so many random fingerprints, each of a store that was just opened and of which the
//! system has no page in memory.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use dupsieve::index::{self, Asker, Lookup, LookupOptions};
use dupsieve::matches::Question;
use dupsieve::store::{Access, Column, Store};
use dupsieve::work::Work;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{Advice, fadvise};

fn main() -> Result<(), Box<dyn Error>> {
    let flags: Vec<String> = std::env::args().skip(1).filter(|flag| flag != "--bench").collect();
    let number = |name: &str, default: f64| {
        let at = flags.iter().position(|flag| flag == name);
        at.map_or(default, |at| flags[at + 1].parse().expect("a number"))
    };
    let store = Store::open(Path::new(flags.first().ok_or("name a store")?))?;
    let (distance, count) = (number("--distance", 3.0) as u32, number("--queries", 1e5) as usize);
    let is_resident = flags.iter().any(|flag| flag == "--resident");
    let access = if is_resident { Access::Resident } else { Access::OnDisk };
    if let Some(at) = flags.iter().position(|flag| flag == "--design") {
        let design: index::IndexDesign = flags[at + 1].parse()?;
        let begun = Instant::now();
        let memory = number("--memory", 2e9) as usize;
        let kept = index::index(&store, design, (memory, 2), &AtomicU64::new(0))?;
        println!("{} files made in {:.1} s", kept.made, begun.elapsed().as_secs_f64());
    }
    let version = store.at(None)?;
    let rows = version.rows();
    let mut bytes = index::size(&store)?.1;
    for segment in version.segments()? {
        let fingerprints = segment.columns().find(|it| it.column == Column::Fingerprints);
        bytes += fingerprints.map_or(0, |it| it.bytes);
    }
    let design = index::design_of(&store)?;
    println!("{rows} fingerprints, index {design}: {:.3} bytes each", bytes as f64 / rows as f64);
    let opened = Instant::now();
    let mut options = LookupOptions::within(distance);
    options.access = access;
    let lookup = Lookup::open(&store, version, options)?;
    println!("opened in {:.3} s, {access:?}, distance {distance}", opened.elapsed().as_secs_f64());
    let mut asker = Asker::new(&lookup);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let strangers: Vec<u128> = (0..count).map(|_| u128::from(random.random::<u64>())).collect();
    let near = near(&store, &mut random, (count / 100).clamp(1, 1000), distance)?;
    for (name, asked) in [("warming up", &strangers), ("random", &strangers), ("near", &near)] {
        let mut times = Vec::new();
        let mut hits = 0;
        for &fingerprint in asked {
            let begun = Instant::now();
            hits += asker
                .ask(&Question { fingerprint, page: None }, 1000, &mut Work::unbounded())?
                .near
                .len();
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        tell(name, &mut times, &format!("{hits} hits"));
    }
    drop((asker, lookup));
    let mut times = Vec::new();
    for &fingerprint in &strangers[..number("--cold", 0.0) as usize] {
        drop_pages(store.path())?;
        let lookup = Lookup::open(&store, store.at(None)?, options)?;
        let mut asker = Asker::new(&lookup);
        let begun = Instant::now();
        asker.ask(&Question { fingerprint, page: None }, 1000, &mut Work::unbounded())?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    if !times.is_empty() {
        tell("cold", &mut times, "the first of a lookup");
    }
    Ok(())
}

/// Prints the spread of the times of some queries, in microseconds.
fn tell(name: &str, times: &mut [f64], more: &str) {
    times.sort_by(f64::total_cmp);
    let count = times.len();
    let mean = times.iter().sum::<f64>() / count as f64;
    let [half, most] = [0.5, 0.99].map(|share| times[(count as f64 * share) as usize]);
    println!(
        "{name:>10}: {count} queries, p50 {half:.2} us, p99 {most:.2} us, mean {mean:.2} us; {more}"
    );
}

/// Has the system forget the bytes of all files in a folder and in its folders.
fn drop_pages(folder: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            drop_pages(&path)?;
        } else {
            fadvise(File::open(path)?, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

fn near(
    store: &Store,
    random: &mut ChaCha8Rng,
    count: usize,
    distance: u32,
) -> Result<Vec<u128>, Box<dyn Error>> {
    let segment = store.at(None)?.segments()?.into_iter().next().ok_or("the store is empty")?;
    let mut fingerprints = segment.fingerprints();
    let mut near = Vec::new();
    for _ in 0..count {
        let held = fingerprints.get(random.random_range(0..segment.rows()))?;
        near.push((0..distance).fold(held, |bits, _| bits ^ 1 << random.random_range(0..64)));
    }
    Ok(near)
}
