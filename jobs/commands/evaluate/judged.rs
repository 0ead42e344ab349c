//! Judged pairs as labels: how found pairs, or the methods of a sweep, agree with them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dupsieve::error::At;
use dupsieve::evaluate::choice::cheapest;
use dupsieve::evaluate::judged::JudgedScores;
use dupsieve::evaluate::{JudgedPairs, MemoryMeter, Method, method_texts};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::flags::SweepFlags;
use super::methods::{Source, legend, methods};
use super::texts::read_texts;
use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;

/// Prints how the pairs of a file agree with the judged ones, as one JSON object.
pub(super) fn print_pairs(judged: &JudgedPairs, pairs: &Path) -> Result<Summary> {
    let found = judged.found(pairs)?;
    let mut object = json!(judged.scores(|one, another| Some(found.contains(one, another))));
    object["unlabelled"] = found.unlabelled.into();
    println!("{object}");
    Ok(Summary::answered())
}

/// Judges the methods of a sweep by the pairs.
pub(super) fn sweep(
    flags: &SweepFlags,
    inputs: &[PathBuf],
    judged: &JudgedPairs,
    global: &GlobalFlags,
) -> Result<Summary> {
    if flags.svg.is_some() {
        return Err(Error::new(Kind::Usage, "--svg draws scores by clusters, not by judged pairs"));
    }
    let config = global.config()?;
    let (methods, sources) = methods(flags, &config)?;
    let settings = flags.pages.over(config.fingerprint);
    let mut memory = MemoryMeter::new(global.budget().whole());
    let number = |id: &str| judged.document(id);
    let texts = read_texts(inputs, &settings, judged.documents(), number, &mut memory)?;
    let kept = method_texts(&methods, &texts, global.workers(1), &mut memory)?;
    let is_present = |document: u32| texts[document as usize].is_some();
    let score = |method| {
        judged.scores(|one, another| {
            (is_present(one) && is_present(another)).then(|| kept.is_near(method, one, another))
        })
    };
    let scores: Vec<JudgedScores> = (0..methods.len()).map(score).collect();
    let JudgedScores { judged, left_out, .. } = scores[0];
    if judged == 0 {
        return Err(Error::new(Kind::BadData, "the inputs have both pages of no judged pair")
            .found(format!("{left_out} judged pairs that lack one")));
    }
    let agreed: Vec<f64> =
        scores.iter().map(|scores| scores.agreed as f64 / judged as f64).collect();
    // Buckets, which come last, are no method of `run`.
    let joins = methods.iter().take_while(|method| method.buckets.is_none()).count();
    let best = cheapest(&agreed[..joins]);
    match global.json {
        true => println!("{}", object(&methods, &scores, &sources, best)),
        false => print(&methods, &scores, &sources, best).at("stdout")?,
    }
    Ok(Summary::answered())
}

fn object(methods: &[Method], scores: &[JudgedScores], sources: &[Source], best: usize) -> Value {
    let lines = sources[best].lines(&methods[best]);
    let rows = methods.iter().zip(scores);
    let rows = rows.map(|(method, scores)| json!({ "method": method.name, "scores": scores }));
    let recommended = json!({ "method": methods[best].name, "configuration": lines });
    json!({ "methods": rows.collect::<Vec<_>>(), "recommended": recommended })
}

fn print(
    methods: &[Method],
    scores: &[JudgedScores],
    sources: &[Source],
    best: usize,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", legend(methods))?;
    let JudgedScores { judged, same, different, left_out, .. } = scores[best];
    writeln!(
        out,
        "{judged} pairs were judged: {same} are the same page, {different} are different pages. Borderline\n\
         pairs are the hardest, so these shares are lower than those of the corpus."
    )?;
    if left_out > 0 {
        writeln!(out, "{left_out} judged pairs are left out: the inputs lack one of their pages.")?;
    }
    writeln!(
        out,
        "\n{:<11}{:>12}{:>18}{:>14}    f1",
        "method", "same found", "different joined", "agreed"
    )?;
    for (method, scores) in methods.iter().zip(scores) {
        let f1 = scores.f1.map_or("-".to_owned(), |f1| format!("{f1:.3}"));
        let same = format!("{} of {same}", scores.same_found);
        let different = format!("{} of {different}", scores.different_found);
        let agreed = format!("{} of {judged}", scores.agreed);
        writeln!(out, "{:<11}{same:>12}{different:>18}{agreed:>14}    {f1}", method.name)?;
    }
    writeln!(
        out,
        "\nUse {}, the first that agrees with nearly as many of the answers as the best.",
        methods[best].name
    )?;
    match sources[best].lines(&methods[best]) {
        Some(lines) => write!(out, "\nin a configuration file this is:\n\n{lines}"),
        None => writeln!(out, "Your configuration file says so already."),
    }
}
