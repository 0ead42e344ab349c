//! The definition for fingerprints: every pair is compared, and the batch is taken in keep order.

use std::collections::BTreeSet;

/// A page: its id and its fingerprint.
pub(crate) type Page = (String, u128);

/// A store for the definitions: the pages of each day.
pub(crate) type Days = Vec<(&'static str, Vec<Page>)>;

/// `matches.tsv` by definition: compares every pair.
pub(crate) fn matches(keep_order: &[Page], store: &Days, k: u32) -> String {
    let kept: BTreeSet<&str> =
        kept(keep_order, store, k).into_iter().map(|page| page.0.as_str()).collect();
    let mut rows = Vec::new();
    for (new, fingerprint) in keep_order {
        for (existing, other) in keep_order {
            let distance = (fingerprint ^ other).count_ones();
            if new > existing && distance <= k {
                rows.push((new.as_str(), distance, existing.as_str(), "batch"));
            }
        }
        for (day, pages) in store {
            for (existing, other) in pages {
                let distance = (fingerprint ^ other).count_ones();
                if distance <= k {
                    rows.push((new, distance, existing, day));
                }
            }
        }
    }
    rows.sort();
    let lines = rows.iter().map(|(new, distance, existing, against)| {
        let verdict = if kept.contains(new) { "keep" } else { "drop" };
        format!("{new}\t{existing}\t{distance}\t{against}\t{verdict}\n")
    });
    format!("new\texisting\tdistance\tagainst\tverdict\n{}", lines.collect::<String>())
}

/// The pages that are kept by definition: takes the batch in keep order, one page after the other.
fn kept<'a>(keep_order: &'a [Page], store: &Days, k: u32) -> Vec<&'a Page> {
    let near = |a: &Page, b: &Page| (a.1 ^ b.1).count_ones() <= k;
    let held = |page: &Page| store.iter().any(|(_, pages)| pages.iter().any(|old| near(page, old)));
    let mut kept: Vec<&Page> = Vec::new();
    for page in keep_order {
        if !held(page) && !kept.iter().any(|other| near(page, other)) {
            kept.push(page);
        }
    }
    kept
}

/// `verdicts.tsv` by definition.
pub(crate) fn verdicts(keep_order: &[Page], store: &Days, k: u32) -> String {
    let kept = kept(keep_order, store, k);
    let mut lines: Vec<String> = keep_order
        .iter()
        .map(|page| {
            if kept.contains(&page) {
                return format!("{}\tkeep\t\t\t\n", page.0);
            }
            format!("{}\tdrop\t{}\n", page.0, nearest(page, &kept, store))
        })
        .collect();
    lines.sort_by(|a, b| a.split('\t').next().cmp(&b.split('\t').next()));
    format!("id\tverdict\tof\tdistance\tagainst\n{}", lines.concat())
}

/// The nearest kept page: smallest distance, the store before the batch, smallest id, earliest day.
fn nearest(page: &Page, kept: &[&Page], store: &Days) -> String {
    let held = store.iter().flat_map(|(day, pages)| pages.iter().map(move |old| (old, *day, 0)));
    let (distance, _, id, against) = held
        .chain(kept.iter().map(|other| (*other, "batch", 1)))
        .map(|(other, against, side)| ((page.1 ^ other.1).count_ones(), side, &other.0, against))
        .min()
        .unwrap();
    format!("{id}\t{distance}\t{against}")
}

/// The pages of a store within k of some bits: distance, id and day.
pub(crate) fn near(days: &Days, bits: u128, k: u32) -> BTreeSet<(u32, String, String)> {
    let pages = days.iter().flat_map(|(day, pages)| pages.iter().map(move |page| (day, page)));
    let far = pages
        .map(|(day, (id, other))| ((bits ^ other).count_ones(), id.clone(), (*day).to_owned()));
    far.filter(|(distance, ..)| *distance <= k).collect()
}
