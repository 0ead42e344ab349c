//! The presets beside the recipes of a sweep with labels: how each scores, and where one falls short.

use std::io::{self, Write};

use dupsieve::Result;
use dupsieve::evaluate::choice;
use dupsieve::evaluate::{
    Labels, MemoryMeter, Method, MethodCost, MethodScores, PartScores, Scores, score_methods,
};
use dupsieve::join::Preset;
use serde_json::{Value, json};

use super::flags::SweepFlags;
use super::methods::{bucket_methods, cost_of_one, costs, legend, parts, presets, shows_costs};

/// The presets and their scores.
pub(super) struct PresetRows {
    /// The presets, and after them the buckets that were asked for.
    methods: Vec<Method>,
    scores: Vec<MethodScores>,
    documents: usize,
}

impl PresetRows {
    /// Judges the presets, and the buckets that `flags` ask for.
    pub(super) fn judge(
        flags: &SweepFlags,
        texts: &[Option<String>],
        labels: &Labels,
        seed_and_workers: (u64, usize),
        memory: MemoryMeter,
    ) -> Result<PresetRows> {
        let mut methods = presets()?;
        let buckets = bucket_methods(flags, &mut ('A'..='Z'))?;
        methods.extend(buckets.into_iter().map(|(method, _)| method));
        let scores = score_methods(&methods, texts, labels, seed_and_workers, memory)?;
        Ok(PresetRows { methods, scores, documents: texts.len() })
    }

    /// The cheapest preset whose F1 on the half that chooses is close to the best, and its scores; none if a
    /// recipe with the F1 `rival` is better than all presets.
    pub(super) fn preferred(&self, rival: f64) -> Option<(&Method, &MethodScores)> {
        let presets = self.scores.iter().take(Preset::ALL.len());
        let f1 = presets.map(|scores| scores.halves[0].f1.unwrap_or(0.0));
        let preferred = choice::cheapest_against(&f1.collect::<Vec<f64>>(), rival)?;
        Some((&self.methods[preferred], &self.scores[preferred]))
    }

    /// The scores as JSON.
    pub(super) fn object(&self) -> Value {
        let row = |(method, scores): (&Method, &MethodScores)| {
            let mut object = parts(method);
            object["preset"] = method.name.clone().into();
            object["choosing"] = json!(scores.halves[0]);
            object["judging"] = json!(scores.halves[1]);
            object["whole"] = json!(scores.whole);
            object["parts"] = json!(scores.parts);
            if shows_costs(&self.methods) {
                object["cost"] = json!(cost_of_one(scores.cost, self.documents as u64));
            }
            object
        };
        self.methods.iter().zip(&self.scores).map(row).collect()
    }

    /// Prints a line for each preset, then its F1 by length and by language.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", legend(&self.methods))?;
        writeln!(
            out,
            "One half of the clusters chooses what to use. The other half, which had no part in that, judges it.\n"
        )?;
        writeln!(out, "{:<24}choosing half                   judging half", "")?;
        writeln!(out, "{:<22}{1}  {1}", "preset", "prec.  recall f1     ari    ")?;
        for (method, scores) in self.methods.iter().zip(&self.scores) {
            write!(out, "{:<20}", method.name)?;
            writeln!(out, "{}", scores.halves.each_ref().map(columns_of).concat())?;
        }
        if shows_costs(&self.methods) {
            let each: Vec<MethodCost> = self.scores.iter().map(|scores| scores.cost).collect();
            write!(out, "\n{}", costs(&self.methods, &each, self.documents as u64))?;
        }
        self.print_parts(out)
    }

    fn print_parts(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "\n{:<40}{:>10}{:>8}", "F1 by length and language", "documents", "pairs")?;
        self.methods.iter().try_for_each(|method| write!(out, "  {:<9}", method.name))?;
        let whole = &self.scores[0];
        let documents: u64 = whole.parts.iter().take(3).map(|part| part.documents).sum();
        write!(out, "\n{:<40}{documents:>10}{:>8}", "all", whole.whole.positives)?;
        let f1 = |scores: &MethodScores| score_text(scores.whole.f1);
        self.scores.iter().try_for_each(|scores| write!(out, "  {:<9}", f1(scores)))?;
        writeln!(out)?;
        for (at, part) in whole.parts.iter().enumerate() {
            write!(out, "{:<40}{:>10}{:>8}", name(part), part.documents, part.positives)?;
            for scores in &self.scores {
                let PartScores { f1, falls_short, .. } = scores.parts[at];
                let mark = if falls_short { " low" } else { "" };
                write!(out, "  {:<9}", score_text(f1) + mark)?;
            }
            writeln!(out)?;
        }
        if self.scores.iter().any(|scores| scores.parts.iter().any(|part| part.falls_short)) {
            writeln!(out, "low: more than .1 below the F1 of all documents")?;
        }
        Ok(())
    }
}

/// What a part is called, with its lengths.
fn name(part: &PartScores) -> String {
    match part.characters {
        Some((least, most)) => format!("{}, {least} to {most} characters", part.part),
        None if part.part == "han" => "Chinese: half of the letters or more".to_owned(),
        None => "other languages".to_owned(),
    }
}

/// Precision, recall, F1 and ARI as columns of a table.
pub(super) fn columns_of(scores: &Scores) -> String {
    let Scores { precision, recall, f1, ari, .. } = *scores;
    let [precision, recall, f1, ari] = [precision, recall, f1, Some(ari)].map(score_text);
    format!("  {precision:<6} {recall:<6} {f1:<6} {ari:<6}")
}

pub(super) fn score_text(score: Option<f64>) -> String {
    score.map_or("-".to_owned(), |score| format!("{score:.3}"))
}
