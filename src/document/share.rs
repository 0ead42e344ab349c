//! The share of the inputs that one process reads.

use super::inputs::{Input, Inputs};

/// The share of the inputs that process `index` of `of` processes reads. Together the shares are the
/// whole: every record once, at the same position whatever `of` is.
///
/// With at least as many files as processes, a process reads whole files: file `f` belongs to process
/// `f % of`. With fewer files, every process reads every file of records and keeps each `of`-th portion:
/// of 2 files and 3 processes, portion `b` of file `f` belongs to process `(f + b) % 3`. Streams belong
/// to process 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of this process, counted from 0.
    pub index: u32,
    /// The number of processes.
    pub of: u32,
}

impl Share {
    /// All of the inputs.
    pub const WHOLE: Share = Share { index: 0, of: 1 };

    /// Whether this share has some records of a file.
    pub(super) fn reads(self, inputs: &Inputs, file: u32) -> bool {
        let input = &inputs.files()[file as usize];
        self.owns(file, input) || self.splits(inputs, input)
    }

    /// Whether this share counts what is counted once for each file.
    pub(super) fn owns(self, file: u32, input: &Input) -> bool {
        if input.is_stream() { self.index == 0 } else { self.holds(file, 0) }
    }

    /// Whether a file is divided among the processes portion by portion.
    pub(super) fn splits(self, inputs: &Inputs, input: &Input) -> bool {
        let by_file = inputs.files().len() >= self.of as usize;
        !by_file && !input.is_stream() && !input.format().is_whole_file()
    }

    /// Whether portion `number` of `file` belongs to this share.
    pub(super) fn holds(self, file: u32, number: u64) -> bool {
        (u64::from(file) + number) % u64::from(self.of) == u64::from(self.index)
    }
}
