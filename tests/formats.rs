//! Files of every version stay readable, and a damaged one is never taken for a sound one. The museum
//! is tests/data, whose README.md says how each of its files is made: a folder for each version of the format, a text
//! beside each segment of it that says what it holds.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use dupsieve::features::counts::Counts;
use dupsieve::fingerprint::{Class, Fingerprint, Recipe, Stamp, Width, hex};
use dupsieve::index::{Asker, Lookup, LookupOptions};
use dupsieve::journal::{Journal, JournalOptions};
use dupsieve::matches::Question;
use dupsieve::store::{KeyRange, Segment, SegmentOptions, Store};
use dupsieve::work::Work;
use dupsieve::{Error, Kind};

use xxhash_rust::xxh3::xxh3_128;

use crate::support::Bench;
use crate::world::museum;

/// The segments of the museum, without those of its stores.
fn segments() -> Vec<PathBuf> {
    let segments: Vec<_> = glob::glob(&museum("1/*.seg")).unwrap().flatten().collect();
    assert!(segments.len() >= 6, "the museum is not whole");
    segments
}

fn contents(path: &Path) -> Result<String, Error> {
    let segment = Segment::open(path)?;
    segment.verify()?;
    let mut all = format!(
        "{:?} {} {} {:?}\n",
        segment.width(),
        segment.stamp(),
        segment.identity(),
        segment.counts()
    );
    match segment.width() {
        Width::W64 => rows::<u64>(&segment, &mut all)?,
        Width::W128 => rows::<u128>(&segment, &mut all)?,
    }
    for empty in segment.empty_ids() {
        writeln!(all, "{}\tempty", empty?).unwrap();
    }
    Ok(all)
}

fn rows<F: Fingerprint>(segment: &Segment, all: &mut String) -> Result<(), Error> {
    let (mut scan, mut ids) = (segment.scan::<F>(KeyRange::all()), segment.ids());
    let (mut lengths, mut times) = (segment.lengths(), segment.times());
    let (mut classes, mut checks) = (segment.classes(), segment.checks());
    let (mut bands, mut digests) = (segment.bands(), segment.digests());
    let mut anchors = segment.anchors();
    let mut run = Vec::new();
    while let Some(first) = scan.next(&mut run)? {
        for (row, fingerprint) in (first..).zip(&run) {
            let length = lengths.as_mut().map(|lengths| lengths.get(row)).transpose()?;
            let time = times.as_mut().map(|times| times.get(row)).transpose()?.flatten();
            let fingerprint = hex(fingerprint.to_u128(), F::WIDTH);
            writeln!(all, "{}\t{fingerprint}\t{length:?}\t{time:?}", ids.get(row)?).unwrap();
            if let Some(classes) = &mut classes {
                writeln!(all, "{:?}", classes.get(row)?).unwrap();
            }
            if let Some(checks) = &mut checks {
                writeln!(all, "{:02x?}", checks.get(row)?).unwrap();
            }
            if let Some(anchors) = &mut anchors {
                writeln!(all, "{:02x?}", anchors.get(row)?).unwrap();
            }
            if let Some(bands) = &mut bands {
                writeln!(all, "{:02x?}", bands.get(row)?).unwrap();
            }
            if let Some(digests) = &mut digests {
                writeln!(all, "{:032x}", digests.get(row)?).unwrap();
            }
        }
    }
    Ok(())
}

#[test]
fn every_segment_of_the_museum_is_read_as_it_was_written() {
    let bench = Bench::new();
    for segment in segments() {
        let told = fs::read_to_string(segment.with_extension("txt")).unwrap();
        let dump = bench.answer(&format!("inspect {} --dump", segment.display()));
        assert_eq!(dump, told, "{}", segment.display());
        bench.answer(&format!("inspect {}", segment.display()));
        let name = segment.file_stem().unwrap().to_str().unwrap();
        bench.done(&format!("dedup --batch {} --output {name}", segment.display()));
    }
}

#[test]
fn digests_of_the_museum() {
    let segment = Segment::open(museum("1/digests-64.seg")).unwrap();
    assert!(Stamp::parse(segment.stamp()).unwrap().has_digests());
    let (mut ids, mut digests) = (segment.ids(), segment.digests().unwrap());
    let mut told: Vec<(String, u128)> = (0..segment.rows())
        .map(|row| (ids.get(row).unwrap().to_owned(), digests.get(row).unwrap()))
        .collect();
    told.sort();
    let texts =
        [("again", "the first page"), ("one", "the first page"), ("two", "  Another PAGE ")];
    assert_eq!(told, texts.map(|(id, text)| (id.to_owned(), xxh3_128(text.as_bytes()))));
}

#[test]
fn classes_of_the_museum() {
    let segment = Segment::open(museum("1/classes-64.seg")).unwrap();
    let (mut ids, mut classes) = (segment.ids(), segment.classes().unwrap());
    let mut class_of = |row| (ids.get(row).unwrap().to_owned(), classes.get(row).unwrap());
    let told: Vec<(String, Class)> = (0..segment.rows()).map(&mut class_of).collect();
    let expected = [("long", Class::Full), ("title-a", Class::Short), ("title-b", Class::Short)];
    assert_eq!(told, expected.map(|(id, class)| (id.to_owned(), class)));
}

#[test]
fn lengths_times_and_empties_of_the_museum() {
    let all = contents(museum("1/words-64.seg").as_ref()).unwrap();
    for line in [
        "before\t0x6b08837372601c6e\tSome(64)\tSome(-86400)\n",
        "https://linhe.example/山路\t0x0905d401819d1a16\tSome(81)\tNone\n",
        "https://blank.example/\tempty\nhttps://linhe.example/blank\tempty\n",
    ] {
        assert!(all.contains(line), "{all}");
    }
    assert!(
        all.contains(
            "read: 9, fingerprinted: 5, empty: 2, repeated: 1, quarantined: 1, removed: 0, blank: 1"
        ),
        "{all}"
    );
    let all = contents(museum("1/external-128.seg").as_ref()).unwrap();
    assert!(all.ends_with(&format!("wide\t0x{}\tNone\tNone\n", "f".repeat(32))), "{all}");
}

fn store(bench: &Bench, named: &str) -> PathBuf {
    bench.copy(&museum(&format!("1/{named}")), "store");
    bench.path("store")
}

#[test]
fn the_index_of_the_museum_answers_and_damage_to_it_is_an_error() {
    let bench = Bench::new();
    let path = store(&bench, "store");
    let ask = || {
        let store = Store::open(&path)?;
        let options = LookupOptions::within(3);
        let lookup = Lookup::open(&store, store.at(None)?, options)?;
        let mut asker = Asker::new(&lookup);
        let mut ask = |fingerprint| {
            asker.ask(&Question { fingerprint, page: None }, 9, &mut Work::unbounded())
        };
        let answers = format!("{:?} {:?}", ask(2)?, ask((1 << 63) - 1)?);
        Ok::<_, Error>((lookup.without_index(), answers))
    };
    let (_, told) = ask().unwrap();
    bench.copy(&museum("index-1"), "store");
    assert_eq!(ask(), Ok((0, told.clone())));
    bench.again("store index store");
    for name in
        bench.files("store").into_keys().filter(|name| name.to_lowercase().contains("index"))
    {
        let sound = bench.bytes(&format!("store/{name}"));
        for at in 0..sound.len() {
            let mut flipped = sound.clone();
            flipped[at] ^= 1 << (at % 8);
            for damaged in [&flipped[..], &sound[..at]] {
                bench.write(&format!("store/{name}"), damaged);
                match ask() {
                    Ok((_, answers)) => assert_eq!(answers, told, "{name} at {at}"),
                    Err(error) => assert_eq!(error.kind(), Kind::BadData, "{name} at {at}"),
                }
            }
        }
        bench.write(&format!("store/{name}"), sound);
    }
}

#[test]
fn a_flipped_bit_anywhere_in_a_segment_is_an_error() {
    let bench = Bench::new();
    let copy = bench.path("copy.seg");
    for segment in segments() {
        let (sound, told) = (fs::read(&segment).unwrap(), contents(&segment).unwrap());
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(&copy, damaged).unwrap();
            assert_unharmed(contents(&copy), &told, || format!("{} at {at}", segment.display()));
        }
    }
}

#[test]
fn a_segment_cut_or_continued_anywhere_is_an_error() {
    let bench = Bench::new();
    let copy = bench.path("copy.seg");
    for segment in segments() {
        let sound = fs::read(&segment).unwrap();
        for len in 0..sound.len() {
            fs::write(&copy, &sound[..len]).unwrap();
            assert_eq!(
                contents(&copy).unwrap_err().kind(),
                Kind::BadData,
                "{len} bytes of {}",
                segment.display()
            );
        }
        for more in [&b"\0"[..], b"\n", &[0; 56], &sound] {
            fs::write(&copy, [&sound, more].concat()).unwrap();
            assert_eq!(contents(&copy).unwrap_err().kind(), Kind::BadData, "{}", segment.display());
        }
    }
}

fn assert_unharmed(found: Result<String, Error>, told: &str, place: impl Fn() -> String) {
    match found {
        Ok(found) => assert_eq!(found, told, "{}", place()),
        Err(error) => assert_eq!(error.kind(), Kind::BadData, "{}: {error}", place()),
    }
}

/// All that every version of a store holds, or the error that comes first.
fn versions(path: &Path) -> Result<String, Error> {
    let store = Store::open(path)?;
    let mut all = format!("{:?}\n", store.verify()?.entries());
    for number in store.versions()? {
        let version = store.at(Some(number))?;
        writeln!(all, "{:?} {}", version.entries(), version.shown_rows()).unwrap();
    }
    Ok(all)
}

#[test]
fn any_damage_to_a_store_is_an_error() {
    every_damage_is_an_error("store", 1, |name| name != "LOCK");
    every_damage_is_an_error("forgetful", 1, |name| name == "REMOVED");
    every_damage_is_an_error("based", 61, |name| !name.starts_with("segments"));
    every_damage_is_an_error("expired", 31, |name| name.starts_with("manifests"));
    every_damage_is_an_error("replaced", 31, |name| !name.starts_with("segments"));
}

/// Damages those files of a store that are to be `harmed`; long ones at every `step`-th byte.
fn every_damage_is_an_error(named: &str, step: usize, harmed: fn(&str) -> bool) {
    let bench = Bench::new();
    let path = store(&bench, named);
    let told = versions(&path).unwrap();
    for name in bench.files("store").into_keys().filter(|name| harmed(name)) {
        let file = path.join(&name);
        let sound = fs::read(&file).unwrap();
        let step = if sound.len() > 1000 { step } else { 1 };
        for at in (0..sound.len()).step_by(step) {
            let mut flipped = sound.clone();
            flipped[at] ^= 1 << (at % 8);
            for damaged in [&flipped[..], &sound[..at]] {
                fs::write(&file, damaged).unwrap();
                let kind = versions(&path).map_err(|error| error.kind());
                let expected = matches!(kind, Err(Kind::BadData | Kind::Missing));
                assert!(expected, "{name} at {at}: {kind:?}");
            }
        }
        fs::write(&file, sound).unwrap();
    }
    assert_eq!(versions(&path).unwrap(), told);
}

#[test]
fn the_journal_of_the_museum_becomes_the_segment_of_its_day() {
    let bench = Bench::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/journal-1");
    bench.write("journal/000001.journal", fs::read(data.join("000001.journal")).unwrap());
    let segment = SegmentOptions {
        lengths: true,
        classes: true,
        check_bytes: 16,
        band_bytes: 5,
        stamp: "a recipe".to_owned(),
        ..SegmentOptions::default()
    };
    let options = JournalOptions { width: Width::W64, segment, most_bytes: 1 << 20 };
    let journal = Journal::open(&bench.path(""), options).unwrap();
    let day = "2026-11-22".parse().unwrap();
    assert_eq!((journal.sealed(), journal.pages()), (vec![day], 12));
    let path = bench.path("day.seg");
    journal.write_segment(day, &path, 1 << 20).unwrap();
    let told = fs::read_to_string(data.join("day.txt")).unwrap();
    assert_eq!(contents(&path).unwrap().split_once('\n').unwrap().1, told);
    // The note names the pages 1 and 2.
    for note in fs::read_dir(data.join("removed")).unwrap() {
        bench.write("journal/removed/note.ids", fs::read(note.unwrap().path()).unwrap());
    }
    journal.leave_out_removed_of(day).unwrap();
    assert_eq!(journal.pages(), 10);
    journal.write_segment(day, &path, 1 << 20).unwrap();
    let left = contents(&path).unwrap();
    assert!(left.contains("page 3\t") && !left.contains("page 1\t") && !left.contains("page 2\t"));
}

/// Tables that earlier versions wrote are read, and mean what they meant.
#[test]
fn tables_of_counts_of_every_version_are_read() {
    let path = |name: &str| museum(&format!("counts-1/{name}.counts"));
    let read = |name: &str| Counts::read(path(name).as_ref()).unwrap();
    for (name, documents, rows, counted) in [
        ("words", 17, 18, ("fox", 2)),
        ("lines", 17, 4, ("(c) all", 16)),
        ("lines-by-host", 17, 7, ("two.example\thome of two.example:", 8)),
    ] {
        let table = read(name);
        assert_eq!((table.head().documents, table.rows()), (documents, rows), "{name}");
        assert_eq!(table.count(counted.0), counted.1, "{name}");
    }
    for lines in ["lines", "lines-by-host"] {
        let recipe = Recipe::named("wide-1", None).unwrap();
        assert!(recipe.with_boilerplate(read(lines)).unwrap().boilerplate().is_some());
    }
}
