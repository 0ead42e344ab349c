//! The flag by which a day that lies ahead is meant.

use clap::Args;
use dupsieve::Result;
use dupsieve::rooms::store::Day;

/// Whether a day that lies ahead is meant.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ConfirmDay {
    /// The day is meant, though it lies more than a week after today and after the newest day of the store; or the days that
    /// leave are meant, though none stays
    #[arg(long)]
    confirm_day: bool,
}

impl ConfirmDay {
    /// Does this check, which is given the day that it is, unless what it would refuse is meant.
    pub(crate) fn check(self, check: impl FnOnce(Day) -> Result<()>) -> Result<()> {
        if self.confirm_day { Ok(()) } else { check(Day::today()) }
    }
}
