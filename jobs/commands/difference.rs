//! What differs between two texts, word by word, in a few lines: `[-only in the first-]` and
//! `{+only in the second+}`, each with some words around it.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use unicode_segmentation::UnicodeSegmentation;

/// How many words of each text are compared. The time grows with the product of both numbers.
const MOST_WORDS: usize = 4000;
/// How many equal words and spaces are shown on each side of a change.
const AROUND: usize = 8;
/// How many lines are shown.
const MOST_LINES: usize = 8;
/// A line ends after the change that makes it longer than this many characters.
const LONGEST_LINE: usize = 400;
/// At most this many characters are shown of each side of a change.
const LONGEST: usize = 160;

/// The changes from one text to the other, each on a line of its own.
pub(crate) fn lines(texts: [&str; 2]) -> Vec<String> {
    let [one, another] = texts.map(words);
    let changes = capture_diff_slices(Algorithm::Myers, &one, &another);
    let groups: Vec<Vec<DiffOp>> = group_diff_ops(changes, AROUND)
        .into_iter()
        .filter(|group| group.iter().any(|op| !matches!(op, DiffOp::Equal { .. })))
        .collect();
    if groups.is_empty() {
        let whole = one.len().max(another.len()) < MOST_WORDS;
        return vec![if whole { "equal" } else { "equal as far as compared" }.to_owned()];
    }
    let shown = groups.iter().take(MOST_LINES).map(|group| line(group, &one, &another));
    let more = groups.len().saturating_sub(MOST_LINES);
    shown.chain((more > 0).then(|| format!("and {more} more changes"))).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_word_bounds().take(MOST_WORDS).collect()
}

fn line(group: &[DiffOp], one: &[&str], another: &[&str]) -> String {
    let mut line = String::new();
    for op in group {
        if line.chars().count() > LONGEST_LINE {
            line += " ...";
            break;
        }
        let [old, new] = [shown(&one[op.old_range()]), shown(&another[op.new_range()])];
        match op {
            DiffOp::Equal { .. } => line += &old,
            _ => {
                if !old.is_empty() {
                    line += &format!("[-{old}-]");
                }
                if !new.is_empty() {
                    line += &format!("{{+{new}+}}");
                }
            }
        }
    }
    line.trim().to_owned()
}

/// The words on one line, without control characters, which could move the cursor of a terminal. The
/// middle of a long text is left out.
fn shown(words: &[&str]) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = words.concat().chars().map(plain).collect();
    let count = text.chars().count();
    if count <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST / 2).collect();
    let tail: String = text.chars().skip(count - LONGEST / 2).collect();
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

    #[test]
    fn many_changes_take_few_lines() {
        let numbered =
            |start| (start..start + 3000).map(|number| format!("w{number} ")).collect::<String>();
        let shown = lines([&numbered(0), &numbered(9000)]);
        assert!(shown.len() <= MOST_LINES + 1, "{}", shown.len());
        assert!(shown.iter().all(|line| line.chars().count() < 1000), "{shown:?}");
    }
}
