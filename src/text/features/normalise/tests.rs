//! Each part of the normal form against its definition.

use super::*;
use proptest::prelude::*;

fn apply(parts: Normalise, text: &str) -> String {
    let mut out = String::from("left from before");
    parts.apply(text, &mut out);
    out
}

#[test]
fn what_shows_nothing_is_left_out() {
    let nfkc = Normalise { nfkc: true, ..Normalise::NOTHING };
    assert_eq!(apply(nfkc, "\u{feff}co\u{ad}op\u{200b}e\u{200d}\u{301}"), "coop é");
}

/// Plain characters are what form KC says, and untouched ones what every part says.
#[test]
fn shortcuts_hold_for_every_character() {
    for c in ('\0'..=char::MAX).filter(|&c| is_plain(c)) {
        assert!([c].into_iter().nfkc().eq([narrow(c)]), "{c:?}");
        let joins = ['e', c].into_iter().nfkc().eq(['e', narrow(c)]);
        assert!(joins, "{c:?} joins what stands before it");
    }
    let untouched = |c: char| c.to_string().bytes().all(|byte| is_untouched(byte, false));
    let stays = |c: &char| untouched(*c) || !c.is_ascii() && stays(*c);
    for c in ('\0'..=char::MAX).filter(|c| *c != ' ' && stays(c)) {
        assert!(is_plain(c) && narrow(c) == c, "{c:?}");
        assert!(c.to_lowercase().eq([c.to_ascii_lowercase()]), "{c:?}");
        assert!(!c.is_whitespace() && !c.is_ascii_digit(), "{c:?}");
    }
}

fn definition(parts: Normalise, text: &str) -> String {
    let mut text = text.to_owned();
    if parts.nfkc {
        text = text.chars().filter_map(shown).nfkc().collect();
    }
    if parts.case == Case::Fold {
        text = text.chars().flat_map(char::to_lowercase).collect();
    }
    if parts.digits != Digits::Keep {
        let digit = |c: char| c.is_ascii_digit();
        let once = if parts.digits == Digits::Zero { "0" } else { "" };
        let runs: Vec<&str> = text.split_inclusive(digit).collect();
        let mut left = String::new();
        for (at, run) in runs.iter().enumerate() {
            let inside = at > 0 && runs[at - 1].ends_with(digit) && run.len() == 1;
            left.push_str(run.trim_end_matches(digit));
            left.push_str(if run.ends_with(digit) && !inside { once } else { "" });
        }
        text = left;
    }
    match parts.white_space {
        WhiteSpace::Keep => text,
        WhiteSpace::Collapse => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

proptest! {
    #[test]
    fn equals_its_definition(
        text in "(\\PC|[a-zA-Z]|[ \t\n]|[0-9]|[a-eé\u{300}-\u{308}\u{1100}-\u{1112}\u{1161}-\u{1175}가Ａ-Ｚ０-９一-十，。…㍿\u{3000}\u{ad}\u{200b}\u{200d}\u{feff}]){0,40}",
        nfkc: bool,
        fold: bool,
        digits in prop::sample::select(vec![Digits::Keep, Digits::Zero, Digits::Drop]),
        collapse: bool,
    ) {
        let case = if fold { Case::Fold } else { Case::Keep };
        let white_space = if collapse { WhiteSpace::Collapse } else { WhiteSpace::Keep };
        let parts = Normalise { nfkc, case, digits, white_space, ..Normalise::NOTHING };
        prop_assert_eq!(apply(parts, &text), definition(parts, &text));
    }
}
