//! `evaluate --sweep --check`: recipes with checks at every k, the least similarity chosen by one half
//! of the clusters and judged by the other.

use std::io::{self, Write};

use dupsieve::error::At;
use dupsieve::evaluate::sweep::by_distance;
use dupsieve::evaluate::{AlikePairs, Labels, Scores};
use dupsieve::{Error, Result};

use crate::settings::CheckChoice;

/// Pairs of documents in fours: the distance, the two, and how alike they are.
type Near = (u32, u32, u32, f64);

/// The fingerprints of one recipe, or the distances by several.
pub(super) struct Sketched<'a> {
    pub(super) name: &'a str,
    pub(super) fingerprints: &'a [Option<u128>],
}

/// Prints for each check what it could reach over all pairs, then what it makes of each recipe, and of
/// all of them joined by or, for every k up to `most`.
pub(super) fn table(
    checks: &[CheckChoice],
    sketched: &[Sketched<'_>],
    texts: &[Option<String>],
    (labels, seed): (&Labels, u64),
    most: u32,
) -> Result<()> {
    let mut out = io::stdout().lock();
    head(&mut out).at("stdout")?;
    for check in checks {
        let similarity =
            check.measure(texts.iter().map(|text| text.as_deref().unwrap_or_default()));
        let name = check.to_string();
        let mut show = |recipe: &str, pairs: &[Near], from: u32, most: u32| {
            for k in from..=most {
                let k_shown = if from == most { "any".to_owned() } else { k.to_string() };
                let near: Vec<&Near> = pairs.iter().filter(|pair| pair.0 <= k).collect();
                let line = Line::of(&near, labels, seed);
                line.write([&name, recipe, &k_shown], near.len(), &mut out).at("stdout")?;
            }
            Ok::<(), Error>(())
        };
        show("all pairs", &all_pairs(texts, &similarity), 0, 0)?;
        let mut joined = std::collections::BTreeMap::new();
        for recipe in sketched {
            let mut pairs = Vec::new();
            for (k, near) in (0..).zip(by_distance(recipe.fingerprints, most)) {
                for (one, two) in near {
                    let alike: f64 = similarity(one, two);
                    let nearest = joined.entry((one, two)).or_insert((k, alike));
                    nearest.0 = k.min(nearest.0);
                    pairs.push((k, one, two, alike));
                }
            }
            show(recipe.name, &pairs, 1, most)?;
        }
        if sketched.len() > 1 {
            let joined = joined.into_iter().map(|((one, two), (k, alike))| (k, one, two, alike));
            show("any of these", &joined.collect::<Vec<Near>>(), 1, most)?;
        }
    }
    Ok(())
}

fn all_pairs(texts: &[Option<String>], similarity: impl Fn(u32, u32) -> f64) -> Vec<Near> {
    let present: Vec<u32> =
        (0..).zip(texts).filter_map(|(at, text)| text.as_ref().map(|_| at)).collect();
    let mut pairs = Vec::new();
    for (at, &one) in present.iter().enumerate() {
        pairs.extend(present[at + 1..].iter().map(|&two| (0, one, two, similarity(one, two))));
    }
    pairs
}

/// What is chosen by one half, and how both judge it.
struct Line {
    least: f64,
    halves: [Scores; 2],
}

impl Line {
    fn of(near: &[&Near], labels: &Labels, seed: u64) -> Line {
        let choosing = labels.halves(seed);
        let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
        let halves = [choosing, judging].map(|half| {
            let (labels, numbers) = labels.restrict(&half);
            let mut alike = AlikePairs::default();
            for &&(_, one, two, similarity) in near {
                if let (Some(one), Some(two)) = (numbers[one as usize], numbers[two as usize]) {
                    alike.push(one, two, similarity);
                }
            }
            (labels, alike)
        });
        let least = halves[0].1.best_least(&halves[0].0);
        let halves = halves.map(|(labels, alike)| Scores::of(&alike.confirmed(least), &labels));
        Line { least, halves }
    }

    fn write(&self, names: [&str; 3], near: usize, out: &mut impl Write) -> io::Result<()> {
        let [check, recipe, k] = names;
        write!(out, "{check:<22} {recipe:<26}{k:>4} {near:>9}  {:<6.3}", self.least)?;
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

fn head(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:<71}choosing half                  judging half", "")?;
    write!(out, "{:<22} {:<26}{:>4} {:>9}  {:<6}", "check", "recipe", "k", "near", "least")?;
    writeln!(out, "{0}   {0}", "  prec.  recall f1     ari  ")
}
