//! The columns of a table.

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
    Count,
    Change,
    Day,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    pub name: &'static str,
    pub values: Values,
    pub is_optional: bool,
    pub sorted: Option<Sorted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorted {
    Ascending,
    Descending,
}

impl ResultColumn {
    pub const fn new(name: &'static str, values: Values) -> ResultColumn {
        ResultColumn { name, values, is_optional: false, sorted: None }
    }

    pub const fn or_null(self) -> ResultColumn {
        ResultColumn { is_optional: true, ..self }
    }

    pub const fn ascending(self) -> ResultColumn {
        ResultColumn { sorted: Some(Sorted::Ascending), ..self }
    }

    pub const fn descending(self) -> ResultColumn {
        ResultColumn { sorted: Some(Sorted::Descending), ..self }
    }
}
