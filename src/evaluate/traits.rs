//! F1 by length and by language: whether pairs are found as well among short texts as among long ones, and
//! in one language as in another.

use serde::Serialize;

use super::scores::{Counts, Scores, choose_two};
use super::{Labels, Pairs};
use crate::features::words::han_share;

/// How far the F1 of a part may fall below that of the whole before it is remarked.
const SHORTFALL: f64 = 0.1;

/// What of a text decides which parts it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// How many characters it has.
    pub characters: u64,
    /// Whether at least half of its letters are Han.
    pub is_han: bool,
}

/// The scores of a part of the documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartScores {
    /// `shortest third`, `middle third`, `longest third`, `han` or `other`.
    pub part: String,
    /// The fewest and the most characters of its texts; none of a language. Texts of one length are in one
    /// third.
    pub characters: Option<(u64, u64)>,
    /// How many texts it has.
    pub documents: u64,
    /// Pairs found in it. A pair belongs to the part of its shorter text; a pair of two languages is `other`.
    pub pairs: u64,
    /// Pairs of one cluster in it.
    pub positives: u64,
    /// Pairs found in it that are of one cluster.
    pub true_positives: u64,
    /// The share of the pairs found that are of one cluster.
    pub precision: Option<f64>,
    /// The share of the pairs of one cluster that were found.
    pub recall: Option<f64>,
    /// The harmonic mean of both.
    pub f1: Option<f64>,
    /// Whether F1 is more than .1 below that of the whole.
    pub falls_short: bool,
}

impl Traits {
    /// Those of a text.
    #[must_use]
    pub fn of(text: &str) -> Traits {
        Traits { characters: text.chars().count() as u64, is_han: han_share(text) >= 0.5 }
    }
}

/// The names of the thirds of length, and of the languages.
const THIRDS: [&str; 3] = ["shortest third", "middle third", "longest third"];
const LANGUAGES: [&str; 2] = ["other", "han"];

/// The thirds of some lengths.
struct Thirds {
    /// The lengths, ascending.
    lengths: Vec<u64>,
    /// Where the first and the second third end.
    ends: [Option<u64>; 2],
}

impl Thirds {
    fn of(traits: impl Iterator<Item = Traits>) -> Thirds {
        let mut lengths: Vec<u64> = traits.map(|it| it.characters).collect();
        lengths.sort_unstable();
        let ends = [1, 2].map(|third| (third * lengths.len()).div_ceil(3).checked_sub(1));
        let ends = ends.map(|last| last.map(|last| lengths[last]));
        Thirds { lengths, ends }
    }

    fn third(&self, characters: u64) -> usize {
        self.ends.iter().filter(|end| Some(characters) > **end).count()
    }

    /// The fewest and the most characters of a third; none of an empty one.
    fn characters(&self, third: usize) -> Option<(u64, u64)> {
        let own = self.lengths.iter().copied().filter(|&it| self.third(it) == third);
        own.clone().min().zip(own.max())
    }
}

/// Some of the texts, by their length or their language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart {
    /// `shortest third`, `middle third`, `longest third`, `han` or `other`.
    pub name: &'static str,
    /// The fewest and the most characters of its texts; none of a language.
    pub characters: Option<(u64, u64)>,
    /// Of each text, whether it is in this part.
    pub members: Vec<bool>,
}

/// The texts by thirds of length, then by language where there are two. Parts without a text are left out.
#[must_use]
pub fn text_parts(traits: &[Traits]) -> Vec<TextPart> {
    let thirds = Thirds::of(traits.iter().copied());
    let part = |name, characters, is_member: &dyn Fn(Traits) -> bool| {
        let members = traits.iter().map(|&it| is_member(it)).collect();
        TextPart { name, characters, members }
    };
    let by_length = (0..).zip(THIRDS).map(|(third, name)| {
        part(name, thirds.characters(third), &|it| thirds.third(it.characters) == third)
    });
    let by_language =
        [false, true].map(|han| part(LANGUAGES[usize::from(han)], None, &|it| it.is_han == han));
    let has_any = |part: &TextPart| part.members.contains(&true);
    let languages = by_language.iter().all(has_any).then_some(by_language);
    by_length.filter(has_any).chain(languages.into_iter().flatten()).collect()
}

/// The scores of the pairs by thirds of length, then by language where there are two. Documents without a
/// text, and their pairs, are in no part.
#[must_use]
pub fn by_part(pairs: &Pairs, labels: &Labels, traits: &[Option<Traits>]) -> Vec<PartScores> {
    let lengths = Thirds::of(traits.iter().copied().flatten());
    let third = |it: Traits| lengths.third(it.characters);
    let whole = Scores::of(pairs, labels).f1.unwrap_or(0.0);
    let thirds = scores(pairs, labels, traits, whole, &THIRDS, &third).into_iter();
    let with_lengths = thirds
        .enumerate()
        .map(|(at, part)| PartScores { characters: lengths.characters(at), ..part });
    let language = |it: Traits| usize::from(it.is_han);
    let languages = scores(pairs, labels, traits, whole, &LANGUAGES, &language);
    let has_two = languages.iter().all(|part| part.documents > 0);
    let languages = languages.into_iter().filter(|_| has_two);
    with_lengths.filter(|part| part.documents > 0).chain(languages).collect()
}

/// The scores of each part. A pair belongs to the first of the parts of its documents.
fn scores(
    pairs: &Pairs,
    labels: &Labels,
    traits: &[Option<Traits>],
    whole: f64,
    names: &[&str],
    part: &dyn Fn(Traits) -> usize,
) -> Vec<PartScores> {
    let parts: Vec<Option<usize>> = traits.iter().map(|traits| traits.map(part)).collect();
    let mut documents = vec![0; names.len()];
    parts.iter().flatten().for_each(|&part| documents[part] += 1);
    let mut counts = vec![Counts::default(); names.len()];
    count_positives(&mut counts, &parts, labels);
    let clusters = labels.clusters();
    for &(one, another) in pairs.as_slice() {
        let [one, another] = [one, another].map(|it| it as usize);
        if let Some((first, second)) = parts[one].zip(parts[another]) {
            let counts = &mut counts[first.min(second)];
            counts.pairs += 1;
            counts.true_positives += u64::from(clusters[one] == clusters[another]);
        }
    }
    let parts = names.iter().zip(counts).zip(documents);
    let parts = parts.map(|((name, counts), documents)| PartScores {
        part: (*name).to_owned(),
        characters: None,
        documents,
        pairs: counts.pairs,
        positives: counts.positives,
        true_positives: counts.true_positives,
        precision: counts.precision(),
        recall: counts.recall(),
        f1: counts.f1(),
        falls_short: counts.f1().is_some_and(|f1| f1 < whole - SHORTFALL),
    });
    parts.collect()
}

/// Counts the pairs of one cluster in each part.
fn count_positives(counts: &mut [Counts], parts: &[Option<usize>], labels: &Labels) {
    let mut in_clusters = vec![vec![0_u64; counts.len()]; labels.len()];
    for (&part, &cluster) in parts.iter().zip(labels.clusters()) {
        if let Some(part) = part {
            in_clusters[cluster as usize][part] += 1;
        }
    }
    for sizes in in_clusters {
        for (at, counts) in counts.iter_mut().enumerate() {
            let from = |at: usize| choose_two(sizes[at..].iter().sum());
            counts.positives += from(at) - from(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_case_by_hand() {
        let mut labels = Labels::default();
        for (id, cluster) in
            [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"), ("e", "3"), ("f", "3")]
        {
            labels.add(id, cluster).unwrap();
        }
        let traits = ["x", "xx", "我来北京", "我来北京去", "xxxxxx", "我来北京 to"];
        let traits = traits.map(|text| Some(Traits::of(text)));
        let pairs = Pairs::of([(2, 3), (4, 5), (0, 5)]);
        let parts = by_part(&pairs, &labels, &traits);
        let rows: Vec<_> = parts
            .iter()
            .map(|it| (&*it.part, it.documents, it.pairs, it.positives, it.true_positives))
            .collect();
        assert_eq!(
            rows,
            [
                ("shortest third", 2, 1, 1, 0),
                ("middle third", 2, 1, 1, 1),
                ("longest third", 2, 1, 1, 1),
                ("other", 3, 2, 2, 1),
                ("han", 3, 1, 1, 1),
            ]
        );
        assert_eq!(parts[0].characters, Some((1, 2)));
        assert_eq!(parts[2].characters, Some((6, 7)));
        // The whole has F1 2 / 3.
        assert_eq!(parts[0].f1, Some(0.0));
        assert_eq!(
            parts.iter().map(|it| it.falls_short).collect::<Vec<_>>(),
            [true, false, false, true, false]
        );
        let one_language = [Some(Traits::of("x")); 6];
        let parts = by_part(&pairs, &labels, &one_language);
        assert_eq!((parts.len(), parts[0].documents, &*parts[0].part), (1, 6, "shortest third"));
        assert!(by_part(&pairs, &labels, &[None; 6]).is_empty());
    }

    #[test]
    fn texts_are_in_one_third_and_in_one_language() {
        let texts = ["x", "xx", "我来北京", "我来北京去", "xxxxxx", "我来北京 to"];
        let parts = text_parts(&texts.map(Traits::of));
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        assert_eq!(names, [&THIRDS[..], &LANGUAGES[..]].concat());
        assert_eq!(parts[0].characters, Some((1, 2)));
        for parts in [&parts[..3], &parts[3..]] {
            for text in 0..texts.len() {
                assert_eq!(parts.iter().filter(|part| part.members[text]).count(), 1);
            }
        }
        assert_eq!(text_parts(&[Traits::of("x")]).len(), 1);
        assert!(text_parts(&[]).is_empty());
    }

    proptest! {
        /// Every pair of documents with texts is in one third and in one language.
        #[test]
        fn the_parts_sum_to_the_whole(
            documents in prop::collection::vec((0..4_u32, 0..9_u64, any::<bool>()), 1..14),
            found in prop::collection::vec((0..14_u32, 0..14_u32), 0..12),
        ) {
            let count = documents.len() as u32;
            let mut labels = Labels::default();
            for (id, (cluster, ..)) in documents.iter().enumerate() {
                labels.add(&id.to_string(), &cluster.to_string()).unwrap();
            }
            let pairs = Pairs::of(found.into_iter().map(|(one, two)| (one % count, two % count)));
            let traits: Vec<_> = documents
                .iter()
                .map(|&(_, characters, is_han)| Some(Traits { characters, is_han }))
                .collect();
            let whole = Scores::of(&pairs, &labels);
            let parts = by_part(&pairs, &labels, &traits);
            let (thirds, languages): (Vec<_>, Vec<_>) =
                parts.iter().partition(|part| part.characters.is_some());
            for parts in [thirds, languages] {
                let sum = |count: &dyn Fn(&PartScores) -> u64| parts.iter().map(|it| count(it)).sum::<u64>();
                if !parts.is_empty() {
                    prop_assert_eq!(sum(&|it| it.documents), u64::from(count));
                    prop_assert_eq!(sum(&|it| it.pairs), whole.pairs);
                    prop_assert_eq!(sum(&|it| it.positives), whole.positives);
                    prop_assert_eq!(sum(&|it| it.true_positives), whole.true_positives);
                }
            }
        }
    }
}
