//! Commits to a tree in an object store, one after the other, as one of several writers that meet there:
//!
//! ```text
//! commits ADDRESS CACHE WRITER COUNT
//! ```
//!
//! Each commit adds a line with a name of its own to a file of the tree. The names of those that were acknowledged are
//! printed; tests/harness/objects.py compares them with the lines that are there in the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs, thread, time};

use dupsieve::mount::Mounts;
use dupsieve::object_storage::Address;
use dupsieve::{Kind, Result};

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [address, cache, writer, count] = &words[..] else {
        println!("commits ADDRESS CACHE WRITER COUNT: run by tests/harness/objects.py");
        return;
    };
    let address = Address::of(Path::new(address)).expect("an address").expect("no path");
    let mut failures: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..count.parse().expect("a number") {
        let mut tries = 0;
        // A commit that failed may be there all the same, if its answer was lost; so each try has a name of its own.
        while let Err(error) =
            commit(&address, Path::new(cache), &format!("{writer}-{number}-{tries}"))
        {
            let sure = error.kind() == Kind::Temporary;
            println!("{} {writer}-{number}-{tries}", if sure { "lost" } else { "unsure" });
            *failures.entry(format!("{:?}", error.kind())).or_default() += 1;
            tries += 1;
            assert!(tries < 1000, "{error}");
            thread::sleep(time::Duration::from_millis(tries % 7));
        }
        println!("done {writer}-{number}-{tries}");
    }
    eprintln!("{failures:?}");
}

fn commit(address: &Address, cache: &Path, name: &str) -> Result<()> {
    let mounts = Mounts::new(cache.to_path_buf());
    let folder = mounts.mount(address)?;
    fs::create_dir_all(&folder).expect("the cache can be written");
    let file = folder.join("lines");
    let lines = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, format!("{lines}{name}\n")).expect("the cache can be written");
    mounts.publish()
}
