//! The sketch of a page: the set of its 3-word shingles, by which it is counted how much of a page another page contains.
//!
//! Containment has a direction (Broder, "On the resemblance and containment of documents", SEQUENCES 1997). A page of 1,000
//! [shingles](crate::features::shingle_hashes) that stands whole in a page of 4,000 is contained in it to 1, and contains a quarter of it. So
//! containment says which of two pages can go without loss. Numbers count: two pages of one template with other figures are two pages.
//!
//! A sketch has the first 24 bits of the hash of each shingle, ascending, as gaps in a Rice code: a page of 430 words takes some 900 bytes.
//! Up to 32,768 shingles the set is whole. Of a longer page it is a sample: the shingles whose hashes begin with `level` zeros. Two
//! pages are compared at the higher of their levels.
//!
//! ```text
//! level | number of hashes, 1 to 3 bytes | gap, gap, gap ...      a gap: its high bits as zeros before a one, then its low bits
//! ```
//!
//! Some of the hashes that two pages have in common are of different shingles: each shingle of a meets one of n hashes of b by chance once in
//! 2^24 / n. What is expected of these is taken off: of 32,768 shingles one in 512, of 430 one in 39,000.

use super::maker::{Maker, Signing};
use crate::features::shingle_hashes;
use crate::fingerprint::shingle_set::ShingleSet;

const BITS: u32 = 24;

const MOST: usize = 1 << 15;

/// The most bytes of a sketch: a level, a number, and a Rice code of nine low bits and at most three beside them.
pub const MAX_SKETCH_BYTES: usize = 1 + 3 + MOST * 3 / 2;
const _: () = assert!(MAX_SKETCH_BYTES < 1 << 16);

/// The set of the shingles of a text, by which it is known exactly how much of a text another text contains.
pub fn word_shingles(text: &str) -> ShingleSet {
    ShingleSet::gather(|add| {
        shingle_hashes::each(text, &mut shingle_hashes::Buffer::default(), add)
    })
}

/// How many anchors each page has. A long page has more.
pub const ANCHORS: usize = 8;
pub const ANCHOR_BYTES: usize = 5;

/// Of which part of the shingles of a longer page all are anchors: those whose hashes begin with so many zeros.
const ANCHOR_ZEROS: u32 = 7;
const MOST_MORE_ANCHORS: usize = 1 << 8;
pub const MAX_ANCHORS_BYTES: usize = (ANCHORS + MOST_MORE_ANCHORS) * ANCHOR_BYTES;

/// Appends the anchors of a page, each with the lowest bits of a hash: of each eighth of its shingles, by the last bits of their hashes, the
/// least one, and where there is none, ones in all bits. Two pages that share most of their shingles share most of their anchors.
///
/// A page of some hundred shingles that stands in one of twenty thousand would share none. So a long page has more of them, ascending: the shingles
/// whose hashes begin with seven zeros, and by these it meets the anchors of the shorter one that do so too.
fn write_anchors(shingles: &ShingleSet, out: &mut Vec<u8>) {
    let mut least = [None; ANCHORS];
    for &hash in shingles.hashes() {
        let least = &mut least[hash as usize % ANCHORS];
        *least = least.or(Some(hash));
    }
    let is_more = |&&hash: &&u64| hash.leading_zeros() >= ANCHOR_ZEROS;
    let more = shingles.hashes().iter().take_while(is_more).copied();
    let more = more.filter(|&hash| !least.contains(&Some(hash))).take(MOST_MORE_ANCHORS);
    for hash in least.iter().map(|hash| hash.unwrap_or(u64::MAX)).chain(more) {
        out.extend(&hash.to_le_bytes()[..ANCHOR_BYTES]);
    }
}

#[derive(Debug, Default)]
pub(super) struct Containment {
    buffer: shingle_hashes::Buffer,
}

impl Maker for Containment {
    fn sign(&mut self, text: &str, signing: Signing<'_>) {
        let Signing { clock, signature, anchors, .. } = signing;
        let set = ShingleSet::gather(|add| {
            shingle_hashes::each(text, &mut self.buffer, |run| {
                if clock.step() {
                    add(run);
                }
            });
        });
        encode(&set, signature);
        write_anchors(&set, anchors);
    }
}

/// How much of a page another page contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contained {
    /// How many shingles of the page, or of the sample of them, the other page has.
    pub shared: u32,
    pub all: u32,
    /// Of which part of the shingles these are a sample: one in 2^level.
    pub level: u8,
}

impl Contained {
    /// The share that is contained; of a page without a shingle, nothing.
    pub fn share(self) -> f64 {
        f64::from(self.shared) / f64::from(self.all.max(1))
    }

    /// How many shingles of the page the other page lacks.
    pub fn lacking(self) -> u64 {
        u64::from(self.all - self.shared) << self.level
    }

    /// Whether at least this share of the page is contained. Of a sample, that must be all but sure: it is asked of the lower end
    /// of Wilson's interval at two standard errors.
    pub fn is_at_least(self, least: f64) -> bool {
        self.all > 0 && self.all_but_sure() >= least - f64::EPSILON
    }

    /// How many shingles more the other page could lack, and at least this share of the page would be contained.
    pub fn slack(self, least: f64) -> u64 {
        let shingles = u64::from(self.all) << self.level;
        // A tenth of 300 is 30, whatever the last bit says.
        (shingles as f64 * (self.all_but_sure() - least).max(0.0) + 1e-6).floor() as u64
    }

    /// The share that is contained; of a sample, the one that is all but sure.
    fn all_but_sure(self) -> f64 {
        let (share, all) = (self.share(), f64::from(self.all.max(1)));
        if self.level == 0 {
            return share;
        }
        let half = 2.0 / all;
        let middle = share + half;
        let spread = 2.0 * (share * (1.0 - share) / all + 1.0 / (all * all)).sqrt();
        (middle - spread) / (1.0 + 2.0 * half)
    }
}

pub fn sketch_of(shingles: &ShingleSet) -> (Vec<u8>, Vec<u8>) {
    let [mut sketch, mut anchors] = [Vec::new(), Vec::new()];
    encode(shingles, &mut sketch);
    write_anchors(shingles, &mut anchors);
    (sketch, anchors)
}

/// Appends the sketch of a set of shingles; nothing of an empty one.
fn encode(shingles: &ShingleSet, out: &mut Vec<u8>) {
    let hashes = shingles.hashes();
    let mut level = 0;
    let mut whole = hashes.len();
    while whole > MOST {
        level += 1;
        whole = hashes.partition_point(|hash| hash.leading_zeros() >= level);
    }
    let mut bits: Vec<u32> =
        hashes[..whole].iter().map(|hash| (hash >> (u64::BITS - BITS)) as u32).collect();
    bits.dedup();
    if bits.is_empty() {
        return;
    }
    out.push(level as u8);
    write_number(bits.len() as u32, out);
    let low = low_bits(level, bits.len());
    let mut writer = BitWriter { out, held: 0, bits: 0 };
    let mut last = 0;
    for hash in bits {
        let gap = hash - last;
        last = hash;
        writer.zeros(gap >> low);
        writer.put(1 | u64::from(gap & ((1 << low) - 1)) << 1, low + 1);
    }
    writer.finish();
}

pub(super) fn count(sketch: &[u8]) -> u64 {
    head_of(sketch).map_or(0, |(level, count, _)| u64::from(count) << level)
}

/// The hashes of a sketch, ascending, and of which sample they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// How often the hashes were halved: one of `2^level` shingles is in the sample.
    pub level: u8,
    pub hashes: &'a [u32],
}

impl<'a> Sample<'a> {
    pub fn read(sketch: &[u8], hashes: &'a mut Vec<u32>) -> Sample<'a> {
        let of_sketch = Hashes::of(sketch);
        let level = of_sketch.level;
        hashes.clear();
        hashes.extend(of_sketch);
        Sample { level, hashes }
    }

    /// The hashes that are in a sample of a higher `level` too.
    fn at(self, level: u8) -> &'a [u32] {
        if level == self.level {
            return self.hashes;
        }
        // Ascending, so what begins with so many zeros comes first.
        let end = 1 << (BITS - u32::from(level));
        &self.hashes[..self.hashes.partition_point(|&hash| hash < end)]
    }
}

/// A sketch whose hashes are marked in bitmaps, so that many others can be compared with it.
#[derive(Debug)]
pub struct Marked {
    level: u8,
    hashes: Vec<u32>,
    /// A bit for the lowest bits of a hash: 16 KiB, which stay in the nearest cache and tell most sketches of other pages.
    low_marks: Box<[u64]>,
    /// A bit for each hash there may be: 2 MiB, of which a sketch touches a few lines. Set once a sketch passes the others.
    marks: Box<[u64]>,
    has_marks: bool,
}

const LOW_BITS: u32 = 17;

impl Default for Marked {
    fn default() -> Marked {
        let bitmap = |bits: u32| vec![0; (1 << bits) / u64::BITS as usize].into();
        let (low_marks, marks) = (bitmap(LOW_BITS), bitmap(BITS));
        Marked { level: 0, hashes: Vec::new(), low_marks, marks, has_marks: false }
    }
}

/// Where a bitmap has a hash: the word, and the bit of it.
#[inline]
fn bit_of(hash: u32) -> (usize, u64) {
    (hash as usize / 64, 1 << (hash % 64))
}

#[inline]
fn count_in(bitmap: &[u64], hashes: impl Iterator<Item = u32>) -> usize {
    let is_marked = |hash: u32| {
        let (word, bit) = bit_of(hash);
        usize::from(bitmap[word] & bit != 0)
    };
    hashes.map(is_marked).sum()
}

#[inline]
fn low_of(hash: &u32) -> u32 {
    hash & ((1 << LOW_BITS) - 1)
}

impl Marked {
    pub fn mark(&mut self, sketch: Sample<'_>) {
        if std::mem::take(&mut self.has_marks) {
            for &hash in &self.hashes {
                self.marks[bit_of(hash).0] = 0;
            }
        }
        self.level = sketch.level;
        self.hashes.clear();
        self.hashes.extend(sketch.hashes);
        self.low_marks.fill(0);
        for (word, bit) in self.hashes.iter().map(|hash| bit_of(low_of(hash))) {
            self.low_marks[word] |= bit;
        }
    }

    pub fn sample(&self) -> Sample<'_> {
        Sample { level: self.level, hashes: &self.hashes }
    }

    /// How much of each of two pages the other one contains: of the one that is marked first. None as soon as it is sure that neither
    /// contains so much of the other one as `least`.
    pub fn contained(&mut self, other: Sample<'_>, least: f64) -> Option<[Contained; 2]> {
        let Marked { hashes, low_marks, marks, has_marks, .. } = self;
        let level = self.level.max(other.level);
        let other = other.at(level);
        let own = Sample { level: self.level, hashes }.at(level);
        let size = own.len();
        let enough = least * size.min(other.len()) as f64 - 1.0;
        // At most as many are equal as have equal low bits. Where most of the first ones do, the others are likely to.
        let low = |hashes: &[u32]| count_in(low_marks, hashes.iter().map(low_of));
        let first = &other[..other.len().min(32)];
        if 4 * low(first) < 3 * first.len() {
            count_enough(other, own, enough, low)?;
        }
        if !std::mem::replace(has_marks, true) {
            for &hash in &*hashes {
                let (word, bit) = bit_of(hash);
                marks[word] |= bit;
            }
        }
        let all = |hashes: &[u32]| count_in(marks, hashes.iter().copied());
        let equal = count_enough(other, own, enough, all)? as f64;
        let sizes = [size as u32, other.len() as u32];
        let range = f64::from(1_u32 << (BITS - u32::from(level)));
        let of = |all: u32, other: u32| {
            let chance = f64::from(other) / range;
            let shared = (equal - chance * f64::from(all)) / (1.0 - chance).max(f64::EPSILON);
            let shared = shared.round().clamp(0.0, all.min(other).into()) as u32;
            Contained { shared, all, level }
        };
        Some([of(sizes[0], sizes[1]), of(sizes[1], sizes[0])])
    }
}

/// How many of these hashes `count` counts among its `own`; none as soon as it is sure that they are not `enough`. Both are ascending, so behind
/// a hash there are no more equal ones than either has left.
fn count_enough(
    hashes: &[u32],
    own: &[u32],
    enough: f64,
    count: impl Fn(&[u32]) -> usize,
) -> Option<usize> {
    let (mut counted, mut left) = (0, hashes.len());
    for hashes in hashes.chunks(64) {
        counted += count(hashes);
        left -= hashes.len();
        let last = hashes[hashes.len() - 1];
        let is_short = |left: usize| ((counted + left) as f64) < enough;
        if is_short(left) || is_short(own.len() - own.partition_point(|&hash| hash <= last)) {
            return None;
        }
    }
    Some(counted)
}

/// The level of a sketch, the number of its hashes, and how many bytes that takes.
fn head_of(sketch: &[u8]) -> Option<(u8, u32, usize)> {
    let (&level, rest) = sketch.split_first()?;
    let mut count = 0;
    for (at, &byte) in rest.iter().take(3).enumerate() {
        count |= u32::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            let is_sound = u32::from(level) < BITS && (1..=MOST as u32).contains(&count);
            return is_sound.then_some((level, count, at + 2));
        }
    }
    None
}

/// The hashes of a sketch, ascending, decoded one by one. Bytes that are no sketch give what they can.
#[derive(Clone, Debug)]
pub struct Hashes<'a> {
    pub level: u8,
    count: u32,
    low: u32,
    code: &'a [u8],
    at: usize,
    /// What is left of a window, which has some three gaps, and of how many bits.
    word: u64,
    left: u32,
    last: u32,
}

impl<'a> Hashes<'a> {
    pub fn of(sketch: &'a [u8]) -> Hashes<'a> {
        let (level, count, bytes) = head_of(sketch).unwrap_or_default();
        let low = if count > 0 { low_bits(level.into(), count as usize) } else { 0 };
        Hashes { level, count, low, code: &sketch[bytes..], at: 0, word: 0, left: 0, last: 0 }
    }
}

impl ExactSizeIterator for Hashes<'_> {}

impl Iterator for Hashes<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        let low = self.low;
        let mut gap = self.word.trailing_zeros();
        if gap + 1 + low > self.left {
            (self.word, self.left) = (window(self.code, self.at), WINDOW_BITS);
            gap = self.word.trailing_zeros();
        }
        let mut rest = self.word.unbounded_shr(gap + 1);
        if gap + 1 + low > self.left {
            (gap, rest) = long_gap(self.code, self.at);
            self.left = gap + 1 + low;
        }
        self.at += (gap + 1 + low) as usize;
        self.left -= gap + 1 + low;
        self.word = rest >> low;
        self.last = self.last.saturating_add(gap << low | rest as u32 & ((1 << low) - 1));
        self.last = self.last.min((1 << BITS) - 1);
        Some(self.last)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

/// The high bits of a gap that is longer than a window, and the bits behind them.
fn long_gap(code: &[u8], at: usize) -> (u32, u64) {
    let mut gap = 0;
    loop {
        let at = at + gap as usize;
        let zeros = window(code, at).trailing_zeros().min(WINDOW_BITS);
        gap += zeros;
        if zeros < WINDOW_BITS || at + zeros as usize >= 8 * code.len() {
            return (gap, window(code, at + zeros as usize + 1));
        }
    }
}

const WINDOW_BITS: u32 = 56;

/// At least [`WINDOW_BITS`] of a code from a bit on, zeros behind its end.
#[inline]
fn window(code: &[u8], at: usize) -> u64 {
    let rest = code.get(at / 8..).unwrap_or_default();
    let word = rest.first_chunk().map_or_else(
        || rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        |word| u64::from_le_bytes(*word),
    );
    word >> (at % 8)
}

/// How many bits of each gap are written as they are: as many as the mean gap has.
fn low_bits(level: u32, count: usize) -> u32 {
    ((1 << (BITS - level)) / count as u32).max(1).ilog2()
}

/// Appends a number below 2^21, seven bits a byte, the lowest first.
fn write_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    bits: u32,
}

impl BitWriter<'_> {
    /// Writes the lowest `bits` of a number, at most 32.
    fn put(&mut self, number: u64, bits: u32) {
        self.held |= number << self.bits;
        self.bits += bits;
        if self.bits >= 32 {
            self.out.extend((self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.bits -= 32;
        }
    }

    fn zeros(&mut self, mut count: u32) {
        while count > 32 {
            self.put(0, 32);
            count -= 32;
        }
        self.put(0, count);
    }

    fn finish(self) {
        self.out.extend(&self.held.to_le_bytes()[..self.bits.div_ceil(8) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(numbers: impl IntoIterator<Item = u64>) -> ShingleSet {
        let hash = |number: u64| xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes());
        ShingleSet::gather(|add| numbers.into_iter().map(hash).for_each(add))
    }

    fn sketch(set: &ShingleSet) -> Vec<u8> {
        let (bytes, _) = sketch_of(set);
        assert!(bytes.len() <= MAX_SKETCH_BYTES);
        bytes
    }

    fn contained(one: &[u8], other: &[u8]) -> [Contained; 2] {
        let mut marked = Marked::default();
        let hashes = &mut Vec::new();
        for sketch in [other, one] {
            marked.mark(Sample::read(sketch, hashes));
        }
        let found = marked.contained(Sample::read(other, hashes), 0.0).unwrap();
        for least in [0.5, 0.9] {
            let is_enough = found.iter().any(|it| it.is_at_least(least));
            let asked = marked.contained(Sample::read(other, hashes), least);
            assert!(asked == Some(found) || asked.is_none() && !is_enough);
        }
        found
    }

    fn compare(one: &ShingleSet, other: &ShingleSet) -> [Contained; 2] {
        contained(&sketch(one), &sketch(other))
    }

    proptest! {
        /// Up to thousands of shingles, containment is that of the sets, but for chance.
        #[test]
        fn containment_is_that_of_the_sets(from in 0_u64..900, to in 1_u64..900, cut in 0_u64..900, more in 0_u64..900) {
            let [one, other] = [from..from + to, from + cut..from + to + more];
            let [a, b] = [set(one.clone()), set(other.clone())];
            let [one, other] = [one, other].map(BTreeSet::from_iter);
            let shared = one.intersection(&other).count() as f64;
            for (found, all) in compare(&a, &b).into_iter().zip([one.len(), other.len()]) {
                prop_assert!((f64::from(found.all) - all as f64).abs() <= 4.0);
                prop_assert!((f64::from(found.shared) - shared).abs() <= 6.0, "{found:?} {shared}");
            }
        }

        #[test]
        fn hashes_come_back(numbers in prop::collection::btree_set(any::<u64>(), 0..600)) {
            let set = ShingleSet::gather(|add| numbers.iter().copied().for_each(add));
            let exact: BTreeSet<u32> = numbers.iter().map(|it| (it >> 40) as u32).collect();
            prop_assert!(Hashes::of(&sketch(&set)).eq(exact));
        }

        #[test]
        fn bytes_that_are_no_sketch_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..60), other in prop::collection::vec(any::<u8>(), 0..60)) {
            let [one, _] = contained(&bytes, &other);
            prop_assert!(one.shared <= one.all);
            count(&bytes);
        }
    }

    #[test]
    fn a_long_page_is_sampled_and_what_is_told_of_it_is_near_the_truth() {
        let whole = set(0..1_000_000);
        let bytes = sketch(&whole);
        assert!((count(&bytes) as f64 / 1e6 - 1.0).abs() < 0.05, "{}", count(&bytes));
        let [of_part, _] = compare(&set(20_000..120_000), &whole);
        assert!(of_part.level > 0 && of_part.is_at_least(0.9), "{of_part:?}");
        let [less, more] = compare(&set(0..200_000), &set(30_000..250_000));
        assert!((less.share() - 0.85).abs() < 0.02 && !less.is_at_least(0.9), "{less:?}");
        assert!((more.share() - 170.0 / 220.0).abs() < 0.02, "{more:?}");
        // A few samples of a short page prove nothing.
        let [short, _] = compare(&set(0..250), &whole);
        assert!(short.all < 40 && !short.is_at_least(0.9), "{short:?}");
    }

    #[test]
    fn an_empty_set_has_no_sketch_and_is_contained_in_nothing() {
        assert!(sketch(&set([])).is_empty());
        let [none, some] = compare(&set([]), &set(0..9));
        assert!(!none.is_at_least(0.0) && !some.is_at_least(0.1));
        assert_eq!(sketch_of(&set([])).1, [u8::MAX; ANCHORS * ANCHOR_BYTES]);
    }

    #[test]
    fn pages_that_share_much_share_anchors_and_so_does_a_page_with_one_of_forty_times_its_length() {
        let anchors = |from, to| sketch_of(&set(from..to)).1;
        let shared = |one: &[u8], other: &[u8]| {
            let [one, other] = [one, other].map(|it| it.as_chunks::<ANCHOR_BYTES>().0);
            one.iter().filter(|anchor| other.contains(anchor)).count()
        };
        assert!(shared(&anchors(0, 1000), &anchors(50, 1050)) >= 5);
        let long = anchors(0, 20_000);
        for start in (0..19_000).step_by(500) {
            assert!(shared(&anchors(start, start + 500), &long) > 0, "{start}");
        }
        assert_eq!(anchors(0, 1_000_000).len(), MAX_ANCHORS_BYTES);
    }

    /// Sketches are kept in stores: these bytes never change.
    #[test]
    fn sketches_stay_as_they_are() {
        let hex: String = sketch(&set(0..6)).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "00061a1b829335ef717567721c30ea2e7f3715");
    }
}
