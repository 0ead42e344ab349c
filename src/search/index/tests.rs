//! Answers against all pairs compared, for every design, width and distance: several segments, copies, crowds,
//! merged segments with their days.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::*;
use crate::document::IdList;
use crate::error::{Kind, Result};
use crate::fingerprint::{Check, Class, Fingerprint};
use crate::matches::{Answer, Confirm, Question};
use crate::store::{Access, Codec, Day, Details, Kept, NewDay, SegmentOptions, Store};
use crate::tests::{segment, shared_anchors, signed, signed_options};
use crate::work::Work;

type Pages = Vec<(u128, String)>;

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Fingerprints of `bits` bits: random ones, some with few bits, some near to a few, copies, and a cluster with the same first bits.
fn pages(count: usize, bits: u32, state: &mut u64) -> Pages {
    let all = u128::MAX >> (128 - bits);
    let wide = |state: &mut u64| (u128::from(next(state)) << 64 | u128::from(next(state))) & all;
    let page = |at: usize, state: &mut u64| {
        let center = u128::from(next(state) % 4)
            .wrapping_mul(0x0123_4567_89ab_cdef_0fed_cba9_8765_4321)
            & all;
        let flips =
            (0..next(state) % 9).fold(0, |flips, _| flips | 1 << (next(state) % u64::from(bits)));
        let fingerprint = match next(state) % 9 {
            0..2 => wide(state),
            2 => wide(state) >> (next(state) % u64::from(bits)),
            3..6 => center ^ flips,
            6 => center,
            _ => center ^ (wide(state) & 0x3ff),
        };
        (fingerprint, format!("page-{}", at % 97))
    };
    let mut pages: Pages = (0..count).map(|at| page(at, state)).collect();
    pages.sort();
    pages.dedup();
    pages
}

fn write<F: Fingerprint>(path: &Path, pages: &Pages, codec: Codec) -> Result<()> {
    let options = SegmentOptions { codec, classes: true, ..SegmentOptions::default() };
    let details = |id: &str| Details { class: class_of(id), ..Details::default() };
    let page = |(bits, id): &(u128, String)| (F::from_u128(*bits), id.clone(), details(id));
    segment(path, options, pages.iter().map(page)).map(drop)
}

fn class_of(id: &str) -> Class {
    if id.ends_with('7') { Class::Short } else { Class::Full }
}

fn store_of<F: Fingerprint>(folder: &Path, days: &BTreeMap<Day, Pages>) -> Result<Store> {
    let (store, _) = Store::init(folder.join("store"))?;
    let codecs = [Codec::EliasFano, Codec::Huffman];
    for ((day, pages), codec) in days.iter().zip(codecs.into_iter().cycle()) {
        let path = folder.join("day.seg");
        write::<F>(&path, pages, codec)?;
        store.add(&NewDay::whole(&path, *day), None)?;
    }
    Ok(store)
}

fn defined(
    days: &BTreeMap<Day, Pages>,
    asked: u128,
    class: Option<Class>,
    k: u32,
) -> Vec<(u8, String, Day)> {
    let mut near = Vec::new();
    for (day, pages) in days {
        for (fingerprint, id) in pages {
            let distance = (fingerprint ^ asked).count_ones();
            if distance <= k && class.is_none_or(|class| class == class_of(id)) {
                near.push((distance as u8, id.clone(), *day));
            }
        }
    }
    near.sort();
    near
}

fn answered(
    lookup: &Arc<Lookup>,
    asked: u128,
    class: Option<Class>,
) -> Result<Vec<(u8, String, Day)>> {
    let details = class.map(|class| Details { class, ..Details::default() });
    let page = details.as_ref();
    let question = Question { fingerprint: asked, page };
    let answer = Asker::new(lookup).ask(&question, usize::MAX, &mut Work::unbounded())?;
    assert_eq!(answer.more, 0);
    Ok(told(answer))
}

fn told(answer: Answer) -> Vec<(u8, String, Day)> {
    answer.near.into_iter().map(|it| (it.distance, it.id, it.day.unwrap())).collect()
}

fn days(seed: u64, sizes: &[usize], bits: u32) -> BTreeMap<Day, Pages> {
    let mut state = seed;
    let numbered = (1..).zip(sizes);
    numbered
        .map(|(day, &size)| {
            (format!("2026-11-{day:02}").parse().unwrap(), pages(size, bits, &mut state))
        })
        .collect()
}

fn asked(days: &BTreeMap<Day, Pages>, bits: u32, state: &mut u64) -> Vec<u128> {
    let all = u128::MAX >> (128 - bits);
    let held: Vec<u128> = days.values().flatten().map(|(fingerprint, _)| *fingerprint).collect();
    let near = (0..14).map(|at| {
        let flips =
            (0..at % 9).fold(0, |flips, _| flips | 1_u128 << (next(state) % u64::from(bits)));
        held.get(next(state) as usize % held.len().max(1)).copied().unwrap_or(7) ^ flips
    });
    near.chain([0, all]).collect()
}

fn all_designs_agree<F: Fingerprint>(seed: u64, sizes: &[usize]) -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let days = days(seed, sizes, F::BITS);
    let store = store_of::<F>(folder.path(), &days)?;
    let mut state = seed ^ 1;
    let asked = asked(&days, F::BITS, &mut state);
    for compact in [false, true] {
        if compact {
            store.compact(Codec::EliasFano, &AtomicU64::new(0))?;
        }
        for design in IndexDesign::ALL {
            index(&store, design, (1 << 12, 2), &AtomicU64::new(0))?;
            for distance in [0, 1, 2, 3, 5, 7] {
                let access = if distance % 2 == 0 { Access::OnDisk } else { Access::Resident };
                let options = LookupOptions { distance, check: None, access };
                let lookup = Lookup::open(&store, store.at(None)?, options)?;
                assert_eq!(lookup.without_index(), 0);
                for &asked in &asked {
                    for class in [None, Some(Class::Full)] {
                        let expected = defined(&days, asked, class, distance);
                        let found = answered(&lookup, asked, class)?;
                        assert!(
                            found == expected,
                            "{design} {distance} {asked:x}\n{found:?}\n{expected:?}"
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_design_answers_as_all_pairs_do_at_64_bits() -> Result<()> {
    all_designs_agree::<u64>(1, &[300, 1, 1500])
}

#[test]
fn every_design_answers_as_all_pairs_do_at_128_bits() -> Result<()> {
    all_designs_agree::<u128>(2, &[700, 90])
}

/// More rows than a block has, and a crowd of copies that goes over its end.
#[test]
fn blocks_and_crowds_end_where_they_end() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 3;
    let crowd = 0x7777_7777_7777_7777;
    let mut held: Pages =
        (0..20_000).map(|at| (u128::from(next(&mut state)), format!("{at:05}"))).collect();
    held.extend((0..30_000).map(|at| (crowd, format!("copy-{at:05}"))));
    held.extend(
        (0..900).map(|at| (crowd ^ u128::from(next(&mut state) & 0xfff), format!("near-{at:05}"))),
    );
    held.sort();
    let day: Day = "2026-11-01".parse()?;
    let days = BTreeMap::from([(day, held)]);
    let store = store_of::<u64>(folder.path(), &days)?;
    for design in IndexDesign::ALL {
        index(&store, design, (1 << 20, 2), &AtomicU64::new(0))?;
        let options = LookupOptions::within(3);
        let lookup = Lookup::open(&store, store.at(None)?, options)?;
        for asked in [crowd, crowd ^ 1, crowd ^ 7 << 40, crowd ^ 15, days[&day][12_345].0] {
            assert_eq!(answered(&lookup, asked, None)?, defined(&days, asked, None, 3), "{design}");
            let expected = defined(&days, asked, Some(Class::Short), 3);
            assert_eq!(answered(&lookup, asked, Some(Class::Short))?, expected, "{design}");
            let all = defined(&days, asked, None, 3);
            for limit in [0, 1, 10, 1000] {
                let question = Question { fingerprint: asked, page: None };
                let answer = Asker::new(&lookup).ask(&question, limit, &mut Work::unbounded())?;
                let (more, near) = (answer.more as usize, told(answer));
                assert_eq!(near, all[..limit.min(all.len())], "{design} {limit}");
                assert_eq!(more, all.len() - near.len());
            }
        }
    }
    Ok(())
}

/// A crowd is cut where its work is over, for every design: what is told is true, and nothing is told to be all.
#[test]
fn work_that_is_over_is_told_and_what_was_found_is_true() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 5;
    let crowd = 0x7777_7777_7777_7777;
    let mut held: Pages = (0..20_000)
        .map(|at| (crowd ^ u128::from(next(&mut state) & 0xffff_0000), format!("near-{at:05}")))
        .collect();
    held.extend((0..20_000).map(|at| (u128::from(next(&mut state)), format!("far-{at:05}"))));
    held.sort();
    held.dedup_by_key(|page| page.0);
    let far = held.iter().find(|page| page.1.starts_with("far")).unwrap().0;
    let days = BTreeMap::from([("2026-11-01".parse()?, held)]);
    let store = store_of::<u64>(folder.path(), &days)?;
    let all = defined(&days, crowd, None, 15);
    for design in [IndexDesign::None, IndexDesign::Mirror] {
        index(&store, design, (1 << 20, 2), &AtomicU64::new(0))?;
        let options = LookupOptions::within(15);
        let lookup = Lookup::open(&store, store.at(None)?, options)?;
        let mut asker = Asker::new(&lookup);
        let mut ask = |fingerprint, work: &mut Work<'_>| {
            asker.ask(&Question { fingerprint, page: None }, 10, work)
        };
        let mut most = 0;
        for steps in [0, 10, 1000, 10_000, 10_000_000] {
            let mut work = Work::of(steps);
            work.begin(0);
            let answer = ask(crowd, &mut work)?;
            let count = answer.near.len() + answer.more as usize;
            assert!(count >= most && count <= all.len(), "{design} {steps}: {count}");
            assert_eq!(answer.is_cut, count < all.len(), "{design} {steps}: {count}");
            assert!(steps == 0 || steps > count as u64, "{design} {steps}: {count}");
            assert!(told(answer).iter().all(|it| all.contains(it)), "{design} {steps}");
            most = count;
        }
        assert!(most > 10_000, "a crowd: {most}");
        // What one question does not get is not taken from the next.
        let mut work = Work::of(400_000);
        work.begin(19);
        assert!(ask(crowd, &mut work)?.is_cut);
        let few = defined(&days, far, None, 15).len();
        work.begin(0);
        let answer = ask(far, &mut work)?;
        assert_eq!((answer.near.len() + answer.more as usize, answer.is_cut), (few, false));
        // Nobody waits.
        let mut work = Work::unbounded().while_wanted(&|| false);
        work.begin(0);
        assert_eq!(ask(crowd, &mut work)?, Answer { is_cut: true, ..Answer::default() });
    }
    Ok(())
}

#[test]
fn a_store_without_pages_is_near_to_nothing() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(folder.path().join("store"))?;
    index(&store, IndexDesign::Mirror, (1 << 12, 2), &AtomicU64::new(0))?;
    let lookup = Lookup::open(&store, store.at(None)?, LookupOptions::default())?;
    assert_eq!((answered(&lookup, 5, None)?, lookup.width()), (Vec::new(), None));
    let empty = BTreeMap::from([("2026-11-01".parse()?, Pages::new())]);
    let store = store_of::<u64>(&folder.path().join("store-2"), &empty)?;
    index(&store, IndexDesign::Mirror, (1 << 12, 2), &AtomicU64::new(0))?;
    let lookup = Lookup::open(&store, store.at(None)?, LookupOptions::default())?;
    assert_eq!(answered(&lookup, 5, None)?, Vec::new());
    let far = LookupOptions { distance: 16, ..LookupOptions::default() };
    assert_eq!(Lookup::open(&store, store.at(None)?, far).unwrap_err().kind(), Kind::Usage);
    Ok(())
}

#[test]
fn an_index_is_kept() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let days = days(4, &[50, 60, 70], 64);
    let store = store_of::<u64>(folder.path(), &days)?;
    let count = AtomicU64::new(0);
    assert_eq!(keep(&store, (1 << 12, 2), &count)?, Kept::default());
    assert_eq!(
        (design_of(&store)?, missing(&store, IndexDesign::Mirror)?.0),
        (IndexDesign::None, 3)
    );
    let kept = index(&store, IndexDesign::Mirror, (1 << 12, 2), &count)?;
    assert_eq!((kept.made, kept.removed, kept.files), (3, 0, 3));
    assert_eq!(index(&store, IndexDesign::Mirror, (1 << 12, 2), &count)?.made, 0);
    let names = || -> Vec<_> {
        let entries = std::fs::read_dir(store.path().join("index")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    std::fs::write(&names()[0], "damaged").unwrap();
    std::fs::remove_file(&names()[1]).unwrap();
    std::fs::write(store.path().join("index/.unfinished-x"), "").unwrap();
    std::fs::write(store.path().join("index/notes.txt"), "").unwrap();
    assert_eq!(keep(&store, (1 << 12, 2), &count)?.made, 2);
    assert_eq!(names().len(), 4, "the notes stay");
    store.compact(Codec::EliasFano, &count)?;
    let options = LookupOptions::within(3);
    assert_eq!(Lookup::open(&store, store.at(None)?, options)?.without_index(), 1);
    let kept = keep(&store, (1 << 12, 2), &count)?;
    assert_eq!((kept.made, kept.removed, kept.files), (1, 3, 1));
    assert_eq!(Lookup::open(&store, store.at(None)?, options)?.without_index(), 0);
    // A file of another form, as of another version of the format, counts as missing.
    let mirror = names().into_iter().find(|path| path.extension() == Some("seg".as_ref())).unwrap();
    index(&store, IndexDesign::Four, (1 << 12, 2), &count)?;
    let other = names().into_iter().find(|path| path.extension() == Some("seg".as_ref())).unwrap();
    let other = std::fs::read(other).unwrap();
    index(&store, IndexDesign::Mirror, (1 << 12, 2), &count)?;
    std::fs::write(&mirror, other).unwrap();
    assert_eq!(missing(&store, IndexDesign::Mirror)?.0, 1);
    assert_eq!(Lookup::open(&store, store.at(None)?, options)?.without_index(), 1);
    assert_eq!(keep(&store, (1 << 12, 2), &count)?.made, 1);
    let kept = index(&store, IndexDesign::None, (1 << 12, 2), &count)?;
    assert_eq!((kept.made, kept.removed, kept.files), (0, 1, 0));
    assert!(!store.path().join("INDEX").exists());
    std::fs::write(store.path().join("INDEX"), "mirror 0123\n").unwrap();
    assert_eq!(design_of(&store).unwrap_err().kind(), Kind::BadData);
    Ok(())
}

type TextPage = (u64, String, String);

/// Pages of a few families: versions with changed words, parts of them, such that stand whole in a page three times as long, copies; and far more
/// versions of one page, of one fingerprint and of many, than are compared. Fingerprints say nothing of texts here.
fn text_pages(day: u64, count: u64, state: &mut u64) -> Vec<TextPage> {
    let page = |at: u64, state: &mut u64| {
        let crowd = at.is_multiple_of(2);
        let family = if crowd { 0 } else { 1 + next(state) % 5 };
        let mut words: Vec<String> = (0..60).map(|at| format!("w{family}x{at}")).collect();
        for _ in 0..next(state) % 4 {
            let changed = next(state) as usize % words.len();
            words[changed] = format!("c{day}x{at}x{changed}");
        }
        match next(state) % 4 {
            0 => words.truncate(20),
            1 => words.extend((0..120).map(|more| format!("m{day}x{at}x{more}"))),
            _ => {}
        }
        let fingerprint = match next(state) % 3 {
            0 => 0x7777_7777_7777_7777,
            1 => 0x7777_7777_7777_7777 ^ 1 << (next(state) % 64),
            _ => next(state),
        };
        (fingerprint, format!("{day}-{at:03}"), words.join(" "))
    };
    let mut pages: Vec<TextPage> = (0..count).map(|at| page(at, state)).collect();
    let copies: Vec<TextPage> = pages.iter().step_by(7).cloned().collect();
    pages.extend(copies.into_iter().map(|(bits, id, text)| (bits, format!("{id}-copy"), text)));
    pages.sort();
    pages
}

fn write_texts(path: &Path, pages: &[TextPage]) -> Result<()> {
    let check: Check = "containment".parse()?;
    let page = |(bits, id, text): &TextPage| (*bits, id.clone(), signed(check, text));
    segment(path, signed_options(check), pages.iter().map(page)).map(drop)
}

/// What is near by the definition: among the candidates that a join of this one page would have, those that contain nine tenths of it.
fn near_to(
    store: &Store,
    fingerprint: u64,
    asked: &Details,
    k: u32,
) -> Result<Vec<(u8, String, Day)>> {
    let check: Check = "containment".parse()?;
    let mut near = std::collections::BTreeSet::new();
    let mut anchored: Vec<(usize, u32, usize, Vec<u64>)> = Vec::new();
    let dated = store.at(None)?.dated()?;
    for (number, dated) in dated.iter().enumerate() {
        let segment = dated.segment();
        let (mut fingerprints, mut sketches) = (segment.fingerprints(), segment.checks().unwrap());
        let (mut anchors, mut shown) = (segment.anchors().unwrap(), dated.shown());
        let mut last = (0, Vec::new(), 0);
        let mut keys = 0;
        for row in 0..segment.rows() {
            if !shown.get(row)? {
                continue;
            }
            let (bits, sketch) = (fingerprints.get(row)?, sketches.get(row)?.to_vec());
            let distance = (bits ^ u128::from(fingerprint)).count_ones();
            let is_copy = (last.0, &last.1) == (bits, &sketch);
            keys = if last.0 != bits { 1 } else { keys + usize::from(!is_copy) };
            if distance <= k && keys <= 64 {
                near.insert((number, row));
            }
            let own = anchors.get(row)?;
            let apart = 8_usize.saturating_sub(shared_anchors(own, &asked.anchors));
            if apart < 8 {
                match anchored.last_mut() {
                    Some((.., of, rows)) if is_copy && *of == number && last.2 + 1 == row => {
                        rows.push(row);
                    }
                    _ => anchored.push((apart, distance, number, vec![row])),
                }
            }
            last = (bits, sketch, row);
        }
    }
    anchored.sort();
    for (_, _, number, rows) in anchored.into_iter().take(32) {
        near.extend(rows.into_iter().map(|row| (number, row)));
    }
    let mut found = Vec::new();
    for (number, row) in near {
        let segment = dated[number].segment();
        let sketch = segment.checks().unwrap().get(row)?.to_vec();
        let distance = (segment.fingerprints().get(row)? ^ u128::from(fingerprint)).count_ones();
        let [of_asked, _] = check.containment(&asked.check, &sketch).unwrap();
        if of_asked.is_at_least(0.9) || distance == 0 && sketch == asked.check {
            let day = dated[number].days().get(row)?;
            found.push((distance as u8, segment.ids().get(row)?.to_owned(), day));
        }
    }
    found.sort();
    Ok(found)
}

/// By fingerprints or by anchors alone, with every index: what a join of the one page finds.
#[test]
fn a_page_meets_the_pages_that_share_its_anchors() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::init(folder.path().join("store"))?;
    let mut state = 11;
    let mut all = Vec::new();
    for day in 1..=3 {
        let pages = text_pages(day, 300, &mut state);
        let path = folder.path().join("day.seg");
        write_texts(&path, &pages)?;
        store.add(&NewDay::whole(&path, format!("2026-11-0{day}").parse()?), None)?;
        all.extend(pages);
    }
    let removed = folder.path().join("removed.txt");
    let ids: String = all.iter().step_by(5).map(|(_, id, _)| format!("{id}\n")).collect();
    std::fs::write(&removed, ids).unwrap();
    let list = IdList::read(&removed, 1 << 20)?;
    store.removal(list, None)?.run(1, &AtomicU64::new(0))?;
    let asked: Vec<TextPage> =
        (0..60).map(|_| all[next(&mut state) as usize % all.len()].clone()).collect();
    let (mut by_anchors, mut none) = (0, 0);
    for compact in [false, true] {
        if compact {
            store.compact(Codec::EliasFano, &AtomicU64::new(0))?;
        }
        for design in IndexDesign::ALL {
            index(&store, design, (1 << 12, 2), &AtomicU64::new(0))?;
            let check: Confirm = "containment".parse()?;
            let access = Access::OnDisk;
            let options = LookupOptions { distance: 3, check: Some(check), access };
            let lookup = Lookup::open(&store, store.at(None)?, options)?;
            let mut asker = Asker::new(&lookup);
            for (number, (fingerprint, _, text)) in (0..).zip(&asked) {
                // A part of a page, and a fingerprint that says nothing.
                let words: Vec<&str> = text.split(' ').skip(number % 20).collect();
                let page = signed(check.check, &words.join(" "));
                let fingerprint = if number % 2 == 0 { *fingerprint } else { next(&mut state) };
                let expected = near_to(&store, fingerprint, &page, 3)?;
                let question = Question { fingerprint: fingerprint.into(), page: Some(&page) };
                let answer = asker.ask(&question, usize::MAX, &mut Work::unbounded())?;
                assert_eq!(told(answer), expected, "{design} {compact} {number}");
                by_anchors += expected.iter().filter(|near| near.0 > 3).count();
                none += usize::from(expected.is_empty());
            }
        }
    }
    assert!(by_anchors > 300 && none > 10, "{by_anchors} {none}");
    Ok(())
}
