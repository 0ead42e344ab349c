//! The columns of a table.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Text that is another one in nearly every row.
    Text,
    /// Text that many rows share.
    Names,
    /// A number of bits, at most 255.
    Bits,
    /// A share from 0 to 1, with four decimals.
    Share,
    /// A whole number.
    Count,
    /// `+1` or `-1`.
    Change,
    /// A day as YYYY-MM-DD.
    Day,
}

impl Values {
    /// Whether they are text, which JSON quotes.
    pub(super) fn are_text(self) -> bool {
        matches!(self, Values::Text | Values::Names | Values::Day)
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub values: Values,
    /// Whether some rows have no value.
    pub is_optional: bool,
    /// How the rows are sorted by it, if they are.
    pub sorted: Option<Sorted>,
}

/// Which way the rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorted {
    /// The smallest value first.
    Ascending,
    /// The largest value first.
    Descending,
}

impl ResultColumn {
    /// A column that has a value in every row.
    pub const fn new(name: &'static str, values: Values) -> ResultColumn {
        ResultColumn { name, values, is_optional: false, sorted: None }
    }

    /// The column, with rows that have no value.
    pub const fn or_null(self) -> ResultColumn {
        ResultColumn { is_optional: true, ..self }
    }

    /// The column, by which the rows are sorted.
    pub const fn ascending(self) -> ResultColumn {
        ResultColumn { sorted: Some(Sorted::Ascending), ..self }
    }

    /// The column, by which the rows are sorted, the largest first.
    pub const fn descending(self) -> ResultColumn {
        ResultColumn { sorted: Some(Sorted::Descending), ..self }
    }
}
