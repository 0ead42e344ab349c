//! Help: examples below each command, and the global flags in one place. Global flags that have an effect
//! only in some commands are refused in the others.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::outcome::exit::CODES;

/// The command that shows the global flags.
pub(crate) const FLAGS: &str = "flags";

/// The text below the list of commands.
const CLOSING: &str = "\
`dupsieve help COMMAND` explains a command and shows examples.
`dupsieve help flags` shows the flags that every command takes.";

/// Examples for each command: what it does, and the command line.
pub(super) const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "init",
        &[
            (
                "Propose a configuration for the pages below a folder",
                "dupsieve init --input crawl/",
            ),
            ("Write an example to be filled in", "dupsieve init --output daily.toml"),
        ],
    ),
    (
        "run",
        &[
            ("Run the three days of the bundled sample", "dupsieve run configs/local.toml"),
            ("Run one day, every morning", "dupsieve run configs/daily.toml --date 2026-11-21"),
            (
                "See what would be done, or why it would fail",
                "dupsieve run configs/daily.toml --date 2026-11-21 --dry-run",
            ),
            (
                "Leave metrics for the node exporter of Prometheus, and serve them meanwhile",
                "dupsieve run configs/daily.toml --date 2026-11-21 --metrics-file dupsieve.prom \
                 --metrics 127.0.0.1:9464",
            ),
        ],
    ),
    (
        "fingerprint",
        &[
            (
                "Read a folder of JSON Lines files",
                "dupsieve fingerprint --input crawl/ --output day.seg",
            ),
            (
                "Read other fields, and allow one bad record in a hundred",
                "dupsieve fingerprint --input 'crawl/*.jsonl.gz' --id-field url --text-field content \
                 --max-bad 1% --output day.seg",
            ),
            (
                "Make the smallest segment: fingerprints without a second signature",
                "dupsieve fingerprint --preset paper --input crawl/ --output day.seg",
            ),
            (
                "Keep the bands that `lsh --batch` compares",
                "dupsieve fingerprint --keep-bands minhash-14x8 --input crawl/ --output day.seg",
            ),
            (
                "Keep digests, and compute nothing of pages whose text the store holds",
                "dupsieve fingerprint --keep-digests --store store --input crawl/ --output day.seg",
            ),
            (
                "Read fingerprints made by another program",
                "dupsieve fingerprint --format fingerprints --input ready.tsv --output day.seg",
            ),
        ],
    ),
    (
        "dedup",
        &[
            (
                "Find the near-duplicates inside one batch",
                "dupsieve dedup --batch day.seg --output found",
            ),
            (
                "Find near-duplicates of the pages in a store too",
                "dupsieve dedup --batch day.seg --store store --output found",
            ),
            (
                "Count pages as near only if their signatures are very much alike",
                "dupsieve dedup --batch day.seg --check page-overlap:0.8 --output found",
            ),
            (
                "Write verdicts and matches for DuckDB, pandas or Polars",
                "dupsieve dedup --batch day.seg --output-format parquet --output found",
            ),
        ],
    ),
    (
        "cluster",
        &[
            (
                "Find the clusters of two days",
                "dupsieve cluster --matches out/2026-11-20 out/2026-11-21 --output clusters-21",
            ),
            (
                "Add a third day, and see what changes",
                "dupsieve cluster --previous clusters-21 --matches out/2026-11-22 --output clusters-22",
            ),
            (
                "Add a day at the cost of what it changes",
                "dupsieve cluster --previous clusters-22 --matches out/2026-11-23 --output clusters-23 --no-lists",
            ),
            (
                "List the clusters of all days",
                "dupsieve cluster --previous clusters-23 --output listed",
            ),
            (
                "Take pages out",
                "dupsieve cluster --previous clusters-22 --removed gone.txt --output clusters-22b",
            ),
        ],
    ),
    (
        "lsh",
        &[
            (
                "Find pages that have 80 % of their runs of five words in common",
                "dupsieve lsh --input crawl/ --similarity 0.8 --output alike",
            ),
            (
                "Compare the runs themselves, not an estimate",
                "dupsieve lsh --input crawl/ --similarity 0.7 --confirm exact --output alike",
            ),
            (
                "Compare a day with the store of the days before, if both keep their bands",
                "dupsieve lsh --batch day.seg --store store --output alike",
            ),
            (
                "Find near vectors, such as embeddings of pages",
                "dupsieve lsh --family cosine --format vectors --text-field embedding --similarity 0.95 \
                 --confirm exact --input vectors.parquet --output alike",
            ),
        ],
    ),
    (
        "lsh plan",
        &[
            (
                "See what is found at a similarity of 0.8, and what is missed",
                "dupsieve lsh plan --similarity 0.8",
            ),
            (
                "See what 14 bands of 8 rows find, and how many pairs of your pages would be compared",
                "dupsieve lsh plan --bands 14 --rows 8 --input crawl/",
            ),
        ],
    ),
    (
        "filter",
        &[
            (
                "Copy the pages that were kept",
                "dupsieve filter --input crawl/ --ids found/keep.txt --output kept.jsonl.gz",
            ),
            (
                "Copy all pages, each with its verdict and the page that it is a duplicate of",
                "dupsieve filter --input crawl/ --annotate found --output judged.jsonl.gz",
            ),
        ],
    ),
    (
        "generate segment",
        &[
            (
                "Make a million random fingerprints",
                "dupsieve generate segment --count 1e6 --output random.seg",
            ),
            (
                "Add 100 near-duplicates of another segment's rows, and list them",
                "dupsieve generate segment --count 1e6 --seed 2 --near random.seg --planted 100 \
                 --truth truth.tsv --output store.seg",
            ),
        ],
    ),
    (
        "generate documents",
        &[(
            "Make 3,000 pages, four in ten of them near-duplicates",
            "dupsieve generate documents --count 3000 --near-share 0.4 --output pages.jsonl",
        )],
    ),
    (
        "inspect",
        &[
            ("Show what a segment holds", "dupsieve inspect day.seg"),
            ("Print its ids and fingerprints", "dupsieve inspect day.seg --dump"),
        ],
    ),
    (
        "plan",
        &[(
            "See how a million pages would be joined with eight billion",
            "dupsieve plan --batch 1e6 --store 8e9 --distance 3",
        )],
    ),
    (
        "query",
        &[
            (
                "Ask for pages by their fingerprints",
                "dupsieve query --store store --fingerprint 0x0123456789abcdef",
            ),
            ("Ask for a text", "dupsieve query --store store --text page.txt"),
            (
                "Ask for all pages of a crawl, as they come",
                "dupsieve query --store store --input - --format jsonl",
            ),
        ],
    ),
    (
        "seen",
        &[
            ("Ask for ids, one a line", "dupsieve seen --store store --ids ids.txt"),
            (
                "Ask which pages of a crawl have a text that is held",
                "dupsieve seen --store store --input crawl/",
            ),
        ],
    ),
    #[cfg(feature = "serve")]
    (
        "serve",
        &[
            ("Answer and remember for a crawler on this machine", "dupsieve serve --store store"),
            (
                "Listen at all addresses, for clients that send a token",
                "dupsieve serve --store store --listen 0.0.0.0:8373 --token-file token",
            ),
        ],
    ),
    ("store init", &[("Make an empty store", "dupsieve store init store")]),
    (
        "store add",
        &[(
            "Add the kept pages of a day",
            "dupsieve store add store --segment day.seg --day 2026-11-21 --only found/keep.txt",
        )],
    ),
    (
        "store list",
        &[
            ("List the days of a store", "dupsieve store list store"),
            ("List them for a program", "dupsieve store list store --json"),
        ],
    ),
    ("store log", &[("Show what changed the store, and when", "dupsieve store log store")]),
    ("store verify", &[("Check every byte of a store", "dupsieve store verify store")]),
    (
        "store compact",
        &[
            ("Merge the days into one file", "dupsieve store compact store"),
            (
                "Merge only what a day's `store add` would merge",
                "dupsieve store compact store --tiers",
            ),
        ],
    ),
    (
        "store expire",
        &[
            ("Keep the days of the last 90 days", "dupsieve store expire store --keep-days 90"),
            (
                "List the pages that were dropped in favour of expired ones",
                "dupsieve store expire store --keep-days 90 --readmit readmit.txt --outputs out/*",
            ),
        ],
    ),
    (
        "store index",
        &[
            ("Let a store answer `query` at once", "dupsieve store index store"),
            ("Let it answer `seen` at once", "dupsieve store index store --filters"),
            ("Remove the index", "dupsieve store index store --design none"),
        ],
    ),
    (
        "store prune",
        &[("Keep the newest 30 versions", "dupsieve store prune store --keep-versions 30")],
    ),
    (
        "store purge",
        &[(
            "Rewrite what holds removed pages, and prove that they are gone",
            "dupsieve store purge store",
        )],
    ),
    (
        "store remove",
        &[(
            "Take the pages whose ids are in a file out of all versions",
            "dupsieve store remove store --ids gone.txt",
        )],
    ),
    (
        "store rollback",
        &[("Go back to the contents of version 7", "dupsieve store rollback store --to 7")],
    ),
    (
        "verify",
        &[
            ("Check the output of a day", "dupsieve verify out/2026-11-21"),
            ("Check a segment", "dupsieve verify day.seg"),
        ],
    ),
    (
        "compare",
        &[
            ("Compare two pages", "dupsieve compare one.txt two.txt"),
            (
                "Compare them by the exact share of common shingles",
                "dupsieve compare --recipe jaccard one.txt two.txt",
            ),
        ],
    ),
    (
        "explain",
        &[
            (
                "Explain why a page was dropped",
                "dupsieve explain --config configs/local.toml --date 2026-11-20 ID",
            ),
            (
                "Explain the distance of any two pages",
                "dupsieve explain --input crawl/ ID OTHER-ID",
            ),
        ],
    ),
    (
        "sample",
        &[
            ("Show twenty pairs for each distance", "dupsieve sample out/2026-11-21"),
            (
                "Show five for each distance, with the pages from another folder",
                "dupsieve sample found --per-distance 5 --input crawl/",
            ),
        ],
    ),
    (
        "report",
        &[
            ("Show the figures of all days", "dupsieve report out"),
            ("Draw them into a page for a browser", "dupsieve report out --output days.html"),
        ],
    ),
    (
        "evaluate",
        &[
            (
                "Judge the matches of an output by labels",
                "dupsieve evaluate --pairs found/matches.tsv --labels labels.tsv",
            ),
            (
                "Find the preset that suits your pages, without labels",
                "dupsieve evaluate --sweep --input crawl/",
            ),
            (
                "Find the best preset or recipe by labels",
                "dupsieve evaluate --sweep --input crawl/ --labels labels.tsv",
            ),
        ],
    ),
    (
        "weights",
        &[
            (
                "Count how many pages contain each word",
                "dupsieve weights --input crawl/ --output words.idf",
            ),
            (
                "Learn the navigation of each host, for `fingerprint --boilerplate`",
                "dupsieve weights --lines --by host --input crawl/ --output lines.counts",
            ),
        ],
    ),
    (
        "doctor",
        &[
            ("Look at this machine and the folder you stand in", "dupsieve doctor"),
            (
                "Look at the disks of the store and of the outputs",
                "dupsieve doctor /data/store /data/out --memory 8GiB",
            ),
            (
                "On each machine, see whether the processes of a hosts file meet",
                "dupsieve doctor --hosts hosts.txt --process 0 --secret-file secret",
            ),
        ],
    ),
    (
        "completions",
        &[(
            "Print the script for bash; save it in ~/.local/share/bash-completion/completions/dupsieve",
            "dupsieve completions bash",
        )],
    ),
    (
        "man",
        &[(
            "Write the manual pages where `man` looks for them",
            "dupsieve man ~/.local/share/man/man1",
        )],
    ),
    (
        "schema",
        &[(
            "Save what it prints beside your files; one with the line `#:schema dupsieve.schema.json` is checked by editors",
            "dupsieve schema",
        )],
    ),
];

/// The commands that several processes can share.
const SHARED: &[&str] = &["run", "fingerprint", "dedup", "lsh", "cluster", "weights", "doctor"];

/// The commands that listen: those, and `serve`.
const LISTENING: &[&str] =
    &["run", "fingerprint", "dedup", "lsh", "cluster", "weights", "doctor", "serve"];

/// The global flags that have an effect only in some commands, and in which.
pub(super) const LIMITED: &[(&str, &[&str])] = &[
    (
        "workers",
        &[
            "run",
            "fingerprint",
            "dedup",
            "lsh",
            "cluster",
            "weights",
            "evaluate",
            "plan",
            "doctor",
            "query",
            "seen",
            "serve",
        ],
    ),
    (
        "memory",
        &[
            "run",
            "fingerprint",
            "dedup",
            "cluster",
            "lsh",
            "weights",
            "filter",
            "evaluate",
            "plan",
            "verify",
            "doctor",
            "serve",
            "store add",
            "store compact",
            "store index",
            "store rollback",
        ],
    ),
    ("metrics_file", JOBS),
    ("metrics", JOBS),
    ("processes", SHARED),
    ("hosts", SHARED),
    ("process", SHARED),
    ("secret_file", SHARED),
    ("listen", LISTENING),
    ("wait_for_peers", SHARED),
    ("peer_timeout", SHARED),
    ("restarts", SHARED),
    (
        "dry_run",
        &[
            "run",
            "fingerprint",
            "dedup",
            "cluster",
            "lsh",
            "weights",
            "filter",
            "generate",
            "evaluate",
            "store init",
            "store add",
            "store compact",
            "store expire",
            "store index",
            "store prune",
            "store purge",
            "store remove",
            "store rollback",
        ],
    ),
    (
        "overwrite",
        &[
            "run",
            "fingerprint",
            "dedup",
            "lsh",
            "cluster",
            "weights",
            "filter",
            "init",
            "generate",
            "report",
            "evaluate",
            "store expire",
            "store remove",
        ],
    ),
    (
        "config",
        &[
            "fingerprint",
            "dedup",
            "lsh",
            "weights",
            "filter",
            "plan",
            "query",
            "seen",
            "serve",
            "verify",
            "compare",
            "explain",
            "sample",
            "evaluate",
        ],
    ),
];

/// The commands that do work which is worth watching.
const JOBS: &[&str] = &[
    "run",
    "fingerprint",
    "dedup",
    "lsh",
    "cluster",
    "weights",
    "filter",
    "verify",
    "store add",
    "store compact",
    "store expire",
    "store index",
    "store prune",
    "store purge",
    "store remove",
    "store rollback",
    "store verify",
];

/// Flags that a command shares with others but that have no effect in it.
const IDLE: &[(&str, &[&str])] = &[(
    "lsh plan",
    &[
        "workers",
        "memory",
        "processes",
        "hosts",
        "process",
        "secret_file",
        "listen",
        "wait_for_peers",
        "peer_timeout",
        "restarts",
        "dry_run",
        "metrics",
        "metrics_file",
    ],
)];

/// Flags of `evaluate` that have an effect only with `--sweep`.
const OF_SWEEPS: &[&str] = &["distance", "format", "id_field", "text_field"];

/// Flags of `lsh` that say nothing about a batch that keeps bands.
const OF_DOCUMENTS: &[&str] = &[
    "family",
    "bands",
    "rows",
    "hashes",
    "shingle",
    "permutations",
    "seed",
    "width",
    "format",
    "id_field",
    "text",
    "text_field",
    "time_field",
    "max_bad",
    "max_repeated",
    "max_record",
    "page_time",
    "accept_truncated",
    "encoding",
];

/// The command line `root` with examples below the flags of each command. The global flags, which every
/// command inherits, are shown by `dupsieve help flags` only.
pub(crate) fn with_examples(root: Command) -> Command {
    let root = root.mut_args(|flag| flag.hide(true)).after_help(format!("{CLOSING}\n\n{CODES}"));
    root.mut_subcommands(|command| described(command, ""))
}

/// The command with examples below its flags. `above` are the names of the commands above it.
fn described(command: Command, above: &str) -> Command {
    let path = format!("{above}{}", command.get_name());
    if path == FLAGS {
        return command;
    }
    let mut text = String::new();
    if let Some((_, examples)) = EXAMPLES.iter().find(|(command, _)| *command == path) {
        text += "Examples:\n";
        for (what, line) in *examples {
            text += &format!("  # {what}\n  {line}\n");
        }
        text += "\n";
    }
    text += "`dupsieve help flags` shows the flags that every command takes.";
    command.after_help(text).mut_subcommands(|command| described(command, &format!("{path} ")))
}

/// Whether what the environment says of a flag counts in the command that was given.
pub(crate) fn takes(typed: &ArgMatches, id: &str) -> bool {
    let (path, _) = innermost(typed);
    let idle = IDLE.iter().any(|(command, ids)| path == *command && ids.contains(&id));
    !idle && LIMITED.iter().all(|(limited, commands)| *limited != id || is_among(&path, commands))
}

/// Whether a command, or one above it, is listed.
fn is_among(path: &str, commands: &[&str]) -> bool {
    commands.iter().any(|&command| path == command || path.starts_with(&format!("{command} ")))
}

/// A flag that was given but has no effect in this command, and the command.
pub(crate) fn idle_flag(typed: &ArgMatches) -> Option<(String, String)> {
    let (path, of_command) = innermost(typed);
    let is_typed = |id: &str| {
        of_command.try_contains_id(id).is_ok()
            && of_command.value_source(id) == Some(ValueSource::CommandLine)
    };
    let limited = LIMITED.iter().find(|(id, commands)| is_typed(id) && !is_among(&path, commands));
    let idle = IDLE.iter().find(|(command, _)| path == *command);
    let idle = idle.and_then(|(_, ids)| ids.iter().find(|id| is_typed(id)));
    let judges = path == "evaluate" && !of_command.get_flag("sweep");
    let of_sweeps = OF_SWEEPS.iter().find(|id| judges && is_typed(id));
    let is_sketched = path == "lsh" && is_typed("batch");
    let of_documents = OF_DOCUMENTS.iter().find(|id| is_sketched && is_typed(id));
    let id = limited.map(|(id, _)| id).or(idle).or(of_sweeps).or(of_documents)?;
    Some((format!("--{}", id.replace('_', "-")), path))
}

/// The command that was given, with those above it, and its arguments.
pub(crate) fn innermost(typed: &ArgMatches) -> (String, &ArgMatches) {
    let mut path = Vec::new();
    let mut typed = typed;
    while let Some((name, inner)) = typed.subcommand() {
        path.push(name);
        typed = inner;
    }
    (path.join(" "), typed)
}
