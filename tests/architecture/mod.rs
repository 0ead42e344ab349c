//! The shape of the source tree: which way imports point, where unsafe code and the engine may
//! stand, and what every file owes its reader.

mod imports;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use imports::{Module, Tree};

const UNSAFE_HOME: &str = "hamming";
const ENGINE_HOME: &str = "flow";
/// The crates of the library, each of which imports only those before it, and in it the rooms of each.
const CRATES: [&str; 6] = ["base", "text", "archive", "search", "overlap", "engine"];
/// The rooms of the binary, each of which imports only those before it.
const JOBS: [&str; 4] = ["outcome", "flags", "processes", "commands"];
const NOT_OURS: [&str; 3] = [".git", "target", "out"];

struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// The lines that are code, each with its number: comments and what follows `//` are left out.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines.map(|(at, line)| (at + 1, line.split_once("//").map_or(line, |(code, _)| code)))
    }

    /// The room of the library that the file belongs to; none for lib.rs and for what is no crate of the library.
    fn module(&self) -> Option<&str> {
        let below = self.path.strip_prefix("src").ok()?;
        let name = below.components().nth(1)?.as_os_str().to_str()?;
        Some(name.strip_suffix(".rs").unwrap_or(name)).filter(|&module| module != "lib")
    }

    fn is_program(&self) -> bool {
        ["src", "jobs"].iter().any(|tree| self.path.starts_with(tree))
    }

    fn is_test(&self) -> bool {
        self.path.iter().any(|part| part == "tests" || part == "tests.rs")
    }

    fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }
}

fn files() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if NOT_OURS.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                files.push(Source { path: path.strip_prefix(root).unwrap().to_owned(), text });
            }
        }
    }
    assert!(files.len() > 20, "the project's files were not found");
    files
}

fn sources() -> Vec<Source> {
    let rust = |file: &Source| file.path.extension().is_some_and(|extension| extension == "rs");
    files().into_iter().filter(rust).collect()
}

/// The words of a line, where a word is what a Rust identifier is made of.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The library and the binary, and the order of the rooms of each. In the library's crates a room of a crate below has the same
/// path as one of its own, so all rooms are read as those of one crate.
fn trees() -> [(Tree, Vec<String>); 2] {
    let files: Vec<(PathBuf, String)> =
        files().into_iter().map(|file| (file.path, file.text)).collect();
    let (mut library, mut order) = (Tree::default(), Vec::new());
    for name in CRATES {
        let root = format!("src/{name}");
        let tree = Tree::of(&root, &files);
        let front = Path::new(&root).join("lib.rs");
        order.extend(tree.modules().iter().find(|file| file.path == front).unwrap().declared());
        library.extend(tree);
    }
    [(library, order), (Tree::of("jobs", &files), JOBS.map(str::to_owned).into())]
}

#[track_caller]
fn assert_none(broken: Vec<String>, rule: &str) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

#[test]
fn every_file_stands_in_a_room() {
    let mut broken = Vec::new();
    for (tree, rooms) in trees() {
        let stray = |file: &&Module| {
            file.room().is_some_and(|room| !rooms.iter().any(|known| known == room))
        };
        broken.extend(tree.modules().iter().filter(stray).map(shown));
    }
    assert_none(broken, "a file that stands in no room");
}

#[test]
fn rooms_import_only_what_stands_before_them() {
    let mut broken = Vec::new();
    for (tree, order) in trees() {
        let rank = |name: &str| order.iter().position(|room| room == name);
        for file in tree.modules() {
            let Some(own) = file.room().and_then(rank) else { continue };
            let imported = file.rooms_imported();
            let later = imported.iter().filter(|room| rank(room).is_some_and(|it| it > own));
            broken.extend(later.map(|room| format!("{} imports {room}", shown(file))));
        }
    }
    assert_none(broken, "a room imports what stands after it");
}

#[test]
fn no_files_import_each_other() {
    let circles: Vec<String> = trees()
        .iter()
        .flat_map(|(tree, _)| tree.circles())
        .map(|(from, to)| format!("{} -> {}", from.display(), to.display()))
        .collect();
    assert_none(circles, "files that import each other, directly or through others");
}

#[test]
fn faces_define_nothing() {
    let mut broken = Vec::new();
    for (tree, _) in trees() {
        let defining = |file: &&Module| file.is_face() && file.defined() > 0;
        broken.extend(tree.modules().iter().filter(defining).map(shown));
    }
    assert_none(broken, "a face declares modules and hands names on, and nothing else");
}

fn shown(file: &Module) -> String {
    file.path.display().to_string()
}

/// Fails if a line `breaks` the rule, in a file that it is for. Tests at the foot of a file are left out.
#[track_caller]
fn assert_held(rule: &str, is_for: impl Fn(&Source) -> bool, breaks: impl Fn(&str) -> bool) {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| is_for(source)) {
        let lines = source.code().take_while(|(_, code)| *code != "mod tests {");
        let breaking = lines.filter(|(_, code)| breaks(code));
        broken.extend(breaking.map(|(line, _)| source.at(line)));
    }
    assert_none(broken, rule);
}

#[test]
fn paths_are_shown_by_their_names() {
    assert_held(
        "a path that is not shown by `named`: in a mount, its name is an address",
        |it| it.is_program() && !it.is_test() && !it.path.starts_with("src/base/error"),
        |code| code.contains(".display()"),
    );
}

#[test]
fn unsafe_code_has_one_home_and_gives_its_reasons() {
    let mut broken = Vec::new();
    for source in sources() {
        let home = source.module() == Some(UNSAFE_HOME);
        let lines: Vec<&str> = source.text.lines().collect();
        for (line, code) in source.code() {
            let code = code.split('"').next().unwrap_or(code);
            if !home && words(code).any(|word| word == "unsafe_code") && !code.contains("deny(") {
                broken.push(source.at(line));
            }
            if !words(code).any(|word| word == "unsafe") {
                continue;
            }
            let above = lines[..line].iter().rev().skip(1);
            let mut notes = above.take_while(|line| {
                let line = line.trim_start();
                line.starts_with("//") || line.starts_with("#[")
            });
            let reason = |line: &str| line.contains("SAFETY") || line.contains("# Safety");
            if !home || !(reason(lines[line - 1]) || notes.any(|line| reason(line))) {
                broken.push(source.at(line));
            }
        }
    }
    assert_none(
        broken,
        "unsafe code outside src/archive/hamming, or without a SAFETY comment above it",
    );
}

/// The tests that may look at the clock or start a program by themselves: all others do so through tests/support.rs.
const ON_THEIR_OWN: [&str; 3] = ["tests/support.rs", "tests/architecture", "tests/fuzz"];

#[test]
fn tests_wait_for_no_clock_and_start_what_dies_with_them() {
    let forbidden = ["Instant::now", ".elapsed()", "sleep(", "Command::new("];
    let is_free = |path: &Path| ON_THEIR_OWN.iter().any(|place| path.starts_with(place));
    assert_held(
        "tests that wait for a clock, or whose programs outlive them",
        |it| it.path.starts_with("tests") && !is_free(&it.path),
        |code| forbidden.iter().any(|forbidden| code.contains(forbidden)),
    );
}

/// A type is hard to find if more files than this define one of its name.
const MOST_OF_A_NAME: usize = 5;

#[test]
fn names_of_types_are_few_and_public_ones_single() {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut public = all.clone();
    for source in sources().iter().filter(|source| source.module().is_some()) {
        if source.is_test() {
            continue;
        }
        for (line, code) in source.code() {
            // The associated types of an impl are not names of its own, and stand farther in.
            let Some(name) = type_defined(code).filter(|_| !code.starts_with(' ')) else {
                continue;
            };
            all.entry(name.to_owned()).or_default().push(source.at(line));
            // What stands in for a type in a build without a feature has the name of the type.
            if code.starts_with("pub ") && !source.path.ends_with("absent.rs") {
                public.entry(name.to_owned()).or_default().push(source.at(line));
            }
        }
    }
    let shown = |(name, places): (String, Vec<String>)| format!("{name}: {}", places.join(", "));
    let often = all.into_iter().filter(|(_, places)| places.len() > MOST_OF_A_NAME);
    assert_none(often.map(shown).collect(), "a name that too many types have");
    let twice = public.into_iter().filter(|(_, places)| places.len() > 1);
    assert_none(twice.map(shown).collect(), "a name that two public types have");
}

fn type_defined(code: &str) -> Option<&str> {
    let mut words =
        words(code).skip_while(|word| matches!(*word, "pub" | "crate" | "super" | "in"));
    let keyword = words.next()?;
    matches!(keyword, "struct" | "enum" | "trait" | "type" | "union").then(|| words.next())?
}

#[test]
fn tests_test_what_is_shipped() {
    let differs = |code: &str| code.contains("cfg!(test)") || code.contains("cfg(not(test))");
    assert_held("code that is otherwise in tests", Source::is_program, differs);
}

#[test]
fn messages_of_the_library_name_no_flags() {
    let names_flag = |code: &str| {
        let mut flags = code.match_indices("--").map(|(at, dashes)| &code[at + dashes.len()..]);
        flags.any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    assert_held(
        "a library message names a flag or a command: see `Error::setting`",
        |it| it.module().is_some() && !it.is_test(),
        |code| names_flag(code) || code.contains("`dupsieve "),
    );
}

#[test]
fn only_the_flow_names_the_engine() {
    let mut broken = Vec::new();
    for source in sources() {
        if source.module().is_none_or(|module| module == ENGINE_HOME) {
            continue;
        }
        let engine = |word: &str| word == "timely" || word == "differential_dataflow";
        let named = source.code().filter(|(_, code)| words(code).any(engine));
        broken.extend(named.map(|(line, _)| source.at(line)));
    }
    assert_none(broken, "only src/engine/flow names timely or differential_dataflow");
}

#[test]
fn every_file_opens_by_saying_what_it_is_for() {
    let silent = |file: &&Source| !file.text.starts_with("//! ");
    let broken = sources().iter().filter(silent).map(|file| file.at(1)).collect();
    assert_none(broken, "a file does not open with //!");
}

#[test]
fn main_stays_small() {
    let main = sources().into_iter().find(|file| file.path == Path::new("jobs/main.rs")).unwrap();
    let lines = main.text.lines().count();
    assert!(lines <= 80, "jobs/main.rs:{lines}: at most 80 lines");
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    let paths = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut broken = Vec::new();
    for file in files() {
        let lines = file.text.lines().enumerate();
        let named = lines.filter(|(_, line)| paths.iter().any(|path| names_path(line, path)));
        broken.extend(named.map(|(at, _)| file.at(at + 1)));
    }
    assert_none(broken, "a path that exists on one machine only");
}

/// Whether `path` stands in `line` where a path begins: not inside an address or a longer path.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}'))
    })
}

#[test]
fn every_name_is_a_noun_of_the_field() {
    let vague = ["util", "utils", "common", "core", "helper", "helpers", "misc"];
    let is_vague = |file: &&Source| {
        let mut parts = file.path.iter().filter_map(|part| part.to_str());
        parts.any(|part| vague.contains(&part.strip_suffix(".rs").unwrap_or(part)))
    };
    let broken = sources().iter().filter(is_vague).map(|file| file.at(1)).collect();
    assert_none(broken, "a module whose name says nothing");
}
