//! The columns of a file: their names, and what their values mean.

use std::io;

use super::damage::damaged;
use super::flat::Table;
use crate::document::columns::Wanted;

/// The most memory that columns may take, those within others included, and how deep these may lie. In the file, columns can share
/// what they are.
const MOST_BYTES: usize = 64 << 20;
const MOST_DEEP: usize = 64;

const SAME_NAME: &str = "two columns of this name";

/// The version of the format in which unions lost a buffer.
const V5: i64 = 4;

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) dictionary: Option<Dictionary>,
    pub(super) children: Vec<Field>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Dictionary {
    pub(super) id: i64,
    pub(super) index: Integer,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Integer {
    pub(super) bytes: usize,
    pub(super) is_signed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Integer(Integer),
    Float(usize),
    Days,
    /// So many units since 1970, of which this many are a second. Days may be given so.
    Moments {
        units: i64,
        is_utc: bool,
        is_day: bool,
    },
    /// Texts or bytes that stand one behind the other; where each ends is a number of so many bytes.
    Texts {
        end_bytes: usize,
    },
    Views,
    Uuid,
    Struct,
    Lists {
        end_bytes: usize,
    },
    FixedLists(u64),
    /// What no field is made of, its name and how many buffers it has.
    Other(&'static str, usize),
}

pub(super) fn columns(schema: Table<'_>, version: i64) -> io::Result<Vec<Field>> {
    if schema.number::<2>(0, 0)? != 0 {
        return Err(damaged("numbers with their highest bytes first"));
    }
    let mut left = MOST_BYTES;
    fields(schema, 1, (version, &mut left), MOST_DEEP)
}

fn fields(
    of: Table<'_>,
    vector: usize,
    (version, left): (i64, &mut usize),
    deep: usize,
) -> io::Result<Vec<Field>> {
    let deep = deep.checked_sub(1).ok_or_else(|| damaged("columns too deep within others"))?;
    of.tables(vector)?.map(|table| Field::of(table?, (version, &mut *left), deep)).collect()
}

impl Field {
    fn of(table: Table<'_>, (version, left): (i64, &mut usize), deep: usize) -> io::Result<Field> {
        let dictionary = table.table(4)?.map(Dictionary::of).transpose()?;
        let name = table.text(0)?;
        let rest = left.checked_sub(size_of::<Field>() + name.len());
        *left = rest.ok_or_else(|| damaged("too many columns"))?;
        Ok(Field {
            name: name.to_owned(),
            kind: kind(table, version)?,
            dictionary,
            children: fields(table, 5, (version, left), deep)?,
        })
    }

    /// How many buffers it has in a batch, and how many columns of views, which have more of them.
    pub(super) fn buffers(&self) -> (usize, usize) {
        if self.dictionary.is_some() {
            return (2, 0);
        }
        let (mut buffers, mut views) = match self.kind {
            Kind::Integer(_) | Kind::Float(_) | Kind::Days | Kind::Moments { .. } => (2, 0),
            Kind::Uuid | Kind::Lists { .. } => (2, 0),
            Kind::Texts { .. } => (3, 0),
            Kind::Views => (2, 1),
            Kind::Struct | Kind::FixedLists(_) => (1, 0),
            Kind::Other(_, buffers) => (buffers, 0),
        };
        for child in &self.children {
            let (more, of_views) = child.buffers();
            buffers += more;
            views += of_views;
        }
        (buffers, views)
    }

    fn is_group(&self) -> bool {
        matches!(self.kind, Kind::Struct) && self.dictionary.is_none()
    }

    fn check(&self, wanted: Wanted) -> Result<(), String> {
        match (self.kind, wanted) {
            (Kind::Lists { .. } | Kind::FixedLists(1..), Wanted::Vector)
                if self.dictionary.is_none() =>
            {
                match &self.children[..] {
                    [Field { kind: Kind::Float(_), dictionary: None, .. }] => Ok(()),
                    [] => Err("lists of nothing".to_owned()),
                    [of, ..] => Err(format!("lists of {}", of.kind.name())),
                }
            }
            (Kind::Lists { .. } | Kind::FixedLists(_), _) => Err("lists".to_owned()),
            (_, Wanted::Vector) => Err("no lists".to_owned()),
            (Kind::Struct, _) => Err("a group of columns".to_owned()),
            (Kind::Float(_), Wanted::Text) | (Kind::Other(..), _) => {
                Err(self.kind.name().to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Dictionary {
    fn of(table: Table<'_>) -> io::Result<Dictionary> {
        let index = match table.table(1)? {
            Some(index) => Integer::of(index)?,
            None => Integer { bytes: 4, is_signed: true },
        };
        Ok(Dictionary { id: table.number::<8>(0, 0)?, index })
    }
}

impl Integer {
    fn of(table: Table<'_>) -> io::Result<Integer> {
        let bits = table.number::<4>(0, 0)?;
        let is_signed = table.number::<1>(1, 0)? != 0;
        match bits {
            8 | 16 | 32 | 64 => Ok(Integer { bytes: bits as usize / 8, is_signed }),
            _ => Err(damaged(format_args!("whole numbers of {bits} bits"))),
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Integer(_) => "whole numbers",
            Kind::Float(_) => "numbers with a fraction",
            Kind::Days | Kind::Moments { .. } => "times",
            Kind::Texts { .. } | Kind::Views => "texts",
            Kind::Uuid => "UUIDs",
            Kind::Struct => "groups of columns",
            Kind::Lists { .. } | Kind::FixedLists(_) => "lists",
            Kind::Other(name, _) => name,
        }
    }
}

fn kind(field: Table<'_>, version: i64) -> io::Result<Kind> {
    const UNITS: [i64; 4] = [1, 1_000, 1_000_000, 1_000_000_000];
    let number = field.number::<1>(2, 0)?;
    let no_type = || damaged("a column without a type");
    let of = field.table(3)?;
    let of = || of.ok_or_else(no_type);
    Ok(match number {
        0 => return Err(no_type()),
        1 => Kind::Other("nothing but nulls", 0),
        2 => Kind::Integer(Integer::of(of()?)?),
        3 => match of()?.number::<2>(0, 0)? {
            half_single_double @ 0..=2 => Kind::Float(2 << half_single_double),
            _ => return Err(damaged("a number of no precision")),
        },
        4 | 5 => Kind::Texts { end_bytes: 4 },
        6 => Kind::Other("truth values", 2),
        7 => match (of()?.number::<4>(1, 0)?, of()?.number::<4>(2, 128)?) {
            (0, bits @ (32 | 64 | 128)) => {
                Kind::Integer(Integer { bytes: bits as usize / 8, is_signed: true })
            }
            (0, _) => Kind::Other("decimal numbers of 256 bits", 2),
            _ => Kind::Other("decimal numbers with a fraction", 2),
        },
        8 => match of()?.number::<2>(0, 1)? {
            0 => Kind::Days,
            _ => Kind::Moments { units: 1_000, is_utc: false, is_day: true },
        },
        9 => Kind::Other("times of a day", 2),
        10 => {
            let unit = usize::try_from(of()?.number::<2>(0, 0)?).ok();
            let units = unit.and_then(|unit| UNITS.get(unit));
            let units = *units.ok_or_else(|| damaged("a time of no unit"))?;
            Kind::Moments { units, is_utc: !of()?.text(1)?.is_empty(), is_day: false }
        }
        12 => Kind::Lists { end_bytes: 4 },
        13 => Kind::Struct,
        14 => {
            let is_dense = of()?.number::<2>(0, 0)? == 1;
            Kind::Other("unions", 1 + usize::from(is_dense) + usize::from(version < V5))
        }
        15 if is_uuid(field)? && of()?.number::<4>(0, 0)? == 16 => Kind::Uuid,
        15 => Kind::Other("bytes of a fixed length", 2),
        16 => Kind::FixedLists(u64::try_from(of()?.number::<4>(0, 0)?).unwrap_or(0)),
        11 | 18 => Kind::Other("spans of time", 2),
        17 => Kind::Other("maps", 2),
        19 | 20 => Kind::Texts { end_bytes: 8 },
        21 => Kind::Lists { end_bytes: 8 },
        22 => Kind::Other("runs", 0),
        23 | 24 => Kind::Views,
        25 | 26 => Kind::Other("views of lists", 3),
        other => return Err(damaged(format_args!("a type of a later format, {other}"))),
    })
}

fn is_uuid(field: Table<'_>) -> io::Result<bool> {
    for pair in field.tables(6)? {
        let pair = pair?;
        if (pair.text(0)?, pair.text(1)?) == ("ARROW:extension:name", "arrow.uuid") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names of the first columns, at most so many. A column in another has the name of that one before its own: `meta.url`.
pub(super) fn names(columns: &[Field], most: usize) -> Vec<String> {
    let mut names = Vec::new();
    add_names(columns, "", most, &mut names);
    names
}

fn add_names(columns: &[Field], of: &str, most: usize, to: &mut Vec<String>) {
    for column in columns {
        if to.len() >= most {
            return;
        }
        let name = format!("{of}{}", column.name);
        match column.is_group() {
            true => add_names(&column.children, &format!("{name}."), most, to),
            false => to.push(name),
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::document) struct Spot {
    pub(super) column: Field,
    /// Of each of the columns that it is in, and of itself, how many buffers come before, and how many columns of views, each of
    /// which has more of them.
    pub(super) way: Vec<(usize, usize)>,
}

impl Spot {
    /// The column of a field; or what it holds, if no field can be made of it.
    pub(super) fn find(
        columns: &[Field],
        field: &str,
        wanted: Wanted,
    ) -> Option<Result<Spot, String>> {
        let mut found = Vec::new();
        Spot::add(columns, field, (&[], (0, 0)), &mut found);
        match found.len() {
            0 => None,
            1 => found.pop().map(|spot| spot.column.check(wanted).map(|()| spot)),
            _ => Some(Err(SAME_NAME.to_owned())),
        }
    }

    fn add(
        columns: &[Field],
        name: &str,
        (above, (mut buffers, mut views)): (&[(usize, usize)], (usize, usize)),
        to: &mut Vec<Spot>,
    ) {
        for column in columns {
            let way = || [above, &[(buffers, views)]].concat();
            match name.strip_prefix(&*column.name) {
                Some("") => to.push(Spot { column: column.clone(), way: way() }),
                Some(rest) if column.is_group() => {
                    if let Some(inner) = rest.strip_prefix('.') {
                        // The one buffer of a group says which rows have a group.
                        Spot::add(&column.children, inner, (&way(), (buffers + 1, views)), to);
                    }
                }
                _ => {}
            }
            let (more, of_views) = column.buffers();
            (buffers, views) = (buffers + more, views + of_views);
        }
    }
}
