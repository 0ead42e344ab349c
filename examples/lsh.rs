//! Finds pages that share most of their words, however far their fingerprints are apart: by MinHash and bands.
//!
//! ```text
//! cargo run --release --example lsh
//! ```

use std::error::Error;

use dupsieve::rooms::budget::Budget;
use dupsieve::rooms::document::{Content, Position};
use dupsieve::rooms::fingerprint::PageTime;
use dupsieve::rooms::lsh::{
    Banding, Confirmation, Deduplicate, Scheme, Shingle, SketchedDocument, Space,
};
use dupsieve::rooms::output::{Lock, Staging};
use dupsieve::rooms::runs::Sorter;

/// The second page is the first one with a sentence more, and the third one is another page.
const PAGES: [(&str, &str); 3] = [
    (
        "river",
        "the river rose by two metres in the night and the lower streets of the town were closed",
    ),
    (
        "river-later",
        "the river rose by two metres in the night and the lower streets of the town were closed until noon",
    ),
    (
        "theatre",
        "the theatre shows a comedy about a family that inherits a lighthouse far away in the north",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // Two pages share a bucket if all 4 hashes of one of 32 bands agree.
    let banding = Banding { bands: 32, rows: 4 };
    let mut scheme = Scheme::new(Space::Jaccard, banding, "0.7".parse()?);
    scheme.shingle = Shingle::Words(3);
    scheme.confirmation = Confirmation::Exact;
    println!("pages that share 0.7 meet with probability {:.3}", scheme.probability(0.7));

    let mut sketches = scheme.sketches(PageTime::default());
    let mut documents = Sorter::new(folder.path(), 64 << 20);
    for (line, (id, text)) in (1..).zip(PAGES) {
        documents.push(SketchedDocument {
            id: id.to_owned(),
            position: Position { file: 0, line },
            content: 0,
            length: text.len() as u64,
            time: None,
            sketch: sketches.of(&Content::Text(text.into()))?,
        })?;
    }

    // The output appears at its path when it is complete.
    let output = folder.path().join("out");
    let staging = Staging::beside(&output, Lock::beside(&output)?)?;
    let deduplicate = Deduplicate::new(scheme, Budget::default());
    let made = deduplicate.write(documents.sorted()?, &staging, &mut |_, _, _| Ok(()))?;
    staging.commit()?;

    println!("{} pages kept, {} dropped", made.outcome.kept, made.outcome.dropped);
    print!("{}", std::fs::read_to_string(output.join("matches.tsv"))?);
    assert_eq!((made.outcome.kept, made.outcome.dropped), (2, 1));
    Ok(())
}
