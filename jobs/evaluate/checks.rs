//! `evaluate --sweep --check`: recipes with checks at every k, the least similarity chosen by one half
//! of the clusters and judged by the other.

use std::io::{self, Write};

use dupsieve::Result;
use dupsieve::error::At;
use dupsieve::evaluate::sweep::by_distance;
use dupsieve::evaluate::{Labels, Scores, Step};
use dupsieve::progress::{self, Activity};

use super::all_pairs::{self, AllPairs};
use super::room::{NEAR_BYTES, Room};
use crate::settings::{CheckChoice, Measures};

/// Two documents that are near: their distance, the two, and how alike they are.
type Near = (u32, u32, u32, Step);

/// The fingerprints of one recipe.
pub(super) struct Sketched<'a> {
    pub(super) name: &'a str,
    pub(super) fingerprints: &'a [Option<u128>],
}

/// What the table is made from.
pub(super) struct Table<'a> {
    pub(super) checks: &'a [CheckChoice],
    pub(super) sketched: Vec<Sketched<'a>>,
    /// The texts of the labelled documents, none where the inputs lack it.
    pub(super) texts: &'a [Option<String>],
    pub(super) labels: &'a Labels,
    pub(super) seed: u64,
    /// The largest k.
    pub(super) most: u32,
    /// The threads that compare texts.
    pub(super) workers: usize,
}

impl Table<'_> {
    /// Prints for each check what it could reach over all pairs, then what it makes of each recipe, and
    /// of all of them joined by or, for every k. Fails before it takes more memory than there is room.
    pub(super) fn print(&self, mut room: Room) -> Result<()> {
        let mut out = io::stdout().lock();
        head(&mut out).at("stdout")?;
        let present = (0..).zip(self.texts).filter(|(_, text)| text.is_some());
        let present: Vec<u32> = present.map(|(at, _)| at).collect();
        room.take(
            all_pairs::count(present.len() as u64),
            "all pairs of the documents, a byte each,",
        )?;
        for check in self.checks {
            let mut room = room;
            let measures = self.measure(*check, &mut room)?;
            let name = check.to_string();
            let all = AllPairs::compare(present.clone(), self.workers, |one, two| {
                measures.similarity(one, two)
            });
            let line = Line::of(all.iter(), self.labels, self.seed);
            line.write([&name, "all pairs", "any"], &mut out).at("stdout")?;
            drop(all);
            let mut joined: Vec<Near> = Vec::new();
            for recipe in &self.sketched {
                let pairs = self.near(recipe, &measures, room)?;
                self.show([&name, recipe.name], &pairs, &mut out).at("stdout")?;
                room.take(pairs.len() as u64 * NEAR_BYTES, "the near pairs of all recipes")?;
                joined.extend(pairs);
            }
            if self.sketched.len() > 1 {
                joined.sort_unstable_by_key(|&(k, one, two, _)| (one, two, k));
                joined.dedup_by_key(|&mut (_, one, two, _)| (one, two));
                self.show([&name, "any of these"], &joined, &mut out).at("stdout")?;
            }
        }
        Ok(())
    }

    /// What `check` makes of the texts.
    fn measure(&self, check: CheckChoice, room: &mut Room) -> Result<Measures> {
        let mut measures = check.measures();
        for text in self.texts {
            let bytes = measures.take(text.as_deref().unwrap_or_default())?;
            room.take(bytes, "what the check keeps of the documents")?;
            progress::tick(Activity::Working);
        }
        Ok(measures)
    }

    /// The pairs that are near by a recipe.
    fn near(&self, recipe: &Sketched<'_>, measures: &Measures, room: Room) -> Result<Vec<Near>> {
        let near = by_distance(recipe.fingerprints, self.most, room.holds(NEAR_BYTES))
            .ok_or_else(|| room.exceeded("the near pairs of a recipe"))?;
        let mut pairs = Vec::with_capacity(near.iter().map(Vec::len).sum());
        for (k, near) in (0..).zip(near) {
            for (one, two) in near {
                pairs.push((k, one, two, Step::of(measures.similarity(one, two))));
            }
            progress::tick(Activity::Working);
        }
        Ok(pairs)
    }

    /// Prints a line for each k.
    fn show(&self, names: [&str; 2], pairs: &[Near], out: &mut impl Write) -> io::Result<()> {
        (1..=self.most).try_for_each(|most| {
            let near = pairs.iter().filter(|pair| pair.0 <= most);
            let near = near.map(|&(_, one, two, step)| (one, two, step));
            let line = Line::of(near, self.labels, self.seed);
            line.write([names[0], names[1], &most.to_string()], out)
        })
    }
}

/// What is chosen by one half, and how both judge it.
struct Line {
    pairs: usize,
    least: Step,
    halves: [Scores; 2],
}

impl Line {
    /// Judges pairs of documents, of which each comes once.
    fn of(
        pairs: impl Iterator<Item = (u32, u32, Step)> + Clone,
        labels: &Labels,
        seed: u64,
    ) -> Line {
        let choosing = labels.halves(seed);
        let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
        let halves = [choosing, judging].map(|half| labels.restrict(&half));
        let least = Step::best(within(pairs.clone(), &halves[0].1), &halves[0].0);
        let halves = halves.each_ref().map(|(labels, numbers)| {
            progress::tick(Activity::Working);
            let alike = within(pairs.clone(), numbers).filter(|pair| pair.2 >= least);
            Scores::of_each(alike.map(|(one, two, _)| (one, two)), labels)
        });
        Line { pairs: pairs.count(), least, halves }
    }

    fn write(&self, names: [&str; 3], out: &mut impl Write) -> io::Result<()> {
        let [check, recipe, k] = names;
        let (pairs, least) = (self.pairs, self.least.similarity());
        write!(out, "{check:<22} {recipe:<26}{k:>4} {pairs:>9}  {least:<6.3}")?;
        for scores in &self.halves {
            for score in [scores.precision, scores.recall, scores.f1, Some(scores.ari)] {
                match score {
                    Some(score) => write!(out, "  {score:.3}")?,
                    None => write!(out, "      -")?,
                }
            }
            write!(out, "   ")?;
        }
        writeln!(out)
    }
}

/// Of pairs those of documents that have a number, by these numbers.
fn within(
    pairs: impl Iterator<Item = (u32, u32, Step)>,
    numbers: &[Option<u32>],
) -> impl Iterator<Item = (u32, u32, Step)> {
    let number = |document: u32| numbers[document as usize];
    pairs.filter_map(move |(one, two, step)| Some((number(one)?, number(two)?, step)))
}

fn head(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:<71}choosing half                  judging half", "")?;
    write!(out, "{:<22} {:<26}{:>4} {:>9}  {:<6}", "check", "recipe", "k", "near", "least")?;
    writeln!(out, "{0}   {0}", "  prec.  recall f1     ari  ")
}
