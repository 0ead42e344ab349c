//! Items of a reference set in pages: what is found is what the definition says, by any workers, from any input.

use std::fs::File;

use crate::support::Bench;

const ITEMS: &str = concat!(
    "{\"id\": \"q1\", \"text\": \"Which planet of the solar system has the most moons?\"}\n",
    "{\"id\": \"q2\", \"text\": \"A train leaves the station at noon and travels north at eighty miles an hour.\"}\n",
    "{\"id\": \"q3\", \"text\": \"北京是中国的首都\"}\n",
    "{\"id\": \"q4\", \"text\": \"Never asked before\"}\n",
);

const PAGES: &str = concat!(
    "{\"id\": \"wrapped\", \"text\": \"Quiz! WHICH planet\\nof the Solar System\\n has the most moons... Saturn.\"}\n",
    "{\"id\": \"changed\", \"text\": \"A train leaves the old station at noon and travels north at eighty miles an hour, they say.\"}\n",
    "{\"id\": \"apart\", \"text\": \"Which planet of the solar wind and, much later in another context, of a system has the most moons\"}\n",
    "{\"id\": \"han\", \"text\": \"问：北京是中国的首都吗？\"}\n",
    "{\"id\": \"none\", \"text\": \"A page about something else\"}\n",
);

#[test]
fn items_are_found_where_they_were_wrapped_cased_and_changed() {
    let bench = Bench::new();
    bench.write("items.jsonl", ITEMS);
    bench.write("pages.jsonl", PAGES);
    let line = "contains --items items.jsonl --input pages.jsonl --output found --kept clean";
    let ended = bench.done(line);
    let counts = ["documents", "items", "found", "hits", "pages", "copied"];
    assert_eq!(counts.map(|name| ended.count(name)), [5, 4, 3, 3, 3, 2]);
    let rows = [
        "item\tpage\tshare\tbegin\tend\n",
        "q1\twrapped\t1.0000\t6\t58\n",
        "q2\tchanged\t0.8462\t0\t80\n",
        "q3\than\t1.0000\t6\t30\n",
    ];
    assert_eq!(bench.read("found/items.tsv"), rows.concat());
    let counts = "item\twords\tpages\nq1\t10\t1\nq2\t15\t1\nq3\t8\t1\nq4\t3\t0\n";
    assert_eq!(bench.read("found/counts.tsv"), counts);
    let pages: Vec<&str> = PAGES.lines().collect();
    assert_eq!(bench.read("clean/pages.jsonl"), format!("{}\n{}\n", pages[2], pages[4]));
    bench.again(line);
    bench.fails(73, &format!("{line} --share 0.5"));
    bench.done("verify found --files-only");
}

#[test]
fn what_was_read_from_standard_input_is_never_done_already() {
    let bench = Bench::new();
    bench.write("items.jsonl", ITEMS);
    let run = |page: &str, flags: &str| {
        bench.write("page.jsonl", page);
        let line = format!("contains --items items.jsonl --input - --output found {flags}");
        let stdin = File::open(bench.path("page.jsonl")).unwrap();
        bench.command(&line).stdin(stdin).output().unwrap().status.code()
    };
    let [first, last] = [0, 4].map(|at| PAGES.lines().nth(at).unwrap());
    assert_eq!(run(first, ""), Some(0));
    assert_eq!(bench.read("found/items.tsv").lines().count(), 2);
    assert_eq!(run(last, ""), Some(73));
    assert_eq!(run(last, "--overwrite"), Some(0));
    assert_eq!(bench.read("found/items.tsv").lines().count(), 1);
}

#[test]
fn each_field_of_an_item_is_an_item() {
    let bench = Bench::new();
    let item = "{\"id\": \"q\", \"question\": \"Who wrote the long book?\", \"answer\": \"Nobody knows that\"}\n";
    bench.write("items.jsonl", item);
    bench.write("pages.tsv", "id\ttext\np\tNobody knows that for sure\n");
    bench.done(
        "contains --items items.jsonl --item-field question answer --input pages.tsv --output found --output-format jsonl",
    );
    let row = "{\"item\":\"q#answer\",\"page\":\"p\",\"share\":1.0,\"begin\":0,\"end\":17}\n";
    assert_eq!(bench.read("found/items.jsonl").replace("1.0000", "1.0"), row);
}
