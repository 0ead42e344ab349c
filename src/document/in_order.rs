//! Files that are opened in their order. Of objects, several are on their way at once.

use std::io::Read;

use super::format::Format;
use super::inputs::Inputs;
use super::origin::Origin;
use crate::error::Result;
use crate::storage::ReadAhead;

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
    !matches!(format, Format::Parquet | Format::Arrow)
}
