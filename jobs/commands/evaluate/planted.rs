//! What `evaluate --sweep` without labels prints: how many planted copies each method found, and what to do
//! next.

use std::io::{self, Write};

use dupsieve::evaluate::choice::cheapest;
use dupsieve::evaluate::planted::PlantedScores;
use dupsieve::evaluate::planted::summary::Summary;
use dupsieve::evaluate::{BANDS, Band, Method, Page};
use dupsieve::synthetic::Edit;
use serde_json::{Value, json};

use super::methods::{Source, legend, parts};

/// How many characters a bar has.
const BAR: usize = 8;

/// The similarity by words from which a pair is not named: such pages have nearly all runs of words in common.
const CLEAR: f64 = 0.9;

/// How many of the least alike pairs are named.
const NAMED: usize = 3;

/// What is printed.
pub(super) struct Report<'a> {
    pub(super) pages: &'a [Page],
    /// How many pages the inputs have.
    pub(super) seen: u64,
    pub(super) seed: u64,
    pub(super) methods: &'a [Method],
    pub(super) sources: &'a [Source],
    pub(super) scores: &'a PlantedScores,
}

impl Report<'_> {
    /// All figures as one JSON object.
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
            let edges = BANDS.windows(2).map(|edge| (edge[0], edge[1]));
            let joined = edges.zip(self.scores.joined(at));
            let joined =
                joined.map(|((from, to), pairs)| json!({ "from": from, "to": to, "pairs": pairs }));
            let mut object = parts(method);
            object["summary"] = json!(self.scores.summary(at));
            object["f1"] = self.scores.summary(at).f1().into();
            object["bands"] = self.scores.bands(at).into_iter().map(band).collect();
            object["joined"] = joined.collect();
            object["edits"] = each.clone().map(|(edit, it)| of_strength(at, edit, it)).collect();
            object
        });
        let best = self.recommended();
        json!({
            "pages": self.seen, "sample": self.pages.len(), "seed": self.seed,
            "copies": self.scores.planted.len(),
            "left_out": self.scores.left_out(),
            "without_fingerprint": self.scores.without_fingerprint,
            "methods": methods.collect::<Vec<_>>(),
            "recommended": {
                "method": self.methods[best].name,
                "configuration": self.sources[best].lines(&self.methods[best]),
            },
        })
    }

    /// The first method, so the cheapest preset, that scores nearly as well as the best.
    fn recommended(&self) -> usize {
        let methods = 0..self.methods.len();
        let scores: Vec<f64> = methods.map(|method| self.scores.summary(method).f1()).collect();
        cheapest(&scores)
    }

    /// Prints the tables and what to do next.
    pub(super) fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{} of {} pages were drawn, with seed {}. {} edited copies were planted beside them;\n\
             {} more were not: the page was too short for the edit, or none was found to take text from.\n",
            self.pages.len(),
            self.seen,
            self.seed,
            self.scores.planted.len(),
            self.scores.left_out()
        )?;
        let without = self.scores.without_fingerprint;
        if without > 0 {
            writeln!(out, "{without} pages got no copies: they have no words to compare.\n")?;
        }
        writeln!(out, "{}", legend(self.methods))?;
        self.by_similarity(&mut out)?;
        self.by_edit(&mut out)?;
        self.by_joined(&mut out)?;
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

    fn by_similarity(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "Share of the copies found, by similarity: how much of the text page and copy have in common,\n\
             in runs of three characters. 1 is all."
        )?;
        self.head("similarity", "copies", out)?;
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
            "Share of the copies found, by what was done to them, in four strengths. A template keeps the\n\
             frame of a page around the text of another: it is another page, and less is better."
        )?;
        self.head("edit", "copies", out)?;
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

    fn by_joined(&self, out: &mut impl Write) -> io::Result<()> {
        let pairs = self.pages.len() * (self.pages.len() - 1) / 2;
        writeln!(
            out,
            "Pairs of your own pages that are joined, of {pairs} in the sample, by similarity: here how many of\n\
             their runs of three words are the same. Those of high similarity are near-duplicates that you\n\
             have; those below .3 are probably wrong."
        )?;
        self.head("similarity", "", out)?;
        let joined: Vec<_> =
            (0..self.methods.len()).map(|method| self.scores.joined(method)).collect();
        for (at, edge) in BANDS.windows(2).enumerate().rev() {
            write!(out, "{:<16}{:>8}", format!("{} to {}", edge[0], edge[1]), "")?;
            joined.iter().try_for_each(|joined| write!(out, "   {:<13}", joined[at]))?;
            writeln!(out)?;
        }
        writeln!(out)
    }

    fn next(&self, out: &mut impl Write) -> io::Result<()> {
        let best = self.recommended();
        let method = &self.methods[best];
        let sum = self.scores.summary(best);
        let Summary { copies, copies_found, templates, templates_found, joined, joined_unlike } =
            sum;
        writeln!(
            out,
            "Use {}. It finds {copies_found} of {copies} copies, and wrongly joins {templates_found} of \
             {templates} templates.\nOf your own pages it joins {joined} pairs, {joined_unlike} of them with a \
             similarity below .3.\nTo choose, these count as wrong. Their number grows with the square of the \
             sample, so compare\nonly samples of one size.",
            method.name
        )?;
        let missed = self.scores.missed(best);
        let missed: Vec<String> =
            missed.into_iter().map(|(edit, at)| described(edit, at)).collect();
        if !missed.is_empty() {
            writeln!(out, "It misses most copies with {}.", missed.join(", or "))?;
        }
        self.costlier(best, out)?;
        self.least_alike(best, out)?;
        match self.sources[best].lines(method) {
            Some(lines) => write!(out, "\nin a configuration file this is:\n\n{lines}"),
            None => writeln!(out, "\nYour configuration file says so already."),
        }
    }

    /// Names the pairs of pages that a method joins and that are least alike.
    fn least_alike(&self, method: usize, out: &mut impl Write) -> io::Result<()> {
        let mut unlike: Vec<_> =
            self.scores.joined.iter().filter(|pair| pair.found_by.contains(method)).collect();
        unlike.retain(|pair| pair.similarity < CLEAR);
        unlike.sort_unstable_by(|a, b| a.similarity.total_cmp(&b.similarity));
        if !unlike.is_empty() {
            writeln!(
                out,
                "Of the pairs that it joins, these are least alike. Look whether they belong together:"
            )?;
        }
        for pair in unlike.iter().take(NAMED) {
            let [one, another] =
                [pair.pages.0, pair.pages.1].map(|page| &self.pages[page as usize].id);
            writeln!(out, "    {:.3}  {one}  {another}", pair.similarity)?;
        }
        Ok(())
    }

    /// Says what a costlier preset finds, if there is one.
    fn costlier(&self, best: usize, out: &mut impl Write) -> io::Result<()> {
        let Some(Source::Preset(preset)) = self.sources.get(best + 1) else { return Ok(()) };
        let found = self.scores.summary(best + 1).copies_found;
        let templates = self.scores.summary(best + 1).templates_found;
        writeln!(
            out,
            "{preset} finds {found} copies and joins {templates} templates, and costs more: see \
             `dupsieve plan --preset {preset}`."
        )
    }
}

/// What an edit of this strength does to a page.
fn described(edit: Edit, strength: usize) -> String {
    let share = 100.0 * edit.shares()[strength];
    match edit {
        Edit::Typo => format!("{share:.1} % of the letters replaced"),
        Edit::Date => format!("a date and {share:.0} % of the numbers changed"),
        Edit::Sentence => format!("{share:.0} % of the sentences replaced"),
        Edit::Paragraph => format!("a passage of {share:.0} % replaced"),
        Edit::Boilerplate => format!("menus of {share:.0} % added"),
        Edit::Reordering => format!("{share:.0} % of the sentences moved"),
        Edit::Truncation => format!("{share:.0} % cut off"),
        Edit::Template => format!("{share:.0} % of the frame kept"),
    }
}
