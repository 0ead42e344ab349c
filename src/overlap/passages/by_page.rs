//! The passages of each page, looked up by its id. They are in a file, and in memory is only where each block of it begins.

use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::naming::PassageRow;
use crate::error::{At, Error, Kind, Result};
use crate::frames::{self, FoundFrame, FrameFile};
use crate::runs::{Record, Sorter};

const BLOCK: usize = 170;

#[derive(Debug)]
pub struct PassagesByPage {
    file: FrameFile,
    end: u64,
    /// The page of the first passage of each block, and where the block is.
    blocks: Vec<(u128, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Placed {
    page: u128,
    begin: u32,
    end: u32,
}

impl Record for Placed {}

impl PassagesByPage {
    /// These passages. The file is in `folder` and has no name; they are sorted in at most `memory_bytes`.
    pub fn of(
        rows: impl Iterator<Item = Result<PassageRow>>,
        folder: &Path,
        memory_bytes: usize,
    ) -> Result<PassagesByPage> {
        let mut sorter = Sorter::new(folder, memory_bytes);
        for row in rows {
            let PassageRow { id, begin, end, .. } = row?;
            sorter.push(Placed { page: xxh3_128(id.as_bytes()), begin, end })?;
        }
        let mut sorted = sorter.sorted()?;
        let file = tempfile::tempfile_in(folder).at(folder)?;
        let mut out = BufWriter::new(&file);
        let (mut blocks, mut at) = (Vec::new(), 0);
        loop {
            let block: Vec<Placed> = sorted.by_ref().take(BLOCK).collect::<Result<_>>()?;
            let Some(first) = block.first() else { break };
            blocks.push((first.page, at));
            let bytes = bincode::serialize(&block).expect("numbers have bytes");
            let frame = frames::frame(0, at, &bytes);
            out.write_all(&frame).at(folder)?;
            at += frame.len() as u64;
        }
        out.flush().at(folder)?;
        drop(out);
        Ok(PassagesByPage { file: FrameFile { path: folder.to_path_buf(), file }, end: at, blocks })
    }

    /// The passages of the page with this id, in the order in which they begin, and the number of the first among all passages; none if it has no
    /// passage.
    pub fn of_page(&self, id: &str) -> Result<Option<(u64, Vec<Range<usize>>)>> {
        let page = xxh3_128(id.as_bytes());
        let mut places = Vec::new();
        let mut first = None;
        let mut body = Vec::new();
        let from = self.blocks.partition_point(|&(first, _)| first < page).saturating_sub(1);
        let blocks = (from..).zip(&self.blocks[from..]);
        for (number, &(_, at)) in blocks.take_while(|(_, (first, _))| *first <= page) {
            let rows: Option<Vec<Placed>> = match self.file.read(at, self.end, &mut body)? {
                FoundFrame::Frame(_) => bincode::deserialize(&body).ok(),
                _ => None,
            };
            let Some(rows) = rows else {
                let damaged = Error::new(Kind::Io, "a file of passages on disk is damaged");
                return Err(damaged.at(&self.file.path).help("check the disk and try again"));
            };
            for (row, placed) in rows.iter().enumerate().filter(|(_, placed)| placed.page == page) {
                first.get_or_insert((BLOCK * number + row) as u64);
                places.push(placed.begin as usize..placed.end as usize);
            }
        }
        Ok(first.map(|first| (first, places)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::FileExt;

    use proptest::prelude::*;

    use super::*;

    fn by_page(passages: &[(u8, u32)]) -> PassagesByPage {
        let rows = passages.iter().map(|&(page, begin)| {
            let (id, of, against) = (page.to_string(), String::new(), String::new());
            Ok(PassageRow { id, begin, end: begin + 9, words: 2, of, of_begin: 0, against })
        });
        PassagesByPage::of(rows, &std::env::temp_dir(), 1 << 10).unwrap()
    }

    proptest! {
        /// Pages with more passages than a block has, and blocks of many pages.
        #[test]
        fn the_passages_of_each_page_are_found(
            passages in prop::collection::vec((0..40_u8, any::<u16>().prop_map(u32::from)), 0..900),
            most in prop::collection::vec(any::<u16>().prop_map(|begin| (7, u32::from(begin))), 0..600),
        ) {
            let passages = [passages, most].concat();
            let found = by_page(&passages);
            let mut of: BTreeMap<u8, Vec<Range<usize>>> = BTreeMap::new();
            for &(page, begin) in &passages {
                of.entry(page).or_default().push(begin as usize..begin as usize + 9);
            }
            let mut firsts = Vec::new();
            for page in 0..=41 {
                let places = of.get_mut(&page).map(|places| {
                    places.sort_by_key(|place| place.start);
                    places.clone()
                });
                let of_page = found.of_page(&page.to_string()).unwrap();
                firsts.extend(of_page.iter().map(|(first, _)| *first));
                prop_assert_eq!(of_page.map(|(_, places)| places), places);
            }
            firsts.sort_unstable();
            firsts.dedup();
            prop_assert_eq!(firsts.len(), of.len());
        }
    }

    #[test]
    fn a_flipped_bit_on_disk_is_an_error() {
        let found = by_page(&[(1, 2)]);
        found.file.file.write_all_at(&[0xff], 30).unwrap();
        assert_eq!(found.of_page("1").unwrap_err().kind(), Kind::Io);
    }
}
