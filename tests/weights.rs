//! Tables of counts: the same bytes however they are counted, and what recipes make of them.

use dupsieve::rooms::features::counts::Counts;
use dupsieve::rooms::fingerprint::Recipe;

use crate::support::Bench;
use crate::world::museum;

/// The rows of a table, as `count feature`.
fn rows(bench: &Bench, table: &str) -> Vec<String> {
    let text = bench.read(table);
    let lines = text.lines().filter(|line| !line.starts_with("end "));
    lines.skip(2).map(|line| line.replacen('\t', " ", 1)).collect()
}

/// A recipe of words in a file, with other parts.
fn recipe(bench: &Bench, name: &str, parts: &str) {
    let all = format!(
        "scheme = \"simhash\"\nfeatures = \"words\"\nhmm = true\nhash = \"xxh3\"\nwidth = 64\n\
         ties = \"clear\"\n{parts}\nnormalise = {{ nfkc = true, case = \"fold\", digits = \"keep\", \
         white_space = \"collapse\" }}\n"
    );
    bench.write(name, all);
}

const PAGES: &str = "id\ttext\n\
    a\tthe fox and the dog\n\
    b\tthe fox\n\
    c\tThe End of 狐狸\n";

#[test]
fn a_table_holds_the_documents_of_each_word() {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    let ended = bench.done("weights --recipe words-1 --input pages.tsv --min-count 1 --output all");
    assert_eq!((ended.count("documents"), ended.count("features")), (3, 7));
    let expected = ["1 and", "1 dog", "1 end", "2 fox", "1 of", "3 the", "1 狐狸"];
    assert_eq!(rows(&bench, "all"), expected);
    bench.done("weights --recipe words-1 --input pages.tsv --output twice");
    assert_eq!(rows(&bench, "twice"), ["2 fox", "3 the"]);
    let again = bench.done("weights --recipe words-1 --input pages.tsv --output twice");
    assert!(again.stdout.contains("\"already_done\":true"));
    let said = bench.fails(73, "weights --recipe wide-1 --input pages.tsv --output twice");
    assert!(said.contains("words-1") || said.contains("recipe"), "{said}");
    bench.fails(2, "weights --recipe charikar-64 --input pages.tsv --output none");
}

#[test]
fn a_recipe_weighs_by_the_table_it_names() {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    recipe(&bench, "plain.toml", "weights = \"tf\"");
    bench.done("weights --recipe plain.toml --input pages.tsv --min-count 1 --output weights.idf");
    recipe(&bench, "mine.toml", "weights = \"tf-idf\"\nidf = \"weights.idf\"");
    let told = bench.answer("explain --recipe mine.toml --input pages.tsv a b");
    // log2(1 + 3/2) for the fox, in two of three documents.
    assert!(told.contains("1.322  \"fox\"") && told.contains("2.000  \"dog\""), "{told}");
    bench.done("fingerprint --recipe mine.toml --input pages.tsv --output one.seg");
    bench.write("more.tsv", format!("{PAGES}d\tthe fox\n"));
    bench.done("weights --recipe plain.toml --input more.tsv --output weights.idf --overwrite");
    let other = "fingerprint --recipe mine.toml --input pages.tsv --output one.seg";
    assert!(bench.fails(73, other).contains("recipe"), "another table makes another recipe");
    recipe(&bench, "folded.toml", "weights = \"tf-idf\"\nidf = \"lines\"");
    bench.done("weights --lines --recipe plain.toml --input pages.tsv --output lines");
    bench.fails(78, "fingerprint --recipe folded.toml --input pages.tsv --output two.seg");
    bench.write("lines", "dupsieve counts 2\n");
    bench.fails(78, "fingerprint --recipe folded.toml --input pages.tsv --output two.seg");
}

#[test]
fn lines_that_pages_share_are_dropped() {
    let bench = Bench::new();
    let page = |id, body| {
        format!("{{\"id\":\"{id}\",\"text\":\"Home | About\\n{body}\\n(c) All rights\"}}\n")
    };
    bench.write(
        "site.jsonl",
        page("a", "a fox runs") + &page("b", "the dog sleeps") + &page("c", "an end"),
    );
    recipe(&bench, "plain.toml", "weights = \"tf\"");
    bench.done(
        "weights --lines --recipe plain.toml --input site.jsonl --min-count 3 --output site.lines",
    );
    assert_eq!(rows(&bench, "site.lines"), ["3 (c) all rights", "3 home | about"]);
    recipe(&bench, "cut.toml", "weights = \"tf\"\nboilerplate = \"site.lines\"");
    let told = bench.answer("explain --recipe cut.toml --input site.jsonl a b");
    assert!(told.contains("\"fox\"") && !told.contains("\"home\""), "{told}");
}

/// Two hosts of eight pages each: `Home | About`, a line of its own that is long, and a notice. The line
/// `Shared line` is on all pages of the first host and on two of the second.
fn two_hosts(bench: &Bench) {
    let mut pages = String::new();
    for (host, pages_with_line) in [("one.example", 8), ("TWO.example:8080", 2)] {
        for (page, word) in WORDS.iter().enumerate() {
            let shared = if page < pages_with_line { "Shared line\\n" } else { "" };
            let own = format!("{} on page {page} of {host}", word.repeat(8));
            pages += &format!(
                "{{\"id\":\"http://{host}/{page}\",\"text\":\"Home of {host}\\n{shared}{own}\\n(c) All\"}}\n"
            );
        }
    }
    pages += "{\"id\":\"no-url\",\"text\":\"Home of one.example\\nShared line\"}\n";
    bench.write("pages.jsonl", pages);
}

const WORDS: [&str; 8] = ["fox ", "dog ", "wolf ", "lynx ", "bear ", "goat ", "mole ", "hare "];

const BY_HOST: &str = "weights --lines --by host --min-count 5 --recipe wide";

#[test]
fn a_line_counts_for_its_host() {
    let bench = Bench::new();
    two_hosts(&bench);
    let ended = bench.done(&format!("{BY_HOST} --input pages.jsonl --output lines.counts"));
    let counts = ["documents", "features", "without_host"].map(|name| ended.count(name));
    assert_eq!(counts, [17, 7, 1]);
    let expected = [
        "8 one.example\t",
        "8 one.example\t(c) all",
        "8 one.example\thome of one.example",
        "8 one.example\tshared line",
        "8 two.example\t",
        "8 two.example\t(c) all",
        "8 two.example\thome of two.example:",
    ];
    assert_eq!(rows(&bench, "lines.counts"), expected);
    bench.done("weights --lines --by host --input pages.jsonl --output many");
    assert_eq!(rows(&bench, "many"), [""; 0]);
    bench.fails(2, "weights --by host --input pages.jsonl --output none");
}

#[test]
fn pages_of_no_host_at_all_are_an_error() {
    let bench = Bench::new();
    bench.write("numbered.jsonl", "{\"id\":1,\"text\":\"a fox\"}\n{\"id\":2,\"text\":\"a dog\"}\n");
    bench.refuses(
        65,
        &format!("{BY_HOST} --input numbered.jsonl --output lines.counts"),
        &["2 pages whose ids are no URLs", "--id-field"],
    );
    assert!(!bench.path("lines.counts").exists());
    bench.write("none.jsonl", "");
    bench.done(&format!("{BY_HOST} --input none.jsonl --output lines.counts"));
}

/// One article in the frames of two hosts has one fingerprint and one signature.
#[test]
fn a_preset_without_boilerplate_is_still_that_preset() {
    let bench = Bench::new();
    let article: String = (0..40).map(|number| format!("word{} ", "x".repeat(number))).collect();
    let frame = |host: &str| {
        (0..30).map(|line| format!("{host} {}\\n", "y".repeat(line))).collect::<String>()
    };
    let page = |host: &str, name: &str, text: &str| {
        format!("{{\"id\":\"http://{host}/{name}\",\"text\":\"{}{text}\"}}\n", frame(host))
    };
    let mut pages = String::new();
    for (number, host) in (0..16).map(|number| (number, ["one", "two"][number % 2])) {
        let other: String = WORDS.iter().map(|word| word.repeat(number + 2)).collect();
        pages +=
            &page(host, &number.to_string(), &format!("{other} {number} {}", "z".repeat(number)));
    }
    bench.write("earlier.jsonl", pages);
    bench.done(
        "weights --lines --by host --min-count 5 --input earlier.jsonl --output lines.counts",
    );
    bench.write(
        "2026-11-20.jsonl",
        page("one", "article", &article)
            + &page("two", "article", &article)
            + &page("two", "none", ""),
    );
    let config = |part: &str| {
        format!(
            "inputs = [\"{{date}}.jsonl\"]\noutput = \"out/{{date}}\"\nstore = \"store\"\npreset = \"balanced\"\n\
             dates = [\"2026-11-20\"]\n[fingerprint]\n{part}"
        )
    };
    bench.write("day.toml", config("boilerplate = \"lines.counts\""));
    bench.done("run day.toml");
    let matches = bench.read("out/2026-11-20/dedup/matches.tsv");
    let header = "new\texisting\tdistance\tagainst\tcheck\tverdict\n";
    assert_eq!(
        matches,
        format!("{header}http://two/article\thttp://one/article\t0\tbatch\t1.0000\tdrop\n")
    );
    assert_eq!(bench.report("out/2026-11-20/dedup")["parameters"]["distance"], "3");
    let told = bench.answer("inspect out/2026-11-20/batch.seg --json");
    assert!(told.contains("boilerplate") && told.contains("dropped"), "{told}");
    let again = "fingerprint --preset balanced --boilerplate lines.counts --input 2026-11-20.jsonl --output day.seg";
    assert_eq!(bench.done(again).count("only_boilerplate"), 1);
    bench.done("fingerprint --preset balanced --input 2026-11-20.jsonl --output whole.seg");
    bench.fails(73, &again.replace("--boilerplate lines.counts ", ""));
    bench.refuses(2, "dedup --batch whole.seg --store store --output other", &["boilerplate"]);
    bench.fails(66, &again.replace("lines.counts", "missing.counts"));
    bench.fails(2, "fingerprint --recipe charikar-64 --boilerplate lines.counts --input 2026-11-20.jsonl --output x");
}

/// Tables that earlier versions wrote are read, and mean what they meant.
#[test]
fn tables_of_every_version_are_read() {
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
