//! Connected components of a file of edges, as `dupsieve cluster --method components` finds them.
//!
//! ```text
//! python3 bench-data/clusters.py make random 1e8 edges.bin
//! cargo bench --bench clusters -- edges.bin --pages 1e8
//! python3 bench-data/clusters.py scipy edges.bin 1e8
//! ```
//!
//! The file has two numbers of 32 bits for each edge, the low byte first. Both programs print the number of
//! components and the seconds; their peak memory is what the system says of the process.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::time::Instant;

use dupsieve::Result;
use dupsieve::clusters::Forest;
use dupsieve::error::At;

const PORTION: usize = 1 << 19;
const EDGE: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let flags: Vec<String> = std::env::args().skip(1).filter(|flag| flag != "--bench").collect();
    let pages = flags.iter().position(|flag| flag == "--pages").expect("--pages");
    let pages = flags[pages + 1].parse::<f64>().expect("a number") as u32;
    let path = flags.first().expect("a file of edges").clone();
    let file = File::open(&path)?;
    let edges = file.metadata()?.len() / EDGE;
    let began = Instant::now();
    let mut forest = Forest::of(pages);
    let mut file = BufReader::with_capacity(PORTION, file);
    for _ in 0..edges {
        let mut edge = [0; EDGE as usize];
        file.read_exact(&mut edge).at(&path)?;
        let [one, other] =
            [[0, 1, 2, 3], [4, 5, 6, 7]].map(|at| u32::from_le_bytes(at.map(|it| edge[it])));
        forest.join(one, other);
    }
    let components = (0..pages).filter(|&page| forest.root(page) == page).count();
    println!("{edges} edges, {components} components, {:.2} s", began.elapsed().as_secs_f64());
    Ok(())
}
