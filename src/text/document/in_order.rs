//! Files that are claimed and opened in their order. Of objects, several are on their way at once.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;

use super::format::Format;
use super::inputs::Inputs;
use super::origin::Origin;
use super::share::Share;
use crate::error::Result;
use crate::object_storage::ReadAhead;

pub(super) struct InOrder<'a> {
    inputs: &'a Inputs,
    ahead: ReadAhead,
}

impl<'a> InOrder<'a> {
    pub(super) fn of(inputs: &'a Inputs, memory_bytes: usize) -> InOrder<'a> {
        InOrder { inputs, ahead: ReadAhead::of(memory_bytes) }
    }

    pub(super) fn announce(&self, files: impl Iterator<Item = u32>) {
        self.ahead.announce(files.filter_map(|number| {
            match self.inputs.files()[number as usize].origin() {
                Origin::Object(object) => Some((number, object.clone())),
                _ => None,
            }
        }));
    }

    /// Opens a file for reading in order. Files that were not announced are read without anything ahead of them.
    pub(super) fn open(&self, number: u32) -> Result<Box<dyn Read>> {
        let file = &self.inputs.files()[number as usize];
        match file.origin() {
            Origin::Object(object) => Ok(Box::new(self.ahead.open(number, object))),
            _ => file.open(),
        }
    }
}

pub(super) fn is_read_in_order(format: Format) -> bool {
    format != Format::Parquet
}

/// The files that a reader has claimed, in ascending runs: one when it comes to it, and of objects one more, which are on their way.
pub(super) struct Claimed<'a> {
    inputs: &'a Inputs,
    runs: VecDeque<Range<u32>>,
    most: usize,
    is_over: bool,
}

impl<'a> Claimed<'a> {
    pub(super) fn of(inputs: &'a Inputs) -> Claimed<'a> {
        let far = |origin: &Origin| matches!(origin, Origin::Object(_));
        let most = 1 + usize::from(inputs.files().iter().any(|file| far(file.origin())));
        Claimed { inputs, runs: VecDeque::new(), most, is_over: false }
    }

    pub(super) fn has(&mut self, file: u32, share: &Share, files: &InOrder<'_>) -> Result<bool> {
        loop {
            self.runs.pop_front_if(|run| run.end <= file);
            if self.runs.len() == self.most || self.is_over {
                break;
            }
            let run = share.files(self.inputs)?;
            self.is_over = run.is_empty();
            files.announce(run.clone().filter(|&file| {
                let input = &self.inputs.files()[file as usize];
                is_read_in_order(input.format())
                    && !share.splits(self.inputs, input)
                    && !share.is_done(file)
            }));
            self.runs.push_back(run);
        }
        Ok(self.runs.front().is_some_and(|run| run.contains(&file)))
    }
}
