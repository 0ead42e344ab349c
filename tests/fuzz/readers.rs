//! Every reader of outside bytes as a function of bytes: it may refuse them, but not panic, hang or
//! take the memory. Run by the fuzz targets beside this file, and in short by the test suite.
//!
//! What is guarded by checksums is read twice, as it is and with the checksums made right, since
//! otherwise nothing would get past them.

pub mod handshake;
mod repair;
pub mod tables;
pub mod texts;

use std::fs;
use std::iter;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::thread;

use dupsieve::Error;
use dupsieve::catch_panic;
use dupsieve::clusters::{Clustering, Clusters, Method, Previous, RemovedIds, audit};
use dupsieve::document::{Content, Document, Format, Inputs, ReadOptions, Share, read};
use dupsieve::evaluate::{Labels, Pairs};
use dupsieve::features::counts::Counts;
use dupsieve::features::lists::{StopWords, UserDictionary};
use dupsieve::features::words::Words;
use dupsieve::fingerprint::{Check, Fingerprint, Recipe, Stamp, Width, hex, of_hex};
use dupsieve::index::{self, Asker, Lookup, LookupOptions};
use dupsieve::journal::{Journal, JournalOptions};
use dupsieve::ledger::Ledger;
use dupsieve::matches::Question;
use dupsieve::object_storage::Address;
use dupsieve::online::requests::{self, CommitRequest, Pages, QueryRequest, RememberRequest};
use dupsieve::output::{Lock, Staging};
use dupsieve::peers::hosts;
use dupsieve::seen::{self, By, Holdings, Sought};
use dupsieve::store::{Day, Digest, KeyRange, Segment, SegmentOptions, Store};
use dupsieve::tables::Design;
use dupsieve::work::Work;
use tempfile::TempDir;

pub type Reader = fn(&[u8]);

/// The readers by their names, for the fuzz target.
pub const READERS: [(&str, Reader); 24] = [
    ("address", address),
    ("bodies", bodies),
    ("certificate", certificate),
    ("clusters", clusters),
    ("counts", counts),
    ("dictionary", dictionary),
    ("documents", documents),
    ("filters", filters),
    ("handshake", handshake::hear),
    ("html", html),
    ("index", index),
    ("journal", journal),
    ("ledger", ledger),
    ("lists", lists),
    ("manifest", manifest),
    ("note", note),
    ("page", page),
    ("recipe", recipe),
    ("removed", removed),
    ("response", response),
    ("segment", segment),
    ("tables", tables::results),
    ("vectors", tables::vectors),
    ("words", words),
];

/// Lets panics of libraries pass that the program turns into errors. libFuzzer takes every panic for a failure.
pub fn pass_panics_of_libraries() {
    let fail = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !catch_panic::is_called() {
            fail(panic);
        }
    }));
}

/// The name that ledgers have in the museum.
const KEY: u128 = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;
/// The files of the museum's store.
const MUSEUM_STORE: [(&str, &[u8]); 7] = [
    ("CURRENT", include_bytes!("../data/1/store/CURRENT")),
    ("INDEX", include_bytes!("../data/index-1/INDEX")),
    ("manifests/000001.json", include_bytes!("../data/1/store/manifests/000001.json")),
    ("manifests/000002.json", include_bytes!("../data/1/store/manifests/000002.json")),
    ("manifests/000003.json", include_bytes!("../data/1/store/manifests/000003.json")),
    (
        "segments/2026-11-20-7a3e66ac181a1621b4f70e86632327a2.seg",
        include_bytes!("../data/1/store/segments/2026-11-20-7a3e66ac181a1621b4f70e86632327a2.seg"),
    ),
    (
        "segments/2026-11-21-52546e9870394cbab1ca672f220f3638-b1fd0395bddb455b366e33ff8ebdf061.seg",
        include_bytes!(
            "../data/1/store/segments/2026-11-21-52546e9870394cbab1ca672f220f3638-b1fd0395bddb455b366e33ff8ebdf061.seg"
        ),
    ),
];
/// A manifest of the museum on which the one of version 42 is based.
const MUSEUM_BASE: &[u8] = include_bytes!("../data/1/based/manifests/000035.json");
/// A file of the filter of its first segment, the other one, and what that holds.
const FILTER: [(&str, &str, &[u8]); 2] = [
    (
        "seg",
        "fuse",
        include_bytes!("../data/filters-1/filters/7a3e66ac181a1621b4f70e86632327a2-ids.fuse"),
    ),
    (
        "fuse",
        "seg",
        include_bytes!("../data/filters-1/filters/7a3e66ac181a1621b4f70e86632327a2-ids.seg"),
    ),
];
const MUSEUM_DIGEST: &str = "7a3e66ac181a1621b4f70e86632327a2";
const MAX_RECORD_BYTES: usize = 4 << 10;

/// The most bytes of the head and the end of a record of a web archive.
const HEAD_BYTES: usize = (128 << 10) + 4;

/// About the length of a page of HTML, in bytes, and of the stack on which it is read. A call for each attribute takes more.
const HTML_BYTES: usize = 128 << 10;
const HTML_STACK_BYTES: usize = 256 << 10;

const PAGE_BYTES: usize = 24 << 10;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder for temporary files");
}

/// A file of these bytes, in the folder of this thread.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
    fs::write(&path, bytes).expect("a file can be written");
    path
}

/// Documents: the first byte picks the format and how broken files are taken, the others are the
/// file, which is unpacked where they begin as packed files do.
pub fn documents(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let path = file("pages.txt", bytes);
    let format = Format::ALL[1..][usize::from(choice) % (Format::ALL.len() - 1)];
    let options = ReadOptions {
        portion_bytes: 1 << (choice % 13),
        max_record_bytes: MAX_RECORD_BYTES,
        accept_truncated: choice >= 128,
        ..ReadOptions::default()
    };
    let inputs = Inputs::find(&[path], format).expect("the file is there");
    let _ = read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| {
            if let Ok(document) = document {
                assert!(
                    !document.id.is_empty()
                        && document.record.len() <= bytes.len().max(MAX_RECORD_BYTES) + HEAD_BYTES
                );
            }
        });
        true
    });
}

/// Pages of HTML, on a small stack: the bytes as they are, and repeated, outside of a tag and within one. Each is read, or named as no
/// text.
pub fn html(bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let repeated = bytes.repeat(HTML_BYTES.div_ceil(bytes.len()));
    for page in [bytes.to_vec(), [&b"<p "[..], &repeated, b">"].concat(), repeated] {
        let path = file("page.html", &page);
        let read_page = move || {
            let inputs = Inputs::find(&[path], Format::Html).expect("the file is there");
            let options = ReadOptions::default();
            read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
                batch.parse(&options.fields, &mut |_, document| {
                    if let Err(reason) = document {
                        assert_eq!(reason.to_string(), "the bytes are no text");
                    }
                });
                true
            })
            .expect("a file of HTML can be read");
        };
        let thread = thread::Builder::new().stack_size(HTML_STACK_BYTES).spawn(read_page);
        thread.expect("a thread can be started").join().expect("nothing panics");
    }
}

/// The response in a record of a web archive whose length is right.
pub fn response(bytes: &[u8]) {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    let path = file("response.warc", &[head.as_bytes(), bytes, b"\r\n\r\n"].concat());
    let options = ReadOptions { max_record_bytes: 1 << 16, ..ReadOptions::default() };
    let inputs = Inputs::find(&[path], Format::Warc).expect("the file is there");
    let mut records = 0;
    let whole = read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        let passed = batch.parse(&options.fields, &mut |_, document| {
            records += 1;
            if let Ok(Document { content: Content::Text(text), .. }) = document {
                assert!(text.len() <= 6 * options.max_record_bytes);
            }
        });
        records += passed.skipped.total();
        true
    });
    assert!(whole.is_ok() && records == 1);
}

pub fn segment(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), repair::segment(bytes)] {
        let path = file("some.seg", &bytes);
        let _ = Segment::open(path).and_then(|segment| match segment.width() {
            Width::W64 => rows::<u64>(&segment),
            Width::W128 => rows::<u128>(&segment),
        });
    }
}

/// Reads all that a segment holds, by every way that there is.
fn rows<F: Fingerprint>(segment: &Segment) -> Result<(), Error> {
    let sound = segment.verify();
    let (mut scan, mut run) = (segment.scan::<F>(KeyRange::all()), Vec::new());
    while let Ok(Some(_)) = scan.next(&mut run) {}
    let (mut ids, mut fingerprints) = (segment.ids(), segment.fingerprints());
    let (mut lengths, mut times) = (segment.lengths(), segment.times());
    let (mut days, mut checks) = (segment.days(), segment.checks());
    let (mut bands, mut digests) = (segment.bands(), segment.digests());
    let mut anchors = segment.anchors();
    // A number of rows costs nothing to claim, and a segment is read from anywhere.
    for row in (0..segment.rows().min(1 << 10)).chain(segment.rows().checked_sub(1)) {
        let _ = (ids.get(row).map(str::len), fingerprints.get(row));
        let _ = (
            lengths.as_mut().map(|column| column.get(row)),
            times.as_mut().map(|column| column.get(row)),
        );
        let _ = (
            days.as_mut().map(|column| column.get(row)),
            checks.as_mut().map(|column| column.get(row).map(<[u8]>::len)),
            anchors.as_mut().map(|column| column.get(row).map(<[u8]>::len)),
            bands.as_mut().map(|column| column.get(row).map(<[u8]>::len)),
            digests.as_mut().map(|column| column.get(row)),
        );
    }
    segment.empty_ids().try_for_each(|id| id.map(drop))?;
    sound
}

/// The mirror of a segment of the museum's store, and the file that names the index.
pub fn index(bytes: &[u8]) {
    for (name, kept) in MUSEUM_STORE {
        file(&format!("indexed/{name}"), kept);
    }
    let table = format!("indexed/index/{MUSEUM_DIGEST}-mirror.seg");
    for bytes in [bytes.to_vec(), repair::segment(bytes)] {
        let path = file(&table, &bytes);
        let store = path.ancestors().nth(2).expect("it stands in the store");
        let _ = Store::open(store).and_then(|store| ask(&store));
    }
    let path = file("indexed/INDEX", bytes);
    let _ = Store::open(path.parent().expect("it stands in the store"))
        .and_then(|store| index::design_of(&store));
}

/// Asks the store for some fingerprints. Whatever an index says, only pages of the store are found.
fn ask(store: &Store) -> Result<(), Error> {
    let options = LookupOptions::within(3);
    let mut asker = Asker::new(&Lookup::open(store, store.at(None)?, options)?);
    for fingerprint in [0, 1, 7 << 32, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef] {
        let answer = asker.ask(
            &Question { fingerprint: fingerprint.into(), page: None },
            5,
            &mut Work::unbounded(),
        )?;
        assert!(answer.near.len() <= 5 && answer.more <= 6);
    }
    Ok(())
}

/// The files of the filter of a segment of the museum's store, and the file that says that there are filters.
pub fn filters(bytes: &[u8]) {
    for (name, kept) in MUSEUM_STORE {
        file(&format!("filtered/{name}"), kept);
    }
    for (kind, other, sound) in FILTER {
        file(&format!("filtered/filters/{MUSEUM_DIGEST}-ids.{other}"), sound);
        for bytes in [bytes.to_vec(), repair::segment(bytes), repair::frames(bytes)] {
            let path = file(&format!("filtered/filters/{MUSEUM_DIGEST}-ids.{kind}"), &bytes);
            let store = path.ancestors().nth(2).expect("it stands in the store");
            let _ = Store::open(store).and_then(|store| look(&store));
        }
    }
    let path = file("filtered/FILTERS", bytes);
    let _ = Store::open(path.parent().expect("it stands in the store"))
        .and_then(|store| seen::is_kept(&store));
}

/// Looks for some ids. Whatever a filter says, only ids of the store are found.
fn look(store: &Store) -> Result<(), Error> {
    let holdings = Holdings::open(store, store.at(None)?)?;
    let ids = ["also zero", "none", "other"].map(Sought::Id);
    let days = holdings.newest_days(By::Ids, &ids, 1)?;
    assert!(days[1..].iter().all(Option::is_none));
    seen::verify(store).map(drop)
}

/// The manifest of the first version of a store, and one that is based on another.
pub fn manifest(bytes: &[u8]) {
    file("based/manifests/000035.json", MUSEUM_BASE);
    for bytes in [bytes.to_vec(), repair::manifest(bytes)] {
        let path = file("store/manifests/000001.json", &bytes);
        file("store/CURRENT", repair::current(1, &bytes).as_bytes());
        let store = path.ancestors().nth(2).expect("it stands in the store");
        let _ = Store::open(store).and_then(|store| {
            let version = store.at(None)?;
            let _ = (version.digest(), version.rows(), version.segments());
            store.verify()
        });
        let path = file("based/manifests/000042.json", &bytes);
        file("based/CURRENT", repair::current(42, &bytes).as_bytes());
        let store = path.ancestors().nth(2).expect("it stands in the store");
        let _ = Store::open(store).and_then(|store| store.at(None)).map(|version| version.digest());
    }
    file("store/CURRENT", bytes);
    let store = FOLDER.with(|folder| folder.path().join("store"));
    let _ = Store::open(store).and_then(|store| store.at(None));
}

pub fn removed(bytes: &[u8]) {
    let folder = FOLDER.with(|folder| folder.path().join("forgetful"));
    let store = Store::init(folder).expect("an empty store can be made").0;
    for bytes in [bytes.to_vec(), repair::removed(bytes)] {
        file("forgetful/REMOVED", &bytes);
        if let Ok(version) = store.at(None) {
            let _ = (version.removals(), version.shown_rows(), store.verify());
        }
    }
}

/// The certificate of a purge, which the next purge reads again.
pub fn certificate(bytes: &[u8]) {
    let folder = FOLDER.with(|folder| folder.path().join("certified"));
    let store = Store::init(folder).expect("an empty store can be made").0;
    file("certified/purges/000001.json", bytes);
    let certified = [(); 2].map(|()| store.certify(&AtomicU64::new(0)));
    assert_eq!(certified[1], Ok(false), "what it has written itself is enough");
}

/// A file of a state of clusters beside the other one of the museum.
pub fn clusters(bytes: &[u8]) {
    const FILES: [(&str, &[u8]); 2] = [
        ("pages.bin", include_bytes!("../data/clusters-1/pages.bin")),
        ("links.bin", include_bytes!("../data/clusters-1/links.bin")),
    ];
    const REPORT: &[u8] = include_bytes!("../data/clusters-1/report.json");
    let own = usize::from(bytes.starts_with(b"DUPSLINK"));
    let mut report: serde_json::Value = serde_json::from_slice(REPORT).expect("it is JSON");
    let mut found: Clusters = serde_json::from_value(report["found"].take()).expect("of clusters");
    for bytes in [bytes.to_vec(), repair::frames(bytes)] {
        for (at, (name, whole)) in FILES.iter().enumerate() {
            let bytes = if at == own { &bytes } else { *whole };
            file(&format!("clusters/{name}"), bytes);
            found.files.get_mut(*name).expect("it is named").bytes = bytes.len() as u64;
        }
        add_to("clusters", &found);
    }
}

/// Reads the clusters in a folder, and takes pages out of them.
fn add_to(folder: &str, found: &Clusters) {
    let folder = FOLDER.with(|home| home.path().join(folder));
    let spill = FOLDER.with(|home| home.path().to_owned());
    let previous = Previous { folder: folder.clone(), found: found.clone() };
    let _ = audit(&previous, Method::Components, Some(&previous), &spill, 1 << 20);
    let output = folder.with_extension("next");
    let mut clustering = Clustering::new(Method::Components, Vec::new());
    clustering.removed = RemovedIds::from_iter(["b", "z"]);
    clustering.previous = Some(previous);
    clustering.memory_bytes = 1 << 20;
    let lock = Lock::beside(&output).expect("nobody else has it");
    let staging = Staging::beside(&output, lock).expect("a folder can be made");
    let _ = clustering.write(&staging);
}

pub fn ledger(bytes: &[u8]) {
    let key = Digest(KEY);
    for bytes in [bytes.to_vec(), repair::ledger(bytes, KEY)] {
        let path = file(&format!("ledgers/{key}-some.ledger"), &bytes);
        let folder = path.parent().expect("it stands in a folder");
        let ledger = Ledger::open(folder, key).expect("damage is done again");
        for finished in ledger.finished() {
            let pairs = finished.pairs().try_fold(0, |pairs, pair| pair.map(|_| pairs + 1));
            assert_eq!(pairs, Ok(finished.receipt().listed));
        }
    }
}

/// A journal of pages that are remembered, with the columns of the one in the museum.
pub fn journal(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), repair::frames(bytes)] {
        let path = file("store/journal/000001.journal", &bytes);
        let folder = path.parent().expect("it stands in a folder");
        let _ = fs::remove_file(folder.join("000002.journal"));
        let store = folder.parent().expect("it stands in a store");
        let Ok(journal) = Journal::open(store, journal_options()) else { continue };
        for day in journal.sealed() {
            let _ = journal.write_segment(day, &store.join("day.seg"), 1 << 16);
        }
    }
}

/// A note of removed pages for an empty journal.
pub fn note(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), repair::removed(bytes)] {
        let path = file("noted/journal/removed/note.ids", &bytes);
        let store = path.ancestors().nth(3).expect("it stands in a store");
        let journal = Journal::open(store, journal_options()).expect("an empty journal");
        let _ = journal.leave_out_removed();
    }
}

/// The columns of the journal in the museum.
fn journal_options() -> JournalOptions {
    let segment = SegmentOptions {
        lengths: true,
        classes: true,
        check_bytes: 16,
        band_bytes: 5,
        stamp: "a recipe".to_owned(),
        ..SegmentOptions::default()
    };
    JournalOptions { width: Width::W64, segment, most_bytes: 1 << 20 }
}

pub fn recipe(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(recipe) = Recipe::from_toml(text) {
        let stamp = recipe.stamp();
        assert_eq!(
            Stamp::parse(&stamp.to_string()).map(|parsed| parsed.to_string()),
            Ok(stamp.to_string())
        );
    }
    let _ = (Recipe::named(text, None), Stamp::parse(text), text.parse::<Check>());
    let _ = (text.parse::<Day>(), text.parse::<Digest>());
    if let Ok(design) = text.parse::<Design>() {
        for k in 0..8 {
            let _ = (design.masks(Width::W64, k), design.masks(Width::W128, k));
        }
    }
}

/// Files of lines: stop words, labels and what goes with them, the hosts of a cluster.
pub fn lists(bytes: &[u8]) {
    let path = file("list.txt", bytes);
    let _ = (StopWords::read(&path), hosts::read(&path));
    if let Ok(labels) = Labels::read(&path) {
        let _ = Pairs::read(&path, &labels);
    }
}

/// A page: the first byte picks the way in which it is taken, and the others are what it repeats. Four times
/// the length must not take much more than four times the time.
pub fn page(bytes: &[u8]) {
    thread_local! {
        static WAYS: Vec<texts::Way> = texts::ways();
    }
    let Some((&choice, unit)) = bytes.split_first() else { return };
    let unit = String::from_utf8_lossy(unit);
    if unit.is_empty() {
        return;
    }
    let [short, long] = [1, 4].map(|times| unit.repeat(times * PAGE_BYTES.div_ceil(unit.len())));
    WAYS.with(|ways| {
        let way = &ways[usize::from(choice) % ways.len()];
        assert_eq!(way.too_long([&short, &long]), None, "{unit:?}");
    });
}

/// A text to be cut into words. Without words of a user it is cut by our own code, with a dictionary of none by
/// jieba itself, and both give the same.
pub fn words(bytes: &[u8]) {
    thread_local! {
        static NONE: UserDictionary = UserDictionary::read(&file("none.txt", b"")).expect("no words");
    }
    let text = String::from_utf8_lossy(bytes);
    let cut = |mut by: Words| {
        let mut words = Vec::new();
        by.each(&text, |word| words.push(word.to_owned()));
        words
    };
    for hmm in [true, false] {
        let expected = NONE.with(|none| cut(Words::with_dictionary(hmm, none)));
        assert_eq!(cut(Words::new(hmm)), expected, "{text:?}");
    }
}

pub fn counts(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), repair::counts(bytes)] {
        if let Ok(counts) = Counts::read(&file("table.counts", &bytes)) {
            let _ = (counts.head(), counts.rows(), counts.idf("feature"));
        }
    }
}

/// A user's dictionary, which is slow to read: it comes to a whole one.
pub fn dictionary(bytes: &[u8]) {
    let _ = UserDictionary::read(&file("dictionary.txt", bytes));
}

/// The address of an object store. What is shown of it is an address too, and shown the same.
pub fn address(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Address::local(Path::new(text));
    let Ok(Some(address)) = Address::of(Path::new(text)) else { return };
    assert_eq!(address.with_key(address.key()), address);
    assert!(!address.last().contains('/'), "{text:?}");
    let above = iter::successors(Some(address.clone()), Address::parent).count();
    assert_eq!(above, 1 + address.key().split_terminator('/').count(), "{text:?}");
    let shown = address.to_string();
    if let Ok(Some(again)) = Address::of(Path::new(&shown)) {
        assert_eq!(again.to_string(), shown);
    }
}

/// The body of a request to the service: lists no longer than is taken, and pages whose ids and texts are as promised.
pub fn bodies(bytes: &[u8]) {
    let Some((choice, body)) = bytes.split_first() else { return };
    let most = usize::from(choice >> 2);
    let width = if choice & 1 == 0 { Width::W64 } else { Width::W128 };
    let pages = match choice & 2 {
        0 => requests::read(body, most).ok().and_then(|asked: QueryRequest| {
            let fingerprints = asked.fingerprints.unwrap_or_default();
            assert!(fingerprints.len() <= most);
            fingerprints.iter().for_each(|text| {
                if let Ok(fingerprint) = of_hex(text, width) {
                    assert_eq!(of_hex(&hex(fingerprint, width), width), Ok(fingerprint));
                }
            });
            asked.pages
        }),
        _ => requests::read(body, most).ok().map(|asked: RememberRequest| asked.pages),
    };
    if let Ok(CommitRequest { day, .. }) = requests::read(body, most) {
        _ = day.parse::<Day>();
    }
    let Pages(pages) = pages.unwrap_or_default();
    assert!(pages.len() <= most);
    for page in pages {
        let id = page.id.0.clone();
        let Ok((_, document)) = page.into_document(1, width, 20) else { continue };
        assert!(document.id == id && !id.is_empty() && !id.contains(['\t', '\r', '\n', '\0']));
        if let Content::Text(text) = document.content {
            assert!(text.len() <= 20);
        }
    }
}
