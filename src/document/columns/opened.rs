//! A file of columns, opened where it is, and read at any place.

use std::fs::File;
use std::io::{self, Read};
#[cfg(not(feature = "object-store"))]
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use crate::document::inputs::Input;
use crate::document::origin::Origin;
use crate::error::{At, Error, Kind, Result};

#[cfg(feature = "object-store")]
pub(in crate::rooms::document) use super::blocks::Opened;

#[cfg(not(feature = "object-store"))]
pub(in crate::rooms::document) type Opened = File;

pub(in crate::rooms::document) fn bytes_of(input: &Input) -> Result<Opened> {
    let path = input.path();
    match input.origin() {
        Origin::File(_) => {
            let file = File::open(path).at(path)?;
            #[cfg(feature = "object-store")]
            let file = file.into();
            Ok(file)
        }
        #[cfg(feature = "object-store")]
        Origin::Object(object) => Ok(object.clone().into()),
        _ => {
            let what =
                "a file of columns cannot be read from a stream, for it is read at several places";
            Err(Error::new(Kind::Usage, what)
                .at(path)
                .found(input.format())
                .help("give the file by its name"))
        }
    }
}

#[derive(Clone)]
pub(in crate::rooms::document) struct Stretch {
    pub(in crate::rooms::document) of: Rc<Opened>,
    pub(in crate::rooms::document) at: u64,
    pub(in crate::rooms::document) end: u64,
}

impl Read for Stretch {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        let read = read_at(&self.of, self.at, &mut into[..most])?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(not(feature = "object-store"))]
fn read_at(file: &Opened, at: u64, into: &mut [u8]) -> io::Result<usize> {
    file.read_at(into, at)
}

#[cfg(feature = "object-store")]
fn read_at(file: &Opened, at: u64, into: &mut [u8]) -> io::Result<usize> {
    file.read_at(at, into)
}
