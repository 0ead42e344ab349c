//! Object stores in a build without them: none can be opened.

use std::convert::Infallible;
use std::io;
#[cfg(feature = "parquet")]
use std::ops::Range;

use super::address::Address;
use super::remote::Remote;
use crate::error::Result;

pub(crate) struct Objects(Infallible);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectFile(Infallible);

impl Objects {
    pub(crate) fn open(address: &Address) -> Result<Objects> {
        Err(address.needs_feature())
    }

    pub(crate) fn written_once(&self, _: &str, _: u64) -> Result<ObjectFile> {
        match self.0 {}
    }

    pub(crate) fn one(&self) -> Result<Option<ObjectFile>> {
        match self.0 {}
    }

    pub(crate) fn below(&self, _: &str) -> Objects {
        match self.0 {}
    }

    pub(crate) fn folders(&self) -> Result<Vec<String>> {
        match self.0 {}
    }

    pub(crate) fn all(&self) -> Result<Vec<(String, ObjectFile)>> {
        match self.0 {}
    }
}

impl ObjectFile {
    pub(crate) fn address(&self) -> &Address {
        match self.0 {}
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self.0 {}
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn range(&self, _: Range<u64>) -> Result<bytes::Bytes> {
        match self.0 {}
    }

    pub(crate) fn reader(&self) -> io::Empty {
        match self.0 {}
    }

    pub(crate) fn glance(&self) -> Result<io::Empty> {
        match self.0 {}
    }

    pub(crate) fn sign(&self) -> Option<String> {
        match self.0 {}
    }

    pub(crate) fn check_unchanged(&self) -> Result<()> {
        match self.0 {}
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ReadAhead;

impl ReadAhead {
    pub(crate) fn of(_: usize) -> ReadAhead {
        ReadAhead
    }

    pub(crate) fn announce(&self, _: impl Iterator<Item = (u32, ObjectFile)>) {}

    pub(crate) fn open(&self, _: u32, _: &ObjectFile) -> io::Empty {
        io::empty()
    }
}

impl Remote for ObjectFile {
    fn bytes(&self) -> u64 {
        match self.0 {}
    }

    fn read_exact_at(&self, _: &mut [u8], _: u64) -> Result<()> {
        match self.0 {}
    }
}
