//! The band keys that a segment keeps of each page, so that pages of a store are found again by their buckets.
//!
//! A key takes five bytes in a segment: 40 bits of the hash of the rows of a band. The number of the band is its
//! place.

use std::fmt;
use std::str::FromStr;

use super::banding::Banding;
use super::confirmation::Confirmation;
use super::scheme::Scheme;
use super::shingle::Shingle;
use super::space::Space;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use crate::fingerprint::minhash::Permutations;
use crate::matches::Similarity;
pub use crate::tables::keys::KEY_BYTES;
use crate::tables::keys::key_of;

/// Everything that decides the band keys of a text. Written as the family, bands and rows, then what is not
/// as usual: `jaccard-14x8`, `jaccard-20x5,words:3,seed:7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// What pages are compared by.
    pub space: Space,
    /// Bands and rows.
    pub banding: Banding,
    /// The elements of texts.
    pub shingle: Shingle,
    /// Where the hashes of sets come from.
    pub permutations: Permutations,
    /// Chooses the functions of the family.
    pub seed: u64,
}

impl Bands {
    /// The most bands: their keys take at most 1024 bytes a page.
    pub const MOST: usize = 1024 / KEY_BYTES;

    /// The usual bands for sets that are at least so similar.
    pub fn of_sets_alike(least: Similarity) -> Bands {
        let bands = |banding| Bands {
            space: Space::Jaccard,
            banding,
            shingle: Shingle::USUAL,
            permutations: Permutations::Many,
            seed: 0,
        };
        let scheme = bands(Banding { bands: 1, rows: 1 }).scheme();
        bands(Banding::best(Banding::USUAL_HASHES, least.number(), |it| scheme.collision(it)))
    }

    /// The bytes of the keys of a page.
    pub fn bytes(&self) -> usize {
        KEY_BYTES * self.banding.bands
    }

    /// The scheme that makes its keys.
    pub fn scheme(&self) -> Scheme {
        Scheme {
            space: self.space,
            permutations: self.permutations,
            shingle: self.shingle,
            width: Width::W64,
            vectors: false,
            banding: self.banding,
            least: Similarity::USUAL,
            confirmation: Confirmation::Signature,
            seed: self.seed,
        }
    }

    /// The keys as a segment holds them. A page without any, which has nothing to compare, has ones in all
    /// bits.
    pub fn write(&self, keys: Option<&[u64]>) -> Vec<u8> {
        match keys {
            None => vec![u8::MAX; self.bytes()],
            Some(keys) => {
                let low = keys.iter().flat_map(|key| {
                    *key.to_le_bytes().first_chunk::<KEY_BYTES>().expect("eight bytes")
                });
                low.collect()
            }
        }
    }

    /// The keys that [`Bands::write`] has written.
    pub fn read(bytes: &[u8]) -> Option<Vec<u64>> {
        if bytes.iter().all(|&byte| byte == u8::MAX) {
            return None;
        }
        let keys = bytes.as_chunks::<KEY_BYTES>().0.iter();
        Some((0..).zip(keys).map(|(band, key)| Banding::key(band, key_of(key))).collect())
    }
}

impl fmt::Display for Bands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bands { space, banding: Banding { bands, rows }, shingle, permutations, seed } = self;
        write!(f, "{space}-{bands}x{rows}")?;
        if *shingle != Shingle::USUAL {
            write!(f, ",{shingle}")?;
        }
        if *permutations == Permutations::One {
            f.write_str(",one")?;
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
                .expected("FAMILY-BxR, such as minhash-14x8 for 14 bands of 8 rows, and behind commas words:N, characters:N, one or seed:N")
                .found(text)
        };
        let mut parts = text.split(',');
        let (space, banding) = parts.next().and_then(|it| it.split_once('-')).ok_or_else(bad)?;
        let (bands, rows) = banding.split_once('x').ok_or_else(bad)?;
        let [bands, rows] = [bands, rows].map(str::parse);
        let (Ok(bands), Ok(rows)) = (bands, rows) else { return Err(bad()) };
        let mut wanted = Bands {
            space: space.parse()?,
            banding: Banding { bands, rows },
            shingle: Shingle::USUAL,
            permutations: Permutations::Many,
            seed: 0,
        };
        for part in parts {
            match part.strip_prefix("seed:") {
                Some(seed) => wanted.seed = seed.parse().map_err(|_| bad())?,
                None if part == "one" => wanted.permutations = Permutations::One,
                None => wanted.shingle = part.parse()?,
            }
        }
        wanted.banding.check()?;
        if bands > Bands::MOST || wanted.space == Space::Euclidean {
            return Err(bad().expected(format!(
                "jaccard, cosine or hamming, and at most {} bands",
                Bands::MOST
            )));
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_read_back() {
        for text in ["jaccard-14x8", "cosine-20x16,words:3", "jaccard-2x3,characters:24,one,seed:7"]
        {
            assert_eq!(text.parse::<Bands>().unwrap().to_string(), text);
        }
        assert_eq!("minhash-14x8".parse::<Bands>().unwrap().to_string(), "jaccard-14x8");
        for wrong in [
            "",
            "14x8",
            "minhash",
            "minhash-14",
            "minhash-0x8",
            "minhash-14x8,",
            "minhash-205x2",
            "euclidean-4x4",
            "minhash-4x4,seed:x",
        ] {
            assert_eq!(wrong.parse::<Bands>().unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
    }

    #[test]
    fn keys_read_back() {
        let bands: Bands = "jaccard-3x2".parse().unwrap();
        let keys = bands.banding.keys(&[1, 2, 1, 2, 3, 4]);
        let bytes = bands.write(Some(&keys));
        assert_eq!((bytes.len(), Bands::read(&bytes)), (15, Some(keys)));
        assert_eq!(Bands::read(&bands.write(None)), None);
    }
}
