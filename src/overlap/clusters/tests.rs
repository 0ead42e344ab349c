//! Clusterings against their definition, and against themselves from nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::{Clustering, Clusters, Method, PageDay, Previous, Source, audit};
use crate::error::{Kind, Result};
use crate::output::{Lock, Staging};

type Page = (String, u8);

/// A match: the new page, the one it is near, the distance, and whether it is the verdict.
type Match = (Page, Page, u32, bool);

fn day(number: u8) -> String {
    format!("2026-11-{number:02}")
}

fn source(folder: PathBuf, of: u8, matches: &[&Match]) -> Source {
    fs::create_dir_all(&folder).unwrap();
    let against = |existing: &Page| match existing.1 == of {
        true => "batch".to_owned(),
        false => day(existing.1),
    };
    let mut rows: Vec<(&str, u32, &str, String)> = matches
        .iter()
        .map(|(new, existing, apart, _)| {
            let [mut one, mut other] = [&*new.0, &*existing.0];
            // Within a batch the larger id is the new one, whichever is kept.
            if new.1 == existing.1 && one < other {
                (one, other) = (other, one);
            }
            (one, *apart, other, against(existing))
        })
        .collect();
    rows.sort();
    let dropped: BTreeSet<&str> = matches.iter().filter(|it| it.3).map(|it| &*it.0.0).collect();
    let mut text = "new\texisting\tdistance\tagainst\tverdict\n".to_owned();
    for (new, apart, existing, against) in &rows {
        let verdict = if dropped.contains(new) { "drop" } else { "keep" };
        writeln!(text, "{new}\t{existing}\t{apart}\t{against}\t{verdict}").unwrap();
    }
    fs::write(folder.join("matches.tsv"), text).unwrap();
    let mut verdicts: BTreeMap<&str, String> =
        rows.iter().map(|(new, ..)| (*new, "keep\t\t\t".to_owned())).collect();
    for (new, existing, apart, _) in matches.iter().filter(|it| it.3) {
        let line = format!("drop\t{}\t{apart}\t{}", existing.0, against(existing));
        verdicts.insert(&new.0, line);
    }
    let mut text = "id\tverdict\tof\tdistance\tagainst\n".to_owned();
    verdicts.iter().for_each(|(id, verdict)| writeln!(text, "{id}\t{verdict}").unwrap());
    fs::write(folder.join("verdicts.tsv"), text).unwrap();
    Source { folder, day: PageDay::read(&day(of)).unwrap() }
}

fn sources(folder: &Path, matches: &[Match]) -> Vec<Source> {
    let days: BTreeSet<u8> = matches.iter().map(|(new, ..)| new.1).collect();
    let output = |of: &u8| {
        let matches: Vec<&Match> = matches.iter().filter(|(new, ..)| new.1 == *of).collect();
        source(folder.join(of.to_string()), *of, &matches)
    };
    days.iter().map(output).collect()
}

fn cluster(clustering: &Clustering, output: &Path) -> Result<Clusters> {
    let staging = Staging::beside(output, Lock::beside(output)?)?;
    let clusters = clustering.write(&staging)?;
    staging.commit().map(|()| clusters)
}

type Row = (String, String, u8);

fn rows_by_definition(matches: &[Match], method: Method) -> Vec<Row> {
    let counts = |it: &&Match| method == Method::Components || it.3;
    let matches: Vec<&Match> = matches.iter().filter(counts).collect();
    let pages: BTreeSet<&Page> = matches.iter().flat_map(|(new, old, ..)| [new, old]).collect();
    let parents: HashMap<&Page, &Page> = matches.iter().map(|(new, old, ..)| (new, old)).collect();
    let star = |page| {
        let mut page: &Page = page;
        while let Some(parent) = parents.get(page) {
            page = parent;
        }
        page.0.clone()
    };
    let component = |page: &Page| {
        let mut reached = BTreeSet::from([page]);
        loop {
            let before = reached.len();
            for (new, old, ..) in &matches {
                if reached.contains(new) || reached.contains(old) {
                    reached.extend([new, old]);
                }
            }
            let ids: BTreeSet<&str> = reached.iter().map(|page| &*page.0).collect();
            reached.extend(pages.iter().filter(|page| ids.contains(&*page.0)));
            if reached.len() == before {
                return reached.first().unwrap().0.clone();
            }
        }
    };
    let cluster = |page| match method {
        Method::Star => star(page),
        Method::Components => component(page),
    };
    pages.iter().map(|page| (page.0.clone(), cluster(page), page.1)).collect()
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().skip(1).map(str::to_owned).collect()
}

#[derive(Clone, Debug)]
struct Event {
    matches: Vec<Match>,
    removed: Vec<String>,
}

/// One page of a day: its id, whether it is dropped and of which page it is a duplicate, and more matches.
type Draft = (usize, Option<(usize, u8)>, Vec<(usize, u8)>);

/// Random days. A page is dropped as a duplicate of one of a day before, or of a kept one of its own day.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let other = || (0_usize..9, 0_u8..8);
    let page = (0_usize..9, prop::option::of(other()), prop::collection::vec(other(), 0..2));
    let day = prop::collection::vec(page, 0..7);
    let removed = prop::option::weighted(0.3, prop::collection::vec(0_usize..9, 1..3));
    prop::collection::vec((day, removed), 1..6).prop_shuffle().prop_flat_map(|drafts| {
        let days: Vec<u8> = (10..10 + drafts.len() as u8).collect();
        (Just(drafts), Just(days).prop_shuffle()).prop_map(|(drafts, days)| {
            let event = |((drafts, removed), of): ((Vec<Draft>, Option<Vec<usize>>), u8)| Event {
                matches: matches_of(&drafts, of),
                removed: removed.unwrap_or_default().into_iter().map(id).collect(),
            };
            drafts.into_iter().zip(days).map(event).collect()
        })
    })
}

/// Ids whose order as bytes is not that of people, and that a careless reader would split or quote.
fn id(number: usize) -> String {
    ["a", "B", "a b", "\"q\"", "ä", "狐狸", "-", "a0", "http://x/?a=1&b=\\t"][number].to_owned()
}

fn matches_of(drafts: &[Draft], of: u8) -> Vec<Match> {
    let pages: BTreeMap<usize, &Draft> = drafts.iter().map(|draft| (draft.0, draft)).collect();
    let is_kept = |number: usize| pages.get(&number).is_some_and(|draft| draft.1.is_none());
    let existing = |new: usize, (number, back): (usize, u8)| match back {
        0 => (is_kept(number) && number != new).then(|| (id(number), of)),
        back => Some((id(number), of - back)),
    };
    let mut matches: BTreeMap<(Page, Page), (u32, bool)> = BTreeMap::new();
    for (&new, (_, of_kept, more)) in &pages {
        let apart = |number: usize| (new * 3 + number) as u32 % 8;
        let page = (id(new), of);
        let verdict = of_kept.and_then(|kept| existing(new, kept).map(|page| (kept.0, page)));
        if let Some((number, kept)) = &verdict {
            matches.insert((page.clone(), kept.clone()), (apart(*number), true));
        }
        let is_row = |other: &&(usize, u8)| other.1 > 0 || id(other.0) < id(new);
        for &other in more.iter().filter(is_row) {
            if let Some(other_page) = existing(new, other) {
                matches.entry((page.clone(), other_page)).or_insert((apart(other.0), false));
            }
        }
    }
    matches.into_iter().map(|((new, old), (apart, verdict))| (new, old, apart, verdict)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// After every day and every removal: what the definition gives, what a clustering from nothing gives, byte
    /// for byte, and the rows before with the changes.
    #[test]
    fn every_event_leaves_what_a_clustering_from_nothing_would(
        events in events(),
        method in prop::sample::select(vec![Method::Star, Method::Components]),
        memory_bytes in prop::sample::select(vec![100, 1 << 20]),
    ) {
        let home = TempDir::new().unwrap();
        let at = |name: &str, number: usize| home.path().join(format!("{name}-{number}"));
        let mut matches: Vec<Match> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        let mut previous: Option<Previous> = None;
        for (number, event) in events.into_iter().enumerate() {
            let is_removed = |(new, old, ..): &Match| event.removed.contains(&new.0) || event.removed.contains(&old.0);
            matches.extend(event.matches.clone());
            matches.retain(|it| !is_removed(it));
            let days = sources(&at("day", number), &event.matches);
            let removed = event.removed.iter().map(String::as_str).collect();
            let next = Clustering { removed, memory_bytes, ..clustering(days, method, previous.clone()) };
            let updated = at("updated", number);
            let mut made = cluster(&next, &updated).unwrap();

            let before = std::mem::replace(&mut rows, rows_by_definition(&matches, method));
            let expected: Vec<String> = rows
                .iter()
                .map(|(id, cluster, of)| format!("{id}\t{cluster}\t{}", day(*of)))
                .collect();
            prop_assert_eq!(lines(&updated.join("clusters.tsv")), expected);
            let folder = updated.clone();
            if previous.replace(Previous { folder, found: made.clone() }).is_some() {
                let changes = changes_by_definition(&before, &rows);
                prop_assert_eq!(made.changes.take(), Some(changes.len() as u64));
                prop_assert_eq!(lines(&updated.join("changes.tsv")), changes);
                made.files.remove("changes.tsv");
            }

            let days = sources(&at("all", number), &matches);
            let scratch = Clustering { memory_bytes, ..clustering(days, method, None) };
            let anew = at("anew", number);
            let from_nothing = cluster(&scratch, &anew).unwrap();
            for name in made.files.keys() {
                let [one, other] = [&updated, &anew].map(|folder| fs::read(folder.join(name)).unwrap());
                prop_assert_eq!(one, other, "{}", name);
            }
            prop_assert_eq!(made, from_nothing);
        }
    }
}

fn changes_by_definition(before: &[Row], after: &[Row]) -> Vec<String> {
    let go = before.iter().filter(|row| !after.contains(row)).map(|row| (row, "-1"));
    let come = after.iter().filter(|row| !before.contains(row)).map(|row| (row, "+1"));
    let mut changes: Vec<_> = go.chain(come).collect();
    changes.sort_by_key(|((id, cluster, of), _)| (cluster, id, of));
    let line =
        |((id, cluster, of), diff): (&Row, &str)| format!("{cluster}\t{id}\t{diff}\t{}", day(*of));
    changes.into_iter().map(line).collect()
}

fn clustering(sources: Vec<Source>, method: Method, previous: Option<Previous>) -> Clustering {
    Clustering { previous, memory_bytes: 1 << 20, ..Clustering::new(method, sources) }
}

fn page(id: &str, of: u8) -> Page {
    (id.to_owned(), of)
}

#[test]
fn verdicts_that_lead_in_a_circle_are_refused() {
    let home = TempDir::new().unwrap();
    let matches =
        [(page("a", 11), page("b", 12), 1, true), (page("b", 12), page("a", 11), 1, true)];
    let all = clustering(sources(&home.path().join("in"), &matches), Method::Star, None);
    let error = cluster(&all, &home.path().join("out")).unwrap_err();
    assert_eq!(error.kind(), Kind::BadData);
    let first = clustering(all.sources[..1].to_vec(), Method::Star, None);
    let folder = home.path().join("one");
    let found = cluster(&first, &folder).unwrap();
    let previous = Some(Previous { folder, found });
    // A report that says of too many members takes no memory for them.
    let mut forged = previous.clone();
    forged.iter_mut().for_each(|it| it.found.members = u32::MAX.into());
    let next = clustering(all.sources[1..].to_vec(), Method::Star, forged);
    let error_of_members = cluster(&next, &home.path().join("two")).unwrap_err();
    assert_eq!(error_of_members.kind(), Kind::BadData);
    assert!(error_of_members.to_string().contains("another `members`"));
    let next = clustering(all.sources[1..].to_vec(), Method::Star, previous);
    let told = cluster(&next, &home.path().join("two")).unwrap_err();
    assert_eq!(told.to_string(), error.to_string());
    let joined = clustering(all.sources, Method::Components, None);
    assert_eq!(cluster(&joined, &home.path().join("three")).unwrap().clusters, 1);
}

/// Three copies of which the one with the largest id is kept.
#[test]
fn the_kept_page_is_counted_whatever_its_id() {
    let home = TempDir::new().unwrap();
    let matches = [
        (page("a", 11), page("c", 11), 2, true),
        (page("b", 11), page("c", 11), 1, true),
        (page("b", 11), page("a", 11), 3, false),
    ];
    let joined = clustering(sources(&home.path().join("in"), &matches), Method::Components, None);
    let joined = cluster(&joined, &home.path().join("joined")).unwrap();
    assert_eq!((joined.members, joined.clusters, joined.stars, joined.links), (3, 1, 1, 3));
    assert_eq!(joined.largest[0].kept, 1);
}

/// Two stars around k and m, which a match of their members joins.
fn two_stars() -> [Match; 4] {
    [
        (page("k1", 12), page("k", 11), 3, true),
        (page("k2", 12), page("k", 11), 2, true),
        (page("m1", 12), page("m", 11), 1, true),
        (page("m1", 12), page("k2", 12), 5, false),
    ]
}

#[test]
fn a_state_whose_links_give_other_clusters_is_refused() {
    let home = TempDir::new().unwrap();
    let sources = sources(&home.path().join("in"), &two_stars());
    let audited = |found: &Clusters| {
        let made = Previous { folder: home.path().join("joined"), found: found.clone() };
        audit(&made, Method::Components, None, home.path(), 1 << 20)
    };
    let make = |folder: &str, method| {
        let clustering = clustering(sources.clone(), method, None);
        cluster(&clustering, &home.path().join(folder)).unwrap()
    };
    let (mut joined, stars) = (make("joined", Method::Components), make("stars", Method::Star));
    audited(&joined).unwrap();
    let [from, to] = ["stars", "joined"].map(|folder| home.path().join(folder).join("pages.bin"));
    fs::copy(from, to).unwrap();
    joined.files.insert("pages.bin".to_owned(), stars.files["pages.bin"].clone());
    let error = audited(&joined).unwrap_err();
    assert!(error.to_string().contains("do not give these clusters"), "{error}");
}

#[test]
fn the_largest_clusters_are_described() {
    let home = TempDir::new().unwrap();
    let matches = two_stars();
    let sources = sources(&home.path().join("in"), &matches);
    let joined = clustering(sources.clone(), Method::Components, None);
    let joined = cluster(&joined, &home.path().join("joined")).unwrap();
    assert_eq!((joined.members, joined.clusters, joined.stars, joined.links), (5, 1, 2, 4));
    let whole = &joined.largest[0];
    assert_eq!((&*whole.cluster, whole.members, whole.kept), ("k", 5, 2));
    assert_eq!((whole.steps_at_most, whole.diameter_at_most), (Some(4), Some(20)));
    assert_eq!(whole.farthest, 5);
    let stars = cluster(&clustering(sources, Method::Star, None), &home.path().join("stars"));
    let stars = stars.unwrap();
    assert_eq!((stars.members, stars.clusters, stars.stars, stars.links), (5, 2, 2, 3));
    let found: Vec<_> =
        stars.largest.iter().map(|it| (&*it.cluster, it.members, it.diameter_at_most)).collect();
    assert_eq!(found, [("k", 3, Some(6)), ("m", 2, Some(1))]);
    assert_eq!(
        stars.sizes.iter().map(|it| (it.from, it.to, it.clusters)).collect::<Vec<_>>(),
        [(2, 3, 2)]
    );
}
