//! What filters cost and save: the time of single look-ups, the time to make the filters, and the time of the
//! fingerprints of a day of which four fifths are in the store. All on one thread but the making.
//!
//! ```text
//! cargo bench --bench seen -- FOLDER rows 1e7 1e6      rows of a store, and look-ups of each kind
//! cargo bench --bench seen -- FOLDER pages 10000 5     pages of a day, and how often it is fingerprinted
//! ```
//!
//! FOLDER is made for it. Each kind of look-up is done twice, and the second time is printed, so that what is read from
//! the disk is in memory. `pages` does the day with the store and without in turns, and compares every page.

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use dupsieve::rooms::document::{Content, Declared, Document, OrderKey, Position};
use dupsieve::rooms::fingerprint::{PageTime, Recipe};
use dupsieve::rooms::flow::Fingerprinting;
use dupsieve::rooms::join::Preset;
use dupsieve::rooms::seen::{self, Holdings, Seeker, Sought};
use dupsieve::rooms::store::{
    Details, FingerprintedDocument, NewDay, RecordCounts, Row, SegmentOptions, SegmentWriter, Store,
};
use dupsieve::rooms::synthetic::DocumentGenerator;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [folder, kind, count, times] = &words[..] else {
        return Err("name a folder, `rows` or `pages`, and two numbers".into());
    };
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    let [count, times] = [count, times].map(|number| number.parse::<f64>());
    match kind.as_str() {
        "rows" => rows(folder, count? as u64, times? as u64),
        _ => pages(folder, count? as u64, times? as usize),
    }
}

/// A number that looks random and follows from another.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 31).wrapping_mul(0x7fb5_d329_728e_a185);
    let number = (number ^ number >> 27).wrapping_mul(0x81da_def4_bc2d_d44d);
    number ^ number >> 33
}

fn digest_of(row: u64) -> u128 {
    u128::from(mixed(row)) << 64 | u128::from(mixed(row ^ 1 << 60))
}

fn id_of(row: u64) -> String {
    format!("https://www.site-{}.example/{}/{:x}.html", mixed(row) % 9973, row % 31, mixed(row))
}

/// A recipe that keeps digests and nothing else beside the fingerprints.
fn recipe() -> dupsieve::Result<Recipe> {
    Recipe::named("words", None)?.with_digests()
}

/// A store of one segment, with filters. Returns the bytes of the segment.
fn store_of(folder: &Path, segment: &Path) -> Outcome<Store> {
    let _ = fs::remove_dir_all(folder.join("store"));
    let (store, _) = Store::init(folder.join("store"))?;
    store.add(&NewDay::whole(segment, "2026-11-21".parse()?), None)?;
    Ok(store)
}

fn rows(folder: &Path, count: u64, asked: u64) -> Outcome<()> {
    let path = folder.join("rows.seg");
    let stamp = recipe()?.stamp().to_string();
    let options = SegmentOptions { digests: true, stamp, ..SegmentOptions::default() };
    let mut writer = SegmentWriter::<u64>::create(&path, options)?;
    let step = u64::MAX / count;
    let mut details = Details::default();
    for row in 0..count {
        let (fingerprint, id) = (row * step + mixed(row) % step, &id_of(row));
        let mut pushed = Row::new(fingerprint, id);
        details.digest = digest_of(row);
        pushed.details = &details;
        writer.push(&pushed)?;
    }
    writer.finish(RecordCounts::default(), "")?;
    let store = store_of(folder, &path)?;
    let read = [(); 3].map(|()| read(&path));
    println!(
        "{count} rows, {} bytes each; read in {read:.2?} s",
        fs::metadata(&path)?.len() / count
    );
    let begun = Instant::now();
    seen::set(&store, true, 4 << 30, &AtomicU64::new(0))?;
    println!("filters made in {:.1} s", begun.elapsed().as_secs_f64());
    for file in fs::read_dir(store.path().join("filters"))? {
        let file = file?;
        let name = file.file_name().into_string().unwrap_or_default();
        println!(
            "{:.3} bytes a row: {}",
            file.metadata()?.len() as f64 / count as f64,
            &name[33..]
        );
    }
    let holdings = Holdings::open(&store, store.at(None)?)?;
    let row = |at: u64| mixed(at ^ 1 << 50) % count;
    let ids: Vec<String> = (0..asked).map(|at| id_of(count + at)).collect();
    let held: Vec<String> = (0..asked / 10).map(|at| id_of(row(at))).collect();
    let absent = |at: u64| Sought::Text(digest_of(count + at));
    let all: [(&str, Vec<Sought<'_>>); 4] = [
        ("ids that are not there", ids.iter().map(|id| Sought::Id(id)).collect()),
        ("texts that are not there", (0..asked).map(absent).collect()),
        ("ids", held.iter().map(|id| Sought::Id(id)).collect()),
        ("texts", (0..asked / 10).map(|at| Sought::Text(digest_of(row(at)))).collect()),
    ];
    for (name, sought) in all {
        let [_, (nanoseconds, found)] = [(); 2].map(|()| look(&holdings, &sought));
        println!("{nanoseconds:.0} ns: one of {} {name}; found {found}", sought.len());
    }
    Ok(())
}

/// The seconds in which a file is read.
fn read(path: &Path) -> f64 {
    let begun = Instant::now();
    let mut file = File::open(path).expect("it was written");
    let mut bytes = vec![0; 1 << 20];
    while file.read(&mut bytes).expect("it can be read") > 0 {}
    begun.elapsed().as_secs_f64()
}

/// The time of one look-up in nanoseconds, and how many found something.
fn look(holdings: &Arc<Holdings>, all: &[Sought<'_>]) -> (f64, usize) {
    let mut seeker = Seeker::new(holdings);
    let begun = Instant::now();
    let is_held = |sought: &&Sought<'_>| seeker.newest_day(**sought).expect("sound").is_some();
    let found = all.iter().filter(is_held).count();
    (begun.elapsed().as_nanos() as f64 / all.len() as f64, found)
}

fn pages(folder: &Path, count: u64, times: usize) -> Outcome<()> {
    let recipe = Preset::default().recipe(None)?.with_digests()?;
    let generator = DocumentGenerator::new(1, 0.0);
    let texts: Vec<String> =
        (0..count + count / 4).map(|number| generator.document(number).text()).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let day = |from: u64, known: Option<Seeker>| -> Outcome<(f64, Vec<FingerprintedDocument>)> {
        let mut fingerprinting = Fingerprinting::new(&recipe, PageTime::default())?.knowing(known);
        let begun = Instant::now();
        let mut made = Vec::new();
        for number in from..from + count {
            let document = Document {
                id: id_of(number).into(),
                order: OrderKey::NoField,
                key: None,
                content: Content::Text(texts[number as usize].as_str().into()),
                declared: Declared::default(),
                record: &[],
            };
            made.push(fingerprinting.page(Position { file: 0, line: number + 1 }, document)?);
        }
        Ok((begun.elapsed().as_secs_f64(), made))
    };
    let path = folder.join("pages.seg");
    write(&path, &recipe, day(0, None)?.1)?;
    let store = store_of(folder, &path)?;
    seen::set(&store, true, 1 << 30, &AtomicU64::new(0))?;
    let holdings = Holdings::open(&store, store.at(None)?)?;
    println!("{count} pages of {} bytes, four fifths of them in the store", bytes / texts.len());
    for _ in 0..times {
        let (without, computed) = day(count / 5, None)?;
        let (with, known) = day(count / 5, Some(Seeker::new(&holdings)))?;
        assert!(computed == known, "every page is the same");
        let each = |seconds: f64| 1e6 * seconds / count as f64;
        let (one, other) = (each(without), each(with));
        println!("{one:.0} us a page without, {other:.0} with: {:.2} times", one / other);
    }
    Ok(())
}

/// Writes the segment of some pages.
fn write(path: &Path, recipe: &Recipe, mut made: Vec<FingerprintedDocument>) -> Outcome<()> {
    made.sort_by(|one, other| (one.fingerprint, &one.id).cmp(&(other.fingerprint, &other.id)));
    let mut options = SegmentOptions::of(recipe);
    options.lengths = true;
    options.digests = true;
    let mut writer = SegmentWriter::<u64>::create(path, options)?;
    for page in &made {
        let Some(fingerprint) = page.fingerprint else { continue };
        let mut row = Row::new(fingerprint as u64, &page.id);
        row.details = &page.details;
        writer.push(&row)?;
    }
    writer.finish(RecordCounts::default(), "")?;
    Ok(())
}
