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
//! Each is a [frame](crate::frames); the first frame says to which segment they belong, and how many they are.
//!
//! The filters are those of Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters" (2022).

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use xorf::{BinaryFuse8, BinaryFuse8Ref, DmaSerializable, Filter, FilterRef};

use super::by::advised;
use crate::error::{At, Error, Kind, Result};
use crate::frames::{FoundFrame, FrameFile, Magic, frame};
use crate::hamming::mapped::{Keep, KeptBytes};
use crate::output::{Fence, NewFile, parent_of};
use crate::store::Digest;

const MAGIC: Magic = *b"DUPSFUSE\x01\0\0\0";
/// About so many hashes are in a filter, as a power of two.
pub(super) const FILTER_BITS: u32 = 20;
const MOST_BITS: u32 = 24;
/// The bytes that describe a filter, before its own.
const DESCRIPTOR: usize = BinaryFuse8::DESCRIPTOR_LEN;

pub(super) struct FuseWriter {
    out: BufWriter<NewFile>,
    path: PathBuf,
    bytes: u64,
    bits: u32,
    number: u64,
    hashes: Vec<u64>,
}

impl FuseWriter {
    /// Begins a file at `path` for about so many hashes of the segment with this digest. A filter of the file has about
    /// 2^`filter_bits` hashes. The file is published only while the lock of `fence` is held.
    pub(super) fn create(
        path: &Path,
        of: Digest,
        hashes: u64,
        filter_bits: u32,
        fence: &Fence,
    ) -> Result<FuseWriter> {
        let mut file = NewFile::beside(path)?;
        file.fenced(fence);
        let mut out = BufWriter::new(file);
        out.write_all(&MAGIC).at(path)?;
        let bits = (hashes >> filter_bits).checked_ilog2().map_or(0, |bits| bits + 1);
        let bits = bits.min(MOST_BITS);
        let (path, bytes) = (path.to_path_buf(), MAGIC.len() as u64);
        let mut writer = FuseWriter { out, path, bytes, bits, number: 0, hashes: Vec::new() };
        writer.put(bits, &of.0.to_le_bytes())?;
        Ok(writer)
    }

    fn put(&mut self, tag: u32, body: &[u8]) -> Result<()> {
        let frame = frame(tag, self.bytes, body);
        self.bytes += frame.len() as u64;
        self.out.write_all(&frame).at(&self.path)
    }

    pub(super) fn push(&mut self, hash: u64) -> Result<()> {
        while self.number < number_of(hash, self.bits) {
            self.flush()?;
        }
        if self.hashes.last() != Some(&hash) {
            self.hashes.push(hash);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        // None is built where distinct hashes look alike to a thousand seeds.
        self.write(BinaryFuse8::try_from(&self.hashes).ok())
    }

    /// Writes a filter. Without one every hash passes.
    fn write(&mut self, filter: Option<BinaryFuse8>) -> Result<()> {
        let mut body = Vec::new();
        if let Some(filter) = &filter {
            body.resize(DESCRIPTOR, 0);
            filter.dma_copy_descriptor_to(&mut body);
            body.extend(filter.dma_fingerprints());
        }
        self.put(self.number as u32, &body)?;
        self.hashes.clear();
        self.number += 1;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn lets_all_pass(&mut self) -> Result<()> {
        (0..1 << self.bits).try_for_each(|_| self.write(None))
    }

    pub(super) fn finish(mut self) -> Result<()> {
        while self.number >> self.bits == 0 {
            self.flush()?;
        }
        let FuseWriter { out, path, .. } = self;
        out.into_inner().map_err(|failed| Error::io(&path, failed.error()))?.publish()
    }
}

pub(super) struct Fuse {
    file: FrameFile,
    end: u64,
    keep: Keep,
    bits: u32,
    filters: Vec<SegmentFilter>,
}

struct SegmentFilter {
    at: u64,
    bytes: OnceLock<KeptBytes>,
}

impl Fuse {
    /// Opens the file at `path`. `None` if there is no file, or if the file belongs to another
    /// segment.
    pub(super) fn open(path: &Path, of: Digest) -> Result<Option<Fuse>> {
        let file = match FrameFile::open(path) {
            Err(error) if error.kind() == Kind::Missing => return Ok(None),
            file => file?,
        };
        let (end, mut at) = (file.bytes()?, MAGIC.len() as u64);
        let mut digest = Vec::new();
        let first = match file.read(at, end, &mut digest)? {
            FoundFrame::Frame(head) if file.begins_with(&MAGIC)? && head.tag <= MOST_BITS => head,
            _ => return Err(damaged(path)),
        };
        let (keep, bits) = (Keep::new(parent_of(path)), first.tag);
        let mut filters = Vec::new();
        at = first.end(at);
        for number in 0..1 << bits {
            let FoundFrame::Frame(head) = file.head(at, end)? else { return Err(damaged(path)) };
            if head.tag != number {
                return Err(damaged(path));
            }
            filters.push(SegmentFilter { at, bytes: OnceLock::new() });
            at = head.end(at);
        }
        if at != end {
            return Err(damaged(path));
        }
        let is_of = digest == of.0.to_le_bytes();
        Ok(is_of.then_some(Fuse { file, end, keep, bits, filters }))
    }

    #[inline]
    pub(super) fn may_have(&self, hash: u64) -> Result<bool> {
        let part = &self.filters[number_of(hash, self.bits) as usize];
        let bytes = match part.bytes.get() {
            Some(bytes) => bytes,
            None => {
                let bytes = self.keep.keep(&self.read(part)?).at(&self.file.path)?;
                part.bytes.get_or_init(|| bytes)
            }
        };
        let Some((descriptor, bytes)) = bytes.split_first_chunk::<DESCRIPTOR>() else {
            return Ok(true);
        };
        Ok(BinaryFuse8Ref::from_dma(descriptor, bytes).contains(&hash))
    }

    pub(super) fn verify(&self) -> Result<()> {
        self.filters.iter().try_for_each(|part| self.read(part).map(drop))
    }

    #[cold]
    fn read(&self, part: &SegmentFilter) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.file.read(part.at, self.end, &mut bytes)? {
            FoundFrame::Frame(_) if fits(&bytes) => Ok(bytes),
            _ => Err(damaged(&self.file.path).offset(part.at)),
        }
    }
}

fn number_of(hash: u64, bits: u32) -> u64 {
    hash.checked_shr(u64::BITS - bits).unwrap_or(0)
}

/// Whether these are the bytes of a filter: every place that its descriptor computes lies within it.
fn fits(bytes: &[u8]) -> bool {
    let Some((descriptor, filter)) = bytes.split_first_chunk::<DESCRIPTOR>() else {
        return bytes.is_empty();
    };
    let (numbers, _) = descriptor[8..].as_chunks::<4>();
    let [segment, mask, count] = [0, 1, 2].map(|at| u64::from(u32::from_le_bytes(numbers[at])));
    segment.is_power_of_two()
        && mask == segment - 1
        && count > 0
        && count.is_multiple_of(segment)
        && count + 2 * segment == filter.len() as u64
}

fn damaged(path: &Path) -> Error {
    advised(Error::new(Kind::BadData, "a filter of a segment is damaged").at(path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tempfile::TempDir;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::output::Lock;

    const OF: Digest = Digest(7);

    fn written(hashes: &[u64]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.fuse");
        let lock = Lock::on_file(&path).unwrap();
        let mut writer =
            FuseWriter::create(&path, OF, hashes.len() as u64, 6, lock.fence()).unwrap();
        let mut sorted = hashes.to_vec();
        sorted.sort_unstable();
        sorted.iter().for_each(|&hash| writer.push(hash).unwrap());
        writer.finish().unwrap();
        (folder, path)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
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
}
