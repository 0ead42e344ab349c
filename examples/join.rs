//! Finds the near-duplicates of a day by the default preset: texts become fingerprints and sketches, these become a segment, and the
//! segment is joined with a store that holds the day before.
//!
//! ```text
//! cargo run --release --example join
//! ```

use std::error::Error;
use std::path::Path;

use dupsieve::fingerprint::Recipe;
use dupsieve::flow::Processes;
use dupsieve::join::{Join, Preset};
use dupsieve::store::{
    Details, NewDay, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter, Store,
};

/// Two articles of the day before.
const YESTERDAY: [(&str, &str); 2] = [
    (
        "bridge",
        "The council closed the old bridge over the canal on Monday after engineers found cracks in two of its six \
         pillars. Traffic is led over the northern crossing until the repairs end in spring.",
    ),
    (
        "harvest",
        "Farmers in the valley expect the largest harvest of apples in ten years. The cold nights of April spared the \
         blossom, and rain came when the trees needed it most.",
    ),
];

/// Two articles of today: one of them is an article of the day before with another footer.
const TODAY: [(&str, &str); 2] = [
    (
        "bridge-again",
        "The council closed the old bridge over the canal on Monday after engineers found cracks in two of its six \
         pillars. Traffic is led over the northern crossing until the repairs end in spring. Printed on Tuesday.",
    ),
    (
        "library",
        "The new library opens its doors on Saturday with readings for children, a concert in the evening, and longer \
         hours during the week for everybody who works late.",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // A page is dropped only if a page that is kept contains nine tenths of it.
    let recipe = Preset::default().recipe(None)?;

    let yesterday = folder.path().join("yesterday.seg");
    write_segment(&yesterday, &YESTERDAY, &recipe)?;
    let (store, _) = Store::init(folder.path().join("store"))?;
    store.add(&NewDay::whole(&yesterday, "2026-11-22".parse()?), None)?;

    let batch = write_segment(&folder.path().join("today.seg"), &TODAY, &recipe)?;
    let join = Join::new(batch, Some(store.at(None)?))?;
    let output = folder.path().join("out");
    let joined = join.run(&mut Processes::alone(2), &output)?;

    let outcome = &joined.leader().expect("this process is the only one").outcome;
    println!("{} pages kept, {} dropped", outcome.kept, outcome.dropped);
    print!("{}", std::fs::read_to_string(output.join("verdicts.tsv"))?);
    assert_eq!((outcome.kept, outcome.dropped), (1, 1));
    Ok(())
}

/// Writes what the recipe makes of `pages` into a segment: a file of fingerprints, sorted, with their ids, sketches and anchors.
fn write_segment(
    path: &Path,
    pages: &[(&str, &str)],
    recipe: &Recipe,
) -> dupsieve::Result<Segment> {
    let mut sketcher = recipe.sketcher()?;
    let mut signer = recipe.check().expect("the default preset has a check").signer();
    let mut rows = Vec::new();
    for (id, text) in pages {
        // A text without a word has no fingerprint.
        let Some((fingerprint, class)) = sketcher.page(text)? else { continue };
        let mut details = Details { class, ..Details::default() };
        signer.sign(text, &mut details.check)?;
        details.anchors = signer.anchors().to_vec();
        rows.push((fingerprint as u64, *id, details));
    }
    rows.sort();
    let mut segment = SegmentWriter::create(path, SegmentOptions::of(recipe))?;
    for (fingerprint, id, details) in &rows {
        let mut row = Row::new(*fingerprint, id);
        row.details = details;
        segment.push(&row)?;
    }
    let count = pages.len() as u64;
    let counts = RecordCounts { read: count, fingerprinted: count, ..RecordCounts::default() };
    segment.finish(counts, "two articles")
}
