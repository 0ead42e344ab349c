//! Finds pages that share most of their words, however far their fingerprints are apart: by MinHash and bands.
//!
//! ```text
//! cargo run --release --example lsh
//! ```

use std::error::Error;

use dupsieve::document::Content;
use dupsieve::fingerprint::{Check, PageTime, Width};
use dupsieve::lsh::{Banding, Bands, Shingle, Space};

/// The second page is the first one with two words more, and the third one is another page.
const PAGES: [&str; 3] = [
    "the river rose by two metres in the night and the lower streets of the town were closed",
    "the river rose by two metres in the night and the lower streets of the town were closed until noon",
    "the theatre shows a comedy about a family that inherits a lighthouse far away in the north",
];

fn main() -> Result<(), Box<dyn Error>> {
    // Two pages share a bucket if all 4 hashes of one of 32 bands agree.
    let bands = Bands {
        shingle: Shingle::Words(3),
        ..Bands::new(Space::Jaccard, Banding { bands: 32, rows: 4 })
    };
    println!(
        "bands {bands}: pages that share 0.7 meet with probability {:.3}",
        bands.probability(0.7)
    );

    let mut sketches = bands.sketches(Width::W64, PageTime::default());
    let pages = PAGES.iter().map(|&page| sketches.of(&Content::Text(page.into())));
    let pages = pages.collect::<Result<Vec<_>, _>>()?;
    let check: Check = "points".parse()?;
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let [one, other] = [&pages[one], &pages[other]];
        let keys = one.keys.chunks(5).zip(other.keys.chunks(5));
        let shared = keys.filter(|(one, other)| one == other).count();
        println!(
            "{shared} buckets shared, similarity {:.3}",
            check.similarity(&one.point, &other.point)
        );
    }
    Ok(())
}
