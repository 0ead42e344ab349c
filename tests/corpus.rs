//! One corpus in one go: the same results as from the single commands, and the kept records as they came.

use std::fs;
use std::io::Write;

use crate::support::Bench;
use crate::world::{gzip, museum, record, words};

/// A text of its own for each number.
fn text(number: usize) -> String {
    words(100 * number..100 * number + 60)
}

fn line(number: usize) -> String {
    format!("{{\"text\": \"{}\", \"n\": {number}}}\n", text(number))
}

/// A folder of files of all kinds, of which some records are copies of earlier ones.
fn corpus() -> Bench {
    let bench = Bench::new();
    let own = format!("{{\"id\": \"own\", \"text\": \"{}\"}}\n", text(4));
    let null = format!("{{\"id\": null, \"text\": \"{}\"}}\n", text(5));
    bench.write("corpus/a.jsonl", [line(1), line(2), "\n".to_owned(), line(3), own, null].concat());
    bench.write("corpus/b/c.csv", format!("n,text\n1,\"{}\"\n2,{}\n", text(2), text(6)));
    bench.write("corpus/b/d.tsv", format!("text\tn\n{}\t1\n{}\t2\n", text(7), text(3)));
    bench.write("corpus/b/e.txt", text(8));
    bench.write("corpus/b/f.txt", text(6));
    bench.write("corpus/g.html", format!("<title>x</title><p>{}</p>", text(9)));
    bench
}

const IDS: [&str; 10] = [
    "a.jsonl:1",
    "a.jsonl:2",
    "a.jsonl:4",
    "a.jsonl:6",
    "b/c.csv:3",
    "b/d.tsv:2",
    "b/e.txt",
    "g.html",
    "own",
    "",
];

#[test]
fn one_command_drops_the_copies_of_a_folder_without_ids() {
    let bench = corpus();
    let ended = bench.done("dedup --input corpus --output found --kept kept");
    assert_eq!([ended.count("read"), ended.count("kept"), ended.count("dropped")], [12, 9, 3]);
    let kept: Vec<String> = bench.read("found/dedup/keep.txt").lines().map(str::to_owned).collect();
    assert_eq!(kept, IDS[..9]);
    let verdicts = bench.read("found/dedup/verdicts.tsv");
    for pair in [
        "b/c.csv:2\tdrop\ta.jsonl:2\t",
        "b/d.tsv:3\tdrop\ta.jsonl:4\t",
        "b/f.txt\tdrop\tb/c.csv:3\t",
    ] {
        assert!(verdicts.contains(pair), "{pair}: {verdicts}");
    }
    for whole in ["b/e.txt", "g.html"] {
        assert_eq!(bench.read(&format!("kept/{whole}")), bench.read(&format!("corpus/{whole}")));
    }
    assert_eq!(bench.read("kept/a.jsonl"), bench.read("corpus/a.jsonl").replace("\n\n", "\n"));
    assert_eq!(bench.read("kept/b/c.csv"), format!("n,text\n2,{}\n", text(6)));
    assert_eq!(bench.read("kept/b/d.tsv"), format!("text\tn\n{}\t1\n", text(7)));
    assert!(!bench.path("kept/b/f.txt").exists());
    // What was kept has no copies.
    let again = bench.done("dedup --input kept --output again --kept twice");
    assert_eq!([again.count("read"), again.count("kept"), again.count("passed_over")], [9, 9, 0]);
    let copies = |folder: &str| {
        let mut files = bench.files(folder);
        assert!(files.remove(".copies.json").is_some());
        files
    };
    assert_eq!(copies("kept"), copies("twice"));
}

#[test]
fn the_results_are_those_of_the_single_commands() {
    let bench = corpus();
    bench.done("dedup --input corpus --output found --keep longest --check containment:0.8");
    bench.done("fingerprint --input corpus --place-ids --output day.seg");
    bench.done("dedup --batch day.seg --keep longest --check containment:0.8 --output single");
    assert_eq!(bench.bytes("found/batch.seg"), bench.bytes("day.seg"));
    for table in ["verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt"] {
        assert_eq!(
            bench.bytes(&format!("found/dedup/{table}")),
            bench.bytes(&format!("single/{table}"))
        );
    }
    bench.done("filter --input corpus/a.jsonl --place-ids --ids found/dedup/keep.txt --dry-run --output x.jsonl");
    bench.done("verify found/dedup");
    bench.done("dedup --input corpus --output two --keep longest --check containment:0.8 --kept kept --processes 2");
    assert_eq!(bench.bytes("two/dedup/verdicts.tsv"), bench.bytes("found/dedup/verdicts.tsv"));
    assert_eq!(bench.read("kept/b/c.csv"), format!("n,text\n2,{}\n", text(6)));
}

#[test]
fn a_second_run_changes_nothing_and_another_corpus_replaces_nothing_unasked() {
    let bench = corpus();
    let job = "dedup --input corpus --output found --kept kept";
    bench.done(job);
    let before = bench.times("kept");
    bench.again(job);
    assert_eq!(bench.times("kept"), before);
    bench.write("corpus/a.jsonl", line(10));
    bench.fails(73, job);
    assert_eq!(bench.times("kept"), before);
    bench.done(&format!("{job} --overwrite"));
    assert_eq!(bench.read("kept/a.jsonl"), line(10));
    // With another name for a file its records have other ids.
    fs::rename(bench.path("corpus/a.jsonl"), bench.path("corpus/z.jsonl")).unwrap();
    bench.fails(73, job);
    bench.write("kept/precious", "x");
    bench.refuses(73, &format!("{job} --overwrite"), &["kept/precious"]);
    assert_eq!([bench.read("kept/a.jsonl"), bench.read("kept/precious")], [&line(10), "x"]);
    fs::remove_file(bench.path("kept/precious")).unwrap();
    bench.done(&format!("{job} --overwrite"));
    assert!(!bench.path("kept/a.jsonl").exists());
    assert_eq!(bench.read("kept/z.jsonl"), line(10));
}

#[test]
fn what_cannot_be_copied_is_said_before_any_work() {
    let bench = corpus();
    bench.write("other/a.jsonl", line(11));
    bench.write("theirs/precious", "x");
    for (flags, code, says) in [
        ("--input corpus/a.jsonl other/a.jsonl --kept kept", 2, "one name"),
        ("--input - --kept kept", 2, "a second time"),
        ("--input corpus --kept corpus/kept", 2, "lies in an input folder"),
        ("--input corpus --kept found/kept", 2, "beside each other"),
        (
            "--input corpus --preset paper --containment 0.95",
            2,
            "does not say how much of a page another one contains",
        ),
        ("--input corpus --batch day.seg", 2, "cannot be used with"),
        ("--batch day.seg --id-field url", 2, "--id-field has no effect with --batch"),
        ("--batch day.seg --kept kept", 2, "--kept has no effect with --batch"),
    ] {
        bench.refuses(code, &format!("dedup {flags} --output found"), &[says]);
        assert!(!bench.path("found").exists() && !bench.path("kept").exists(), "{flags}");
    }
    bench.refuses(73, "dedup --input corpus --output found --kept theirs", &["theirs"]);
    assert_eq!(bench.names("theirs"), ["precious"]);
    assert!(!bench.path("found").exists(), "there was work before the refusal");
}

#[test]
fn a_dry_run_writes_nothing() {
    let bench = corpus();
    let before = bench.tree();
    bench.done("dedup --input corpus --output found --kept kept --dry-run");
    bench.fails(66, "dedup --input corpus --output found --store nowhere --dry-run");
    assert_eq!(bench.tree(), before);
    // A dry run refuses what the job would refuse.
    bench.write("file", "x");
    bench.write("theirs/dedup/precious", "x");
    for output in ["file", "theirs"] {
        bench.fails(73, &format!("dedup --input corpus --output {output} --dry-run"));
        bench.fails(73, &format!("dedup --input corpus --output {output}"));
    }
    assert_eq!(bench.names("theirs"), ["dedup"]);
    bench.done("dedup --input corpus --output found");
    bench.fails(73, "dedup --input corpus --output found --containment 0.8 --dry-run");
}

/// A line with this id and this page as its text.
fn named(id: &str, number: usize) -> String {
    format!("{{\"id\": {id}, \"text\": \"{}\"}}\n", text(number))
}

/// Two files that both count their documents from 0. The second has a copy of a document of the first.
fn counted_twice() -> Bench {
    let bench = Bench::new();
    bench.write("in/a.jsonl", [named("0", 1), named("1", 2)].concat());
    bench.write("in/b.jsonl", [named("0", 3), named("1", 4), named("2", 1)].concat());
    bench
}

#[test]
fn no_text_is_lost_where_ids_start_again_in_each_file() {
    let bench = counted_twice();
    let job = "dedup --input in --output found --kept kept";
    let ended = bench.done(job);
    let counts = ["read", "kept", "dropped", "repeated", "copied"].map(|it| ended.count(it));
    assert_eq!(counts, [5, 4, 1, 0, 4]);
    assert!(ended.stderr.contains("2 documents have the id of another one"), "{}", ended.stderr);
    let keep = bench.read("found/dedup/keep.txt");
    assert_eq!(keep, "a.jsonl:1\na.jsonl:2\nb.jsonl:1\nb.jsonl:2\n");
    assert_eq!(bench.read("kept/a.jsonl"), bench.read("in/a.jsonl"));
    assert_eq!(bench.read("kept/b.jsonl"), [named("0", 3), named("1", 4)].concat());
    // Readers of the output find the documents by the same ids, and a rerun finds the output.
    bench.done("verify found/dedup");
    let said = bench.answer("sample found/dedup --per-distance 1");
    assert!(said.contains("b.jsonl:3"), "{said}");
    bench.again(job);
    bench.again(&format!("{job} --dry-run"));
    bench.done(&format!("{job} --dry-run --processes 2"));
    // Asked for at once, and by several processes, the results are the same.
    bench.done("dedup --input in --output once --place-ids all --processes 2");
    assert_eq!(bench.bytes("once/batch.seg"), bench.bytes("found/batch.seg"));
    bench.done("dedup --input in --output two --processes 2");
    assert_eq!(bench.bytes("two/dedup/verdicts.tsv"), bench.bytes("found/dedup/verdicts.tsv"));
    // With ids that tell the documents apart it is made by the ids again.
    bench.write("in/b.jsonl", named("7", 3));
    bench.done(&format!("{job} --overwrite"));
    assert_eq!(bench.read("found/dedup/keep.txt"), "0\n1\n7\n");
}

#[test]
fn a_lost_text_must_be_allowed() {
    let bench = counted_twice();
    let said = bench.fails(65, "dedup --input in --output found --kept kept --place-ids false");
    for part in ["2 documents", "batch.seg.repeated.tsv", "--place-ids all", "--max-repeated"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(bench.read("found/batch.seg.repeated.tsv").contains("0\tin/a.jsonl:1\tin/b.jsonl:1"));
    assert!(!bench.path("kept").exists());
    let allowed = "dedup --input in --output found --max-repeated 50%";
    let ended = bench.done(allowed);
    assert_eq!(["kept", "repeated"].map(|it| ended.count(it)), [2, 2]);
    // The same without the allowance is another output, not one that is there.
    bench.fails(73, "dedup --input in --output found");
}

#[test]
fn a_stream_is_not_read_a_second_time() {
    let bench = counted_twice();
    bench.write("all.jsonl", [bench.read("in/a.jsonl"), bench.read("in/b.jsonl")].concat());
    let read = |flags: &str| {
        let mut command = bench.command(&format!("dedup --input - --output found {flags}"));
        let stdin = fs::File::open(bench.path("all.jsonl")).unwrap();
        command.stdin(stdin).output().unwrap()
    };
    let ended = read("");
    assert_eq!(ended.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("--place-ids all"), "{ended:?}");
    assert_eq!(read("--place-ids all").status.code(), Some(0));
    assert_eq!(bench.read("found/dedup/keep.txt"), "-:1\n-:2\n-:3\n-:4\n");
}

#[test]
fn an_id_with_the_same_text_again_is_a_copy() {
    let bench = Bench::new();
    for file in ["a", "b", "c"] {
        bench.write(&format!("in/{file}.jsonl"), [named("0", 1), named("1", 2)].concat());
    }
    let ended = bench.done("dedup --input in --output found --kept kept");
    assert_eq!(["kept", "repeated", "copied"].map(|it| ended.count(it)), [2, 4, 2]);
    assert_eq!(bench.read("found/dedup/keep.txt"), "0\n1\n");
    assert_eq!(bench.read("kept/b.jsonl"), "");
}

#[test]
fn a_copy_is_packed_exactly_if_its_file_is() {
    let bench = Bench::new();
    bench.write("in/X.JSONL.GZ", gzip(line(1)));
    bench.write("in/bare", gzip(line(2)));
    bench.write("in/plain.jsonl.gz", line(3));
    bench.write("in/plain.jsonl.zst", line(4));
    bench.write("in/z.jsonl", zstd::encode_all(line(5).as_bytes(), 0).unwrap());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(line(6).as_bytes()).unwrap();
    bench.write("in/b.jsonl.bz2", bzip2.finish().unwrap());
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    xz.write_all(line(7).as_bytes()).unwrap();
    bench.write("in/x.jsonl.xz", xz.finish().unwrap());
    bench.done("dedup --input in/* --output found --kept kept");
    let plain = ["plain.jsonl.gz", "plain.jsonl.zst"];
    let packed = ["X.JSONL.GZ", "bare", "z.jsonl", "b.jsonl.bz2", "x.jsonl.xz"];
    for name in plain.into_iter().chain(packed) {
        let [came, copied] = ["in", "kept"].map(|folder| bench.bytes(&format!("{folder}/{name}")));
        assert_eq!(came[..2], copied[..2], "{name}");
    }
    assert_eq!(bench.read("kept/plain.jsonl.gz"), line(3));
    let again = bench.done("dedup --input kept/* --output again");
    assert_eq!(again.count("kept"), 7);
}

#[test]
fn what_has_no_word_is_copied_unless_that_is_not_wanted() {
    let bench = Bench::new();
    let texts = [
        "0 1 4 9 16",
        "https://a.example/one",
        "<hello reader>",
        "🚀🌕 😀",
        "⠓⠑⠇⠇⠕ ⠺⠕⠗⠇⠙",
        "a text of plain words",
    ];
    let line = |text: &&str| format!("{{\"text\": \"{text}\"}}\n");
    bench.write("in/a.jsonl", texts.iter().map(line).collect::<String>());
    let ended = bench.done("dedup --input in --output found --kept all");
    assert_eq!([ended.count("kept"), ended.count("empty")], [4, 2]);
    assert!(ended.stderr.contains("--drop-empty leaves them out"), "{}", ended.stderr);
    assert_eq!(bench.read("all/a.jsonl"), bench.read("in/a.jsonl"));
    bench.done("dedup --input in --output found --kept words --drop-empty");
    let with_words = [0, 1, 2, 5].map(|at: usize| line(&texts[at]));
    assert_eq!(bench.read("words/a.jsonl"), with_words.concat());
}

#[test]
fn an_input_without_documents_is_done_with_a_warning() {
    let bench = Bench::new();
    bench.write("in/empty.jsonl", "");
    let ended = bench.done("dedup --input in --output found --kept kept");
    assert!(ended.stderr.contains("the inputs have no documents"), "{}", ended.stderr);
    assert_eq!(bench.read("kept/empty.jsonl"), "");
}

#[test]
fn a_json_array_is_read_and_its_kept_objects_are_copied_as_lines() {
    for input in ["in", "in/all.json"] {
        let bench = Bench::new();
        let array = format!("[{},\n {}]\n", line(1).trim(), line(2).trim());
        bench.write("in/all.json", array);
        let ended = bench.done(&format!("dedup --input {input} --output found --kept kept"));
        assert_eq!((ended.count("read"), ended.count("copied")), (2, 2));
    }
}

/// A folder that looks like copies made earlier, and is an input or leads to one.
#[test]
fn inputs_are_never_replaced() {
    let bench = corpus();
    bench.write("corpus/_SUCCESS", "");
    let before = bench.files("corpus");
    for flags in [
        "--input corpus --kept corpus",
        "--input corpus/a.jsonl --kept corpus",
        "--input corpus --kept link",
    ] {
        let _ = std::os::unix::fs::symlink(bench.path("corpus"), bench.path("link"));
        let ended = bench.run(&format!("dedup {flags} --output found --overwrite"));
        assert!([2, 73].contains(&ended.code), "{flags}: {ended:?}");
        assert_eq!(bench.files("corpus"), before, "{flags}");
        assert!(!bench.path("found").exists(), "there was work before the refusal");
    }
    for output in ["corpus", "corpus/found"] {
        let said = bench.fails(2, &format!("dedup --input corpus --output {output}"));
        assert!(said.contains("lies in an input folder"), "{said}");
        assert_eq!(bench.files("corpus"), before, "{output}");
    }
}

#[test]
fn files_of_one_name_below_two_folders_have_ids_of_their_own() {
    let bench = Bench::new();
    for (folder, number) in [("en", 1), ("de", 2)] {
        bench.write(&format!("{folder}/part-0.jsonl"), line(number));
        bench.write(&format!("{folder}/page.txt"), text(number + 2));
    }
    let ended = bench.done("dedup --input en de --output found");
    assert_eq!([ended.count("kept"), ended.count("repeated")], [4, 0]);
    assert_eq!(
        bench.read("found/dedup/keep.txt"),
        "de/page.txt\nde/part-0.jsonl:1\nen/page.txt\nen/part-0.jsonl:1\n"
    );
}

#[test]
fn a_file_is_copied_byte_by_byte_and_a_mark_with_bytes_is_a_file() {
    let bench = Bench::new();
    let utf16: Vec<u8> =
        format!("\u{feff}{}", text(1)).encode_utf16().flat_map(u16::to_le_bytes).collect();
    bench.write("corpus/wide.txt", &utf16);
    bench.write("corpus/_SUCCESS", line(2));
    bench.fails(2, "dedup --input corpus/* --output found --kept kept");
    fs::remove_file(bench.path("corpus/_SUCCESS")).unwrap();
    bench.done("dedup --input corpus --output found --kept kept");
    assert_eq!(bench.bytes("kept/wide.txt"), utf16);
    bench.refuses(2, "dedup --output found", &["--input", "--batch"]);
}

/// The places of records are counted as in messages: lines, or records where there are no lines.
#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_and_records_of_archives_have_places_too() {
    let bench = Bench::new();
    let named = record("conversion", "http://a/", &words(0..60));
    let nameless = record("conversion", "", &words(100..160)).replace("WARC-Target-URI: \r\n", "");
    bench.write("corpus/w.warc", [&*named, &*nameless, &*nameless].concat());
    let file = museum("parquet/polars.parquet");
    fs::copy(file, bench.path("corpus/p.parquet")).unwrap();
    let ended = bench.done(
        "dedup --input corpus --id-field WARC-Target-URI --max-bad 1 --output found --kept kept",
    );
    let kept = bench.read("found/dedup/keep.txt");
    for id in ["p.parquet:1", "p.parquet:2", "http://a/", "w.warc:2"] {
        assert!(kept.lines().any(|it| it == id), "{id}: {kept}");
    }
    assert!(ended.count("dropped") >= 1);
    assert_eq!(bench.read("kept/w.warc"), named + &nameless);
    let again =
        bench.done("dedup --input kept/p.parquet --id-field WARC-Target-URI --output again");
    assert_eq!(again.count("read"), kept.matches("p.parquet:").count() as u64);
}
