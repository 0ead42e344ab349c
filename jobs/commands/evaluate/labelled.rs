//! `evaluate --sweep` with labels: judges the methods by the labelled documents of the inputs.

use std::io::{self, Write};
use std::path::PathBuf;

use dupsieve::rooms::error::At;
use dupsieve::rooms::evaluate::{
    Labels, MOST_DOCUMENTS, MemoryMeter, NearMethod, Scores, score_methods,
};
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use super::methods::{self, legend, methods, recommendation, told};
use super::texts::read_texts;
use crate::commands::pages::PageFlags;
use crate::flags::global::GlobalFlags;
use crate::outcome::summary::Summary;

/// Runs the sweep.
pub(super) fn run(
    inputs: &[PathBuf],
    pages: &PageFlags,
    labels: &Labels,
    global: &GlobalFlags,
) -> Result<Summary> {
    let documents = labels.clusters().len();
    if documents > MOST_DOCUMENTS {
        return Err(Error::new(Kind::Usage, "too many labelled documents to compare all pairs")
            .expected(format!("at most {MOST_DOCUMENTS}"))
            .found(documents));
    }
    let config = global.config()?;
    let methods = methods(&config)?;
    let settings = pages.over(config.fingerprint.pages);
    let mut memory = MemoryMeter::new(global.budget().whole());
    let texts = read_texts(inputs, &settings, labels, &mut memory)?;
    tracing::info!("judges {} methods on {documents} labelled documents", methods.len());
    let scores = score_methods(&methods, &texts, labels, global.workers(1), memory)?;
    match global.json {
        true => println!("{}", object(&methods, &scores)),
        false => print(&methods, &scores, &mut io::stdout().lock()).at("stdout")?,
    }
    Ok(Summary::answered())
}

/// The number of the method to use.
fn recommended(scores: &[Scores]) -> usize {
    methods::recommended(scores.iter().map(|scores| scores.f1.unwrap_or(0.0)))
}

/// All scores as one JSON object.
fn object(methods: &[NearMethod], scores: &[Scores]) -> Value {
    let row = |(method, scores)| {
        let mut object = methods::parts(method);
        object["whole"] = json!(scores);
        object
    };
    json!({
        "methods": methods.iter().zip(scores).map(row).collect::<Vec<Value>>(),
        "recommended": recommendation(methods, recommended(scores)),
    })
}

/// Prints a line for each method, and what to use.
fn print(methods: &[NearMethod], scores: &[Scores], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", legend(methods))?;
    writeln!(out, "{:<20}  prec.  recall f1     ari", "method")?;
    for (method, &Scores { precision, recall, f1, ari, .. }) in methods.iter().zip(scores) {
        let [precision, recall, f1, ari] = [precision, recall, f1, Some(ari)].map(text);
        writeln!(out, "{:<20}  {precision:<6} {recall:<6} {f1:<6} {ari}", method.name)?;
    }
    let best = recommended(scores);
    writeln!(out, "\nrecommended for this corpus: {}", methods[best].name)?;
    writeln!(
        out,
        "Labels say which documents belong together, and not how much text is lost: without --labels the sweep tells that."
    )?;
    write!(out, "{}", told(best))
}

fn text(score: Option<f64>) -> String {
    score.map_or("-".to_owned(), |score| format!("{score:.3}"))
}
