//! Files that are opened in their order. Of objects, several are on their way at once.

use std::io::Read;

use super::format::Format;
use super::inputs::Inputs;
use super::origin::Origin;
use crate::error::Result;
use crate::storage::ReadAhead;

/// Some files of the inputs, to be opened in their order.
pub(super) struct InOrder<'a> {
    inputs: &'a Inputs,
    ahead: ReadAhead,
}

impl<'a> InOrder<'a> {
    /// The files that are `wanted` by their numbers, with so much memory for objects that are on their way.
    pub(super) fn of(
        inputs: &'a Inputs,
        wanted: impl Fn(u32) -> bool,
        memory_bytes: usize,
    ) -> InOrder<'a> {
        let objects = (0..).zip(inputs.files()).filter_map(|(number, file)| match file.origin() {
            Origin::Object(object) if wanted(number) => Some((number, object.clone())),
            _ => None,
        });
        InOrder { inputs, ahead: ReadAhead::of(objects.collect(), memory_bytes) }
    }

    /// Opens a file for reading in order. Other files than the wanted ones are read without anything ahead of them.
    pub(super) fn open(&self, number: u32) -> Result<Box<dyn Read>> {
        let file = &self.inputs.files()[number as usize];
        match file.origin() {
            Origin::Object(object) => Ok(Box::new(self.ahead.open(number, object))),
            _ => file.open(),
        }
    }
}

/// Whether a file of this format is read in order.
pub(super) fn is_read_in_order(format: Format) -> bool {
    format != Format::Parquet
}
