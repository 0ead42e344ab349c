//! What a Parquet file says of itself, checked before the library reads it: each field of a struct has the type of `parquet.thrift`,
//! and each list has its elements.
//!
//! The library takes a field for what its number says, of whatever type it is, and passes over lists whose elements are not
//! there. A few bytes that were written to hurt would keep it busy for days. What passes here it reads in linear time.

use std::io::Read;

use parquet::errors::ParquetError;
use thrift::protocol::{TCompactInputProtocol, TInputProtocol, TType};
use thrift::{ProtocolError, ProtocolErrorKind};

use Type::{Binary, Bool, Double, I8, I16, I32, I64, List, Struct};

const MOST_DEPTH: usize = 32;

pub(super) type Fields = &'static [(i16, Type)];

/// The type of a field. An enum is an `I32`, a union a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List(&'static Type),
    Struct(Fields),
}

pub(super) const FILE: Fields = &[
    (1, I32),
    (2, List(&Struct(SCHEMA_ELEMENT))),
    (3, I64),
    (4, List(&Struct(ROW_GROUP))),
    (5, List(&Struct(KEY_VALUE))),
    (6, Binary),
    (7, List(&Struct(&[(1, EMPTY), (2, EMPTY)]))),
];

pub(super) const PAGE: Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, Struct(STATISTICS))])),
    (6, EMPTY),
    (7, Struct(&[(1, I32), (2, I32), (3, Bool)])),
    (8, Struct(DATA_PAGE_V2)),
];

const EMPTY: Type = Struct(&[]);

const DATA_PAGE_V2: Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, I32),
    (6, I32),
    (7, Bool),
    (8, Struct(STATISTICS)),
];

const STATISTICS: Fields = &[
    (1, Binary),
    (2, Binary),
    (3, I64),
    (4, I64),
    (5, Binary),
    (6, Binary),
    (7, Bool),
    (8, Bool),
    (9, I64),
];

const SCHEMA_ELEMENT: Fields = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, Binary),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, Struct(LOGICAL_TYPE)),
];

const TIME: Type = Struct(&[(1, Bool), (2, Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);

const LOGICAL_TYPE: Fields = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Struct(&[(1, I32), (2, I32)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Struct(&[(1, I8), (2, Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Struct(&[(1, I8)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, I32)])),
    (19, EMPTY),
];

const ROW_GROUP: Fields = &[
    (1, List(&Struct(COLUMN_CHUNK))),
    (2, I64),
    (3, I64),
    (4, List(&Struct(&[(1, I32), (2, Bool), (3, Bool)]))),
    (5, I64),
    (6, I64),
    (7, I16),
];

const COLUMN_CHUNK: Fields = &[
    (1, Binary),
    (2, I64),
    (3, Struct(COLUMN)),
    (4, I64),
    (5, I32),
    (6, I64),
    (7, I32),
    (9, Binary),
];

const COLUMN: Fields = &[
    (1, I32),
    (2, List(&I32)),
    (3, List(&Binary)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, List(&Struct(KEY_VALUE))),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, I32), (2, I32), (3, I32)]))),
    (14, I64),
    (15, I32),
    (16, Struct(&[(1, I64), (2, List(&I64)), (3, List(&I64))])),
    (17, Struct(&[(1, Struct(BOX)), (2, List(&I32))])),
];

const BOX: Fields = &[
    (1, Double),
    (2, Double),
    (3, Double),
    (4, Double),
    (5, Double),
    (6, Double),
    (7, Double),
    (8, Double),
];

const KEY_VALUE: Fields = &[(1, Binary), (2, Binary)];

/// Reads a struct with these fields. Calls `each` with the number and the value of each field of its own that is an `I32`.
pub(super) fn check(
    from: impl Read,
    fields: Fields,
    each: &mut dyn FnMut(i16, i32),
) -> Result<(), ParquetError> {
    let mut from = TCompactInputProtocol::new(from);
    read_struct(&mut from, fields, MOST_DEPTH, each).map_err(|cause| {
        let cause = match cause {
            thrift::Error::Protocol(cause) => cause.message,
            other => other.to_string(),
        };
        ParquetError::General(format!("what the file says of itself cannot be read: {cause}"))
    })
}

fn read_struct(
    from: &mut dyn TInputProtocol,
    fields: Fields,
    depth: usize,
    each: &mut dyn FnMut(i16, i32),
) -> thrift::Result<()> {
    from.read_struct_begin()?;
    loop {
        let field = from.read_field_begin()?;
        let id = field.id.unwrap_or(0);
        match fields.iter().find(|(known, _)| *known == id) {
            _ if field.field_type == TType::Stop => return from.read_struct_end(),
            Some((_, I32)) if field.field_type == TType::I32 => each(id, from.read_i32()?),
            Some((_, known)) if known.on_the_wire() == field.field_type => {
                known.read(from, depth)?;
            }
            Some(_) => return Err(refused("a field has another type than in the format")),
            None => pass(from, field.field_type, depth)?,
        }
    }
}

impl Type {
    fn on_the_wire(self) -> TType {
        match self {
            Bool => TType::Bool,
            I8 => TType::I08,
            I16 => TType::I16,
            I32 => TType::I32,
            I64 => TType::I64,
            Double => TType::Double,
            Binary => TType::String,
            List(_) => TType::List,
            Struct(_) => TType::Struct,
        }
    }

    fn read(self, from: &mut dyn TInputProtocol, depth: usize) -> thrift::Result<()> {
        let below = deeper(depth)?;
        match self {
            Struct(fields) => read_struct(from, fields, below, &mut |_, _| ()),
            List(element) => {
                let list = from.read_list_begin()?;
                // Some writers give an empty list no type.
                if list.size > 0 && list.element_type != element.on_the_wire() {
                    return Err(refused("a list has another type than in the format"));
                }
                (0..list.size).try_for_each(|_| element.read(from, below))
            }
            other => pass(from, other.on_the_wire(), depth),
        }
    }
}

/// Passes over a value of a later format, or one whose bytes do not matter.
fn pass(from: &mut dyn TInputProtocol, on_the_wire: TType, depth: usize) -> thrift::Result<()> {
    let below = deeper(depth)?;
    match on_the_wire {
        TType::Struct => read_struct(from, &[], below, &mut |_, _| ()),
        TType::List => {
            let list = from.read_list_begin()?;
            match list.element_type {
                // The library takes none of its bytes.
                TType::Bool if list.size > 0 => Err(refused("a list has truth values")),
                other => (0..list.size).try_for_each(|_| pass(from, other, below)),
            }
        }
        TType::Set | TType::Map => Err(refused("the format has neither sets nor maps")),
        single => from.skip(single),
    }
}

fn deeper(depth: usize) -> thrift::Result<usize> {
    depth.checked_sub(1).ok_or_else(|| refused("structs and lists lie too deep in each other"))
}

fn refused(what: &str) -> thrift::Error {
    ProtocolError::new(ProtocolErrorKind::InvalidData, what).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> Result<Vec<(i16, i32)>, String> {
        let mut numbers = Vec::new();
        check(bytes, PAGE, &mut |field, number| numbers.push((field, number)))
            .map(|()| numbers)
            .map_err(|cause| cause.to_string())
    }

    #[test]
    fn fields_have_the_types_of_the_format() {
        // Fields 1 to 3, and one of a later format.
        assert_eq!(
            said(&[0x15, 2, 0x15, 4, 0x15, 6, 0xf8, 1, 9, 0]),
            Ok(vec![(1, 1), (2, 2), (3, 3)])
        );
        // Field 1 as bytes; the library takes it for a number all the same.
        assert!(said(&[0x18, 1, 9, 0]).unwrap_err().contains("another type"));
        // Field 7 as a truth value, where a struct belongs.
        assert!(said(&[0x71, 0]).unwrap_err().contains("another type"));
        // The end is missing.
        assert!(said(&[0x15, 2]).is_err() && said(&[]).is_err());
    }

    #[test]
    fn lists_have_their_elements() {
        // In field 15 lists with two thousand million truth values each, of which the library takes no bytes.
        let list = [0xf1, 0xff, 0xff, 0xff, 0xff, 7];
        let lists = [&[0xf9, 0xf9, 100][..], &list.repeat(100), &[0]].concat();
        assert!(said(&lists).is_err());
        assert!(said(&[0xf9, 0x21, 1, 1, 0]).unwrap_err().contains("truth values"));
        assert_eq!(said(&[0xf9, 0x01, 0]), Ok(vec![]));
        // Numbers that are not there, and sets.
        assert!(said(&[0xf9, 0xf7, 0xff, 0xff, 3, 0]).is_err());
        assert!(said(&[0xfa, 0x13, 1, 0]).unwrap_err().contains("sets"));
        // Lists in lists, and structs in structs.
        for (field, nested) in [(0xf9, [0x19; 99]), (0xfc, [0x1c; 99])] {
            assert!(said(&[&[field], &nested[..]].concat()).unwrap_err().contains("too deep"));
        }
    }
}
