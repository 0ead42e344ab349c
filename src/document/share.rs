//! Which part of the inputs one process reads.

use super::format::Format;
use super::inputs::{Input, Inputs};

/// Which part of the inputs one process reads, of as many as there are. All parts together are the
/// whole, each record once and at the same position.
///
/// Where there are at least as many files as processes each reads whole files; else every process
/// reads every file of lines and takes each `of`-th batch. Streams belong to process 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which process this is, counted from 0.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl Share {
    /// All of the inputs.
    pub const WHOLE: Share = Share { index: 0, of: 1 };

    /// Whether this share reads a file, all of it or the lines of some portions.
    pub(super) fn reads(self, inputs: &Inputs, file: u32) -> bool {
        let input = &inputs.files()[file as usize];
        self.owns(file, input) || self.splits(inputs, input)
    }

    /// Whether what is said once of a file is said by this share.
    pub(super) fn owns(self, file: u32, input: &Input) -> bool {
        if input.is_stream() { self.index == 0 } else { self.holds(file, 0) }
    }

    /// Whether the portions of a file are dealt out, and not whole files.
    pub(super) fn splits(self, inputs: &Inputs, input: &Input) -> bool {
        let by_file = inputs.files().len() >= self.of as usize;
        !by_file && !input.is_stream() && input.format() != Format::Text
    }

    /// Whether the `number`-th portion of `file` is in this share.
    pub(super) fn holds(self, file: u32, number: u64) -> bool {
        (u64::from(file) + number) % u64::from(self.of) == u64::from(self.index)
    }
}
