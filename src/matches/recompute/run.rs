//! The order of the work: read the kept pages, join the sample again, compare, check every row.

use std::collections::{BTreeSet, HashMap};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::claims::{Check, Claim, ClaimReader};
use super::expected::{Expected, Joined, Kept};
use super::groups::Groups;
use super::inputs::{Recompute, Recomputed};
use super::replaced::ReplacedRows;
use super::verdict_lines::VerdictLines;
use crate::error::Result;
use crate::matches::detail::Detail;
use crate::matches::frequent::MostFrequent;
use crate::matches::numbers::{Group, IdRank, Number, below};
use crate::matches::partition::copies;
use crate::progress::{self, Activity};
use crate::runs::Sorter;

impl Recompute<'_> {
    /// Recomputes every row of the matches and the verdicts of the sample from these `groups` of the batch.
    ///
    /// # Errors
    /// What differs from the files is [`Kind::BadData`](crate::Kind::BadData), with its file and line.
    pub(crate) fn run<G: Groups>(&self, groups: &G) -> Result<Recomputed> {
        self.check_copies(groups)?;
        let kept = self.kept(groups)?;
        let mut sample = self.sampled(groups.pages());
        let replaced = self.replaces.then(|| ReplacedRows::read(self)).transpose()?;
        sample.extend(replaced.iter().flat_map(ReplacedRows::pages));
        let joined = groups.join(&sample, &kept)?;
        let (claims, mut recomputed) = self.compare(groups, &kept, &joined.expected)?;
        recomputed.rows = Check::new(self, groups).run(claims)?;
        recomputed.all = recomputed.pages == u64::from(groups.pages());
        self.check_pairs(groups, &joined, recomputed.all)?;
        replaced.map_or(Ok(()), |replaced| replaced.check(joined.going))?;
        Ok(recomputed)
    }

    /// Checks how many pages the report says to be in one group with others, how many are in the largest, and which are the largest.
    /// The batch alone gives these figures.
    pub(crate) fn check_copies(&self, groups: &impl Groups) -> Result<()> {
        let sizes = sizes(groups);
        let in_groups = sizes.iter().filter(|&&size| size > 1).sum();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        self.expect("copies", &in_groups, &self.outcome.copies)?;
        self.expect("largest_group", &largest, &self.outcome.largest_group)?;
        let most = MostFrequent::copied(sizes.into_iter());
        self.expect("hot_copies", &groups.listed(&most, copies)?, &self.outcome.hot_copies)
    }

    /// Checks the figures of the report that count all pairs, as far as they are known: where `all` pages were joined, or where the
    /// figure is none because only the best matches were written.
    fn check_pairs<G: Groups>(
        &self,
        groups: &G,
        joined: &Joined<G::Distance>,
        all: bool,
    ) -> Result<()> {
        if let Some(pairs) = self.pairs.filter(|_| all) {
            self.expect("pairs", &joined.pairs, &pairs)?;
        }
        let listed = self.detail == Detail::All;
        if listed && !all {
            return Ok(());
        }
        let candidates = joined.candidates.filter(|_| listed);
        self.expect("candidates", &candidates, &self.outcome.candidates)?;
        let mut most = MostFrequent::default();
        let sizes = sizes(groups);
        let size = |group: Group| u128::from(sizes[group.index()]);
        for expected in joined.expected.iter().filter(|_| listed) {
            let before = expected.near.iter().filter(|&&near| near < expected.group);
            let existing = expected.held + before.map(|&near| size(near)).sum::<u128>();
            most.offer(size(expected.group) * existing, expected.group);
        }
        self.expect("hot_matches", &groups.listed(&most, |rows| rows)?, &self.outcome.hot_matches)
    }

    /// The sampled pages.
    fn sampled(&self, pages: u32) -> Vec<IdRank> {
        if u64::from(pages) <= self.sample {
            return below(pages).collect();
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let sampled = rand::seq::index::sample(&mut random, pages as usize, self.sample as usize);
        sampled.into_iter().map(|page| IdRank::from(page as u32)).collect()
    }

    /// The page of each group that is kept, if one is.
    fn kept(&self, groups: &impl Groups) -> Result<Vec<Option<IdRank>>> {
        let mut kept = vec![None; groups.groups() as usize];
        let mut verdicts = VerdictLines::open(self.output)?;
        while let Some(verdict) = verdicts.next()? {
            if verdict.kept {
                let kept = &mut kept[groups.group_of(verdict.rank).index()];
                if kept.is_some() {
                    return Err(verdicts.wrong("a second page of copies is kept"));
                }
                *kept = Some(verdict.rank);
            }
        }
        Ok(kept)
    }

    /// The ids of the pages of the batch that the verdicts on the sample may name.
    fn names<G: Groups>(
        &self,
        kept: &Kept,
        expected: &[Expected<G::Distance>],
    ) -> Result<HashMap<IdRank, String>> {
        let wanted: BTreeSet<IdRank> = expected.iter().filter_map(|it| it.named(kept)).collect();
        let mut names = HashMap::with_capacity(wanted.len());
        let mut verdicts = VerdictLines::open(self.output)?;
        while let Some(verdict) = verdicts.next()? {
            if wanted.contains(&verdict.rank) {
                names.insert(verdict.rank, verdict.id);
            }
        }
        Ok(names)
    }

    /// Compares the verdicts on the sample with what is `expected`, and collects the claims of the rows
    /// of the matches.
    fn compare<G: Groups>(
        &self,
        groups: &G,
        kept: &Kept,
        expected: &[Expected<G::Distance>],
    ) -> Result<(Sorter<Claim<G::Distance>>, Recomputed)> {
        let names = self.names::<G>(kept, expected)?;
        let mut claims = self.space().sorter();
        let mut verdicts = VerdictLines::open(self.output)?;
        let mut matches = ClaimReader::open(self)?;
        let mut recomputed = Recomputed::default();
        while let Some(verdict) = verdicts.next()? {
            progress::tick(Activity::Working);
            let listed = matches.take(&verdict.id, verdict.rank, &mut claims)?;
            let group = groups.group_of(verdict.rank);
            let Ok(at) = expected.binary_search_by_key(&group, |it| it.group) else { continue };
            let expected = &expected[at];
            let found = (!verdict.kept).then_some(verdict.named);
            let (leader, _) = groups.leader(group);
            match expected.verdict(verdict.rank, leader, kept, &names, |it| groups.held(it)) {
                Err(what) => return Err(verdicts.wrong(what)),
                Ok(named) if named == found => {}
                Ok(named) => {
                    let error = verdicts.wrong("this is not the verdict of the keep rule");
                    return Err(error.expected(shown(&named)).found(shown(&found)));
                }
            }
            if self.detail == Detail::All {
                let pairs = expected.pairs(|group| groups.before(group, verdict.rank));
                if pairs != listed.into() {
                    return Err(verdicts
                        .wrong("not all matches of this page are listed")
                        .expected(format_args!("{pairs} rows of matches.tsv"))
                        .found(listed));
                }
            }
            recomputed.pages += 1;
        }
        matches.expect_end()?;
        Ok((claims, recomputed))
    }
}

/// How many pages each group has.
fn sizes(groups: &impl Groups) -> Vec<u64> {
    let mut sizes = vec![0; groups.groups() as usize];
    for page in below::<IdRank>(groups.pages()) {
        sizes[groups.group_of(page).index()] += 1;
    }
    sizes
}

/// A verdict as the file has it.
fn shown(named: &Option<[String; 4]>) -> String {
    let drop = |named: &[String; 4]| format!("drop {}", named.join(" ")).trim_end().to_owned();
    named.as_ref().map_or("keep".to_owned(), drop)
}
