//! Passages: what is found is what the definition says, in the order that is asked for, by any workers and in little memory.

use serde_json::json;

use crate::support::Bench;

const HEADER: &str = "id\tbegin\tend\twords\tof\tof_begin\tagainst\n";

const PAGES: &str = concat!(
    "{\"id\": \"https://b.org/2\", \"day\": \"2026-11-02\", \"text\": \"Spring tides. All rights reserved\\nby the author, and nobody else.\"}\n",
    "{\"id\": \"https://a.org/1\", \"day\": \"2026-11-03\", \"text\": \"ALL RIGHTS reserved by the author! Autumn.\"}\n",
    "{\"id\": \"https://a.org/3\", \"day\": \"2026-11-01\", \"text\": \"Neap tides. Ａll rights reserved by the author, and nobody else. One two three four five. One two three four five.\"}\n",
    "{\"id\": \"https://a.org/3\", \"day\": \"2026-11-04\", \"text\": \"All rights reserved by the author\"}\n",
);

#[test]
fn passages_are_found_where_they_were_wrapped_and_cased() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --output found --words 5";
    let ended = bench.done(line);
    let counts = ["documents", "pages", "passages", "words", "repeated"];
    assert_eq!(counts.map(|name| ended.count(name)), [4, 3, 4, 45, 27]);
    let rows = [
        HEADER,
        "https://a.org/3\t12\t47\t6\thttps://a.org/1\t0\tbatch\n",
        "https://a.org/3\t91\t114\t5\thttps://a.org/3\t66\tbatch\n",
        "https://a.org/3\t0\t33\t6\thttps://a.org/1\t0\tbatch\n",
        "https://b.org/2\t7\t64\t10\thttps://a.org/3\t5\tbatch\n",
    ];
    assert_eq!(bench.read("found/passages.tsv"), rows.concat());
    let found = &bench.report("found")["found"];
    let most = json!({"of": "https://a.org/1", "of_begin": 0, "words": 6, "pages": 3, "hosts": 1});
    assert_eq!(found["most"][0], most);
    let host = json!({"host": "a.org", "words": 34, "repeated": 17, "share": 0.5});
    assert_eq!(found["hosts"][0], host);
    bench.again(line);
    bench.fails(73, &format!("{line} --keep longest"));
    bench.done("verify found --files-only");
}

#[test]
fn earlier_pages_are_those_that_keep_order_says() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --words 5 --time-field day";
    bench.done(&format!("{line} --keep newest --output newest"));
    let rows = [
        HEADER,
        "https://a.org/1\t0\t33\t6\thttps://a.org/3\t0\tbatch\n",
        "https://a.org/3\t5\t64\t10\thttps://b.org/2\t7\tbatch\n",
        "https://a.org/3\t91\t114\t5\thttps://a.org/3\t66\tbatch\n",
        "https://b.org/2\t14\t47\t6\thttps://a.org/3\t0\tbatch\n",
    ];
    assert_eq!(bench.read("newest/passages.tsv"), rows.concat());
    let line = "passages --input pages.jsonl --words 5 --keep oldest --output oldest";
    bench.refuses(2, line, &["--time-field"]);
}

#[test]
fn pages_are_copied_without_their_passages() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --output found --words 5 --kept clean --place-ids all --cut lines --max-repeated 0.9";
    let ended = bench.done(line);
    let counts = ["copied", "pages_cut", "words_cut", "pages_dropped"];
    assert_eq!(counts.map(|name| ended.count(name)), [3, 2, 20, 1]);
    let pages: Vec<&str> = PAGES.lines().collect();
    let cut = [
        pages[0].to_owned(),
        pages[1].replace("ALL RIGHTS reserved by the author! ", ""),
        pages[2]
            .replace("Ａll rights reserved by the author, and nobody else. ", "")
            .replace(" One two three four five.\"", " \""),
    ];
    assert_eq!(bench.read("clean/pages.jsonl").lines().collect::<Vec<_>>(), cut);
    bench.again(line);
    let words = line.replace("lines", "words").replace("--max-repeated 0.9", "");
    let words = words.replace("found", "more").replace("clean", "less");
    assert_eq!(counts.map(|name| bench.done(&words).count(name))[0], 4);
    let less = bench.read("less/pages.jsonl");
    assert!(less.contains("\"Neap . One two three four five. .\"}"), "{less}");
    assert!(less.ends_with("\"text\": \"\"}\n"), "{less}");
}

#[test]
fn columns_are_copied_without_their_passages() {
    let bench = Bench::new();
    let rows = "id,text,n\n1,\"a b c, d e\",7\n2,\"x \"\"y\"\" a, b c d e\",8\n";
    bench.write("pages.csv", rows);
    bench.write(
        "pages.tsv",
        rows.replace("\"\"", "'")
            .replace('"', "")
            .replacen("c, d", "c d", 1)
            .replace("a, b", "a b")
            .replace(',', "\t"),
    );
    bench.done("passages --input pages.csv pages.tsv --output found --words 5 --place-ids all --cut words --kept clean");
    assert_eq!(bench.read("clean/pages.csv"), rows.replace("a, b c d e", ""));
    let tsv = "id\ttext\tn\n1\t\t7\n2\t\t8\n";
    assert_eq!(bench.read("clean/pages.tsv"), tsv);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --output found --words 5 --kept clean";
    bench.refuses(2, line, &["--cut lines"]);
    bench.refuses(
        65,
        &format!("{line} --cut lines"),
        &["an id stands for two pages", "--place-ids all"],
    );
    bench.write("page.html", "<p>one");
    bench.refuses(
        2,
        "passages --input page.html --output new --kept kept --cut words",
        &["JSON lines"],
    );
    bench.write(
        "pages.warc",
        crate::world::record("response", "http://a.org/", "HTTP/1.1 200 OK\r\n\r\n<p>one"),
    );
    bench.refuses(
        2,
        "passages --input pages.warc --output new --kept kept --cut words",
        &["JSON lines"],
    );
    assert!(!bench.path("new").exists());
}
