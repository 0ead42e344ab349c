//! `evaluate --sweep --review`: shows the borderline pairs of a sample one by one, asks whether they belong
//! together, and writes the answers to a file that can be given as labels.

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use dupsieve::error::At;
use dupsieve::evaluate::borderline::{BorderlinePair, borderline};
use dupsieve::evaluate::planted::PlantedScores;
use dupsieve::evaluate::{JudgedFile, JudgedPairs, Judgement, Method, Page};
use dupsieve::join::Preset;
use dupsieve::progress::{self, Activity};
use dupsieve::{Error, Kind, Result};

use crate::commands::difference;
use crate::flags::global::GlobalFlags;

/// How many pairs are asked for at most, in all: as many as a person judges in an hour or two.
const MOST_PAIRS: usize = 200;

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 4096;

/// How often there is a tick while the person thinks: often enough for the shortest --stall-timeout, a
/// second.
const TICK: Duration = Duration::from_millis(200);

/// What a person says to a pair.
enum Answer {
    Judged(Judgement),
    Skip,
    Quit,
}

/// Where the answers go, and what was answered before.
pub(super) struct Review<'a> {
    path: &'a Path,
    /// None in a dry run.
    file: Option<(JudgedFile, JudgedPairs)>,
}

impl Review<'_> {
    /// Opens the file of the answers, so that a file that cannot be written ends the run before any work.
    /// Standard input must be free for the answers.
    pub(super) fn open<'a>(
        path: &'a Path,
        inputs: &[PathBuf],
        global: &GlobalFlags,
    ) -> Result<Review<'a>> {
        if global.json {
            let what = "--review asks a person, and --json answers a program";
            return Err(Error::new(Kind::Usage, what).help("leave out one of them"));
        }
        if inputs.iter().any(|input| input == Path::new("-")) {
            let what =
                "--review reads answers from standard input, and --input reads pages from it";
            return Err(Error::new(Kind::Usage, what).help("write the pages to a file first"));
        }
        let file = (!global.dry_run).then(|| JudgedFile::open(path)).transpose()?;
        Ok(Review { path, file })
    }

    /// Shows the borderline pairs and asks for each. What was answered already is not asked again. Asks
    /// nothing in a dry run.
    pub(super) fn run(
        self,
        pages: &[Page],
        methods: &[Method],
        scores: &PlantedScores<'_>,
    ) -> Result<()> {
        // Only presets are asked about: other methods may join anything.
        let methods = &methods[..Preset::ALL.len()];
        let pairs = borderline(scores, methods, MOST_PAIRS);
        match self.file {
            None => println!("{} pairs would be shown", pairs.len()),
            Some(_) if pairs.is_empty() => println!("no pair of the sample is hard to decide"),
            Some((file, judged)) => ask_all(self.path, file, &judged, &pairs, pages, methods)?,
        }
        Ok(())
    }
}

fn ask_all(
    path: &Path,
    mut file: JudgedFile,
    judged: &JudgedPairs,
    pairs: &[BorderlinePair],
    pages: &[Page],
    methods: &[Method],
) -> Result<()> {
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
        show(pair, shown, &mut out).at("stdout")?;
        let answer = ask(&mut input, &mut out).at("stdin")?;
        match answer {
            Answer::Judged(judgement) => {
                file.add(&shown[0].id, &shown[1].id, judgement)?;
                answers += 1;
                show_methods(pair, methods, &mut out).at("stdout")?;
            }
            Answer::Skip => {}
            Answer::Quit => break,
        }
    }
    end(answers, path, &mut out).at("stdout")
}

fn end(answers: usize, path: &Path, out: &mut impl Write) -> io::Result<()> {
    let path = path.display();
    writeln!(
        out,
        "\n{answers} answers written to {path}. The same command goes on where you stopped.\n\
         To measure by your answers: dupsieve evaluate --sweep --input ... --labels {path}"
    )
}

/// Shows a pair: how alike it is, and what differs.
fn show(pair: &BorderlinePair, pages: [&Page; 2], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:.1} % of the runs of three words in common", 100.0 * pair.similarity)?;
    for page in pages {
        writeln!(out, "  {} ({} characters)", page.id, page.text.chars().count())?;
    }
    let lines = difference::lines(pages.map(|page| &*page.text));
    lines.iter().try_for_each(|line| writeln!(out, "    {line}"))
}

/// Shows which methods join a pair, once it is judged: an answer should not depend on it.
fn show_methods(pair: &BorderlinePair, methods: &[Method], out: &mut impl Write) -> io::Result<()> {
    let names = |wanted: bool| {
        let named = methods.iter().enumerate();
        let named = named.filter(|(at, _)| pair.found_by.contains(*at) == wanted);
        named.map(|(_, method)| &*method.name).collect::<Vec<_>>().join(", ")
    };
    for (what, names) in [("joined by", names(true)), ("not joined by", names(false))] {
        if !names.is_empty() {
            writeln!(out, "{what} {names}")?;
        }
    }
    writeln!(out)
}

/// Reads a line, of which at most [`LONGEST_ANSWER`] bytes are kept. Also gives how many were read; 0 is the
/// end of the input.
fn read_answer(input: &mut impl BufRead) -> io::Result<(usize, Vec<u8>)> {
    let mut answer = Vec::new();
    let read = input.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut answer)?;
    if read as u64 == LONGEST_ANSWER && !answer.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok((read, answer))
}

/// Waits for a person, and ticks meanwhile: who thinks for long has not stalled.
fn while_ticking<T>(wait: impl FnOnce() -> T) -> T {
    let (sender, receiver) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                progress::tick(Activity::Reading);
            }
        });
        let waited = wait();
        drop(sender);
        waited
    })
}

/// Asks until an answer is one of y, n, s and q. The end of the input is q.
fn ask(input: &mut impl BufRead, out: &mut impl Write) -> io::Result<Answer> {
    loop {
        write!(out, "the same page? y (yes), n (no), s (skip), q (quit): ")?;
        out.flush()?;
        let (read, answer) = while_ticking(|| read_answer(input))?;
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
