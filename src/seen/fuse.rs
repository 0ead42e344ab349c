//! A file that says of most hashes that they are not in a segment: a binary fuse filter of nine bits a hash.
//!
//! Of the hashes that are not there it lets one in 256 pass; those that are there all pass. A filter is built in
//! memory from all of its hashes, so the file has one for each beginning of a hash, of about a million hashes each.
//! They come in the order of their beginnings, so one is built and written at a time, and looked at alone:
//!
//! ```text
//! hashes   00.. 00.. 01..      10.. 10..      11..          the first two bits are the number of the filter
//! filters  [ 0    ] [ 1 ]      [  2    ]      [ 3 ]
//! ```
//!
//! The filters are those of Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters" (2022).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter, FilterRef};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Error, Kind, Result};
use crate::hamming::mapped::{Keep, KeptBytes};
use crate::output::{Fence, NewFile, parent_of};
use crate::store::Digest;

/// The first bytes of a file, and the version of the format.
const MAGIC: [u8; 12] = *b"DUPSFUSE\x01\0\0\0";
/// About so many hashes are in a filter, as a power of two.
pub(super) const FILTER_BITS: u32 = 20;
/// The most filters, as a power of two.
const MOST_BITS: u32 = 24;
/// The bytes that describe a filter.
const DESCRIPTOR: usize = BinaryFuse8::DESCRIPTOR_LEN;
/// The bytes of a filter in the directory: its length, its descriptor, and the XXH3-64 of its bytes.
const ENTRY: usize = 4 + DESCRIPTOR + 8;
/// The bytes after the directory: the digest of the segment, the bits of a beginning, and a checksum.
const TRAILER: usize = 16 + 4 + 8;

/// A file that is being written.
pub(super) struct FuseWriter {
    out: BufWriter<NewFile>,
    path: PathBuf,
    bits: u32,
    /// The number of the filter that is being gathered, and its hashes.
    number: u64,
    hashes: Vec<u64>,
    directory: Vec<u8>,
}

impl FuseWriter {
    /// Begins a file at `path` for about so many hashes. A filter of the file has about
    /// 2^`filter_bits` hashes. The file is published only while the lock of `fence` is held.
    pub(super) fn create(
        path: &Path,
        hashes: u64,
        filter_bits: u32,
        fence: &Fence,
    ) -> Result<FuseWriter> {
        let mut file = NewFile::beside(path)?;
        file.fenced(fence);
        let mut out = BufWriter::new(file);
        out.write_all(&MAGIC).at(path)?;
        let bits = (hashes >> filter_bits).checked_ilog2().map_or(0, |bits| bits + 1);
        Ok(FuseWriter {
            out,
            path: path.to_path_buf(),
            bits: bits.min(MOST_BITS),
            number: 0,
            hashes: Vec::new(),
            directory: Vec::new(),
        })
    }

    /// Adds a hash whose filter is not before that of the last one.
    pub(super) fn push(&mut self, hash: u64) -> Result<()> {
        while self.number < number_of(hash, self.bits) {
            self.flush()?;
        }
        if self.hashes.last() != Some(&hash) {
            self.hashes.push(hash);
        }
        Ok(())
    }

    /// Builds and writes the filter of the hashes that were gathered.
    fn flush(&mut self) -> Result<()> {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        // None is built where distinct hashes look alike to a thousand seeds.
        self.write(BinaryFuse8::try_from(&self.hashes).ok())
    }

    /// Writes a filter. Without one every hash passes.
    fn write(&mut self, filter: Option<BinaryFuse8>) -> Result<()> {
        let mut descriptor = [0; DESCRIPTOR];
        let bytes = filter.as_ref().map_or(&[][..], |filter| filter.dma_fingerprints());
        if let Some(filter) = &filter {
            filter.dma_copy_descriptor_to(&mut descriptor);
        }
        self.out.write_all(bytes).at(&self.path)?;
        self.directory.extend((bytes.len() as u32).to_le_bytes());
        self.directory.extend(descriptor);
        self.directory.extend(xxh3_64(bytes).to_le_bytes());
        self.hashes.clear();
        self.number += 1;
        Ok(())
    }

    /// Writes filters through which every hash passes.
    #[cfg(test)]
    pub(super) fn lets_all_pass(&mut self) -> Result<()> {
        (0..1 << self.bits).try_for_each(|_| self.write(None))
    }

    /// Completes the file, which belongs to the segment with this digest.
    pub(super) fn finish(mut self, of: Digest) -> Result<()> {
        while self.number >> self.bits == 0 {
            self.flush()?;
        }
        let FuseWriter { mut out, path, bits, mut directory, .. } = self;
        directory.extend(of.0.to_le_bytes());
        directory.extend(bits.to_le_bytes());
        directory.extend(xxh3_64(&directory).to_le_bytes());
        out.write_all(&directory).at(&path)?;
        out.into_inner().map_err(|failed| Error::io(&path, failed.error()))?.publish()
    }
}

/// An open file.
pub(super) struct Fuse {
    path: PathBuf,
    file: File,
    keep: Keep,
    bits: u32,
    filters: Vec<SegmentFilter>,
}

/// One filter of a file.
struct SegmentFilter {
    range: Range<usize>,
    descriptor: [u8; DESCRIPTOR],
    checksum: u64,
    /// Its bytes, once they were looked at.
    bytes: OnceLock<KeptBytes>,
}

impl Fuse {
    /// Opens the file at `path`. `None` if there is no file, or if the file belongs to another
    /// segment.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`]. A filter is checked when a search first looks at the filter.
    pub(super) fn open(path: &Path, of: Digest) -> Result<Option<Fuse>> {
        let file = match File::open(path).at(path) {
            Err(error) if error.kind() == Kind::Missing => return Ok(None),
            file => file?,
        };
        let (told, bits, filters) = parse(&file).at(path)?.ok_or_else(|| damaged(path))?;
        let (path, keep) = (path.to_path_buf(), Keep::new(parent_of(path)));
        Ok((told == of).then_some(Fuse { path, file, keep, bits, filters }))
    }

    /// Whether a hash may be one of the segment.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`].
    #[inline]
    pub(super) fn may_have(&self, hash: u64) -> Result<bool> {
        let part = &self.filters[number_of(hash, self.bits) as usize];
        let bytes = match part.bytes.get() {
            Some(bytes) => bytes,
            None => {
                let bytes = self.keep.keep(&self.read(part)?).at(&self.path)?;
                part.bytes.get_or_init(|| bytes)
            }
        };
        let passes = || BinaryFuse8Ref::from_dma(&part.descriptor, bytes).contains(&hash);
        Ok(bytes.is_empty() || passes())
    }

    /// Checks all filters.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`].
    pub(super) fn verify(&self) -> Result<()> {
        self.filters.iter().try_for_each(|part| self.read(part).map(drop))
    }

    /// Reads a filter.
    #[cold]
    fn read(&self, part: &SegmentFilter) -> Result<Vec<u8>> {
        let mut bytes = vec![0; part.range.end - part.range.start];
        let here = |error: Error| error.offset(part.range.start as u64);
        let at = part.range.start as u64;
        match self.file.read_exact_at(&mut bytes, at) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(here(damaged(&self.path)));
            }
            read => read.at(&self.path)?,
        }
        match xxh3_64(&bytes) == part.checksum {
            true => Ok(bytes),
            false => Err(here(damaged(&self.path))),
        }
    }
}

/// The number of the filter that has a hash.
fn number_of(hash: u64, bits: u32) -> u64 {
    hash.checked_shr(u64::BITS - bits).unwrap_or(0)
}

/// Reads the end of a file: the digest of its segment, the bits of a beginning, and its filters. None if it is
/// damaged.
fn parse(file: &File) -> io::Result<Option<(Digest, u32, Vec<SegmentFilter>)>> {
    let bytes = file.metadata()?.len() as usize;
    let Some(after) = bytes.checked_sub(TRAILER) else { return Ok(None) };
    let mut trailer = [0; TRAILER];
    file.read_exact_at(&mut trailer, after as u64)?;
    let bits = u32::from_le_bytes(*trailer[16..].first_chunk().expect("it has 12 bytes more"));
    let begin = after.checked_sub(ENTRY << u64::from(bits.min(MOST_BITS)));
    let Some(begin) = begin.filter(|_| bits <= MOST_BITS) else { return Ok(None) };
    let mut magic = [0; MAGIC.len()];
    file.read_exact_at(&mut magic, 0)?;
    let mut directory = vec![0; bytes - begin];
    file.read_exact_at(&mut directory, begin as u64)?;
    Ok((magic == MAGIC).then(|| filters(&directory, begin, bits)).flatten())
}

/// The same of a directory that begins after so many bytes, with the trailer.
fn filters(directory: &[u8], begin: usize, bits: u32) -> Option<(Digest, u32, Vec<SegmentFilter>)> {
    let (told, checksum) = directory.split_last_chunk::<8>()?;
    if xxh3_64(told) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let (directory, of) = told[..told.len() - 4].split_last_chunk::<16>()?;
    let mut at = MAGIC.len();
    let part = |entry: &[u8; ENTRY]| {
        let (length, rest) = entry.split_first_chunk::<4>()?;
        let (descriptor, checksum) = rest.split_first_chunk::<DESCRIPTOR>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let range = at..at + length;
        at = range.end;
        let is_sound = range.end <= begin && fits(descriptor, length);
        let checksum = u64::from_le_bytes(checksum.try_into().ok()?);
        let part =
            SegmentFilter { range, descriptor: *descriptor, checksum, bytes: OnceLock::new() };
        is_sound.then_some(part)
    };
    let parts = directory
        .as_chunks::<ENTRY>()
        .0
        .iter()
        .map(part)
        .collect::<Option<Vec<SegmentFilter>>>()?;
    (at == begin).then_some((Digest(u128::from_le_bytes(*of)), bits, parts))
}

/// Whether a filter of `length` bytes can have this descriptor: every place that the descriptor
/// computes lies within the filter.
fn fits(descriptor: &[u8; DESCRIPTOR], length: usize) -> bool {
    let (_, numbers) = descriptor.split_at(8);
    let (numbers, _) = numbers.as_chunks::<4>();
    let number = |at: usize| u64::from(u32::from_le_bytes(numbers[at]));
    let (segment, mask, count) = (number(0), number(1), number(2));
    let is_whole = segment.is_power_of_two()
        && mask == segment - 1
        && count > 0
        && count.is_multiple_of(segment)
        && count + 2 * segment == length as u64;
    is_whole || (length == 0 && descriptor.iter().all(|&byte| byte == 0))
}

fn damaged(path: &Path) -> Error {
    Error::new(Kind::BadData, "a filter of a segment is damaged")
        .at(path)
        .help("make the filters again")
        .job("store index")
        .setting("filters")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::output::Lock;

    const OF: Digest = Digest(7);

    fn written(hashes: &[u64]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.fuse");
        let lock = Lock::on_file(&path).unwrap();
        let mut writer = FuseWriter::create(&path, hashes.len() as u64, 6, lock.fence()).unwrap();
        let mut sorted = hashes.to_vec();
        sorted.sort_unstable();
        sorted.iter().for_each(|&hash| writer.push(hash).unwrap());
        writer.finish(OF).unwrap();
        (folder, path)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
        /// However many there are, and however alike.
        #[test]
        fn what_is_there_passes(
            hashes in prop::collection::vec(any::<u64>(), 0..400),
            shift in 0u32..64,
            seed in any::<u64>(),
        ) {
            let hashes: Vec<u64> = hashes.iter().map(|hash| hash >> shift).collect();
            let (_folder, path) = written(&hashes);
            let fuse = Fuse::open(&path, OF).unwrap().unwrap();
            prop_assert_eq!(fuse.filters.len(), 1 << fuse.bits);
            for &hash in &hashes {
                prop_assert!(fuse.may_have(hash).unwrap());
            }
            fuse.may_have(seed).unwrap();
            fuse.verify().unwrap();
        }
    }

    #[test]
    fn most_of_what_is_not_there_does_not_pass() {
        let hashes: Vec<u64> = (0_u64..20_000).map(|at| xxh3_64(&at.to_le_bytes())).collect();
        let (_folder, path) = written(&hashes[..10_000]);
        let fuse = Fuse::open(&path, OF).unwrap().unwrap();
        assert!(fuse.filters.len() >= 128);
        let passed = hashes[10_000..].iter().filter(|&&hash| fuse.may_have(hash).unwrap()).count();
        assert!(passed < 100, "{passed} of 10000; 39 are expected");
    }

    #[test]
    fn a_filter_belongs_to_its_segment() {
        let (_folder, path) = written(&[1, 2, 3]);
        assert!(Fuse::open(&path, Digest(8)).unwrap().is_none());
        assert!(Fuse::open(&path.with_extension("other"), OF).unwrap().is_none());
    }

    #[test]
    fn damage_at_every_byte_is_found() {
        let hashes: Vec<u64> = (0_u64..200).map(|at| xxh3_64(&at.to_le_bytes())).collect();
        let (_folder, path) = written(&hashes);
        let sound = std::fs::read(&path).unwrap();
        let check = || Fuse::open(&path, OF).and_then(|fuse| fuse.unwrap().verify());
        for at in 0..sound.len() {
            let mut flipped = sound.clone();
            flipped[at] ^= 1 << (at % 8);
            for damaged in [&flipped[..], &sound[..at]] {
                std::fs::write(&path, damaged).unwrap();
                assert_eq!(check().unwrap_err().kind(), Kind::BadData, "{at}");
            }
        }
        std::fs::write(&path, sound).unwrap();
        check().unwrap();
    }
}
