//! Planted copies against their definition: made, compared and joined one by one.

use super::*;
use crate::evaluate::loss::DroppedPage;
use crate::evaluate::method::tests::method;
use crate::synthetic::DocumentGenerator;

/// Pages of made-up words in sentences of ten; the last is the first with another ending.
fn pages() -> Vec<SampledPage> {
    let generator = DocumentGenerator::new(5, 0.0);
    let mut pages: Vec<SampledPage> = (0..23)
        .map(|number| {
            let document = generator.document(number);
            let sentences = document.words.chunks(10).map(|words| words.join(" "));
            let text = sentences.collect::<Vec<_>>().join(".\n");
            SampledPage { id: number.to_string().into(), text: text.into() }
        })
        .collect();
    pages.push(SampledPage {
        id: "copy".into(),
        text: format!("{} The end.", pages[0].text).into(),
    });
    pages
}

#[test]
fn each_copy_is_compared_with_its_page_and_each_page_with_each() {
    let methods = [method("words", 3, None), method("wide", 8, None)];
    let pages = pages();
    let done = AtomicU64::new(0);
    let evaluation =
        PlantedEvaluation { pages: &pages, methods: &methods, seed: 9, workers: 2, done: &done };
    let scores = evaluation.scores(MemoryMeter::new(1 << 24)).unwrap();
    assert_eq!((done.load(Ordering::Relaxed), scores.pages), (24, 24));
    let mut sketchers = methods.each_ref().map(|method| method.recipe.sketcher().unwrap());
    let mut near = |method: usize, texts: [&str; 2]| {
        let [one, two] = texts.map(|text| sketchers[method].text(text).unwrap().unwrap());
        (one ^ two).count_ones() <= methods[method].distance
    };
    let sets: Vec<ShingleSet> = pages.iter().map(|page| word_shingles(&page.text)).collect();
    // The copies are made again, by the definition.
    let mut planted = scores.planted.iter();
    for (at, page) in pages.iter().enumerate() {
        let lender = evaluation.lender(at, &sets).map(|lender| &*pages[lender].text);
        for (place, edit) in Edit::ALL.into_iter().enumerate() {
            let strength = (at + place) % Edit::STRENGTHS;
            let seed = xxh3_64_with_seed(page.id.as_bytes(), 9 ^ (place as u64 + 1));
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let lender = lender.unwrap_or_default();
            let Some(copy) = edit.plant(strength, &page.text, lender, &mut random) else {
                continue;
            };
            let pair = planted.next().unwrap();
            assert_eq!((pair.page, pair.edit, pair.strength), (at as u32, edit, strength));
            let [whole, changed] = [word_shingles(&page.text), word_shingles(&copy)];
            let of_copy = changed.contained_in(&whole);
            assert_eq!(pair.containment, of_copy.max(whole.contained_in(&changed)));
            for method in 0..2 {
                let expected = near(method, [&page.text, &copy]);
                assert_eq!(pair.is_found_by(method), expected, "{edit}");
                // Fingerprints have no direction: the copy goes.
                assert_eq!(pair.is_lost_by(method), expected && of_copy < WHOLE, "{edit}");
            }
        }
    }
    assert!(planted.next().is_none() && scores.planted.len() > 100);
    for method in 0..2 {
        let mut kept: Vec<usize> = Vec::new();
        let mut dropped = Vec::new();
        for page in 0..24 {
            match kept.iter().find(|&&of| near(method, [page, of].map(|it| &*pages[it].text))) {
                Some(&of) => dropped.push((page as u32, of as u32)),
                None => kept.push(page),
            }
        }
        let goes = |it: &DroppedPage| (it.page, it.of);
        assert_eq!(scores.losses[method].dropped.iter().map(goes).collect::<Vec<_>>(), dropped);
        assert!(dropped.contains(&(23, 0)));
    }
}

#[test]
fn pages_without_words_get_no_copies() {
    let methods = [method("wide", 8, None)];
    let mut pages = pages();
    let done = AtomicU64::new(0);
    let scores = |pages: &[SampledPage]| {
        let methods = &methods;
        let evaluation = PlantedEvaluation { pages, methods, seed: 9, workers: 2, done: &done };
        let scores = evaluation.scores(MemoryMeter::new(1 << 24)).unwrap();
        (scores.summary(0), scores.without_fingerprint)
    };
    let (before, _) = scores(&pages);
    pages.extend(
        (0..5).map(|at| SampledPage { id: format!("no words {at}").into(), text: "...".into() }),
    );
    let (after, without) = scores(&pages);
    assert_eq!((after.copies, without), (before.copies, 5));
}

#[test]
fn a_lender_is_unlike_of_the_same_language_and_long_enough() {
    let pages = pages();
    let done = AtomicU64::new(0);
    let evaluation =
        PlantedEvaluation { pages: &pages, methods: &[], seed: 9, workers: 1, done: &done };
    let sets: Vec<ShingleSet> = pages.iter().map(|page| word_shingles(&page.text)).collect();
    let is_han = |page: usize| han_share(&pages[page].text) >= 0.5;
    let mut same = 0;
    for at in 0..pages.len() {
        let lender = evaluation.lender(at, &sets).expect("most pages are unlike");
        assert!(lender != at && sets[at].jaccard(&sets[lender]) < ALIKE);
        assert!(2 * pages[lender].text.len() >= pages[at].text.len());
        same += usize::from(is_han(lender) == is_han(at));
    }
    assert!(same > 20, "{same} of 24");
    assert!(sets[0].jaccard(&sets[23]) > ALIKE);
}
