//! The words of a page and where they stand, and both as bytes.
//!
//! ```text
//! "Spring tides. Spring"     hashes  a, b, a     begins 0, 7, 14     lengths 6, 5, 6
//! ```

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::features::shingle_hashes::{Buffer, each_word_and_place};

/// The bytes of a word in a segment where no two pages have text in common: 4 of its hash, and what is left of its place when that is packed.
pub(super) const MEAN_BYTES: f64 = 5.3;

#[derive(Clone, Debug, Default)]
pub struct PageWords {
    /// The lower 32 bits of the XXH3-64 of each.
    pub hashes: Vec<u32>,
    /// Where each stands in the text, in bytes. Two can stand at one place: those of ½ are 1 and 2.
    pub places: Vec<Range<u32>>,
    buffer: Buffer,
}

impl PageWords {
    /// Takes the words of this text in place of the last ones.
    pub fn take(&mut self, text: &str) -> Result<()> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::new(Kind::BadData, "the text is too long to find passages in it")
                .expected("less than 4 GiB")
                .found(text.len()));
        }
        let PageWords { hashes, places, buffer } = self;
        hashes.clear();
        places.clear();
        let place = |place: Range<usize>| places.push(place.start as u32..place.end as u32);
        each_word_and_place(text, buffer, |hash| hashes.push(hash as u32), place);
        Ok(())
    }

    /// Writes them: how many they are, their hashes, how far each begins from the one before, and their lengths.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        write_number(self.hashes.len() as u32, out);
        out.extend(self.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        let mut last = 0;
        for place in &self.places {
            write_number(place.start - last, out);
            last = place.start;
        }
        self.places.iter().for_each(|place| write_number(place.end - place.start, out));
    }

    /// Reads what was written in place of the last words.
    pub fn read(&mut self, row: &[u8]) -> Result<()> {
        self.read_from(row).ok_or_else(|| {
            Error::new(Kind::BadData, "the words of a page cannot be read").found(row.len())
        })
    }

    /// How many words were written as this row.
    pub(super) fn count(mut row: &[u8]) -> u64 {
        read_number(&mut row).unwrap_or_default().into()
    }

    fn read_from(&mut self, mut row: &[u8]) -> Option<()> {
        let PageWords { hashes, places, .. } = self;
        let words = read_number(&mut row)? as usize;
        let bytes = row.split_off(..words.checked_mul(size_of::<u32>())?)?;
        hashes.clear();
        hashes.extend(bytes.as_chunks().0.iter().map(|&hash| u32::from_le_bytes(hash)));
        places.clear();
        let mut start = 0_u32;
        for _ in 0..words {
            start = start.checked_add(read_number(&mut row)?)?;
            places.push(start..start);
        }
        for place in places {
            place.end = place.start.checked_add(read_number(&mut row)?)?;
        }
        row.is_empty().then_some(())
    }
}

/// Writes 7 bits a byte, the lowest first; bit 7 says that more follow.
fn write_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(row: &[u8]) -> Result<PageWords> {
        let mut words = PageWords::default();
        words.read(row).map(|()| words)
    }

    proptest! {
        #[test]
        fn words_come_back(text in "([ -~]|[一-三] ?|[éßİΣ½ﬁ]|\\PC|[a-z]{1,20} {0,200}){0,40}") {
            let (mut words, mut row) = (PageWords::default(), Vec::new());
            words.take(&text)?;
            words.write(&mut row);
            prop_assert_eq!(PageWords::count(&row), words.hashes.len() as u64);
            let back = read(&row)?;
            prop_assert_eq!((back.hashes, back.places), (words.hashes, words.places));
        }

        #[test]
        fn hostile_bytes_never_panic(row in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(words) = read(&row) {
                prop_assert_eq!(words.hashes.len(), words.places.len());
            }
        }
    }

    #[test]
    fn more_words_than_bytes_are_refused() {
        let error = read(&[0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
    }
}
