//! `evaluate --sweep --check`: recipes with checks at every k, the least similarity chosen by one half
//! of the clusters and judged by the other.

use std::io::{self, Write};

use dupsieve::Result;
use dupsieve::evaluate::sweep::by_distance;
use dupsieve::evaluate::{Labels, Scores, Step};
use dupsieve::progress::{self, Activity};
use serde_json::{Value, json};

use super::all_pairs::{self, AllPairs};
use super::configuration::configuration;
use super::room::{NEAR_BYTES, Room};
use crate::flags::settings::{CheckChoice, Measures, RecipeChoice};

/// Two documents that are near: their distance, the two, and how alike they are.
type Near = (u32, u32, u32, Step);

/// The fingerprints of one recipe.
pub(super) struct Sketched<'a> {
    pub(super) name: &'a str,
    pub(super) choice: &'a RecipeChoice,
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
    /// For each check what it could reach over all pairs, then what it makes of each recipe, and of all
    /// of them joined by or, for every k. Fails before it takes more memory than there is room.
    pub(super) fn lines(&self, mut room: Room) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        let present = (0..).zip(self.texts).filter(|(_, text)| text.is_some());
        let present: Vec<u32> = present.map(|(at, _)| at).collect();
        room.take(
            all_pairs::count(present.len() as u64),
            "all pairs of the documents, a byte each,",
        )?;
        for check in self.checks {
            let mut room = room;
            let measures = self.measure(*check, &mut room)?;
            let all = AllPairs::compare(present.clone(), self.workers, |one, two| {
                measures.similarity(one, two)
            });
            lines.push(self.judge(*check, "all pairs", None, all.iter()));
            drop(all);
            let mut joined: Vec<Near> = Vec::new();
            for recipe in &self.sketched {
                let pairs = self.near(recipe, &measures, room)?;
                self.judge_each(*check, recipe.name, &pairs, &mut lines);
                room.take(pairs.len() as u64 * NEAR_BYTES, "the near pairs of all recipes")?;
                joined.extend(pairs);
            }
            if self.sketched.len() > 1 {
                joined.sort_unstable_by_key(|&(k, one, two, _)| (one, two, k));
                joined.dedup_by_key(|&mut (_, one, two, _)| (one, two));
                self.judge_each(*check, "any of these", &joined, &mut lines);
            }
        }
        Ok(lines)
    }

    /// Prints the lines, and what to take.
    pub(super) fn print(&self, lines: &[Line]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        head(&mut out)?;
        lines.iter().try_for_each(|line| line.write(&mut out))?;
        let Some((best, configuration)) = self.best(lines) else { return Ok(()) };
        let (Line { check, recipe, .. }, least) = (best, best.least.similarity());
        writeln!(
            out,
            "\nrecommended for this corpus: {recipe} with {check} of at least {least:.3}"
        )?;
        write!(out, "\nin a configuration file this is:\n\n{configuration}")
    }

    /// The lines, and what to take, as one JSON object.
    pub(super) fn object(&self, lines: &[Line]) -> Value {
        let rows = lines.iter().map(|line| {
            json!({
                "check": line.check.to_string(), "recipe": line.recipe, "k": line.k,
                "near": line.pairs, "least": line.least.similarity(),
                "choosing": line.halves[0], "judging": line.halves[1],
            })
        });
        let recommended = self.best(lines).map(|(best, configuration)| {
            json!({
                "check": best.check.to_string(), "recipe": best.recipe, "k": best.k,
                "least": best.least.similarity(), "configuration": configuration,
            })
        });
        json!({ "rows": rows.collect::<Vec<_>>(), "recommended": recommended })
    }

    /// The best line by the half that chooses of those that a configuration can ask for, with that
    /// configuration. Of equal ones it is the one with the smallest distance.
    fn best<'l>(&self, lines: &'l [Line]) -> Option<(&'l Line, String)> {
        let possible = lines.iter().filter_map(|line| {
            let recipe = self.sketched.iter().find(|recipe| recipe.name == line.recipe)?;
            match (line.check, line.k) {
                (CheckChoice::Check(check), Some(k)) => Some((line, recipe.choice, check, k)),
                _ => None,
            }
        });
        let f1 = |line: &Line| line.halves[0].f1.unwrap_or(0.0);
        let best = possible.min_by(|a, b| f1(b.0).total_cmp(&f1(a.0)).then(a.3.cmp(&b.3)));
        best.map(|(line, choice, check, k)| {
            (line, configuration(choice, k, Some((check, line.least.similarity()))))
        })
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

    /// Adds a line for each k.
    fn judge_each(&self, check: CheckChoice, recipe: &str, pairs: &[Near], lines: &mut Vec<Line>) {
        lines.extend((1..=self.most).map(|most| {
            let near = pairs.iter().filter(|pair| pair.0 <= most);
            let near = near.map(|&(_, one, two, step)| (one, two, step));
            self.judge(check, recipe, Some(most), near)
        }));
    }

    fn judge(
        &self,
        check: CheckChoice,
        recipe: &str,
        k: Option<u32>,
        pairs: impl Iterator<Item = (u32, u32, Step)> + Clone,
    ) -> Line {
        let count = pairs.clone().count();
        let (least, halves) = choose(pairs, self.labels, self.seed);
        Line { check, recipe: recipe.to_owned(), k, pairs: count, least, halves }
    }
}

/// The least similarity that one half chooses, and how both halves judge it.
pub(super) struct Line {
    check: CheckChoice,
    recipe: String,
    /// The largest distance; none for all pairs.
    k: Option<u32>,
    /// How many pairs are within it.
    pairs: usize,
    least: Step,
    halves: [Scores; 2],
}

/// The least similarity that one half of the clusters chooses, and how both halves judge it. Each pair
/// of documents comes once.
fn choose(
    pairs: impl Iterator<Item = (u32, u32, Step)> + Clone,
    labels: &Labels,
    seed: u64,
) -> (Step, [Scores; 2]) {
    let choosing = labels.halves(seed);
    let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
    let halves = [choosing, judging].map(|half| labels.restrict(&half));
    let least = Step::best(within(pairs.clone(), &halves[0].1), &halves[0].0);
    let halves = halves.each_ref().map(|(labels, numbers)| {
        progress::tick(Activity::Working);
        let alike = within(pairs.clone(), numbers).filter(|pair| pair.2 >= least);
        Scores::of_each(alike.map(|(one, two, _)| (one, two)), labels)
    });
    (least, halves)
}

impl Line {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Line { check, recipe, pairs, .. } = self;
        let (check, least) = (check.to_string(), self.least.similarity());
        let k = self.k.map_or("any".to_owned(), |k| k.to_string());
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
