//! A store that is asked and fed while a crawl runs: pages are judged as they come, what is kept is remembered in a journal, and
//! at the end of the day the journal becomes a day of the store.
//!
//! ```text
//! cargo run --release --example online
//! ```

use std::error::Error;

use dupsieve::fingerprint::Recipe;
use dupsieve::index::LookupOptions;
use dupsieve::matches::Question;
use dupsieve::online::{Online, OnlineOptions, Remember, Verdict};
use dupsieve::store::{FingerprintedDocument, Store};
use dupsieve::work::Work;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (store, _) = Store::init(folder.path().join("store"))?;
    // Fingerprints come ready-made here. `Recipe::sketcher` makes them of texts.
    let recipe = Recipe::named("external-64", None)?;
    let online = Online::open(store, OnlineOptions::of(&recipe, LookupOptions::within(3)))?;

    // The second page differs from the first one in two bits, the third one from both in many.
    let pages: [FingerprintedDocument; 3] =
        [("a", 0x0123_4567_89ab_cdef), ("b", 0x0123_4567_89ab_cdec), ("c", 0xfedc_ba98_7654_3210)]
            .map(|(id, fingerprint)| FingerprintedDocument::new(id, Some(fingerprint)));
    let (sender, on_disk) = std::sync::mpsc::channel();
    let done = Box::new(move |result| sender.send(result).unwrap_or_default());
    let told = online.remember(&pages, Remember::Kept, done, &mut Work::unbounded())?;
    // Only what is on disk may be answered.
    on_disk.recv()??;
    for (page, found) in pages.iter().zip(&told.answers) {
        println!("{}\t{}", page.id, found.verdict.name());
    }

    let committed = online.commit("2026-11-23".parse()?, None)?;
    println!(
        "version {} of the store has {} pages",
        committed.store_version,
        online.version().rows()
    );

    let question = Question { fingerprint: 0xfedc_ba98_7654_3211, page: None };
    let told = online.query(&[Some(question)], 3, &mut Work::unbounded())?;
    println!("near: {:?}", told.answers[0].near);
    assert_eq!((told.answers[0].verdict, &*told.answers[0].near[0].id), (Verdict::Drop, "c"));
    Ok(())
}
