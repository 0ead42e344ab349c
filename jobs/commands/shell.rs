//! Words of the commands that are proposed, as a shell reads them.

pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The program as it was called.
pub(crate) fn program() -> String {
    word(&std::env::args().next().unwrap_or_else(|| "dupsieve".to_owned()))
}

/// The word, between quotes if a shell would take a part of it for something else.
pub(crate) fn word(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+:=@%,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { quoted(word) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_the_words_as_they_were() {
        for (text, shown) in [
            ("corpus/a-1.jsonl", "corpus/a-1.jsonl"),
            ("été", "été"),
            ("", "''"),
            ("two words", "'two words'"),
            ("*.jsonl", "'*.jsonl'"),
            ("Anna's pages", r"'Anna'\''s pages'"),
        ] {
            assert_eq!(word(text), shown);
            let read = Command::new("sh").args(["-c", &format!("printf %s {shown}")]).output();
            assert_eq!(read.unwrap().stdout, text.as_bytes());
        }
    }
}
