//! The rows of a file after others came between them and some went.

/// For each row its new number. Only where the difference changes is something kept.
#[derive(Debug, Default)]
pub(super) struct Renumbering {
    /// From this row on, this is added, up to the next such row.
    shifts: Vec<(u32, i64)>,
    /// The rows that are gone, in order.
    removed: Vec<u32>,
}

impl Renumbering {
    /// The next row has this number now.
    pub(super) fn keep(&mut self, row: u32, now: u32) {
        let shift = i64::from(now) - i64::from(row);
        if self.shifts.last().is_none_or(|&(_, last)| last != shift) {
            self.shifts.push((row, shift));
        }
    }

    /// The next row is gone.
    pub(super) fn remove(&mut self, row: u32) {
        self.removed.push(row);
    }

    /// The number of a row now; none if it is gone.
    pub(super) fn row(&self, row: u32) -> Option<u32> {
        if self.removed.binary_search(&row).is_ok() {
            return None;
        }
        let after = self.shifts.partition_point(|&(from, _)| from <= row);
        let (_, shift) = self.shifts[after.checked_sub(1)?];
        u32::try_from(i64::from(row) + shift).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_move_by_what_came_before_them() {
        let mut renumbering = Renumbering::default();
        // Rows 0 to 4: one comes before 0, row 1 goes, and two come before 3.
        renumbering.keep(0, 1);
        renumbering.remove(1);
        renumbering.keep(2, 2);
        renumbering.keep(3, 5);
        renumbering.keep(4, 6);
        let rows: Vec<_> = (0..5).map(|row| renumbering.row(row)).collect();
        assert_eq!(rows, [Some(1), None, Some(2), Some(5), Some(6)]);
    }
}
