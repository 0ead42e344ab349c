//! The paper's code of sorted fingerprints: for each the position h of the highest bit in which it
//! differs from the one before, as a Huffman code, followed by the bits to the right of that bit.
//! (Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.)
//!
//! ```text
//! fingerprint   0102              0105              01a0              0433
//! in binary     00000001 00000010 00000001 00000101 00000001 10100000 00000100 00110011
//! h             -                 13                8                 5
//! written       as it is          code of 13, 01    code of 8, 0100000  code of 5, 0000110011
//! ```
//!
//! Bit h itself is not written: fingerprints ascend, so it is 0 before and 1 now.
//!
//! The code is divided into pages of 1024 bytes. Each begins with its first fingerprint as it is, and a
//! directory has the last fingerprint of each. A block of a segment has many pages and one Huffman code
//! for all of them.
//!
//! ```text
//! block     = header (8 bytes) | lengths (4 bits for each h) | directory | pages
//! directory = (rows u16 | last fingerprint) for each page
//! page      = first fingerprint | (code of h | tail) for each other, the highest bit first
//! ```

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::store::damage::damaged;

use super::prefix_code::{Decoded, Decoder, MOST_BITS, PrefixCode};
use super::words::{bytes, bytes_of, word};

const PAGE_BYTES: usize = 1024;

/// Appends the code of `fingerprints`, in ascending order and at least one, to a block that has its
/// header. Returns the parameter, which is always 0.
pub(crate) fn encode<F: Fingerprint>(fingerprints: &[F], block: &mut Vec<u8>) -> usize {
    let code = PrefixCode::of(&frequencies(fingerprints));
    code.write(block);
    let mut directory = Vec::new();
    let mut pages = Vec::new();
    let mut rest = fingerprints;
    while !rest.is_empty() {
        pages.resize(pages.len().next_multiple_of(PAGE_BYTES), 0);
        let (page, others) = rest.split_at(write_page(&code, rest, &mut pages));
        directory.extend((page.len() as u16).to_le_bytes());
        directory.extend(bytes(page[page.len() - 1]));
        rest = others;
    }
    block.append(&mut directory);
    block.append(&mut pages);
    0
}

/// How often each h occurs. The last h stands for equal fingerprints.
fn frequencies<F: Fingerprint>(fingerprints: &[F]) -> Vec<u32> {
    let mut frequencies = vec![0; F::BITS as usize + 1];
    for pair in fingerprints.windows(2) {
        frequencies[first_differing(pair[0], pair[1])] += 1;
    }
    frequencies
}

/// The position of the highest bit that differs, counted from the highest bit; the width if none does.
fn first_differing<F: Fingerprint>(a: F, b: F) -> usize {
    ((a ^ b).to_u128().leading_zeros() + F::BITS - u128::BITS) as usize
}

/// Appends a page with as many of `fingerprints` as fit, at least one. Returns their number.
fn write_page<F: Fingerprint>(code: &PrefixCode, fingerprints: &[F], pages: &mut Vec<u8>) -> usize {
    pages.extend(bytes(fingerprints[0]));
    let mut waiting = 0u128;
    let mut held = 0;
    let mut left = 8 * (PAGE_BYTES - bytes_of::<F>());
    let mut written = 1;
    for pair in fingerprints.windows(2) {
        let h = first_differing(pair[0], pair[1]);
        let (word, length) = code.word(h);
        let tail = (F::BITS as usize).saturating_sub(h + 1);
        let Some(less) = left.checked_sub(length + tail) else { break };
        left = less;
        written += 1;
        // At most 64 bits at a time, because up to 7 are waiting.
        for (bits, count) in [
            (word, length),
            (pair[1].to_u128() >> 64, tail.saturating_sub(64)),
            (pair[1].to_u128(), tail.min(64)),
        ] {
            waiting = waiting << count | bits & ((1 << count) - 1);
            held += count;
            while held >= 8 {
                held -= 8;
                pages.push((waiting >> held) as u8);
            }
        }
    }
    if held > 0 {
        pages.push((waiting << (8 - held)) as u8);
    }
    written
}

/// Decodes `out.len()` fingerprints from `code`, a block without its header.
pub(crate) fn decode<F: Fingerprint>(code: &[u8], out: &mut [F]) -> Result<()> {
    let ends = || damaged("the block ends before its pages");
    let lengths = (F::BITS as usize + 1).div_ceil(2);
    let (lengths, rest) = code.split_at_checked(lengths).ok_or_else(ends)?;
    let count = rest.len().div_ceil(PAGE_BYTES + entry_bytes::<F>());
    let (directory, pages) = rest.split_at_checked(count * entry_bytes::<F>()).ok_or_else(ends)?;
    let code = Code::read(lengths)?;
    let mut entries = directory.chunks_exact(entry_bytes::<F>()).zip(pages.chunks(PAGE_BYTES));
    let mut rest = out;
    // Decodes two pages at once. A fingerprint begins where the fingerprint before ends, so the
    // processor must wait within a page. While the processor waits in one page, the processor works
    // in the second page.
    while let Some(entry) = entries.next() {
        let mut one = Page::open(entry, &mut rest)?;
        let mut two = entries.next().map(|entry| Page::open(entry, &mut rest)).transpose()?;
        if let Some(two) = &mut two {
            for _ in 0..one.out.len().min(two.out.len()) {
                one.step(&code);
                two.step(&code);
            }
        }
        for page in [Some(one), two].into_iter().flatten() {
            page.finish(&code)?;
        }
    }
    if !rest.is_empty() {
        return Err(damaged("the pages have fewer fingerprints than the block"));
    }
    Ok(())
}

const fn entry_bytes<F: Fingerprint>() -> usize {
    2 + bytes_of::<F>()
}

struct Code<F> {
    decoder: Decoder,
    /// For each h a mask of the bits from h on; 0 for equal fingerprints.
    masks: Vec<F>,
}

impl<F: Fingerprint> Code<F> {
    fn read(lengths: &[u8]) -> Result<Code<F>> {
        let symbols = F::BITS as usize + 1;
        let tail = |h| (symbols - 1).saturating_sub(h + 1);
        let decoder = PrefixCode::read(lengths, symbols)?.decoder(tail);
        let masks = (0..F::BITS).map(|h| F::MAX >> h).chain([F::default()]).collect();
        Ok(Code { decoder, masks })
    }
}

struct Page<'a, F: Fingerprint> {
    /// The page, with space after it for reads that begin in it.
    bytes: [u8; PAGE_BYTES + 32],
    length: usize,
    bit: usize,
    last: F,
    /// The last fingerprint, according to the directory.
    told: F,
    out: std::slice::IterMut<'a, F>,
}

impl<'a, F: Fingerprint> Page<'a, F> {
    fn open((entry, page): (&[u8], &[u8]), rest: &mut &'a mut [F]) -> Result<Page<'a, F>> {
        let rows = usize::from(u16::from_le_bytes([entry[0], entry[1]]));
        let out = rest.split_off_mut(..rows).ok_or_else(|| damaged("a page is too long"))?;
        let mut bytes = [0; PAGE_BYTES + 32];
        bytes[..page.len()].copy_from_slice(page);
        let first = word(&bytes[..bytes_of::<F>()]);
        let told = word(&entry[2..]);
        let mut out = out.iter_mut();
        match out.next() {
            Some(slot) => *slot = first,
            None => return Err(damaged("a page has no fingerprint")),
        }
        Ok(Page { bytes, length: page.len(), bit: 8 * bytes_of::<F>(), last: first, told, out })
    }

    #[inline(always)]
    fn step(&mut self, code: &Code<F>) {
        let Some(slot) = self.out.next() else { return };
        let next = self.peek(self.bit);
        let word = (next >> (F::BITS - MOST_BITS as u32)).to_u128() as usize;
        let Decoded { symbol: h, length, bits, .. } = code.decoder.word(word);
        // The tail is as long as the width to the right of bit h.
        let after = if length <= h + 1 {
            next << length.into()
        } else {
            self.peek(self.bit + usize::from(length))
        };
        let tail = after >> 1 >> (u32::from(h) % F::BITS);
        let mask = code.masks[usize::from(h)];
        self.last = self.last & !mask | mask ^ mask >> 1 | tail & mask >> 1;
        self.bit += usize::from(bits);
        *slot = self.last;
    }

    /// The next bits from `bit` on, as many as the width, the highest first.
    #[inline(always)]
    fn peek(&self, bit: usize) -> F {
        let at = bit / 8 % PAGE_BYTES;
        let shift = bit as u32 % 8;
        let end = at + bytes_of::<F>();
        let rest = F::from_u128(u128::from(self.bytes[end]) << shift >> 8);
        big_endian::<F>(&self.bytes[at..end]) << shift | rest
    }

    fn finish(mut self, code: &Code<F>) -> Result<()> {
        while !self.out.as_slice().is_empty() {
            self.step(code);
        }
        if self.bit > 8 * self.length || self.last != self.told {
            return Err(damaged("a page does not end with its last fingerprint"));
        }
        Ok(())
    }
}

#[inline(always)]
fn big_endian<F: Fingerprint>(bytes: &[u8]) -> F {
    let exact = "as many bytes as the width";
    match F::WIDTH {
        Width::W64 => F::from_u128(u64::from_be_bytes(bytes.try_into().expect(exact)).into()),
        Width::W128 => F::from_u128(u128::from_be_bytes(bytes.try_into().expect(exact))),
    }
}
