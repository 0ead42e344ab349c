//! What differs between two texts, word by word, with some words around each change: in lines, `[-only in the first-]` and
//! `{+only in the second+}`, or side by side.

use dupsieve::report::Run;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use unicode_segmentation::UnicodeSegmentation;

const MOST_WORDS: usize = 4000;

pub(crate) struct Room {
    /// Equal words and spaces on each side of a change.
    around: usize,
    /// Groups of changes that lie near each other.
    groups: usize,
    /// Characters of each side of a change.
    longest: usize,
    /// A group ends after the change that makes it longer than this many characters.
    of_group: usize,
}

const IN_LINES: Room = Room { around: 8, groups: 8, longest: 80, of_group: 160 };
pub(crate) const BESIDE: Room =
    Room { around: 24, groups: 40, longest: 1200, of_group: usize::MAX };
pub(crate) const IN_SHORT: Room = Room { around: 24, groups: 4, longest: 240, of_group: 600 };

pub(crate) fn lines(texts: [&str; 2]) -> Vec<String> {
    let (groups, more) = passages(texts, &IN_LINES);
    if groups.is_empty() {
        let whole = texts.iter().all(|text| words(text).len() < MOST_WORDS);
        return vec![if whole { "equal" } else { "equal as far as compared" }.to_owned()];
    }
    let more = (more > 0).then(|| format!("and {more} more changes"));
    let line = |group: &Vec<Run>| group.iter().map(in_line).collect::<String>().trim().to_owned();
    groups.iter().map(line).chain(more).collect()
}

/// The changes between two texts that there is room for, in groups of such as lie near each other, and how many more groups there are.
pub(crate) fn passages(texts: [&str; 2], room: &Room) -> (Vec<Vec<Run>>, usize) {
    let [one, another] = &texts.map(words);
    // The words that occur once in each text show where a paragraph was put in; the search of Myers gives up on long ones.
    let changes = capture_diff_slices(Algorithm::Patience, one, another);
    let is_changed = |op: &DiffOp| !matches!(op, DiffOp::Equal { .. });
    let run = |op: &DiffOp| {
        let words = [&one[op.old_range()], &another[op.new_range()]];
        Run { sides: words.map(|words| shown(words, room.longest)), is_changed: is_changed(op) }
    };
    let mut groups = group_diff_ops(changes, room.around);
    groups.retain(|group| group.iter().any(is_changed));
    let more = groups.len().saturating_sub(room.groups);
    let shown = groups.iter().take(room.groups);
    (shown.map(|group| shortened(group.iter().map(run), room.of_group)).collect(), more)
}

/// The first runs of a group, until they have more than so many characters.
fn shortened(runs: impl Iterator<Item = Run>, longest: usize) -> Vec<Run> {
    let (mut taken, mut length) = (Vec::new(), 0);
    for run in runs {
        if length > longest {
            taken.push(Run { sides: [" ...", " ..."].map(str::to_owned), is_changed: false });
            break;
        }
        length += in_line(&run).chars().count();
        taken.push(run);
    }
    taken
}

fn words(text: &str) -> Vec<&str> {
    text.split_word_bounds().take(MOST_WORDS).collect()
}

fn in_line(Run { sides: [old, new], is_changed }: &Run) -> String {
    match (is_changed, &**old, &**new) {
        (false, both, _) => both.to_owned(),
        (true, "", new) => format!("{{+{new}+}}"),
        (true, old, "") => format!("[-{old}-]"),
        (true, old, new) => format!("[-{old}-]{{+{new}+}}"),
    }
}

/// The words on one line, without control characters, which could move the cursor of a terminal. The
/// middle of a text that is longer than `longest` characters is left out.
pub(crate) fn shown(words: &[&str], longest: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = words.concat().chars().map(plain).collect();
    let count = text.chars().count();
    if count <= longest {
        return text;
    }
    let head: String = text.chars().take(longest / 2).collect();
    let tail: String = text.chars().skip(count - longest / 2).collect();
    format!("{head} ... {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_the_words_around_them() {
        let (one, another) = ("the quick brown fox jumps", "the quick red fox jumps high");
        assert_eq!(lines([one, another]), ["the quick [-brown-]{+red+} fox jumps{+ high+}"]);
        assert_eq!(lines(["我来到北京清华", "我来到上海清华"]), ["我来到[-北京-]{+上海+}清华"]);
        assert_eq!(lines([one, one]), ["equal"]);
        assert_eq!(lines(["", "\u{1b}[2Jx"]), ["{+ [2Jx+}"]);
    }

    /// A paragraph of 300 words before one of as many words, most of which are the same few.
    #[test]
    fn a_paragraph_that_was_put_in_is_marked_alone() {
        let words = |from: usize, to: usize| -> String {
            let word = |at: usize| match at % 3 {
                0 => format!("w{at} "),
                rest => format!("the{} ", (at / 3 * rest) % 5),
            };
            (from..to).map(word).collect()
        };
        let [head, added, tail] = [words(0, 600), words(2000, 2300), words(600, 1200)];
        let (shown, more) = passages([&(head.clone() + &tail), &(head + &added + &tail)], &BESIDE);
        let changed = |side: usize| {
            shown[0].iter().filter(|it| it.is_changed && !it.sides[side].is_empty()).count()
        };
        assert_eq!((shown.len(), more, changed(0), changed(1)), (1, 0, 0, 1));
    }

    #[test]
    fn many_changes_take_few_lines() {
        let numbered =
            |start| (start..start + 3000).map(|number| format!("w{number} ")).collect::<String>();
        let shown = lines([&numbered(0), &numbered(9000)]);
        assert!(shown.len() <= IN_LINES.groups + 1, "{}", shown.len());
        assert!(shown.iter().all(|line| line.chars().count() < 1000), "{shown:?}");
    }
}
