//! `evaluate --sweep --review`: shows the borderline pairs of a sample one by one, asks whether they belong
//! together, and writes the answers to a file that can be given as labels.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use dupsieve::Result;
use dupsieve::error::At;
use dupsieve::evaluate::borderline::{BorderlinePair, borderline};
use dupsieve::evaluate::planted::PlantedScores;
use dupsieve::evaluate::{JudgedFile, Judgement, Method, Page};
use dupsieve::join::Preset;

use crate::commands::difference;

/// How many pairs are asked for at most, in all: as many as a person judges in an hour or two.
const MOST_PAIRS: usize = 200;

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 4096;

/// What a person says to a pair.
enum Answer {
    Judged(Judgement),
    Skip,
    Quit,
}

/// Runs the review. What was answered already is not asked again. Asks nothing if `dry_run`.
pub(super) fn run(
    path: &Path,
    pages: &[Page],
    methods: &[Method],
    scores: &PlantedScores<'_>,
    dry_run: bool,
) -> Result<()> {
    // Only presets are asked about: other methods may join anything.
    let methods = &methods[..Preset::ALL.len()];
    let pairs = borderline(scores, methods, MOST_PAIRS);
    if dry_run {
        println!("{} pairs would be shown", pairs.len());
        return Ok(());
    }
    let (mut file, judged) = JudgedFile::open(path)?;
    let id = |page: u32| &*pages[page as usize].id;
    let open: Vec<BorderlinePair> = pairs
        .iter()
        .filter(|pair| !judged.contains(id(pair.pages.0), id(pair.pages.1)))
        .copied()
        .collect();
    let mut out = io::stdout().lock();
    let before = pairs.len() - open.len();
    writeln!(out, "{} pairs to judge, {before} of them answered before\n", pairs.len())
        .at("stdout")?;
    let mut answers = 0;
    let mut input = io::stdin().lock();
    for (number, pair) in open.iter().enumerate() {
        let shown = [pair.pages.0, pair.pages.1].map(|page| &pages[page as usize]);
        writeln!(out, "pair {} of {}", before + number + 1, pairs.len()).at("stdout")?;
        show(pair, shown, methods, &mut out).at("stdout")?;
        match ask(&mut input, &mut out).at("stdin")? {
            Answer::Judged(judgement) => {
                file.add(&shown[0].id, &shown[1].id, judgement)?;
                answers += 1;
            }
            Answer::Skip => {}
            Answer::Quit => break,
        }
    }
    let path = path.display();
    writeln!(
        out,
        "\n{answers} answers written to {path}. The same command goes on where you stopped.\n\
         To measure by your answers: dupsieve evaluate --sweep --input ... --labels {path}"
    )
    .at("stdout")
}

/// Shows a pair: how alike it is, who joins it, and what differs.
fn show(
    pair: &BorderlinePair,
    pages: [&Page; 2],
    methods: &[Method],
    out: &mut impl Write,
) -> io::Result<()> {
    let names = |wanted: bool| {
        let named = methods.iter().enumerate();
        let named = named.filter(|(at, _)| pair.found_by.contains(*at) == wanted);
        named.map(|(_, method)| &*method.name).collect::<Vec<_>>().join(", ")
    };
    write!(out, "{:.1} % of the runs of three words in common", 100.0 * pair.similarity)?;
    for (what, names) in [("joined by", names(true)), ("not by", names(false))] {
        if !names.is_empty() {
            write!(out, "; {what} {names}")?;
        }
    }
    writeln!(out)?;
    for page in pages {
        writeln!(out, "  {} ({} characters)", page.id, page.text.chars().count())?;
    }
    let lines = difference::lines(pages.map(|page| &*page.text));
    lines.iter().try_for_each(|line| writeln!(out, "    {line}"))
}

/// Asks until an answer is one of y, n, s and q. The end of the input is q.
fn ask(input: &mut impl BufRead, out: &mut impl Write) -> io::Result<Answer> {
    loop {
        write!(out, "the same page? y (yes), n (no), s (skip), q (quit): ")?;
        out.flush()?;
        let mut answer = Vec::new();
        let read = input.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut answer)?;
        writeln!(out)?;
        match answer.trim_ascii().to_ascii_lowercase().as_slice() {
            b"y" | b"yes" => return Ok(Answer::Judged(Judgement::Same)),
            b"n" | b"no" => return Ok(Answer::Judged(Judgement::Different)),
            b"s" | b"skip" => return Ok(Answer::Skip),
            b"q" | b"quit" => return Ok(Answer::Quit),
            _ if read == 0 => return Ok(Answer::Quit),
            _ => {}
        }
    }
}
