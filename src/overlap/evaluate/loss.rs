//! What the methods would drop of a few thousand pages whose texts are at hand, and what is lost with it: by the definition, exactly.
//!
//! A text is its [set of runs of three words](word_shingles). A page can go without loss if a page that stays holds nine
//! tenths of its runs. The pages are taken longest first; that is how many of them [could go](Loss::could_go).

use std::cmp::Reverse;
use std::ops::Range;

use super::{MemoryMeter, MethodTexts, SampledPage};
use crate::error::Result;
use crate::fingerprint::ShingleSet;
use crate::fingerprint::check::word_shingles;
use crate::matches::LengthClass;
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};

/// The share of a page that the page that stays must hold, so that nothing counts as lost.
pub(super) const WHOLE: f64 = 0.9;

/// The share from which a page that stays should have gone.
const MISSED: f64 = 0.95;

/// How much memory a near pair takes in the lists that hold it. They may be half empty.
const NEAR_PAIR_BYTES: u64 = 96;

/// What `work` makes of consecutive documents, by so many threads.
pub(super) fn in_parts<T: Send>(
    count: usize,
    workers: usize,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let part = count.div_ceil(workers.max(1)).max(1);
    let starts: Vec<usize> = (0..count).step_by(part).collect();
    let made = in_parallel(workers, &starts, |&start| work(start..count.min(start + part)));
    made.into_iter().collect()
}

pub(super) fn run_sets(
    pages: &[SampledPage],
    workers: usize,
    memory: &mut MemoryMeter,
) -> Result<Vec<ShingleSet>> {
    let parts = in_parts(pages.len(), workers, |part| {
        let set = |page: &SampledPage| {
            progress::tick(Activity::Working);
            word_shingles(&page.text)
        };
        Ok(pages[part].iter().map(set).collect::<Vec<_>>())
    })?;
    let sets: Vec<ShingleSet> = parts.into_iter().flatten().collect();
    memory.take(sets.iter().map(ShingleSet::bytes).sum(), "the runs of words of the pages")?;
    Ok(sets)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DroppedPage {
    pub page: u32,
    pub of: u32,
    pub containment: f64,
    pub runs: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    pub dropped: Vec<DroppedPage>,
    pub could_go: Vec<u32>,
    /// The pages that stay though another page that stays has .95 of their runs. Of two pages that hold each other, one counts.
    pub missed: Vec<u32>,
}

impl Loss {
    pub fn over_tenth(&self) -> u64 {
        self.dropped.iter().filter(|dropped| dropped.containment < WHOLE).count() as u64
    }

    /// The share of all runs of the pages that go which the pages in their places lack; 0 of no page.
    pub fn lost(&self) -> f64 {
        let runs: f64 = self.dropped.iter().map(|dropped| dropped.runs as f64).sum();
        let lost = |dropped: &DroppedPage| (1.0 - dropped.containment) * dropped.runs as f64;
        // The sum of nothing is -0.
        (0.0 + self.dropped.iter().map(lost).sum::<f64>()) / runs.max(1.0)
    }
}

pub(super) fn losses(
    texts: &MethodTexts<'_>,
    methods: usize,
    sets: &[ShingleSet],
    workers: usize,
    memory: MemoryMeter,
) -> Result<Vec<Loss>> {
    let holders = holders(sets, workers, memory)?;
    let could_go = could_go(sets, &holders);
    let loss = |method| {
        let favours = verdicts(texts, method, sets);
        let stays = |page: u32| favours[page as usize].is_none();
        let numbered = (0..).zip(&favours);
        let dropped = numbered.filter_map(|(page, favour)| {
            let of = (*favour)?;
            let set = &sets[page as usize];
            let containment = set.contained_in(&sets[of as usize]);
            Some(DroppedPage { page, of, containment, runs: set.len() as u64 })
        });
        let is_missed = |&page: &u32| {
            let rank = |page: u32| (sets[page as usize].len(), Reverse(page));
            let own = holders[page as usize].iter();
            let mut better = own
                .filter(|(other, containment)| *containment >= MISSED && rank(*other) > rank(page));
            stays(page) && better.any(|(other, _)| stays(*other))
        };
        let missed = (0..sets.len() as u32).filter(is_missed).collect();
        Loss { dropped: dropped.collect(), could_go: could_go.clone(), missed }
    };
    Ok((0..methods).map(loss).collect())
}

/// Which page each page is a duplicate of, if it is dropped: the keep rule, page by page.
fn verdicts(texts: &MethodTexts<'_>, method: usize, sets: &[ShingleSet]) -> Vec<Option<u32>> {
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    if texts.has_direction(method) {
        order.sort_by_key(|&page| Reverse(LengthClass::of(sets[page as usize].len() as u64)));
    }
    let mut favours = vec![None; sets.len()];
    let mut kept: Vec<u32> = Vec::new();
    for page in order {
        let coverages = kept
            .iter()
            .filter_map(|&other| Some((texts.coverages(method, page, other).of_first?, other)));
        match coverages.min() {
            Some((_, other)) => favours[page as usize] = Some(other),
            None => kept.push(page),
        }
        progress::tick(Activity::Working);
    }
    favours
}

/// For each page, the pages that hold nine tenths of its runs, and the shares that they hold.
fn holders(
    sets: &[ShingleSet],
    workers: usize,
    memory: MemoryMeter,
) -> Result<Vec<Vec<(u32, f64)>>> {
    let most = memory.fits(NEAR_PAIR_BYTES) / workers.max(1) as u64;
    let parts = in_parts(sets.len(), workers, |part| {
        let mut found = 0;
        let mut holders = Vec::new();
        for page in part {
            let set = &sets[page];
            let longer = |other: &ShingleSet| other.len() as f64 >= WHOLE * set.len() as f64;
            let others = (0..).zip(sets).filter(|(other, it)| *other != page as u32 && longer(it));
            let containment = others.map(|(other, it)| (other, set.contained_in(it)));
            let own: Vec<(u32, f64)> =
                containment.filter(|(_, containment)| *containment >= WHOLE).collect();
            found += own.len() as u64;
            if found > most {
                return Err(memory.exceeded("the pages that hold pages of the sample"));
            }
            holders.push(own);
            progress::tick(Activity::Working);
        }
        Ok(holders)
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// The pages that could go without loss, the longest taken first.
fn could_go(sets: &[ShingleSet], holders: &[Vec<(u32, f64)>]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|&page| Reverse(sets[page].len()));
    let mut stays = vec![false; sets.len()];
    for page in order {
        stays[page] = !holders[page].iter().any(|(other, _)| stays[*other as usize]);
    }
    (0..sets.len() as u32).filter(|&page| !stays[page as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::NearMethod;
    use crate::evaluate::method::tests::method;

    fn words(from: usize, to: usize) -> String {
        // Digits count for the check alone.
        let letter = |at: usize| char::from(b'a' + (at % 26) as u8);
        let word = |at: usize| [letter(at / 676), letter(at / 26), letter(at), ' '];
        (from..to).flat_map(word).collect()
    }

    /// Five pages: a page, a longer one that holds it, one that holds the half of it, a copy of the first one, and a stranger.
    fn pages() -> Vec<SampledPage> {
        let texts =
            [words(0, 200), words(0, 260), words(100, 290), words(0, 200), words(900, 1100)];
        (0..)
            .zip(texts)
            .map(|(id, text)| SampledPage { id: format!("{id}").into(), text: text.into() })
            .collect()
    }

    /// What these methods lose of the pages, and the sets of these.
    fn judged(methods: &[NearMethod], memory: u64) -> Result<(Vec<Loss>, Vec<ShingleSet>)> {
        let pages = pages();
        let mut texts = MethodTexts::new(methods)?;
        pages.iter().try_for_each(|page| texts.add(&page.text))?;
        let sets = run_sets(&pages, 2, &mut MemoryMeter::new(1 << 20))?;
        let losses = losses(&texts, methods.len(), &sets, 2, MemoryMeter::new(memory))?;
        Ok((losses, sets))
    }

    #[test]
    fn a_page_goes_if_a_page_that_stays_holds_it_and_what_is_lost_is_exact() {
        let methods = [
            method("wide", 64, Some("containment:0.9")),
            method("wide", 64, None),
            method("wide", 0, None),
        ];
        assert!(judged(&methods, 10).is_err());
        let (losses, sets) = judged(&methods, 1 << 20).unwrap();
        let [held, near, same] = losses.try_into().unwrap();
        // The longer page holds the page and its copy. The definition of what could go says the same.
        let goes: Vec<_> = held.dropped.iter().map(|it| (it.page, it.of, it.containment)).collect();
        assert_eq!(goes, [(0, 1, 1.0), (3, 1, 1.0)]);
        assert_eq!((&held.could_go[..], &held.missed[..]), (&[0, 3][..], &[][..]));
        assert_eq!((held.over_tenth(), held.lost()), (0, 0.0));
        // By fingerprints alone, within 64 bits, all are duplicates of the first page or of its copy.
        assert_eq!(near.dropped.len(), 4);
        assert_eq!(near.over_tenth(), 3);
        let runs: u64 = near.dropped.iter().map(|it| it.runs).sum();
        let lost: f64 = near
            .dropped
            .iter()
            .map(|it| {
                let shared = sets[it.page as usize].shared(&sets[it.of as usize]) as f64;
                it.runs as f64 - shared
            })
            .sum();
        assert!((near.lost() - lost / runs as f64).abs() < 1e-9);
        // Within no bits only the copy is near, and goes. The page stays, though the longer page has all of it.
        assert_eq!(same.dropped.iter().map(|it| (it.page, it.of)).collect::<Vec<_>>(), [(3, 0)]);
        assert_eq!((&same.could_go[..], &same.missed[..]), (&[0, 3][..], &[0][..]));
    }
}
