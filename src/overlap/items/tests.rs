//! What is found, against the definition: every stretch of every page, word by word.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// The most shingles of the item that a stretch of the page has, and the first such stretch, by looking at all of them.
fn best(item: &[&str], page: &[&str]) -> (usize, usize, usize) {
    let width = item.len().min(3);
    let wanted: BTreeSet<&[&str]> = item.windows(width).collect();
    let longest = item.len() + item.len() / 2;
    let mut best = (0, 0, 0);
    for end in width..=page.len() {
        let last = &page[end - width..end];
        for start in end.saturating_sub(longest)..=end - width {
            let first = &page[start..start + width];
            if !wanted.contains(first) || !wanted.contains(last) {
                continue;
            }
            let met: BTreeSet<_> =
                page[start..end].windows(width).filter(|it| wanted.contains(it)).collect();
            if met.len() > best.0 {
                best = (met.len(), start, end);
            }
        }
    }
    best
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "日", "é"]), count)
}

proptest! {
    #[test]
    fn what_stands_in_a_page_is_what_the_definition_says(
        texts in prop::collection::vec(words(0..9), 1..6),
        page in words(0..40),
        share in prop::sample::select(vec![0.3, 0.5, 0.8, 1.0]),
    ) {
        prop_assume!(texts.iter().any(|text| !text.is_empty()));
        let named = texts.iter().zip(0..).map(|(text, at)| (format!("{at}"), text.join("-")));
        let items = Items::new(named.collect(), share).unwrap();
        let text = page.join(", ");
        let found = Finder::new(items.into(), Default::default()).find(&text).unwrap();
        let mut starts = vec![0];
        starts.extend(page.iter().scan(0, |at, word| { *at += word.len() + 2; Some(*at) }));
        let mut expected = Vec::new();
        for (item, text) in (0..).zip(&texts).filter(|(_, text)| !text.is_empty()) {
            let shingles = text.windows(text.len().min(3)).collect::<BTreeSet<_>>().len();
            let (shared, start, end) = best(text, &page);
            if shared > 0 && shared as f64 >= share * shingles as f64 {
                let place = starts[start]..starts[end] - 2;
                expected.push(ItemFound { item, shared: shared as u32, shingles: shingles as u32, place });
            }
        }
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn reference_sets_that_find_nothing_are_refused() {
    let set = |texts: &[(&str, &str)], share| {
        let texts = texts.iter().map(|(id, text)| (id.to_string(), text.to_string()));
        Items::new(texts.collect(), share).map(drop).map_err(|error| error.kind())
    };
    assert_eq!(set(&[("a", "x"), ("b", "?!")], 0.8), Ok(()));
    assert_eq!(set(&[("b", "?!")], 0.8), Err(crate::Kind::BadData));
    assert_eq!(set(&[("a", "x"), ("a", "y")], 0.8), Err(crate::Kind::BadData));
    assert_eq!(set(&[("a", "x")], 0.0), Err(crate::Kind::Usage));
    assert_eq!(set(&[("a", "x")], f64::NAN), Err(crate::Kind::Usage));
}

#[test]
fn phrases_that_many_items_have_lead_to_none_of_them() {
    let texts = (0..200).map(|at| (at.to_string(), format!("{} x{at}", "a ".repeat(50))));
    let items = std::sync::Arc::new(Items::new(texts.collect(), 0.8).unwrap());
    let phrase = items.items[0].shingles.iter().filter(|shingle| !items.with(**shingle).is_empty());
    assert_eq!((items.items[0].shingles.len(), phrase.count()), (2, 1));
    let page = format!("{} x7", "a ".repeat(1 << 16));
    let found = Finder::new(items, Default::default()).find(&page).unwrap();
    assert_eq!(
        found.iter().map(|it| (it.shared, it.place.end)).collect::<Vec<_>>(),
        [(2, page.len())]
    );
}
