//! What `evaluate --sweep` says: what each method drops, what is lost with it, and which to use.

use dupsieve::rooms::evaluate::choice::cheapest;
use dupsieve::rooms::evaluate::planted::PlantedScores;
use dupsieve::rooms::evaluate::{Band, NearMethod};
use dupsieve::rooms::synthetic::Edit;
use serde_json::{Value, json};

use super::methods::{parts, recommendation};

pub(super) struct Report<'a> {
    /// How many pages the inputs have.
    pub(super) seen: u64,
    pub(super) seed: u64,
    pub(super) methods: &'a [NearMethod],
    pub(super) scores: &'a PlantedScores,
}

impl Report<'_> {
    pub(super) fn object(&self) -> Value {
        let each =
            Edit::ALL.into_iter().flat_map(|edit| (0..Edit::STRENGTHS).map(move |at| (edit, at)));
        let of_strength = |method, edit: Edit, strength: usize| {
            let (copies, found) = self.scores.of_strength(method, edit, strength);
            let share = edit.shares()[strength];
            json!({ "edit": edit.to_string(), "share": share, "copies": copies, "found": found })
        };
        let band = |band: Band| {
            let Band { from, to, positives, found, .. } = band;
            json!({ "from": from, "to": to, "positives": positives, "found": found })
        };
        let methods = self.methods.iter().enumerate().map(|(at, method)| {
            let mut object = parts(method);
            object["summary"] = json!(self.scores.summary(at));
            object["f1"] = self.scores.summary(at).f1().into();
            object["bands"] = self.scores.bands(at).into_iter().map(band).collect();
            object["edits"] = each.clone().map(|(edit, it)| of_strength(at, edit, it)).collect();
            object
        });
        let scores = (0..self.methods.len()).map(|method| self.scores.summary(method).f1());
        let scores: Vec<f64> = scores.collect();
        json!({
            "pages": self.seen, "sample": self.scores.pages, "seed": self.seed,
            "copies": self.scores.planted.len(),
            "left_out": self.scores.left_out(),
            "without_fingerprint": self.scores.without_fingerprint,
            "methods": methods.collect::<Vec<_>>(),
            "recommended": recommendation(self.methods, cheapest(&scores)),
        })
    }
}
