//! `evaluate --sweep` with labels: judges the methods by the labelled documents of the inputs.

use std::io::{self, Write};
use std::path::PathBuf;

use dupsieve::rooms::error::At;
use dupsieve::rooms::evaluate::choice::cheapest;
use dupsieve::rooms::evaluate::{
    Labels, MOST_DOCUMENTS, MemoryMeter, MethodScores, NearMethod, PartScores, Scores,
    score_methods,
};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::flags::SweepFlags;
use super::methods::{Source, legend, methods, name, parts};
use super::texts::read_texts;
use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;

/// Runs the sweep.
pub(super) fn run(
    flags: &SweepFlags,
    inputs: &[PathBuf],
    labels: &Labels,
    seed: u64,
    global: &GlobalFlags,
) -> Result<Summary> {
    let documents = labels.clusters().len();
    if documents > MOST_DOCUMENTS {
        return Err(Error::new(Kind::Usage, "too many labelled documents to compare all pairs")
            .expected(format!("at most {MOST_DOCUMENTS}"))
            .found(documents));
    }
    let config = global.config()?;
    let (methods, sources) = methods(flags, &config)?;
    let settings = flags.pages.over(config.fingerprint.pages);
    let mut memory = MemoryMeter::new(global.budget().whole());
    let texts = read_texts(inputs, &settings, labels, &mut memory)?;
    tracing::info!("judges {} methods on {documents} labelled documents", methods.len());
    let seed_and_workers = (seed, global.workers(1));
    let scores = score_methods(&methods, &texts, labels, seed_and_workers, memory)?;
    let report = Report { methods: &methods, sources: &sources, scores: &scores };
    match global.json {
        true => println!("{}", report.object()),
        false => report.print().at("stdout")?,
    }
    Ok(Summary::answered())
}

/// What is printed.
struct Report<'a> {
    methods: &'a [NearMethod],
    sources: &'a [Source],
    scores: &'a [MethodScores],
}

impl Report<'_> {
    /// All scores as one JSON object.
    fn object(&self) -> Value {
        let row = |(method, scores): (&NearMethod, &MethodScores)| {
            let mut object = parts(method);
            object["choosing"] = json!(scores.halves[0]);
            object["judging"] = json!(scores.halves[1]);
            object["whole"] = json!(scores.whole);
            object["parts"] = json!(scores.parts);
            object
        };
        let best = self.recommended();
        json!({
            "methods": self.methods.iter().zip(self.scores).map(row).collect::<Vec<Value>>(),
            "recommended": {
                "method": self.methods[best].name,
                "configuration": self.sources[best].lines(&self.methods[best]),
            },
        })
    }

    /// The first method, so the cheapest preset, whose F1 on the half that chooses is close to the best.
    fn recommended(&self) -> usize {
        let f1 = self.scores.iter().map(|scores| scores.halves[0].f1.unwrap_or(0.0));
        cheapest(&f1.collect::<Vec<f64>>())
    }

    /// Prints a line for each method, then its F1 by length and by language, and what to use.
    fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", legend(self.methods))?;
        writeln!(
            out,
            "One half of the clusters chooses what to use. The other half, which had no part in that, judges it.\n"
        )?;
        writeln!(out, "{:<24}choosing half                   judging half", "")?;
        writeln!(out, "{:<22}{1}  {1}", "method", "prec.  recall f1     ari    ")?;
        for (method, scores) in self.methods.iter().zip(self.scores) {
            write!(out, "{:<20}", method.name)?;
            writeln!(out, "{}", scores.halves.each_ref().map(columns).concat())?;
        }
        self.print_parts(&mut out)?;
        let best = self.recommended();
        let [chosen, judged] = self.scores[best].halves.each_ref().map(|half| text(half.f1));
        writeln!(out, "\nrecommended for this corpus: {}", self.methods[best].name)?;
        writeln!(out, "    f1 {chosen} on the half that chose")?;
        writeln!(out, "    f1 {judged} on the other")?;
        writeln!(
            out,
            "Labels say which documents belong together, and not how much text is lost: without --labels the sweep tells that."
        )?;
        match self.sources[best].lines(&self.methods[best]) {
            Some(lines) => write!(out, "\nin a configuration file this is:\n\n{lines}"),
            None => writeln!(out, "\nYour configuration file says so already."),
        }
    }

    fn print_parts(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "\n{:<40}{:>10}{:>8}", "F1 by length and language", "documents", "pairs")?;
        self.methods.iter().try_for_each(|method| write!(out, "  {:<9}", method.name))?;
        let whole = &self.scores[0];
        let documents: u64 = whole.parts.iter().take(3).map(|part| part.documents).sum();
        write!(out, "\n{:<40}{documents:>10}{:>8}", "all", whole.whole.positives)?;
        let f1 = |scores: &MethodScores| text(scores.whole.f1);
        self.scores.iter().try_for_each(|scores| write!(out, "  {:<9}", f1(scores)))?;
        writeln!(out)?;
        for (at, part) in whole.parts.iter().enumerate() {
            write!(
                out,
                "{:<40}{:>10}{:>8}",
                name(&part.part, part.characters),
                part.documents,
                part.positives
            )?;
            for scores in self.scores {
                let PartScores { f1, falls_short, .. } = scores.parts[at];
                let mark = if falls_short { " low" } else { "" };
                write!(out, "  {:<9}", text(f1) + mark)?;
            }
            writeln!(out)?;
        }
        if self.scores.iter().any(|scores| scores.parts.iter().any(|part| part.falls_short)) {
            writeln!(out, "low: more than 0.1 below the F1 of all documents")?;
        }
        Ok(())
    }
}

/// Precision, recall, F1 and ARI as columns of a table.
fn columns(scores: &Scores) -> String {
    let Scores { precision, recall, f1, ari, .. } = *scores;
    let [precision, recall, f1, ari] = [precision, recall, f1, Some(ari)].map(text);
    format!("  {precision:<6} {recall:<6} {f1:<6} {ari:<6}")
}

fn text(score: Option<f64>) -> String {
    score.map_or("-".to_owned(), |score| format!("{score:.3}"))
}
