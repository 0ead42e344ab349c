//! Answers: the pages of a version that are near to a page, each with its id and its day.
//!
//! The rows of a page that stands a million times in the store are found at once, but a million ids
//! are no answer. So an answer has the nearest pages up to a limit, and the number of the others.

use std::ops::Range;
use std::sync::Arc;

use super::lookup::Lookup;
use super::shelf::NearRows;
use crate::error::Result;
use crate::fingerprint::Class;
use crate::matches::{Answer, Confirm, Covering, GroupKeyReader, NearPage, Question};
use crate::store::{Dated, Ids, RowDays, Shown};
use crate::work::Work;

/// The fingerprints that were found whose memory is kept for the next question.
const MOST_KEPT: usize = 1 << 12;

/// Asks an opened version for page after page. Each thread has an asker of its own.
pub struct Asker {
    lookup: Arc<Lookup>,
    readers: Vec<Option<Readers>>,
    found: Vec<NearRows>,
}

struct Readers {
    ids: Ids,
    days: RowDays,
    shown: Shown,
    keys: GroupKeyReader,
    check: Option<Confirm>,
}

impl Asker {
    /// Asks `lookup`.
    #[must_use]
    pub fn new(lookup: &Arc<Lookup>) -> Asker {
        let readers = lookup.segments.iter().map(|_| None).collect();
        Asker { lookup: Arc::clone(lookup), readers, found: Vec::new() }
    }

    /// The pages that are near to `question`, at most `limit` of them, as far as `work` goes. The
    /// caller has [begun](Work::begin) a question of `work`.
    pub fn ask(
        &mut self,
        question: &Question<'_>,
        limit: usize,
        work: &mut Work<'_>,
    ) -> Result<Answer> {
        let Asker { lookup, readers, found } = self;
        work.search();
        lookup.find(question, found, work)?;
        work.read();
        let mut answer = Answer::default();
        // Anchors find rows of a fingerprint again: these rows of the last one were read.
        let mut read = (0, 0..0);
        for at_distance in found.chunk_by(|a, b| a.distance == b.distance) {
            let held = answer.near.len();
            for found in at_distance {
                if work.is_over() {
                    break;
                }
                let start = found.rows.start;
                if found.by_anchors && found.segment == read.0 && read.1.contains(&start) {
                    continue;
                }
                let number = found.segment as usize;
                let readers = match &mut readers[number] {
                    Some(readers) => readers,
                    none => none.insert(Readers::of(&lookup.segments[number], lookup)?),
                };
                let end = readers.name(question, found, limit - held, &mut answer, work)?;
                read = (found.segment, start..end);
                if answer.near.len() - held > limit.saturating_mul(4) {
                    settle(&mut answer, held, limit);
                }
            }
            settle(&mut answer, held, limit);
        }
        // A crowd of long ago must not stay in memory.
        found.clear();
        found.shrink_to(MOST_KEPT);
        answer.is_cut = work.is_cut();
        Ok(answer)
    }
}

/// Orders what was added after the first `held` pages, and leaves what is over the limit.
fn settle(answer: &mut Answer, held: usize, limit: usize) {
    answer.near[held..].sort_unstable_by(|a, b| (&a.id, a.day).cmp(&(&b.id, b.day)));
    answer.more += answer.near.len().saturating_sub(limit) as u64;
    answer.near.truncate(limit);
}

impl Readers {
    fn of(dated: &Dated, lookup: &Lookup) -> Result<Readers> {
        let (segment, check) = (dated.segment(), lookup.options().check);
        let keys = GroupKeyReader::new(segment, check.as_ref())?;
        Ok(Readers { ids: segment.ids(), days: dated.days(), shown: dated.shown(), keys, check })
    }

    /// Adds the pages that are near of the rows that were found with one fingerprint, at most so many, the others as a number. The rows are in the
    /// order of their ids and days. Returns the row up to which they were read.
    fn name(
        &mut self,
        question: &Question<'_>,
        found: &NearRows,
        most: usize,
        answer: &mut Answer,
        work: &mut Work<'_>,
    ) -> Result<u64> {
        let NearRows { distance, rows: Range { start, end }, .. } = *found;
        let mut named = 0;
        // Neighbours often have one key, and are compared once.
        let mut keys = 0;
        let mut key = (Class::Full, Vec::new());
        let mut stand_in = None;
        for row in start..end {
            if !work.spend(1) {
                break;
            }
            if named == most && question.page.is_none() && work.spend((end - row) / 64) {
                let shown = self.shown.among(row, end - row)?;
                answer.more += shown.map_or(0, |(_, count)| count);
                break;
            }
            if !self.shown.get(row)? {
                continue;
            }
            let own = self.keys.get(row)?;
            if keys == 0 || (own.class, own.signature) != (key.0, &key.1[..]) {
                if keys == Question::most_keys(self.check) {
                    return Ok(row);
                }
                keys += 1;
                key = (own.class, own.signature.to_vec());
                stand_in = question.stand_in(own, distance, self.check.as_ref());
            }
            let Some(Covering { containment: similarity }) = stand_in else { continue };
            if named == most {
                answer.more += 1;
                continue;
            }
            named += 1;
            let id = self.ids.get(row)?.to_owned();
            let day = Some(self.days.get(row)?);
            answer.near.push(NearPage { distance, id, day, similarity });
        }
        Ok(end)
    }
}
