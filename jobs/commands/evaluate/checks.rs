//! What `evaluate --sweep --check` prints: how recipes score together with checks, and which to use.

use std::io::{self, Write};

use dupsieve::evaluate::checks::CheckScores;
use dupsieve::evaluate::{Measure, Scores};
use serde_json::{Value, json};

use super::candidates::Candidate;
use super::configuration::configuration;

/// Prints the scores, one line each, and, if that is wanted, what to use.
pub(super) fn print(
    candidates: &[Candidate],
    scores: &[CheckScores],
    recommends: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    head(out)?;
    scores.iter().try_for_each(|line| row(line, out))?;
    let best = best(candidates, scores).filter(|_| recommends);
    let Some((best, configuration)) = best else { return Ok(()) };
    let CheckScores { check, recipe, least, .. } = best;
    let least = least.similarity();
    writeln!(out, "\nrecommended for this corpus: {recipe} with {check} of at least {least:.3}")?;
    write!(out, "\nin a configuration file this is:\n\n{configuration}")
}

/// The scores, and what to use, as one JSON object.
pub(super) fn object(candidates: &[Candidate], scores: &[CheckScores]) -> Value {
    let rows = scores.iter().map(|line| {
        json!({
            "check": line.check.to_string(), "recipe": line.recipe, "k": line.k,
            "near": line.pairs, "least": line.least.similarity(),
            "choosing": line.halves[0], "judging": line.halves[1],
        })
    });
    let recommended = best(candidates, scores).map(|(best, configuration)| {
        json!({
            "check": best.check.to_string(), "recipe": best.recipe, "k": best.k,
            "least": best.least.similarity(), "configuration": configuration,
        })
    });
    json!({ "rows": rows.collect::<Vec<_>>(), "recommended": recommended })
}

/// The best F1 on the half that chooses, of what a configuration file can ask for.
pub(super) fn best_f1(candidates: &[Candidate], scores: &[CheckScores]) -> f64 {
    best(candidates, scores).and_then(|(best, _)| best.halves[0].f1).unwrap_or(0.0)
}

/// The best line on the half that chooses, among those that a configuration file can ask for, with that
/// configuration. Of equal ones it is the one with the smallest distance.
fn best<'l>(
    candidates: &[Candidate],
    scores: &'l [CheckScores],
) -> Option<(&'l CheckScores, String)> {
    let possible = scores.iter().filter_map(|line| {
        let recipe = candidates.iter().find(|candidate| candidate.name == line.recipe)?;
        match (line.check, line.k) {
            (Measure::Check(check), Some(k)) => Some((line, &recipe.choice, check, k)),
            _ => None,
        }
    });
    let f1 = |line: &CheckScores| line.halves[0].f1.unwrap_or(0.0);
    let best = possible.min_by(|a, b| f1(b.0).total_cmp(&f1(a.0)).then(a.3.cmp(&b.3)));
    best.map(|(line, choice, check, k)| {
        (line, configuration(choice, k, Some((check, line.least.similarity()))))
    })
}

fn head(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:<71}choosing half                  judging half", "")?;
    write!(out, "{:<22} {:<26}{:>4} {:>9}  {:<6}", "check", "recipe", "k", "near", "least")?;
    writeln!(out, "{0}   {0}", "  prec.  recall f1     ari  ")
}

fn row(line: &CheckScores, out: &mut impl Write) -> io::Result<()> {
    let CheckScores { recipe, pairs, .. } = line;
    let check = line.check.to_string();
    let least = line.least.similarity();
    let k = line.k.map_or("any".to_owned(), |k| k.to_string());
    write!(out, "{check:<22} {recipe:<26}{k:>4} {pairs:>9}  {least:<6.3}")?;
    for Scores { precision, recall, f1, ari, .. } in &line.halves {
        for score in [*precision, *recall, *f1, Some(*ari)] {
            match score {
                Some(score) => write!(out, "  {score:.3}")?,
                None => write!(out, "      -")?,
            }
        }
        write!(out, "   ")?;
    }
    writeln!(out)
}
