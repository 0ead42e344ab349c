//! Object stores in a build without them: none can be opened.

use std::convert::Infallible;
use std::io;
#[cfg(feature = "parquet")]
use std::ops::Range;

use super::address::Address;
use super::remote::Remote;
use crate::error::Result;

pub struct Objects(Infallible);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectFile(Infallible);

impl Objects {
    pub fn open(address: &Address) -> Result<Objects> {
        Err(address.needs_feature())
    }

    pub(crate) fn written_once(&self, _: &str, _: u64) -> Result<ObjectFile> {
        match self.0 {}
    }

    pub fn one(&self) -> Result<Option<ObjectFile>> {
        match self.0 {}
    }

    pub fn below(&self, _: &str) -> Objects {
        match self.0 {}
    }

    pub fn folders(&self) -> Result<Vec<String>> {
        match self.0 {}
    }

    pub fn all(&self) -> Result<Vec<(String, ObjectFile)>> {
        match self.0 {}
    }
}

impl ObjectFile {
    pub fn address(&self) -> &Address {
        match self.0 {}
    }

    pub fn bytes(&self) -> u64 {
        match self.0 {}
    }

    #[cfg(feature = "parquet")]
    pub fn range(&self, _: Range<u64>) -> Result<bytes::Bytes> {
        match self.0 {}
    }

    pub fn reader(&self) -> io::Empty {
        match self.0 {}
    }

    pub fn glance(&self) -> Result<io::Empty> {
        match self.0 {}
    }

    pub fn sign(&self) -> Option<String> {
        match self.0 {}
    }

    pub fn check_unchanged(&self) -> Result<()> {
        match self.0 {}
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
    fn bytes(&self) -> u64 {
        match self.0 {}
    }

    fn read_exact_at(&self, _: &mut [u8], _: u64) -> Result<()> {
        match self.0 {}
    }
}
