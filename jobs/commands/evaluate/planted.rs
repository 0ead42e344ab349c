//! What `evaluate --sweep` without labels prints: what each method drops, what is lost with it, and what to do next.

use std::io::{self, Write};

use dupsieve::rooms::evaluate::planted::PlantedScores;
use dupsieve::rooms::evaluate::planted::summary::Summary;
use dupsieve::rooms::evaluate::{Band, NearMethod};
use dupsieve::rooms::synthetic::Edit;
use serde_json::{Value, json};

use super::methods::{self, legend, parts, recommendation, told};
use crate::outcome::terminal;

const BAR: usize = 8;

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
        json!({
            "pages": self.seen, "sample": self.scores.pages, "seed": self.seed,
            "copies": self.scores.planted.len(),
            "left_out": self.scores.left_out(),
            "without_fingerprint": self.scores.without_fingerprint,
            "methods": methods.collect::<Vec<_>>(),
            "recommended": recommendation(self.methods, self.recommended()),
        })
    }

    fn recommended(&self) -> usize {
        let methods = 0..self.methods.len();
        methods::recommended(methods.map(|method| self.scores.summary(method).f1()))
    }

    pub(super) fn print(&self) -> io::Result<()> {
        let mut out = terminal::stdout();
        writeln!(
            out,
            "{} of {} pages were drawn, with seed {}. {} edited copies were planted beside them;\n\
             {} more were not: the page was too short for the edit, or none was found to take text from.\n",
            self.scores.pages,
            self.seen,
            self.seed,
            self.scores.planted.len(),
            self.scores.left_out()
        )?;
        let without = self.scores.without_fingerprint;
        if without > 0 {
            writeln!(
                out,
                "Pages without copies, since they have no words to compare: {without}.\n"
            )?;
        }
        writeln!(out, "{}", legend(self.methods))?;
        self.by_containment(&mut out)?;
        self.by_edit(&mut out)?;
        self.own_pages(&mut out)?;
        self.next(&mut out)
    }

    fn head(&self, title: &str, count: &str, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{title:<16}{count:>8}")?;
        self.methods.iter().try_for_each(|method| write!(out, "   {:<13}", method.name))?;
        writeln!(out)
    }

    /// One row: what was counted, and the share that each method found, with a bar.
    fn row(
        &self,
        name: &str,
        count: u64,
        found: impl Fn(usize) -> u64,
        out: &mut impl Write,
    ) -> io::Result<()> {
        write!(out, "{name:<16}{count:>8}")?;
        for method in 0..self.methods.len() {
            let share = found(method) as f64 / count.max(1) as f64;
            let bar = "#".repeat((share * BAR as f64).round() as usize);
            write!(out, "   {share:<4.2} {bar:<BAR$}")?;
        }
        writeln!(out)
    }

    fn by_containment(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "The share of the pairs of which one page is dropped, by how much of it the other one contains, in 3-word shingles.\n\
             From 0.9 on more is better: nothing is lost. Below, less is better."
        )?;
        self.head("containment", "pairs", out)?;
        let methods: Vec<_> =
            (0..self.methods.len()).map(|method| self.scores.bands(method)).collect();
        for (at, band) in methods[0].iter().enumerate().rev() {
            let name = format!("{} to {}", band.from, band.to.unwrap_or(1.0));
            self.row(&name, band.positives, |method| methods[method][at].found, out)?;
        }
        writeln!(out)
    }

    fn by_edit(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "The same by what was done to the copy, in four strengths. A template keeps the frame of a page around the text\n\
             of another page: less is better."
        )?;
        self.head("edit", "pairs", out)?;
        for edit in Edit::ALL {
            let copies = self.scores.of_edit(0, edit).0;
            if copies > 0 {
                self.row(
                    &edit.to_string(),
                    copies,
                    |method| self.scores.of_edit(method, edit).1,
                    out,
                )?;
            }
        }
        writeln!(out)
    }

    fn own_pages(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "Your own pages, without the copies. A page could go without loss if a kept page contains 0.9 of it.\n\
             A page is missed if it is kept though another kept page contains 0.95 of it."
        )?;
        self.head("own pages", "", out)?;
        let sums: Vec<Summary> =
            (0..self.methods.len()).map(|method| self.scores.summary(method)).collect();
        let mut row = |name: &str, figure: &dyn Fn(&Summary) -> String| {
            write!(out, "{name:<24}")?;
            sums.iter().try_for_each(|sum| write!(out, "   {:<13}", figure(sum)))?;
            writeln!(out)
        };
        row("could go", &|sum| sum.could_go.to_string())?;
        row("dropped", &|sum| sum.dropped.to_string())?;
        row("  over a tenth lost", &|sum| sum.over_tenth.to_string())?;
        row("  text lost with them", &|sum| format!("{:.4}", sum.lost))?;
        row("missed", &|sum| sum.missed.to_string())?;
        writeln!(out)
    }

    fn next(&self, out: &mut impl Write) -> io::Result<()> {
        let best = self.recommended();
        let method = &self.methods[best];
        let Summary { copies, copies_dropped, copies_lost, dropped, over_tenth, could_go, .. } =
            self.scores.summary(best);
        writeln!(
            out,
            "Use {}. Of {copies} planted pairs of which one page can go without loss, it drops a page of {copies_dropped}.\n\
             With a loss of more than a tenth it drops a page of {copies_lost} pairs. Of your own pages it drops {dropped}, of \
             which {over_tenth}\nlose more than a tenth; {could_go} could go without loss.",
            method.name
        )?;
        write!(out, "{}", told(best))
    }
}
