//! Object stores in a build without them: none can be opened.

use std::convert::Infallible;
use std::io;
#[cfg(feature = "parquet")]
use std::ops::Range;

use super::address::Address;
use super::remote::Remote;
use crate::error::Result;

/// Methods of a type that has no value, so that nobody calls them.
macro_rules! never_called {
    ($($(#[$condition:meta])? $visible:vis fn $name:ident($($type:ty),*) -> $given:ty;)*) => {
        $($(#[$condition])? $visible fn $name(&self, $(_: $type),*) -> $given { match self.0 {} })*
    };
}

pub struct Objects(Infallible);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectFile(Infallible);

impl Objects {
    pub fn open(address: &Address) -> Result<Objects> {
        Err(address.needs_feature())
    }

    never_called! {
        pub(crate) fn written_once(&str, u64) -> Result<ObjectFile>;
        pub fn one() -> Result<Option<ObjectFile>>;
        pub fn below(&str) -> Objects;
        pub fn folders() -> Result<Vec<String>>;
        pub fn all() -> Result<Vec<(String, ObjectFile)>>;
    }
}

impl ObjectFile {
    never_called! {
        pub fn address() -> &Address;
        pub fn bytes() -> u64;
        #[cfg(feature = "parquet")] pub fn range(Range<u64>) -> Result<bytes::Bytes>;
        pub fn reader() -> io::Empty;
        pub fn glance() -> Result<io::Empty>;
        pub fn sign() -> Option<String>;
        pub fn check_unchanged() -> Result<()>;
    }
}

#[derive(Clone, Debug)]
pub struct ReadAhead;

impl ReadAhead {
    pub fn of(_: usize) -> ReadAhead {
        ReadAhead
    }

    pub fn announce(&self, _: impl Iterator<Item = (u32, ObjectFile)>) {}

    pub fn open(&self, _: u32, _: &ObjectFile) -> io::Empty {
        io::empty()
    }
}

impl Remote for ObjectFile {
    never_called! {
        fn bytes() -> u64;
        fn read_exact_at(&mut [u8], u64) -> Result<()>;
    }
}
