//! Dates in a text. They change from one capture of a page to the next while the page stays the same.
//!
//! ```
//! use dupsieve::features::dates;
//!
//! assert_eq!(dates::without("Posted on 2024-02-29 at 9:00"), "Posted on  at 9:00");
//! ```

use std::borrow::Cow;

/// Names of months; what follows the first three letters may be left out.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// `text` without its dates: `2024-02-29`, `2024/2/29`, `2024.02.29`, `29.02.2024`, `2/29/2024`,
/// `2024年2月29日`, `2024年2月`, `2月29日` and `二〇二四年二月二十九日`, `February 29, 2024`,
/// `29 Feb 2024`, `Feb 2024`. Times of day and single years stay.
pub fn without(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut in_word = false;
    while let Some(c) = text[at..].chars().next() {
        let starts = !in_word && (c.is_ascii_alphanumeric() || is_numeral(c));
        match starts.then(|| date(&text[at..])).flatten() {
            Some(length) => {
                out.push_str(&text[copied..at]);
                at += length;
                copied = at;
                in_word = false;
            }
            None => {
                at += c.len_utf8();
                in_word = c.is_ascii_alphanumeric() || is_numeral(c);
            }
        }
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => {
            out.push_str(&text[copied..]);
            Cow::Owned(out)
        }
    }
}

/// The length of the date that `text` starts with.
fn date(text: &str) -> Option<usize> {
    let rest = numeric(text).or_else(|| chinese(text)).or_else(|| named(text))?;
    let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    ends.then_some(text.len() - rest.len())
}

/// A number of `least` to `most` ASCII digits, and what follows.
fn digits(text: &str, least: usize, most: usize) -> Option<(u32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..length].parse().ok().filter(|_| (least..=most).contains(&length))?;
    Some((number, &text[length..]))
}

/// Three numbers with the same mark between them, the year at one end.
fn numeric(text: &str) -> Option<&str> {
    let (first, rest) = digits(text, 1, 4)?;
    let mark = rest.chars().next().filter(|c| matches!(c, '-' | '/' | '.'))?;
    let (second, rest) = digits(&rest[1..], 1, 2)?;
    let (third, rest) = digits(rest.strip_prefix(mark)?, 1, 4)?;
    let day = |number| (1..=31).contains(&number);
    let year = |number| (1900..2100).contains(&number);
    let fits = day(second) && (year(first) && day(third) || day(first) && year(third));
    fits.then_some(rest)
}

fn is_numeral(c: char) -> bool {
    "〇零一二三四五六七八九十○".contains(c)
}

/// What follows a number in digits or Chinese numerals and the `unit`, with white space between.
fn counted(text: &str, unit: char) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || is_numeral(c));
    let numerals = text[..text.len() - rest.len()].chars().count();
    let rest = rest.trim_start_matches(' ').strip_prefix(unit)?;
    (1..=4).contains(&numerals).then(|| rest.trim_start_matches(' '))
}

/// Year, month and day; the year or the day may be missing.
fn chinese(text: &str) -> Option<&str> {
    let month = counted(text, '年').unwrap_or(text);
    let day = counted(month, '月')?;
    match counted(day, '日') {
        Some(rest) => Some(rest),
        None => (month.len() < text.len()).then_some(day),
    }
}

/// What follows the name of a month.
fn month(text: &str) -> Option<&str> {
    let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = text[..length].to_ascii_lowercase();
    let known =
        length >= 3 && MONTHS.iter().any(|month| month.starts_with(&name) || name == "sept");
    known.then(|| text[length..].strip_prefix('.').unwrap_or(&text[length..]))
}

/// `29 February 2024`, `February 29th, 2024` or `February 2024`.
fn named(text: &str) -> Option<&str> {
    let year = |text: &str| {
        let (year, rest) = digits(text, 4, 4)?;
        (1900..2100).contains(&year).then_some(rest.len())
    };
    let day = |text| {
        let (_, rest) = digits(text, 1, 2)?;
        let suffixes = ["st", "nd", "rd", "th"];
        Some(suffixes.into_iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest))
    };
    let gap = |text: &'_ str| -> Option<usize> {
        let rest = text.strip_prefix(',').unwrap_or(text).trim_start_matches(' ');
        (rest.len() < text.len()).then_some(rest.len())
    };
    let skip = |text: &'_ str| gap(text).map(|left| text.len() - left);
    let after = match day(text) {
        Some(rest) => month(&rest[skip(rest)?..])?,
        None => {
            let rest = month(text)?;
            let spaced = &rest[skip(rest)?..];
            match year(spaced) {
                Some(_) => rest,
                None => day(spaced)?,
            }
        }
    };
    let spaced = &after[skip(after)?..];
    year(spaced).map(|left| &text[text.len() - left..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_vanish() {
        let dates = [
            "2024-02-29",
            "2024/2/9",
            "29.02.2024",
            "2/29/2024",
            "2024年2月29日",
            "2024年2月",
            "2 月 9 日",
            "二〇二四年十二月二十九日",
            "February 29, 2024",
            "29 Feb 2024",
            "Sept. 2024",
            "March 3rd, 1999",
            "1 May 2001",
        ];
        for date in dates {
            assert_eq!(without(date), "", "{date}");
            assert_eq!(without(&format!("a {date}, b")), "a , b", "{date}");
            assert_eq!(without(&format!("于{date}。")), "于。", "{date}");
        }
    }

    #[test]
    fn other_numbers_stay() {
        let others = [
            "",
            "2024",
            "1.2.3",
            "10.0.0.1",
            "May I",
            "may 5 people",
            "12:30",
            "3月",
            "第二十九条",
            "2024-02",
            "x2024-02-29",
            "2024-02-29x",
            "99-99-2024",
            "1/2",
            "二月",
            "March of 2024",
        ];
        for other in others {
            assert_eq!(without(other), other);
        }
    }
}
