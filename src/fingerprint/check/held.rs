//! How much of one text another text holds: the share of the runs of three words of the first text that the
//! second text has.
//!
//! The share has a direction. A page of 1,000 runs that stands whole in a page of 4,000 runs is held by that
//! page to 1, and holds a quarter of it. So the share says which of two pages can go without loss
//! (Broder, "On the resemblance and containment of documents", SEQUENCES 1997, calls it containment).
//!
//! A text is cut into [runs](crate::features::shingle_hashes) that keep every number: two pages of one template with
//! other figures are two pages. A signature has the number of distinct runs, in two bytes, and one slot of a
//! [MinHash](crate::fingerprint::minhash) for each trial. With the estimate J of the Jaccard similarity, texts
//! of a and b runs have J / (1 + J) of a + b in common.
//!
//! The estimate of a share has an error, which [`shares`] gives beside it. The error grows with b / a: a page that stands
//! whole in a page of ten times its length is beyond a signature of this sort.

use super::maker::{Maker, Signing};
use super::share::HeldShare;
use crate::features::shingle_hashes;
use crate::fingerprint::distinct::Distinct;
use crate::fingerprint::minhash::{self, MinHash};
use crate::fingerprint::shingle_set::ShingleSet;

/// The bytes before the slots: the number of runs.
pub(super) const HEAD_BYTES: usize = 2;

/// The set of the runs of a text, by which it is known exactly how much of a text another text holds.
pub fn held_run_set(text: &str) -> ShingleSet {
    ShingleSet::gather(|add| {
        shingle_hashes::each(text, &mut shingle_hashes::Buffer::default(), add)
    })
}

/// Makes signatures of the set of runs of a text.
#[derive(Debug)]
pub(super) struct Held {
    minhash: MinHash,
    runs: Distinct,
    buffer: shingle_hashes::Buffer,
}

impl Held {
    /// Signatures of `slots` slots of `bits` bits.
    pub(super) fn new(slots: usize, bits: u32) -> Held {
        Held {
            minhash: MinHash::own_bits(slots, bits),
            runs: Distinct::default(),
            buffer: shingle_hashes::Buffer::default(),
        }
    }
}

impl Maker for Held {
    fn sign(&mut self, text: &str, Signing { clock, signature, .. }: Signing<'_, '_>) {
        let Held { minhash, runs, buffer } = self;
        shingle_hashes::each(text, buffer, |run| {
            if clock.step() {
                minhash.add(run);
                runs.add(run);
            }
        });
        signature.extend(code(runs.finish()).to_le_bytes());
        minhash.finish(signature);
    }
}

/// The signature of a text with these runs.
pub(super) fn of_runs(set: &ShingleSet, slots: usize, bits: u32) -> Vec<u8> {
    let mut minhash = MinHash::own_bits(slots, bits);
    set.hashes().iter().for_each(|&run| minhash.add(run));
    let mut signature = code(Distinct::of_set(set.hashes())).to_le_bytes().to_vec();
    minhash.finish(&mut signature);
    signature
}

/// The share of the runs of each text that the other text has: of `one` first. Of a text without a run, nothing is held.
pub(super) fn shares(one: &[u8], another: &[u8], bits: u32) -> [HeldShare; 2] {
    let sizes = [one, another].map(|signature| runs(signature) as f64);
    let [less, more] = [sizes[0].min(sizes[1]), sizes[0].max(sizes[1])];
    if less == 0.0 {
        return [HeldShare { held: 0.0, error: 0.0 }; 2];
    }
    let [slots, others] = [one, another].map(|signature| &signature[HEAD_BYTES..]);
    let trials = (slots.len() * 8) as f64 / f64::from(bits);
    let jaccard = minhash::similarity(slots, others, bits).min(less / more);
    let error = standard_error(jaccard, trials, bits);
    sizes.map(|size| {
        let all = (less + more) / size;
        let held = (all * jaccard / (1.0 + jaccard)).min(1.0);
        HeldShare { held, error: error * all / (1.0 + jaccard).powi(2) }
    })
}

/// The most slots in which two signatures differ of texts of which one may hold the share `least` of the other one: by an estimate with
/// `errors` of its standard errors added, where that error is at most `most_error`.
///
/// With the estimate J of the Jaccard similarity and its error e, texts of a and b runs have the shares A J / (1 + J) with the errors
/// A e / (1 + J)^2, where A is (a + b) / a or (a + b) / b. So the largest A that counts is most_error (1 + J)^2 / e, and with this A the estimate
/// and its errors come to most_error (J (1 + J) / e + errors). That grows with J, as J is at most what the slots say.
pub(super) fn most_differing(
    slots: usize,
    bits: u32,
    [least, errors, most_error]: [f64; 3],
) -> u32 {
    let trials = slots as f64;
    let may_hold = |differing: &u32| {
        let jaccard = minhash::similarity_of(*differing, trials, bits);
        let error = standard_error(jaccard, trials, bits);
        let most = most_error * (jaccard * (1.0 + jaccard) / error + errors);
        // What is no number may be anything.
        most.is_nan() || most + ROUNDING >= least
    };
    (0..=slots as u32).rev().find(may_hold).unwrap_or(0)
}

/// More than the errors of rounding in a share.
const ROUNDING: f64 = 1e-6;

/// The standard error of the estimate of a Jaccard similarity.
fn standard_error(jaccard: f64, trials: f64, bits: u32) -> f64 {
    let chance = 1.0 / (f64::from(1_u32 << bits) - 1.0);
    ((jaccard + chance) * (1.0 - jaccard) / trials).sqrt()
}

/// The number of slots of `bits` bits in which two signatures differ.
pub(super) fn differing(one: &[u8], another: &[u8], bits: u32) -> u32 {
    minhash::differing(&one[HEAD_BYTES..], &another[HEAD_BYTES..], bits)
}

/// The number of distinct runs of a text, by its signature.
pub(super) fn runs(signature: &[u8]) -> u64 {
    number(u16::from_le_bytes([signature[0], signature[1]]))
}

/// The most bands of a signature.
const MOST_BANDS: usize = 16;

/// The bands of a signature: its first slots, two bytes of them at a time.
pub(super) fn bands(signature: &[u8]) -> &[[u8; 2]] {
    let bands = signature[HEAD_BYTES..].as_chunks().0;
    &bands[..bands.len().min(MOST_BANDS)]
}

/// The bits of a number that its code keeps after the first bit.
const KEPT_BITS: u32 = 10;

/// Numbers below this are their own codes.
const EXACT: u64 = 2 << KEPT_BITS;

/// A number in two bytes: exact below 2,048, else its first eleven bits. Codes ascend with their numbers.
fn code(number: u64) -> u16 {
    if number < EXACT {
        return number as u16;
    }
    let shift = number.ilog2() - KEPT_BITS;
    (u64::from(shift) * (EXACT / 2) + (number >> shift)) as u16
}

/// The least number with this code.
fn number(code: u16) -> u64 {
    let code = u64::from(code);
    if code < EXACT {
        return code;
    }
    let shift = code / (EXACT / 2) - 1;
    (EXACT / 2 + code % (EXACT / 2)) << shift
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::fingerprint::check::Check;

    fn signatures(check: Check, texts: [&str; 2]) -> [Vec<u8>; 2] {
        let mut signer = check.signer();
        texts.map(|text| {
            let mut signature = Vec::new();
            signer.sign(text, &mut signature).unwrap();
            signature
        })
    }

    /// The words from one number to another.
    fn words(from: usize, to: usize) -> String {
        (from..to).map(|word| format!("word{word} ")).collect()
    }

    /// The definition: exact sets of runs of three words.
    fn naive(texts: [&str; 2]) -> [f64; 2] {
        let [one, other] = texts.map(|text| -> BTreeSet<Vec<&str>> {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.windows(3).map(<[&str]>::to_vec).collect()
        });
        let common = one.intersection(&other).count() as f64;
        [common / one.len() as f64, common / other.len() as f64]
    }

    #[test]
    fn the_set_of_runs_gives_the_signature_of_the_text() {
        let check: Check = "held-256x1".parse().unwrap();
        let texts = ["", "one", "one two", "a b c d a b c d", &words(0, 5000)].map(str::to_owned);
        for text in &texts {
            let [signature, _] = signatures(check, [text, text]);
            assert_eq!(check.of_runs(&held_run_set(text)), Some(signature));
        }
    }

    /// Over many pairs of texts, the mean error is that of the estimate, and most texts are within two errors.
    #[test]
    fn shares_are_those_of_the_definition_within_their_errors() {
        let check: Check = "held-512x1".parse().unwrap();
        let (mut within, mut all) = (0, 0);
        for at in 0..40 {
            for (length, cut, more) in [(20, 2, 1), (100, 7, 30), (1500, 60, 200), (5000, 900, 0)] {
                let from = at * 100_000;
                let one = words(from, from + length);
                let other = words(from + cut, from + length + more);
                let exact = naive([&one, &other]);
                let [one, other] = signatures(check, [&one, &other]);
                for (share, exact) in shares(&one, &other, 1).into_iter().zip(exact) {
                    assert!((share.held - exact).abs() < 0.15, "{length} {share:?} {exact}");
                    within += u32::from((share.held - exact).abs() <= 2.0 * share.error + 0.005);
                    all += 1;
                }
            }
        }
        assert!(within * 100 >= all * 90, "{within} of {all}");
    }

    #[test]
    fn a_text_within_another_is_held_and_holds_little() {
        let check: Check = "held-1024x1".parse().unwrap();
        let [part, whole] = signatures(check, [&words(0, 800), &words(0, 1600)]);
        let [of_part, of_whole] = shares(&part, &whole, 1);
        assert!(
            of_part.held > 0.9 && (of_whole.held - 0.5).abs() < 0.1,
            "{of_part:?} {of_whole:?}"
        );
        assert_eq!(shares(&part, &part, 1)[0], HeldShare { held: 1.0, error: 0.0 });
    }

    #[test]
    fn numbers_count_and_case_does_not() {
        let check: Check = "held".parse().unwrap();
        let [one, other] =
            signatures(check, ["The price is 12 euros today", "the PRICE is 13 euros today"]);
        assert!(shares(&one, &other, 1)[0].held < 0.5);
        let [one, other] = signatures(check, ["The price is 12 euros", "the PRICE, is: 12 Euros!"]);
        assert_eq!(one, other);
        let [none, some] = signatures(check, ["?!", "a text"]);
        assert_eq!(shares(&none, &some, 1).map(|share| share.held), [0.0, 0.0]);
    }

    proptest! {
        /// Signatures that differ in more slots are of no text that holds enough of the other one.
        #[test]
        fn no_more_slots_differ_of_texts_that_hold_enough(
            one in prop::collection::vec(any::<u8>(), 8..=8), flips in prop::collection::vec((0..64_u32, 0..8_usize), 0..40),
            runs in prop::array::uniform2(1..3_000_u16), bits in prop::sample::select(vec![1, 2, 4, 8_u32]),
            least in 0.0..1.0, errors in prop::sample::select(vec![0.0, 0.5, 3.0]),
            most_error in prop::sample::select(vec![0.02, 0.08, 0.12, 0.5, f64::INFINITY]),
        ) {
            let mut other = one.clone();
            flips.iter().for_each(|&(bit, byte)| other[byte] ^= 1 << (bit % 8));
            let [one, other] = [(runs[0], one), (runs[1], other)]
                .map(|(runs, slots)| [&runs.to_le_bytes()[..], &slots].concat());
            let holds = |share: HeldShare| share.error <= most_error && share.held + errors * share.error >= least;
            if shares(&one, &other, bits).into_iter().any(holds) {
                let most = most_differing(64 / bits as usize, bits, [least, errors, most_error]);
                prop_assert!(differing(&one, &other, bits) <= most);
            }
        }

        #[test]
        fn codes_ascend_and_keep_a_thousandth(exact: u64, shift in 0_u32..64) {
            let exact = exact >> shift;
            let kept = number(code(exact));
            prop_assert!(kept <= exact && exact - kept <= exact / 1024);
            prop_assert!(code(exact) <= code(exact.saturating_add(1)));
        }
    }
}
