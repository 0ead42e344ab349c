//! Edits planted in copies of real pages: what recrawls, mirrors and templates do to a page, each in four
//! strengths.

use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::error::named;
use crate::features::words;

/// The fewest letters of a page in which letters are changed: one change is then at most a twentieth.
const FEWEST_LETTERS: usize = 20;
/// The fewest sentences of a page whose sentences are changed, so that the weakest edit leaves most of it.
const FEWEST_SENTENCES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// Letters are replaced by other letters, in random places.
    Typo,
    /// A line with a date comes first, and other numbers get other digits.
    Date,
    /// Sentences in random places are replaced by sentences of another page.
    Sentence,
    /// A run of sentences is replaced by a run of sentences of another page.
    Paragraph,
    /// Menus are put before and after the page. Their entries are words of another page.
    Boilerplate,
    /// Sentences change places.
    Reordering,
    /// The end of the page is cut off.
    Truncation,
    /// The beginning and the end stay, as the frame of a template, around the text of another page. The
    /// copy is another page, and should not be found.
    Template,
}

named!(pub Edit {
    Typo = "typo",
    Date = "date",
    Sentence = "sentence",
    Paragraph = "paragraph",
    Boilerplate = "boilerplate",
    Reordering = "reordering",
    Truncation = "truncation",
    Template = "template",
});

impl Edit {
    pub const STRENGTHS: usize = 4;

    /// The part of a page that the edit changes, from the weakest to the strongest: of its letters, of its
    /// numbers, or of its sentences. Boilerplate adds this part to the characters of the page. Of a template
    /// it is the part that stays. Chosen so that the copies spread over all similarities, and so that no copy
    /// that is the same page lacks as much of it as a template does: at most half, against three fifths.
    pub fn shares(self) -> [f64; Edit::STRENGTHS] {
        match self {
            Edit::Typo => [0.001, 0.005, 0.02, 0.05],
            Edit::Date => [0.0, 0.1, 0.3, 1.0],
            Edit::Sentence => [0.02, 0.05, 0.1, 0.2],
            Edit::Paragraph => [0.05, 0.1, 0.2, 0.3],
            Edit::Boilerplate => [0.1, 0.25, 0.5, 0.75],
            Edit::Truncation => [0.1, 0.2, 0.3, 0.5],
            Edit::Reordering => [0.1, 0.25, 0.5, 1.0],
            Edit::Template => [0.1, 0.2, 0.3, 0.4],
        }
    }

    /// A copy of `text` with this edit, of a strength from 0 to 3. `other` is the other page that text is
    /// taken from. None if one of the pages is too short, or if the copy came out the same.
    pub fn plant(
        self,
        strength: usize,
        text: &str,
        other: &str,
        random: &mut ChaCha8Rng,
    ) -> Option<String> {
        let share = self.shares()[strength];
        let copy = match self {
            Edit::Typo => typos(text, share, random),
            Edit::Date => dates(text, share, random),
            Edit::Boilerplate => menus(text, share, other, random),
            _ => self.plant_sentences(share, text, other, random),
        };
        copy.filter(|copy| copy != text)
    }

    fn plant_sentences(
        self,
        share: f64,
        text: &str,
        other: &str,
        random: &mut ChaCha8Rng,
    ) -> Option<String> {
        let mut page = sentences(text);
        if page.len() < FEWEST_SENTENCES {
            return None;
        }
        let changed = part(page.len(), share);
        let others = sentences(other);
        match self {
            Edit::Sentence => {
                for place in index::sample(random, page.len(), changed) {
                    page[place] = others.get(random.random_range(0..others.len().max(1)))?;
                }
            }
            Edit::Reordering => reorder(&mut page, changed.max(2), random),
            Edit::Paragraph | Edit::Template => {
                let places = if self == Edit::Paragraph {
                    let start = random.random_range(0..=page.len() - changed);
                    start..start + changed
                } else {
                    changed.div_ceil(2)..page.len() - changed / 2
                };
                let run = run(&others, places.len(), random)?.iter().copied();
                page.splice(places, run);
            }
            _ => page.truncate(page.len() - changed),
        }
        Some(page.concat())
    }
}

fn part(count: usize, share: f64) -> usize {
    ((count as f64 * share).round() as usize).clamp(1, count.max(1))
}

/// The sentences of a text, each with what follows it up to the next one: together they are the text. A
/// sentence ends with a line, with a full stop, exclamation mark, question mark or semicolon of Chinese, or
/// with one of ASCII that white space follows.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut has_ended = false;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c.is_alphanumeric() {
            if has_ended {
                found.push(&text[start..at]);
                start = at;
            }
            has_ended = false;
        } else {
            has_ended |= matches!(c, '\n' | '。' | '！' | '？' | '；')
                || c.is_whitespace() && matches!(before, '.' | '!' | '?' | ';');
        }
        before = c;
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

fn reorder(page: &mut [&str], changed: usize, random: &mut ChaCha8Rng) {
    let places = index::sample(random, page.len(), changed).into_vec();
    let mut moved: Vec<&str> = places.iter().map(|&place| page[place]).collect();
    // The places are in random order, so each sentence moves, and to a random place.
    moved.rotate_left(1);
    places.into_iter().zip(moved).for_each(|(place, moved)| page[place] = moved);
}

/// A run of at most `count` of the sentences of another page; none if it has far fewer.
fn run<'s, 't>(
    others: &'s [&'t str],
    count: usize,
    random: &mut ChaCha8Rng,
) -> Option<&'s [&'t str]> {
    let length = count.min(others.len());
    if length < count.div_ceil(2) {
        return None;
    }
    let start = random.random_range(0..=others.len() - length);
    Some(&others[start..start + length])
}

fn typos(text: &str, share: f64, random: &mut ChaCha8Rng) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    let letters: Vec<usize> =
        (0..characters.len()).filter(|&at| characters[at].is_alphabetic()).collect();
    if letters.len() < FEWEST_LETTERS {
        return None;
    }
    for at in index::sample(random, letters.len(), part(letters.len(), share)) {
        let letter = &mut characters[letters[at]];
        let range = if words::is_han(*letter) { '\u{4e00}'..='\u{9fa5}' } else { 'a'..='z' };
        let mut draw = || random.random_range(range.clone());
        let mut drawn = draw();
        while drawn == *letter {
            drawn = draw();
        }
        *letter = drawn;
    }
    Some(characters.into_iter().collect())
}

fn dates(text: &str, share: f64, random: &mut ChaCha8Rng) -> Option<String> {
    let mut digits = |below| random.random_range(0..below);
    let (year, month, day) = (2000 + digits(100), 1 + digits(12), 1 + digits(28));
    let mut copy = format!("{year}-{month:02}-{day:02} {:02}:{:02}\n", digits(24), digits(60));
    let mut changes = None;
    for c in text.chars() {
        if !c.is_ascii_digit() {
            changes = None;
            copy.push(c);
        } else if *changes.get_or_insert_with(|| random.random_bool(share)) {
            copy.push(random.random_range('0'..='9'));
        } else {
            copy.push(c);
        }
    }
    Some(copy)
}

/// The text between two menus that together are this share of its length. Their entries are one to three
/// words of another page, two to six ideographs.
fn menus(text: &str, share: f64, other: &str, random: &mut ChaCha8Rng) -> Option<String> {
    let mut others = Vec::new();
    words::each_plain(other, |word| others.push(word));
    let characters = (text.chars().count() as f64 * share).round() as usize;
    if others.is_empty() || characters < 2 {
        return None;
    }
    let start = random.random_range(0..others.len());
    others.rotate_left(start);
    let mut others = others.into_iter().peekable();
    let mut menu = |characters: usize| {
        let mut menu = String::new();
        let mut length = 0;
        while length < characters && others.peek().is_some() {
            menu += if menu.is_empty() { "" } else { " | " };
            let is_han = others.peek().is_some_and(|word| word.chars().all(words::is_han));
            let most = random.random_range(1..=3) * if is_han { 2 } else { 1 };
            let entry: Vec<&str> = others.by_ref().take(most).collect();
            let entry = entry.join(if is_han { "" } else { " " });
            length += entry.chars().count() + 3;
            menu += &entry;
        }
        menu
    };
    let before = menu(characters / 2);
    let after = menu(characters / 2);
    Some(format!("{before}\n{text}\n{after}"))
}

#[cfg(test)]
mod tests;
