//! Connected components of a file of edges, as `dupsieve cluster --method components` finds them.
//!
//! ```text
//! python3 bench-data/clusters.py make random 1e8 edges.bin
//! cargo bench --bench clusters -- edges.bin --pages 1e8 [--threads 1]
//! python3 bench-data/clusters.py scipy edges.bin 1e8
//! ```
//!
//! The file has two numbers of 32 bits for each edge, the low byte first. Both programs print the number of
//! components and the seconds; their peak memory is what the system says of the process.

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use dupsieve::Result;
use dupsieve::rooms::clusters::Forest;
use dupsieve::rooms::error::At;
use dupsieve::rooms::parallel::in_parallel;

/// How many edges a thread reads at once.
const PORTION: u64 = 1 << 16;
/// The bytes of an edge.
const EDGE: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let flags: Vec<String> = std::env::args().skip(1).filter(|flag| flag != "--bench").collect();
    let number = |name: &str, default: f64| {
        let at = flags.iter().position(|flag| flag == name);
        at.map_or(default, |at| flags[at + 1].parse().expect("a number"))
    };
    let path = flags.first().expect("a file of edges").clone();
    let file = File::open(&path)?;
    let edges = file.metadata()?.len() / EDGE;
    let began = Instant::now();
    let forest = Forest::of(number("--pages", 0.0) as u32);
    let portions: Vec<u64> = (0..edges).step_by(PORTION as usize).collect();
    let unite = |&first: &u64| {
        let mut bytes = vec![0; (PORTION.min(edges - first) * EDGE) as usize];
        file.read_exact_at(&mut bytes, first * EDGE).at(&path)?;
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        for edge in bytes.chunks_exact(EDGE as usize) {
            forest.join(word(&edge[..4]), word(&edge[4..]));
        }
        Ok(())
    };
    let threads = number("--threads", 1.0) as usize;
    in_parallel(threads, &portions, unite).into_iter().collect::<Result<()>>()?;
    let components = (0..forest.pages()).filter(|&page| forest.root(page) == page).count();
    println!("{edges} edges, {components} components, {:.2} s", began.elapsed().as_secs_f64());
    Ok(())
}
