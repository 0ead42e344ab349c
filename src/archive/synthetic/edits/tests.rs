//! Each edit leaves what it says, and changes as much as it says.

use std::collections::HashSet;

use rand::SeedableRng;

use super::*;
use crate::features::words::han_share;
use crate::synthetic::DocumentGenerator;

fn page(seed: u64, count: usize, is_han: bool) -> String {
    let generator = DocumentGenerator::new(seed, 0.0);
    let of_language = |number: &u64| {
        let share = han_share(&generator.document(*number).text());
        if is_han { share == 1.0 } else { share == 0.0 }
    };
    let number = (0..).find(of_language).expect("two of five are of each language");
    let document = generator.document(number);
    let words = &document.words;
    let word = |at: usize| words[at % words.len()];
    let sentence = |at: usize| match is_han {
        true => format!("第{at}{}{}。", word(3 * at), word(3 * at + 1)),
        false => format!("Sentence {at} of {} and {}.\n", word(3 * at), word(3 * at + 1)),
    };
    (0..count).map(sentence).collect()
}

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn each(mut check: impl FnMut(Edit, usize, &str, &str, &str)) {
    for is_han in [false, true] {
        let text = page(1, 40, is_han);
        let other = page(2, 60, is_han);
        for edit in Edit::ALL {
            for strength in 0..Edit::STRENGTHS {
                let copy = edit.plant(strength, &text, &other, &mut random(3)).unwrap();
                check(edit, strength, &text, &other, &copy);
            }
        }
    }
}

#[test]
fn sentences_are_the_text() {
    for (text, expected) in [
        ("", vec![]),
        ("...\n", vec!["...\n"]),
        (
            "One. Two! 3.5 is no end.\n\n\"Four\"",
            vec!["One. ", "Two! ", "3.5 is no end.\n\n\"", "Four\""],
        ),
        ("我来。你去？\n他", vec!["我来。", "你去？\n", "他"]),
    ] {
        assert_eq!(sentences(text), expected);
        assert_eq!(sentences(text).concat(), text);
    }
}

#[test]
fn an_edit_changes_what_it_says_and_nothing_else() {
    each(|edit, strength, text, other, copy| {
        let share = edit.shares()[strength];
        let [page, others, copied] = [text, other, copy].map(sentences);
        let changed = part(page.len(), share);
        let differ = page.iter().zip(&copied).filter(|(one, two)| one != two).count();
        let theirs = copied.iter().filter(|sentence| others.contains(sentence)).count();
        match edit {
            Edit::Typo => {
                let letters = text.chars().filter(|c| c.is_alphabetic()).count();
                let differ = text.chars().zip(copy.chars()).filter(|(one, two)| one != two);
                assert_eq!(text.chars().count(), copy.chars().count());
                assert_eq!(differ.count(), part(letters, share));
            }
            Edit::Date => {
                let (first, rest) = copy.split_once('\n').unwrap();
                assert_eq!((first.len(), &first[4..5]), (16, "-"));
                let plain = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
                assert_eq!(plain(rest), plain(text));
                assert!(share > 0.0 || rest == text);
            }
            Edit::Sentence => {
                assert_eq!((copied.len(), theirs), (page.len(), changed));
                assert_eq!(differ, changed);
            }
            Edit::Paragraph => {
                assert_eq!((copied.len(), theirs, differ), (page.len(), changed, changed));
                let first = page.iter().zip(&copied).position(|(one, two)| one != two).unwrap();
                assert_eq!(copied[first + changed..], page[first + changed..]);
            }
            Edit::Boilerplate => {
                let (before, after) = copy.split_once(text).unwrap();
                let added = (before.chars().count() + after.chars().count()) as f64;
                let asked = text.chars().count() as f64 * share;
                assert!((asked - 8.0..asked + 120.0).contains(&added), "{added} of {asked}");
                let mut known = HashSet::new();
                words::each_plain(other, |word| known.extend([word]));
                words::each_plain(before, |word| assert!(known.contains(word), "{word}"));
            }
            Edit::Reordering => {
                let sorted = |sentences: &[&str]| {
                    let mut sorted: Vec<String> = sentences.iter().map(|&it| it.into()).collect();
                    sorted.sort_unstable();
                    sorted
                };
                assert_eq!(sorted(&copied), sorted(&page));
                assert_eq!(differ, changed);
            }
            Edit::Truncation => assert_eq!(copied[..], page[..page.len() - changed]),
            Edit::Template => {
                assert_eq!(copied[..changed.div_ceil(2)], page[..changed.div_ceil(2)]);
                assert_eq!((copied.len(), theirs), (page.len(), page.len() - changed));
                assert!(copy.ends_with(page[page.len() - changed / 2..].concat().as_str()));
            }
        }
    });
}

/// Otherwise the labels of the copies would contradict each other. Typos and dates put no other text in.
#[test]
fn a_copy_that_is_the_same_page_keeps_more_of_it_than_any_template() {
    let mut same = Vec::new();
    let mut templates = Vec::new();
    each(|edit, _, text, _, copy| {
        let copied: HashSet<&str> = sentences(copy).into_iter().collect();
        let kept = sentences(text).iter().filter(|sentence| copied.contains(*sentence)).count();
        match edit {
            Edit::Typo | Edit::Date => {}
            Edit::Template => templates.push(kept),
            _ => same.push(kept),
        }
    });
    assert_eq!((same.len(), templates.len()), (40, 8));
    assert!(same.iter().min() > templates.iter().max(), "{same:?} {templates:?}");
}

#[test]
fn the_same_seed_plants_the_same_and_another_seed_other_copies() {
    each(|edit, strength, text, other, copy| {
        let again = |seed| edit.plant(strength, text, other, &mut random(seed));
        assert_eq!(again(3).as_deref(), Some(copy));
        let others = (4..9).filter(|&seed| again(seed).as_deref() != Some(copy)).count();
        assert!(others > 0 || edit == Edit::Truncation, "{edit}");
    });
}

#[test]
fn a_page_that_is_too_short_is_left_out() {
    let other = page(2, 60, false);
    for edit in Edit::ALL {
        for short in ["", "?!", "A title", "标题"] {
            let copy = edit.plant(0, short, &other, &mut random(1));
            let has_room = matches!(edit, Edit::Date | Edit::Boilerplate);
            assert!(has_room || copy.is_none(), "{edit}: {copy:?}");
        }
    }
    // The other page may be the one that is too short.
    let long = page(1, 40, false);
    for edit in [Edit::Sentence, Edit::Paragraph, Edit::Boilerplate, Edit::Template] {
        assert_eq!(edit.plant(3, &long, "", &mut random(1)), None, "{edit}");
    }
}
