//! The order of the work: read the kept pages, join the sample again, compare, check every row.

use std::collections::{BTreeSet, HashMap};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::claims::{Check, Claim, ClaimReader};
use super::expected::{Expected, Kept};
use super::groups::Groups;
use super::inputs::{Recompute, Recomputed, wrong_count};
use super::verdict_lines::VerdictLines;
use crate::error::Result;
use crate::matches::detail::Detail;
use crate::matches::numbers::{IdRank, Number, below};
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
        let expected = groups.join(&self.sampled(groups.pages()), &kept)?;
        let (claims, mut recomputed) = self.compare(groups, &kept, &expected)?;
        recomputed.rows = Check::new(self, groups).run(claims)?;
        Ok(recomputed)
    }

    /// Checks how many pages the report says to be in one group with others, and how many are in the largest.
    fn check_copies(&self, groups: &impl Groups) -> Result<()> {
        let mut sizes = vec![0_u64; groups.groups() as usize];
        for page in below::<IdRank>(groups.pages()) {
            sizes[groups.group_of(page).index()] += 1;
        }
        let copies = sizes.iter().filter(|&&size| size > 1).sum();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let counts = [
            ("copies", copies, self.outcome.copies),
            ("largest_group", largest, self.outcome.largest_group),
        ];
        match counts.into_iter().find(|(_, counted, told)| counted != told) {
            Some((name, counted, told)) => Err(wrong_count(self.output, name, counted, told)),
            None => Ok(()),
        }
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
        let mut claims = Sorter::new(self.spill, self.memory_bytes);
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

/// A verdict as the file has it.
fn shown(named: &Option<[String; 4]>) -> String {
    let drop = |named: &[String; 4]| format!("drop {}", named.join(" ")).trim_end().to_owned();
    named.as_ref().map_or("keep".to_owned(), drop)
}
