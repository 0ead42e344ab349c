//! Objects that are read in order, one after the other. What comes next is on its way meanwhile: further ranges of the object that is
//! read, and the objects behind it.
//!
//! A request of an object takes tens of milliseconds before the first byte comes, however short the object is. So many requests are
//! on their way at once, as many as the memory for their answers allows.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

use bytes::{Buf, Bytes};
use tokio::task::JoinHandle;

use super::connect::runtime;
use super::reader::ObjectFile;
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};

/// The bytes of a range: a part of the memory, between these bounds. A long range wastes less time on its first byte, and many short
/// ones share the link better.
const RANGE_BYTES: [u64; 2] = [256 << 10, 8 << 20];

const RANGES: u64 = 16;

const MOST_REQUESTS: usize = 128;

const ALONE_BYTES: usize = 32 << 20;

/// Objects in the order in which they are read, and what is on its way of them.
#[derive(Clone, Debug)]
pub struct ReadAhead(Rc<RefCell<Ahead>>);

#[derive(Debug)]
struct Ahead {
    files: VecDeque<(u32, ObjectFile)>,
    next: u64,
    coming: VecDeque<(u32, u64, JoinHandle<Result<Bytes>>)>,
    coming_bytes: u64,
    most_bytes: u64,
}

impl ReadAhead {
    pub fn of(memory_bytes: usize) -> ReadAhead {
        let (files, coming) = (VecDeque::new(), VecDeque::new());
        let most_bytes = memory_bytes as u64;
        let ahead = Ahead { files, next: 0, coming, coming_bytes: 0, most_bytes };
        ReadAhead(Rc::new(RefCell::new(ahead)))
    }

    /// Says that these objects will be read, after all that were announced before. Their numbers ascend.
    pub fn announce(&self, files: impl Iterator<Item = (u32, ObjectFile)>) {
        self.0.borrow_mut().files.extend(files);
    }

    /// Reads `file`, the object of this number. What was not read of objects before it is dropped; an object that is not next is read
    /// alone.
    pub fn open(&self, number: u32, file: &ObjectFile) -> ObjectReader {
        if !self.0.borrow_mut().pass(number) {
            return file.reader();
        }
        ObjectReader { ahead: self.clone(), number, here: Bytes::new() }
    }
}

impl ObjectFile {
    pub fn reader(&self) -> ObjectReader {
        let alone = ReadAhead::of(ALONE_BYTES);
        alone.announce([(0, self.clone())].into_iter());
        alone.open(0, self)
    }

    /// Reads it in order for somebody who needs the first bytes only: not ahead at first.
    pub fn glance(&self) -> Result<ObjectReader> {
        let here = self.first_bytes()?;
        let reader = self.reader();
        reader.ahead.0.borrow_mut().next = here.len() as u64;
        Ok(ObjectReader { here, ..reader })
    }
}

impl Ahead {
    /// Drops what is of objects before this number. Returns whether the object of this number is next.
    fn pass(&mut self, number: u32) -> bool {
        while self.coming.front().is_some_and(|(of, ..)| *of < number) {
            self.take().expect("there is one").abort();
        }
        while self.files.front().is_some_and(|(of, _)| *of < number) {
            self.files.pop_front();
            self.next = 0;
        }
        let next = self.coming.front().map(|(of, ..)| *of);
        next.or_else(|| self.files.front().map(|(of, _)| *of)) == Some(number)
    }

    fn take(&mut self) -> Option<JoinHandle<Result<Bytes>>> {
        let (_, bytes, answer) = self.coming.pop_front()?;
        self.coming_bytes -= bytes;
        Some(answer)
    }

    fn ask(&mut self) -> Result<()> {
        while let Some((number, file)) = self.files.front() {
            let (number, left) = (*number, file.bytes().saturating_sub(self.next));
            let [least, most] = RANGE_BYTES;
            let kept = file.kept().filter(|_| self.next == 0);
            let range_bytes = left.min((self.most_bytes / RANGES).clamp(least, most));
            let range_bytes = kept.as_ref().map_or(range_bytes, |kept| kept.len() as u64);
            let is_full = self.coming.len() >= MOST_REQUESTS
                || self.coming_bytes + range_bytes > self.most_bytes;
            if is_full && !self.coming.is_empty() {
                break;
            }
            if range_bytes > 0 {
                let answer = match kept {
                    Some(kept) => runtime()?.spawn(async { Ok(kept) }),
                    None => file.begin(self.next..self.next + range_bytes)?,
                };
                self.coming.push_back((number, range_bytes, answer));
                self.coming_bytes += range_bytes;
                self.next += range_bytes;
            }
            if range_bytes == left {
                self.files.pop_front();
                self.next = 0;
            }
        }
        Ok(())
    }

    fn next_of(&mut self, number: u32) -> Result<Option<JoinHandle<Result<Bytes>>>> {
        self.ask()?;
        Ok(match self.coming.front() {
            Some((of, ..)) if *of == number => self.take(),
            _ => None,
        })
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.coming.drain(..).for_each(|(_, _, answer)| answer.abort());
    }
}

pub struct ObjectReader {
    ahead: ReadAhead,
    number: u32,
    here: Bytes,
}

impl ObjectReader {
    fn turn(&mut self) -> Result<()> {
        let answer = self.ahead.0.borrow_mut().next_of(self.number)?;
        if let Some(answer) = answer {
            let gone = |_| Error::new(Kind::Temporary, "a connection was given up");
            self.here = runtime()?.block_on(answer).map_err(gone)??;
            progress::tick(Activity::Reading);
            self.ahead.0.borrow_mut().ask()?;
        }
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.here.is_empty() {
            self.turn().map_err(io::Error::other)?;
        }
        let read = into.len().min(self.here.len());
        self.here.copy_to_slice(&mut into[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use object_store::memory::InMemory;

    use super::super::{Address, Objects};
    use super::*;

    fn objects(sizes: &[usize]) -> Vec<(ObjectFile, Vec<u8>)> {
        let address = Address::of(Path::new("s3://b/in")).unwrap().unwrap();
        let objects = Objects::over(Arc::new(InMemory::new()), &address);
        let made = sizes.iter().enumerate().map(|(at, &size)| {
            let bytes: Vec<u8> = (0..size).map(|place| (place * (at + 7) / 251) as u8).collect();
            objects.put_if(&at.to_string(), bytes.clone(), None).unwrap().unwrap();
            let found = objects.find(&at.to_string()).unwrap().unwrap();
            (objects.file(&found).unwrap(), bytes)
        });
        made.collect()
    }

    fn ahead(files: impl IntoIterator<Item = (u32, ObjectFile)>, memory_bytes: usize) -> ReadAhead {
        let ahead = ReadAhead::of(memory_bytes);
        ahead.announce(files.into_iter());
        ahead
    }

    fn whole(mut reader: ObjectReader) -> Vec<u8> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn objects_are_read_in_order_whatever_is_left_out() {
        let range = RANGE_BYTES[0] as usize;
        let all = objects(&[0, 1, range - 1, range, 3 * range + 5, 0, 9, 2 * range, 4]);
        let files = || (0..).zip(all.iter().map(|(file, _)| file.clone()));
        for memory_bytes in [0, 2 * range, 16 * range, 1 << 30] {
            for opened in [vec![0, 1, 2, 3, 4, 5, 6, 7, 8], vec![4, 6], vec![2, 2, 8, 1]] {
                let ahead = ahead(files(), memory_bytes);
                for number in opened {
                    let (file, bytes) = &all[number as usize];
                    assert!(whole(ahead.open(number, file)) == *bytes, "{number}, {memory_bytes}");
                }
            }
            let mut glanced = [0; 2];
            let _ = all[3].0.glance().unwrap().read_exact(&mut glanced);
            assert!(whole(all[4].0.glance().unwrap()) == all[4].1);
            let ahead = ahead(files(), memory_bytes);
            let mut first = [0; 7];
            ahead.open(4, &all[4].0).read_exact(&mut first).unwrap();
            assert_eq!(first, all[4].1[..7]);
            assert!(whole(ahead.open(7, &all[7].0)) == all[7].1, "after an object that was left");
        }
        let ahead = ahead([(4, all[4].0.clone())], 0);
        assert!(whole(ahead.open(3, &all[3].0)) == all[3].1, "an object that was not announced");
        ahead.announce(files().skip(6));
        for number in [4, 6, 7, 8] {
            let (file, bytes) = &all[number as usize];
            assert!(whole(ahead.open(number, file)) == *bytes, "announced in two parts: {number}");
        }
    }

    #[test]
    fn what_is_on_its_way_is_bounded() {
        let range = RANGE_BYTES[0] as usize;
        let all = objects(&[vec![9; 500], vec![5 * range]].concat());
        let files: VecDeque<_> = (0..).zip(all.iter().map(|(file, _)| file.clone())).collect();
        for memory_bytes in [0, 3 * range, 1 << 30] {
            let ahead = ahead(files.clone(), memory_bytes);
            for (number, file) in &files {
                let _ = whole(ahead.open(*number, file));
                let ahead = ahead.0.borrow();
                assert!(ahead.coming.len() <= MOST_REQUESTS);
                assert!(ahead.coming_bytes <= ahead.most_bytes || ahead.coming.len() == 1);
                let sum: u64 = ahead.coming.iter().map(|(_, bytes, _)| bytes).sum();
                assert_eq!(ahead.coming_bytes, sum);
            }
        }
    }
}
