//! Arguments stand for the files that a shell would name, in one order, each once.

use super::*;
use crate::document::sample;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

fn folder(names: &[&str]) -> tempfile::TempDir {
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, name.as_bytes())).collect();
    sample::folder(&files)
}

fn find(folder: &tempfile::TempDir, argument: &str, format: Format) -> Result<Inputs> {
    Inputs::find(&[folder.path().join(argument)], format)
}

fn names(folder: &tempfile::TempDir, inputs: &Inputs) -> Vec<String> {
    let name = |input: &Input| {
        let name = input.name().strip_prefix(folder.path()).unwrap_or(input.name());
        name.to_str().unwrap().to_owned()
    };
    inputs.files().iter().map(name).collect()
}

#[test]
fn a_folder_is_walked_in_the_order_of_its_paths() {
    let folder = folder(&["a/x.txt", "a-b/x", "a.tsv", "b/c/d.jsonl.gz", ".hidden"]);
    let all = find(&folder, "", Format::Auto).unwrap();
    assert_eq!(names(&folder, &all), ["a-b/x", "a.tsv", "a/x.txt", "b/c/d.jsonl.gz"]);
    assert_eq!(all.bytes(), 5 + 5 + 7 + 14);
    use Format::{Jsonl, Text, Tsv};
    assert!(all.files().iter().map(Input::format).eq([Text, Tsv, Text, Jsonl]));
    let lines = find(&folder, "", Format::Jsonl).unwrap();
    assert_eq!(names(&folder, &lines), ["b/c/d.jsonl.gz"]);
    assert_eq!(lines.passed_over().count(), 3);
    assert!(lines.passed_over().to_string().contains("a.tsv"), "{}", lines.passed_over());
    let text = find(&folder, "", Format::Text).unwrap();
    assert!(text.files().iter().all(|file| file.format() == Text && !file.is_stream()));
}

#[test]
fn names_that_begin_with_a_dot_or_a_line_are_passed_over_and_counted() {
    let folder = folder(&[
        "_SUCCESS",
        "._SUCCESS.crc",
        ".git/HEAD",
        ".git/objects/1f",
        "_delta_log/0.json",
        "_day=7/a.jsonl",
        "day=8/_metadata",
        "day=8/b.jsonl",
    ]);
    for everything in ["", "**", "**/*"] {
        let inputs = find(&folder, everything, Format::Auto).unwrap();
        assert_eq!(names(&folder, &inputs), ["_day=7/a.jsonl", "day=8/b.jsonl"], "{everything}");
    }
    let all = find(&folder, "", Format::Auto).unwrap();
    let hidden = all.passed_over().hidden().unwrap();
    assert_eq!((hidden.0, hidden.1), (5, &*folder.path().join("._SUCCESS.crc")));
    let named = ["_SUCCESS", "_*", "day=8/_metadata", ".git"];
    let found = named.map(|name| find(&folder, name, Format::Text).unwrap().files().len());
    assert_eq!(found, [1, 3, 1, 2], "what is named is read");
}

#[test]
fn an_argument_stands_for_its_files_without_those_that_are_excluded() {
    let deep = folder(&[
        "d/a.jsonl",
        "d/e/b.jsonl",
        "d/e/f/c.jsonl",
        "x.jsonl",
        "d/.h",
        "a[1].txt",
        "a1.txt",
    ]);
    let raw = folder(&["a.jsonl", "a.pdf", "raw/b.jsonl", "raw/deep/c.jsonl", "raw.jsonl"]);
    for (folder, argument, exclude, expected) in [
        (
            &deep,
            "d/**|d/**/*|d/**/*.jsonl|*/**|**/d/**/**",
            "",
            "d/a.jsonl d/e/b.jsonl d/e/f/c.jsonl",
        ),
        (&deep, "**/?.jsonl", "", "d/a.jsonl d/e/b.jsonl d/e/f/c.jsonl x.jsonl"),
        (&deep, "a[1].txt", "", "a[1].txt"),
        (&raw, "", "*.pdf", "a.jsonl raw.jsonl raw/b.jsonl raw/deep/c.jsonl"),
        (&raw, "", "*.pdf raw/**", "a.jsonl raw.jsonl"),
        (&raw, "", "*.pdf raw/*.jsonl", "a.jsonl raw.jsonl"),
        (&raw, "", "*", ""),
    ] {
        let exclude = exclude.split_whitespace().map(|it| Pattern::new(it).unwrap());
        let exclude: Vec<Pattern> = exclude.collect();
        for argument in argument.split('|') {
            let path = [folder.path().join(argument)];
            let inputs = Inputs::find_without(&path, Format::Auto, &exclude).unwrap();
            assert_eq!(names(folder, &inputs).join(" "), expected, "{argument} {exclude:?}");
        }
    }
}

#[test]
fn arguments_keep_their_order_and_globs_are_sorted() {
    let folder = folder(&["b.txt", "a/copyright", "c/copyright", "d.d/copyright/x"]);
    let arguments = ["b.txt", "*/copyright"].map(|name| folder.path().join(name));
    let inputs = Inputs::find(&arguments, Format::Text).unwrap();
    assert_eq!(names(&folder, &inputs), ["b.txt", "a/copyright", "c/copyright", "d.d/copyright/x"]);
    assert_eq!(inputs.files()[1].name(), inputs.files()[1].path());
}

#[test]
fn what_is_not_there_is_missing() {
    let folder = folder(&["a.txt", "sub/b.txt"]);
    for nothing in ["b.txt", "*.tsv", "*/x.tsv"] {
        let error = find(&folder, nothing, Format::Auto).unwrap_err();
        assert_eq!(error.kind(), Kind::Missing, "{error}");
        assert!(error.to_string().contains(nothing), "{error}");
    }
    let error = find(&folder, "a.txt/x", Format::Auto).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage, "a path leads through a file: {error}");
    let error = find(&folder, "", Format::Tsv).unwrap_err().to_string();
    assert!(error.contains("expected tsv, found other files, 2 of them"), "{error}");
    assert_eq!(find(&folder, "***", Format::Tsv).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn links_are_followed_but_never_in_circles() {
    let folder = folder(&["a/x.txt", "b/y.txt"]);
    let at = |name: &str| folder.path().join(name);
    symlink(at("a/x.txt"), at("linked.txt")).unwrap();
    for name in ["a/up", "a/self", "b/up", "b/other"] {
        let to = if name == "a/self" { at("a") } else { folder.path().into() };
        symlink(to, at(name)).unwrap();
    }
    for everything in ["", "**", "**/*"] {
        let inputs = find(&folder, everything, Format::Text).unwrap();
        assert_eq!(names(&folder, &inputs), ["a/x.txt", "b/y.txt", "linked.txt"]);
    }
}

#[test]
fn a_link_that_leads_nowhere_is_refused_but_a_hidden_one_left_alone() {
    let folder = folder(&["a/x.txt", "b/x.txt"]);
    // The system refuses the second with an error of its own: no name is as long as this.
    for (link, to) in [
        ("a/.nowhere", "nowhere"),
        ("a/.long", &"x".repeat(300)),
        ("a/.loop", ".loop"),
        ("b/dangling.txt", "nowhere"),
        ("circle.txt", "circle.txt"),
    ] {
        symlink(to, folder.path().join(link)).unwrap();
    }
    for argument in ["b", "b/*", "**/*.txt", "b/dangling.txt", "circle*"] {
        let error = find(&folder, argument, Format::Text).unwrap_err();
        assert_eq!(error.kind(), Kind::Missing, "{argument}: {error}");
        assert!(error.to_string().contains("the link leads nowhere"), "{argument}: {error}");
    }
    find(&folder, "b/x*", Format::Text).unwrap();
    for argument in ["a", "a/**", "a/**/*", "a/**/*.txt", "a*/**", "a*/**/x.txt"] {
        let inputs = find(&folder, argument, Format::Text).unwrap();
        assert_eq!(inputs.files().len(), 1, "{argument}");
    }
}

#[test]
fn a_name_that_is_not_utf_8_is_found() {
    let folder = folder(&["a/b.txt"]);
    let odd = folder.path().join(OsStr::from_bytes(b"a/\xff.txt"));
    fs::write(&odd, "").unwrap();
    for argument in ["a", "a/*", "**", "*/*.txt", "a/?.txt"] {
        let inputs = find(&folder, argument, Format::Text).unwrap();
        assert_eq!(inputs.files().len(), 2, "{argument}");
        assert_eq!(inputs.files()[1].path(), odd, "{argument}");
    }
}
