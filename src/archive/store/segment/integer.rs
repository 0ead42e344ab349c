//! The types whose values are integers in a segment.

use crate::error::Result;
use crate::fingerprint::Class;
use crate::store::damage::damaged;

/// A type whose values are integers in a segment.
pub trait Integer: Sized {
    /// The value of a row of which nothing is known.
    const NONE: Self;

    fn number(&self) -> u64;

    fn of(number: u64) -> Result<Self>;
}

impl Integer for u64 {
    const NONE: u64 = 0;

    fn number(&self) -> u64 {
        *self
    }

    fn of(number: u64) -> Result<u64> {
        Ok(number)
    }
}

/// `i64::MIN` also means unknown.
impl Integer for Option<i64> {
    const NONE: Option<i64> = None;

    fn number(&self) -> u64 {
        self.unwrap_or(i64::MIN).cast_unsigned()
    }

    fn of(number: u64) -> Result<Option<i64>> {
        Ok(Some(number.cast_signed()).filter(|&known| known != i64::MIN))
    }
}

impl Integer for Class {
    const NONE: Class = Class::Full;

    fn number(&self) -> u64 {
        *self as u64
    }

    fn of(number: u64) -> Result<Class> {
        let class = [Class::Full, Class::Short].into_iter().find(|it| *it as u64 == number);
        class.ok_or_else(|| damaged("the class of a row is unknown").found(number))
    }
}
