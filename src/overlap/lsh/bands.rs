//! The band keys that a segment keeps of each page, so that pages of a store are found again by their buckets.
//!
//! A key takes five bytes in a segment: 40 bits of the hash of the rows of a band. The number of the band is its
//! place.

use std::fmt;
use std::str::FromStr;

use super::banding::Banding;
use super::shingle::Shingle;
use super::space::Space;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::minhash::Permutations;
use crate::tables::keys::KEY_BYTES;

/// Everything that decides the band keys of a document. Written as the family, bands and rows, then what is not
/// as usual: `jaccard-14x8`, `jaccard-20x5,words:3,seed:7`, `euclidean-20x2,slot:0.5`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    /// What documents are compared by.
    pub space: Space,
    /// Bands and rows.
    pub banding: Banding,
    /// The elements of texts.
    pub shingle: Shingle,
    /// Where the hashes of sets come from.
    pub permutations: Permutations,
    /// The width of the slots into which p-stable projections fall.
    pub slot: f64,
    /// Chooses the functions of the family.
    pub seed: u64,
}

impl Bands {
    /// The most bands: their keys take at most 1024 bytes a page.
    pub const MOST: usize = 1024 / KEY_BYTES;

    /// Bands of a family as usual.
    pub fn new(space: Space, banding: Banding) -> Bands {
        Bands {
            space,
            banding,
            shingle: Shingle::USUAL,
            permutations: Permutations::Many,
            slot: 1.0,
            seed: 0,
        }
    }

    /// The same with slots for a `least` similarity: four times as wide as the distance at which documents still match. There a hash
    /// agrees in four of five cases, as a MinHash does at a similarity of .8.
    #[must_use]
    pub fn with_slots_for(self, least: f64) -> Bands {
        let least = least.clamp(1e-4, 1.0 - 1e-4);
        Bands { slot: 4.0 * (1.0 - least) / least, ..self }
    }

    /// The bytes of the keys of a page.
    pub fn bytes(&self) -> usize {
        KEY_BYTES * self.banding.bands
    }

    /// The keys as a segment holds them. A page without any, which has nothing to compare, has ones in all
    /// bits.
    pub(super) fn write(&self, keys: Option<&[u64]>) -> Vec<u8> {
        let low = |key: &u64| *key.to_le_bytes().first_chunk::<KEY_BYTES>().expect("eight bytes");
        match keys {
            None => vec![u8::MAX; self.bytes()],
            Some(keys) => keys.iter().flat_map(low).collect(),
        }
    }

    /// Fails with [`Kind::Usage`] unless there are bands, and not too many.
    pub fn check(&self) -> Result<()> {
        self.banding.check()?;
        if self.banding.bands <= Bands::MOST && self.slot.is_finite() && self.slot > 0.0 {
            return Ok(());
        }
        Err(Error::new(Kind::Usage, "no such bands")
            .expected(format_args!("at most {} bands, and slots wider than 0", Bands::MOST))
            .found(self))
    }
}

impl fmt::Display for Bands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bands { space, banding: Banding { bands, rows }, shingle, permutations, slot, seed } =
            self;
        write!(f, "{space}-{bands}x{rows}")?;
        if *shingle != Shingle::USUAL {
            write!(f, ",{shingle}")?;
        }
        if *permutations == Permutations::One {
            f.write_str(",one")?;
        }
        if *space == Space::Euclidean && *slot != 1.0 {
            write!(f, ",slot:{slot}")?;
        }
        if *seed != 0 {
            write!(f, ",seed:{seed}")?;
        }
        Ok(())
    }
}

impl FromStr for Bands {
    type Err = Error;

    fn from_str(text: &str) -> Result<Bands> {
        let bad = || {
            Error::new(Kind::Usage, "these are no bands")
                .expected("FAMILY-BxR, such as minhash-14x8 for 14 bands of 8 rows, and behind commas words:N, characters:N, one, slot:W or seed:N")
                .found(text)
        };
        let mut parts = text.split(',');
        let (space, banding) = parts.next().and_then(|it| it.split_once('-')).ok_or_else(bad)?;
        let (bands, rows) = banding.split_once('x').ok_or_else(bad)?;
        let [bands, rows] = [bands, rows].map(str::parse);
        let (Ok(bands), Ok(rows)) = (bands, rows) else { return Err(bad()) };
        let mut wanted = Bands::new(space.parse()?, Banding { bands, rows });
        for part in parts {
            match part.split_once(':') {
                Some(("seed", seed)) => wanted.seed = seed.parse().map_err(|_| bad())?,
                Some(("slot", slot)) => wanted.slot = slot.parse().map_err(|_| bad())?,
                None if part == "one" => wanted.permutations = Permutations::One,
                _ => wanted.shingle = part.parse()?,
            }
        }
        wanted.check().map(|()| wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_read_back() {
        for text in [
            "jaccard-14x8",
            "cosine-20x16,words:3",
            "euclidean-4x4,slot:0.25",
            "jaccard-2x3,characters:24,one,seed:7",
        ] {
            assert_eq!(text.parse::<Bands>().unwrap().to_string(), text);
        }
        assert_eq!("minhash-14x8".parse::<Bands>().unwrap().to_string(), "jaccard-14x8");
        for wrong in [
            "",
            "14x8",
            "minhash",
            "minhash-14",
            "minhash-0x8",
            "minhash-8x0",
            "minhash-18446744073709551615x2",
            "minhash-64x65",
            "minhash-14x8,",
            "minhash-205x2",
            "euclidean-4x4,slot:0",
            "euclidean-4x4,slot:NaN",
            "minhash-4x4,seed:x",
        ] {
            assert_eq!(wrong.parse::<Bands>().unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
    }

    #[test]
    fn keys_are_written_band_after_band() {
        let bands: Bands = "jaccard-3x2".parse().unwrap();
        let keys = bands.banding.keys(&[1, 2, 1, 2, 3, 4]);
        let bytes = bands.write(Some(&keys));
        let read: Vec<u64> = (0..)
            .zip(bytes.as_chunks::<KEY_BYTES>().0)
            .map(|(band, key)| Banding::key(band, crate::tables::keys::key_of(key)))
            .collect();
        assert_eq!(read, keys);
        assert_eq!(bands.write(None), [u8::MAX; 15]);
    }
}
