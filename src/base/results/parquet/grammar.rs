//! What a Parquet file says of itself, checked before the library reads it: each field of a struct has the type of `parquet.thrift`,
//! and each list has its elements.
//!
//! The library takes a field for what its number says, of whatever type it is, and passes over lists whose elements are not
//! there. A few bytes that were written to hurt would keep it busy for days. What passes here it reads in linear time.

use std::io::Read;

use parquet::errors::ParquetError;
use thrift::protocol::{TCompactInputProtocol, TInputProtocol, TType};
use thrift::{ProtocolError, ProtocolErrorKind};

use Type::{Binary, Bool, Double, I8, I16, I32, I64, List, Struct, Unknown};

const MOST_DEPTH: usize = 32;

/// The types of the fields 1, 2, 3 and so on of a struct.
pub(super) type Fields = &'static [Type];

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
    /// The format has no field of this number.
    Unknown,
}

pub(super) const FILE: Fields = &[
    I32,
    List(&Struct(SCHEMA_ELEMENT)),
    I64,
    List(&Struct(ROW_GROUP)),
    List(&KEY_VALUE),
    Binary,
    List(&Struct(&[EMPTY, EMPTY])),
];

pub(super) const PAGE: Fields = &[
    I32,
    I32,
    I32,
    I32,
    Struct(&[I32, I32, I32, I32, STATISTICS]),
    EMPTY,
    Struct(&[I32, I32, Bool]),
    Struct(&[I32, I32, I32, I32, I32, I32, Bool, STATISTICS]),
];

const EMPTY: Type = Struct(&[]);
const KEY_VALUE: Type = Struct(&[Binary, Binary]);
const STATISTICS: Type = Struct(&[Binary, Binary, I64, I64, Binary, Binary, Bool, Bool, I64]);

const SCHEMA_ELEMENT: Fields =
    &[I32, I32, I32, Binary, I32, I32, I32, I32, I32, Struct(LOGICAL_TYPE)];

const TIME: Type = Struct(&[Bool, Struct(&[EMPTY, EMPTY, EMPTY])]);
const DECIMAL: Type = Struct(&[I32, I32]);
const INTEGER: Type = Struct(&[I8, Bool]);
const VARIANT: Type = Struct(&[I8]);
const GEOMETRY: Type = Struct(&[Binary]);
const GEOGRAPHY: Type = Struct(&[Binary, I32]);

const LOGICAL_TYPE: Fields = &[
    EMPTY, EMPTY, EMPTY, EMPTY, DECIMAL, EMPTY, TIME, TIME, Unknown, INTEGER, EMPTY, EMPTY, EMPTY,
    EMPTY, EMPTY, VARIANT, GEOMETRY, GEOGRAPHY, EMPTY,
];

const ROW_GROUP: Fields =
    &[List(&Struct(COLUMN_CHUNK)), I64, I64, List(&Struct(&[I32, Bool, Bool])), I64, I64, I16];

const COLUMN_CHUNK: Fields = &[Binary, I64, Struct(COLUMN), I64, I32, I64, I32, Unknown, Binary];

const COLUMN: Fields = &[
    I32,
    List(&I32),
    List(&Binary),
    I32,
    I64,
    I64,
    I64,
    List(&KEY_VALUE),
    I64,
    I64,
    I64,
    STATISTICS,
    List(&Struct(&[I32, I32, I32])),
    I64,
    I32,
    Struct(&[I64, List(&I64), List(&I64)]),
    Struct(&[Struct(&[Double; 8]), List(&I32)]),
];

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
        let known = usize::try_from(id).ok().and_then(|id| fields.get(id.checked_sub(1)?));
        match known {
            _ if field.field_type == TType::Stop => return from.read_struct_end(),
            Some(I32) if field.field_type == TType::I32 => each(id, from.read_i32()?),
            None | Some(Unknown) => pass(from, field.field_type, depth)?,
            Some(known) if known.on_the_wire() == field.field_type => known.read(from, depth)?,
            Some(_) => return Err(refused("a field has another type than in the format")),
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
            Unknown => TType::Stop,
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
