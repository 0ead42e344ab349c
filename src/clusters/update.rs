//! Clusters from a state and what is new: the work is that of what is touched, and one copy of the state.

use super::change_log::ChangeLog;
use super::copy::{Copy, write_links, write_sizes};
use super::engine::Engine;
use super::intern::Interned;
use super::regrouped::Regrouped;
use super::renumbering::Renumbering;
use super::row::RowWriter;
use super::space::Space;
use super::touched::Before;
use super::written::Written;
use crate::error::Result;
use crate::output::{Staging, Sum};

/// Writes clusters.tsv, sizes.tsv, links.bin and changes.tsv; gives the sum of the last one too, and its lines.
pub(super) fn update(
    before: &Before<'_>,
    new: Interned,
    engine: &mut dyn Engine,
    staging: &Staging,
    space: &Space<'_>,
) -> Result<(Written, Sum, u64)> {
    let mut touched = before.touched_by(new)?;
    let clusters = Regrouped::of(&mut touched, before.method, engine)?;
    let mut copy = Copy {
        before,
        touched: &touched,
        clusters: &clusters,
        rows: RowWriter::create(staging)?,
        changes: ChangeLog::new(&touched.labels, space),
        renumbering: Renumbering::default(),
        linked: Vec::with_capacity(touched.linked.len()),
    };
    copy.run()?;
    let Copy { rows, changes, renumbering, linked, .. } = copy;
    if linked.len() < touched.linked.len() {
        return Err(before.contradiction("the rows of clusters.tsv are not in order"));
    }
    let members = rows.rows;
    let (changes, lines, growth) = changes.write(staging)?;
    let (sizes, clusters) = write_sizes(before, &touched.labels, growth, staging)?;
    let (links, counts) = write_links(before, &touched.links, &renumbering, &linked, staging)?;
    let written = Written { rows: rows.finish()?, sizes, links, counts, members, clusters };
    Ok((written, changes, lines))
}
