//! How many bytes of near pages an answer may name in all.

use crate::work::Work;

pub(super) const PAGE_BYTES: usize = 64;

pub(super) const ANSWER_BYTES: usize = 64;

/// The bytes of near pages that are left. Ids may be long, so a limit of their number says little.
pub(super) struct Ration(usize);

impl Ration {
    pub(super) fn new(bytes: usize) -> Ration {
        Ration(bytes)
    }

    /// Leaves of `near` the first pages that fit, each with the `id` that it has, and has the `work` hold them. Returns how many are left
    /// out.
    pub(super) fn cut<T>(
        &mut self,
        near: &mut Vec<T>,
        id: impl Fn(&T) -> &str,
        work: &mut Work<'_>,
    ) -> u64 {
        let mut fits = 0;
        for page in &*near {
            let bytes = PAGE_BYTES + id(page).len();
            let left = self.0.checked_sub(bytes);
            let Some(left) = left.filter(|_| work.hold(bytes)) else {
                // What comes later must not be named instead of what is nearer.
                self.0 = 0;
                break;
            };
            self.0 = left;
            fits += 1;
        }
        let left_out = near.len() - fits;
        near.truncate(fits);
        left_out as u64
    }
}
