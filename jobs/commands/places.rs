//! Paths that are addresses in an object store. Outputs, stores and what earlier commands have written are mounted: the
//! command works on folders of this machine, and what it has made is published when it is done. Inputs of pages are read
//! where they are, and are no matter of this file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::OnceLock;

use clap::ArgMatches;
use dupsieve::rooms::error::At;
use dupsieve::rooms::mount;
use dupsieve::rooms::output::parent_of;
use dupsieve::rooms::report::Report;
use dupsieve::rooms::storage::{self, Address};
use dupsieve::{Error, Kind, Result};

use crate::flags::config::Config;
use crate::flags::global::GlobalFlags;

/// The arguments that name outputs, stores, and what earlier commands have written. No other argument may have such an id: the
/// id of a page is often an address.
const MOUNTED: [&str; 19] = [
    "annotate",
    "another",
    "batch",
    "boilerplate",
    "clusters",
    "file",
    "ids",
    "kept",
    "labels",
    "matches",
    "one",
    "only",
    "output",
    "outputs",
    "pairs",
    "previous",
    "removed",
    "segment",
    "store",
];

/// The one of them that names outputs, each by itself, many by a pattern, or all by the folder that they are in: no shell does that for
/// an address.
const OUTPUTS: &str = "outputs";

/// The folder that mounts are below.
static CACHE: OnceLock<PathBuf> = OnceLock::new();

/// Sets the folder that mounts are below: the one of the flags, or one of the user.
pub(crate) fn keep_in(global: &GlobalFlags) {
    CACHE.get_or_init(|| global.cache.clone().unwrap_or_else(usual_cache));
}

/// `dupsieve` in the folder that the user has for such things.
fn usual_cache() -> PathBuf {
    let folder = |variable: &str| {
        std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("dupsieve")
}

/// The path here that stands for `path`, which is mounted if it is an address. Other paths are returned as they are.
pub(crate) fn mounted(path: &Path) -> Result<PathBuf> {
    let address = Address::of(path)?;
    address.map_or_else(|| Ok(path.to_path_buf()), |address| mounted_address(&address))
}

fn mounted_address(address: &Address) -> Result<PathBuf> {
    mount::mount(address, CACHE.get_or_init(usual_cache))
}

/// Like [`mounted`], for an output.
pub(crate) fn mounted_output(path: &Path) -> Result<PathBuf> {
    Address::of(path)?.as_ref().map_or(Ok(()), check_output)?;
    mounted(path)
}

/// Fails if the folder that the file `output` is to be written to does not exist: most likely its name was mistyped.
pub(crate) fn expect_folder(output: &Path) -> Result<()> {
    let folder = parent_of(output);
    let is_mounted = storage::shown(&output.to_string_lossy()) != output.to_string_lossy();
    if is_mounted || folder.is_dir() {
        return Ok(());
    }
    Err(Error::new(Kind::Missing, "the folder of the output does not exist")
        .at(folder)
        .help("make the folder, or correct --output"))
}

/// Fails if no output can be written to an address.
pub(crate) fn check_output(address: &Address) -> Result<()> {
    match address.is_one_object() {
        false => Ok(()),
        true => Err(Error::new(Kind::Usage, "a server of files takes no outputs")
            .at(address.to_string())
            .expected("a path, or an address in an object store, such as s3://BUCKET/KEY")),
    }
}

/// Mounts the tables that a configuration file names by addresses. What reads them asks for the places
/// ([`storage::here`]).
pub(crate) fn mount_tables(file: &Config) -> Result<()> {
    file.fingerprint.made.boilerplate.as_deref().map_or(Ok(()), |path| mounted(path).map(drop))
}

/// The words of the command line, with the paths of mounts in the place of their addresses.
///
/// # Errors
/// Those of mounting; the store of a service is [`Kind::Usage`].
pub(crate) fn mounted_words(typed: &ArgMatches, words: Vec<OsString>) -> Result<Vec<OsString>> {
    let addresses = addresses(typed)?;
    let is_service = typed.subcommand_name() == Some("serve");
    if let Some((word, _)) = addresses.first_key_value().filter(|_| is_service) {
        return Err(needs_a_disk(&word.to_string_lossy()));
    }
    let mut paths = BTreeMap::new();
    for (word, addresses) in addresses {
        let mounted = addresses.iter().map(mounted_address).collect::<Result<Vec<_>>>()?;
        paths.insert(word, mounted);
    }
    Ok(words.into_iter().flat_map(|word| replaced(word, &paths)).collect())
}

/// A service was given the address of a store.
pub(crate) fn needs_a_disk(address: &str) -> Error {
    Error::new(Kind::Usage, "a service needs its store on a disk of its own")
        .at(address)
        .help("copy the store to a folder, and give that")
}

/// The words among the arguments of the innermost command that are addresses, and the addresses that each stands for. They may also come
/// from the environment.
fn addresses(typed: &ArgMatches) -> Result<BTreeMap<OsString, Vec<Address>>> {
    let mut innermost = typed;
    while let Some((_, below)) = innermost.subcommand() {
        innermost = below;
    }
    let mut found = BTreeMap::new();
    for name in MOUNTED {
        let values = innermost.try_get_raw(name).ok().flatten().into_iter().flatten();
        for value in values {
            if let Some(address) = Address::of(Path::new(value))? {
                if name == "output" {
                    check_output(&address)?;
                }
                let addresses = match name {
                    OUTPUTS => mount::trees_with(Report::NAME, &address)?,
                    _ => vec![address],
                };
                found.insert(value.to_os_string(), addresses);
            }
        }
    }
    Ok(found)
}

/// The word with the paths in place of the address: the word is that, or `--flag=` and that.
fn replaced(word: OsString, paths: &BTreeMap<OsString, Vec<PathBuf>>) -> Vec<OsString> {
    let text = word.to_str();
    for (address, paths) in paths {
        if word == *address {
            return paths.iter().map(OsString::from).collect();
        }
        let flag = text.and_then(|text| text.strip_suffix(address.to_str()?)?.strip_suffix('='));
        if let Some(flag) = flag.filter(|flag| flag.starts_with('-')) {
            let with_flag = |path: &PathBuf| {
                let mut word = OsString::from(format!("{flag}="));
                word.push(path);
                word
            };
            return paths.iter().map(with_flag).collect();
        }
    }
    vec![word]
}

/// Writes what was made in mounts to where it belongs. Only the process that leads a job does so.
pub(crate) fn publish(global: &GlobalFlags) -> Result<()> {
    let is_leader = |process: Option<usize>| process.is_none_or(|process| process == 0);
    let leads = is_leader(global.child) && is_leader(global.machines.process);
    if leads && !global.dry_run { mount::publish() } else { Ok(()) }
}

/// Publishes, and deletes what the trees no longer name.
pub(crate) fn publish_and_sweep(global: &GlobalFlags) -> Result<()> {
    publish(global)?;
    if global.dry_run { Ok(()) } else { mount::sweep() }
}

/// Where a file is put that tells of a failed job: nothing of a mount is published then, and the next mount clears it away.
pub(crate) fn of_failure(path: PathBuf) -> Result<PathBuf> {
    let text = path.to_string_lossy();
    let shown = storage::shown(&text);
    if shown == text {
        return Ok(path);
    }
    let folder = CACHE.get_or_init(usual_cache).join("failed");
    fs::create_dir_all(&folder).at(&folder)?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    let name: String = shown.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    Ok(folder.join(name))
}

/// The path as a report names it: an address, or an absolute path.
pub(crate) fn named(path: &Path) -> PathBuf {
    let absolute = path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    match absolute.to_str() {
        Some(text) => storage::shown(text).into(),
        None => absolute,
    }
}

/// The input of pages as a report names it: an address without secrets, an absolute path, or `-`.
pub(crate) fn named_input(input: &str) -> String {
    let path = Path::new(input);
    match Address::of(path) {
        Ok(Some(address)) => address.to_string(),
        _ if input == "-" => input.to_owned(),
        _ => {
            let local = Address::local(path).unwrap_or_else(|| path.to_path_buf());
            path::absolute(&local).unwrap_or(local).display().to_string()
        }
    }
}

/// The input of pages as it was given, but without secrets.
pub(crate) fn shown_input(input: &str) -> String {
    let address = Address::of(Path::new(input)).ok().flatten();
    address.map_or_else(|| input.to_owned(), |address| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_named_so_that_they_can_be_found_from_anywhere() {
        for (input, named) in [
            ("-", "-"),
            ("/data/{date}/*.gz", "/data/{date}/*.gz"),
            ("file:///data/a", "/data/a"),
            ("s3://crawl/{date}/part-?.gz", "s3://crawl/{date}/part-?.gz"),
            ("https://user:secret@host/a.jsonl", "https://host/a.jsonl"),
        ] {
            assert_eq!(named_input(input), named);
        }
        assert!(Path::new(&named_input("pages/a")).is_absolute());
    }

    #[test]
    fn only_whole_words_are_replaced() {
        let places = |places: &[&str]| places.iter().map(PathBuf::from).collect();
        let paths = BTreeMap::from([
            ("s3://b/store".into(), places(&["/cache/store"])),
            ("s3://b/out/*".into(), places(&["/cache/a", "/cache/b"])),
        ]);
        let words = |word: &str| replaced(word.into(), &paths);
        assert_eq!(words("s3://b/store"), ["/cache/store"]);
        assert_eq!(words("--store=s3://b/store"), ["--store=/cache/store"]);
        assert_eq!(words("s3://b/out/*"), ["/cache/a", "/cache/b"]);
        assert_eq!(words("--outputs=s3://b/out/*"), ["--outputs=/cache/a", "--outputs=/cache/b"]);
        for other in ["s3://b/store2", "as3://b/store", "a=s3://b/store", "--store"] {
            assert_eq!(words(other), [other]);
        }
    }
}
