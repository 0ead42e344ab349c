//! From confirmed pairs to a complete output: partition, judge, expand, write.

use std::path::Path;
use std::sync::Arc;

use super::batch::Batch;
use super::by_key::ByKey;
use super::confirm::Terms;
use super::confirmed::{BEST, BEST_SETTING, ConfirmedPairs, Detail, too_many};
use super::coverage::Coverage;
use super::crowd::Crowd;
use super::drafts::{Drafted, Drafts};
use super::expand::{StoreExpansion, expand_copies, expand_groups};
use super::frequent::MostFrequent;
use super::groups::Groups;
use super::ids::{IdShards, Workshop};
use super::in_keep_order::InKeepOrder;
use super::keep_order::{KeepOrder, Leaders, Precedence};
use super::keep_rule::{Edge, Judgements, judge};
use super::listing::{Duplicates, Listed, Listing};
use super::nearby::Nearby;
use super::nearest::{Judged, Nearest};
use super::numbers::{KeepRank, Number};
use super::outcome::Outcome;
use super::partition::{Partition, copies};
use super::recrawl::recrawls;
use super::replaced::Replaced;
use super::superseded;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::output::{self, Staging};
use crate::results::ResultFormat;
use crate::runs::{SortSpace, Sorter};
use crate::store::Slack;

#[derive(Debug)]
pub struct Finalize<'a> {
    pub terms: &'a Terms,
    pub slack: &'a Slack,
    pub keep: KeepOrder,
    pub ids_bytes: usize,
    pub format: ResultFormat,
}

impl Finalize<'_> {
    /// Draws the verdicts from the pairs that match, and writes all of the output but the report. The `order` is made unless it is known.
    ///
    /// # Errors
    /// With [`Detail::All`] the rows are counted first: [`Kind::BadData`](crate::Kind::BadData) if they are
    /// more than may be written, and [`Kind::Io`](crate::Kind::Io) if the disk has no room for them.
    pub fn write<F: Fingerprint>(
        &self,
        groups: Arc<Groups>,
        (order, mut by_key): (Option<InKeepOrder>, ByKey),
        ConfirmedPairs { pairs, candidates }: ConfirmedPairs,
        staging: &Staging,
    ) -> Result<Outcome> {
        let &Terms { ref segment, ref store, confirm, detail, memory_bytes, workers, .. } =
            self.terms;
        let space = SortSpace { folder: staging.folder(), memory_bytes };
        let (all, checked) = (detail == Detail::All, confirm.is_some());
        let workshop = Workshop { folder: space.folder, memory_bytes: self.ids_bytes, workers };
        let (order, ids) = match order {
            Some(order) => (order, IdShards::read(segment, workshop)?),
            None => {
                let precedence = Arc::clone(&by_key.precedence);
                let (batch, ids) = Batch::load(segment, groups, precedence, workshop)?;
                (InKeepOrder::of(segment, batch, self.keep, confirm, workers, space)?, ids)
            }
        };
        let InKeepOrder { batch, leaders, shingles } = order;
        let shingles = shingles.as_deref();
        let compares_whole = confirm.is_some_and(|it| it.check.is_whole());
        let sifts = !all && !compares_whole;
        let Partition { edges, with_store, nearest, crowded, rows, most_matches } =
            Partition::of(pairs, (&batch, &leaders), (all, sifts), space)?;
        if all {
            self.check_count_and_space(rows.iter().sum(), &batch, space.folder)?;
        }
        let mut drafts = Drafts::new(&batch, shingles, checked, detail, rows, space);
        let precedence = |rank| batch.precedence(leaders.row(leaders.group(rank)));
        let held = |rank: KeepRank| {
            let is_superseded = precedence(rank) == Precedence::Superseded;
            is_superseded || nearest[leaders.group(rank).index()] != Coverage::KEPT
        };
        let stays = |rank: KeepRank| precedence(rank) == Precedence::Replaces;
        let expand = |edge: &Edge| {
            let groups = [edge.earlier, edge.later].map(|rank| leaders.group(rank));
            let similarity = edge.similarity().filter(|_| checked);
            let rows = &mut drafts.unnamed_matches;
            if all {
                expand_groups(&batch, groups, edge.distance(), similarity, rows)
            } else {
                Ok(())
            }
        };
        let judgements =
            self.judge::<F>((&batch, &leaders), edges, crowded, (held, stays), expand, space)?;
        let judged = Judged { batch: &batch, leaders, judgements, nearest };
        let mut stored = space.sorter();
        let mut replaced = Replaced::new(space, batch.rows());
        let holds = shingles.is_some();
        let expansion = StoreExpansion {
            judged: &judged,
            store,
            slack: self.slack,
            checked,
            holds,
            by_key: &by_key,
        };
        let wanted = all.then_some(&mut drafts.matches);
        expansion.expand(with_store.sorted()?, wanted, &mut stored, &mut replaced)?;
        if all {
            expand_copies(&batch, checked, &mut drafts.unnamed_matches)?;
        }
        let mut dropped = 0;
        judged.each_dropped(stored, |row, of| {
            let own = judged.batch.segment_row(row);
            let key = match of {
                Nearest::Stored(page, _) => page.key,
                Nearest::Row(kept, _) => by_key.key(judged.batch.segment_row(kept)),
            };
            let is_usual = judged.batch.precedence(row) == Precedence::Usual;
            if !is_usual || by_key.is_of_key(own, key) {
                return Ok(());
            }
            dropped += 1;
            match of {
                Nearest::Stored(page, coverage) if holds => {
                    let coverage = page.coverages.of_first.unwrap_or(coverage);
                    replaced.named(&page.id, page.day, coverage.slack)?;
                }
                Nearest::Row(kept, coverage) if holds => {
                    replaced.kept(judged.batch.segment_row(kept), coverage.slack);
                }
                _ => {}
            }
            drafts.dropped(row, of)
        })?;
        if let Some(confirm) = confirm.filter(|_| holds) {
            superseded::replace(&mut by_key, (segment, confirm), &mut replaced)?;
        }
        let pages = (segment, judged.batch);
        let superseded = superseded::superseded(&mut by_key, pages, &mut replaced, space)?;
        let replaced = holds.then(|| replaced.write(segment, staging, self.format)).transpose()?;
        let Drafted { counted, duplicates, hosts, lost, dropped_pages, matches, verdicts } =
            drafts.finish(segment)?;
        let (hosts, dropped_hosts) = hosts.unzip();
        let pages = (segment, judged.batch, by_key.day);
        let recrawls = recrawls(pages, &by_key.store, confirm, space)?;
        let (recrawls, recrawl_counts) = recrawls.unzip();
        let listing = Listing {
            segment,
            ids: &ids,
            ranks: &judged.batch.ranks,
            verdicts,
            matches,
            duplicates: hosts.map(|hosts| Duplicates { copies: duplicates, hosts }),
            recrawls,
            superseded,
            checked,
            format: self.format,
            workers,
        };
        let Listed { files, matches: written, superseded, examples } = listing.write(staging)?;
        dropped += superseded.unwrap_or(0);
        let (replaced_files, replaced) = replaced.unzip();
        let files = files.into_iter().chain(replaced_files.into_iter().flatten());
        Ok(Outcome {
            candidates: candidates.map(|it| it.pairs),
            left_out: candidates.map(|it| it.left_out),
            replaced,
            superseded,
            recrawls: recrawl_counts,
            lost,
            dropped_hosts,
            dropped_pages: Some(dropped_pages),
            dropped_examples: Some(examples),
            hot_matches: most_matches.list(segment, &batch, |rows| rows)?,
            hot_copies: MostFrequent::copied(judged.sizes()).list(segment, &batch, copies)?,
            kept: u64::from(batch.rows()) - dropped,
            dropped,
            matches: written,
            distances: (0..).zip(counted).filter(|(_, rows)| *rows > 0).collect(),
            copies: judged.sizes().filter(|&size| size > 1).sum(),
            largest_group: judged.sizes().max().unwrap_or(0),
            files: files.collect(),
        })
    }

    /// Refuses more rows than allowed, or than half of the free space has room for: sorting takes as much again.
    fn check_count_and_space(&self, rows: u128, batch: &Batch, folder: &Path) -> Result<()> {
        let most = self.terms.max_matches;
        if rows > u128::from(most) {
            return Err(too_many(rows, most));
        }
        // About how many bytes a row takes, going by the ids of the batch.
        let row_bytes = u128::from(29 + 2 * batch.id_bytes());
        let needed = u64::try_from(2 * rows * row_bytes).unwrap_or(u64::MAX);
        let help = format_args!("free some space and try again, or {BEST}");
        output::check_free_space(folder, needed)
            .map_err(|error| error.help(help).setting(BEST_SETTING))
    }

    /// The judgement on every group. What is `fixed` is whether a page of the store covers a group, and whether it stays if it is kept.
    /// `each` is called with every pair of the batch, in order.
    fn judge<F: Fingerprint>(
        &self,
        (batch, leaders): (&Batch, &Leaders),
        edges: Sorter<Edge>,
        crowded: Vec<KeepRank>,
        fixed: (impl Fn(KeepRank) -> bool, impl Fn(KeepRank) -> bool),
        mut each: impl FnMut(&Edge) -> Result<()>,
        space: SortSpace<'_>,
    ) -> Result<Judgements> {
        let edges =
            edges.sorted()?.distinct().map(|edge| edge.and_then(|edge| each(&edge).map(|()| edge)));
        let name = |rank: KeepRank| batch.rank(leaders.row(leaders.group(rank)));
        let compared = (batch, leaders);
        let nearby = match crowded.is_empty() {
            true => Nearby::nobody(compared),
            false => Nearby::<F>::new(compared, self.terms)?,
        };
        judge(batch.groups(), fixed, edges, Crowd::new(crowded, nearby), name, space)
    }
}
