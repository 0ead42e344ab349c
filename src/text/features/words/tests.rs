//! Words beside their definition.

use super::*;
use proptest::prelude::*;

fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    Words::new(true).each(text, |word| words.push(word));
    words
}

#[test]
fn stretches_end_where_a_script_with_spaces_begins() {
    let mut found = Vec::new();
    each_stretch("A環境をx ไทย、清华。ソフトᦂᦲไทย", |stretch, is_cut| {
        found.push((stretch, is_cut));
    });
    let all = found.iter().map(|(stretch, _)| *stretch).collect::<Vec<_>>().join("|");
    assert_eq!(all, "A|環境を|x |ไทย|、|清华|。|ソフト|ᦂᦲ|ไทย");
    // No dictionary has New Tai Lue.
    let cut: Vec<&str> = found.iter().filter(|(_, is_cut)| *is_cut).map(|it| it.0).collect();
    assert_eq!(cut, ["環境を", "ไทย", "ไทย"]);
}

#[test]
fn plain_words_are_characters_of_han_and_unspaced_scripts_and_words_of_anything_else() {
    let plain = |text| {
        let mut words = Vec::new();
        each_plain(text, |word| words.push(word));
        words
    };
    let words = plain("清华ACM会、it's (𠀀) —… ①");
    assert_eq!(words, ["清", "华", "ACM", "会", "it's", "𠀀", "①"]);
    for text in ["ภาษาไทย", "ພາສາລາວ", "မြန်မာ", "ខ្មែរ", "ひらがな"]
    {
        let words = plain(text);
        assert!(words.len() > 1 && words.concat() == text, "{words:?}");
        assert!(words.iter().all(|word| word.starts_with(is_unspaced)), "{words:?}");
    }
    assert!(!"aé한カ一བऄ".contains(is_unspaced));
}

#[test]
fn the_share_of_han_counts_letters_only_and_words_are_counted_until_they_are_enough() {
    assert_eq!(
        ["", "12 %", "english", "我来ab", "我来 12。"].map(han_share),
        [0.0, 0.0, 0.0, 0.5, 1.0]
    );
    let gap = " ".repeat(100);
    for (text, words) in
        [("", 0), ("?! …", 0), ("清华 ACM", 3), (&format!("{gap}清{gap}it's{gap}"), 2)]
    {
        for count in 0..6 {
            assert_eq!(has_plain(text, count), words >= count, "{text:?} {count}");
        }
    }
}

#[test]
fn han_covers_every_block_of_ideographs() {
    // The first and the last of each block.
    let basic = "\u{3400}\u{4dbf}\u{4e00}\u{9fff}\u{f900}\u{fad9}";
    let later = "\u{20000}\u{2a6df}\u{2a700}\u{2ebe0}\u{2ebf0}\u{2ee5d}\u{2f800}\u{2fa1d}\u{30000}\u{33479}";
    assert!(basic.chars().chain(later.chars()).all(is_han));
    assert!(!"a1éひカ한。，ー\u{4dc0}㍿😀".contains(is_han));
    assert_eq!(words("𠮷野家").concat(), "𠮷野家");
    assert_eq!(words("\u{30edd}\u{30edd}麵"), ["\u{30edd}", "\u{30edd}", "麵"]);
}

#[test]
fn a_run_without_end_is_cut_in_pieces() {
    let endless = "清华大学".repeat(LONGEST_PIECE / 6);
    let words = words(&endless);
    assert_eq!(words.concat(), endless);
    assert!(words.iter().filter(|&&word| word == "清华大学").count() + 2 >= LONGEST_PIECE / 6);
}

#[test]
fn the_dictionary_named_is_the_one_compiled_in() {
    let lock = include_str!("../../../../Cargo.lock");
    let package =
        lock.split("[[package]]").find(|text| text.contains("name = \"jieba-rs\"")).unwrap();
    for part in DICTIONARY.split(' ') {
        assert!(package.contains(part), "{part} is not in {package}");
    }
}

/// The definition, run by run and by whole libraries.
fn definition(text: &str) -> Vec<&str> {
    static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);
    let jieba = &*JIEBA;
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |c: &char| Class::of(*c) == Class::of(first);
        let end = rest.chars().take_while(same).map(char::len_utf8).sum();
        match Class::of(first) {
            Class::Han => words.extend(jieba.cut(&rest[..end], true).iter().map(|it| it.word)),
            Class::Other | Class::Ascii => words.extend(rest[..end].unicode_words()),
            Class::Separator => {}
        }
        rest = &rest[end..];
    }
    words
}

proptest! {
    #[test]
    fn words_equal_their_definition(text in "([ -~]|[ab'._,:0-9]|[a-z]{1,9} |[一-龥]{1,9}|[，。“”’—\u{301}é]|\\PC){0,30}") {
        prop_assert_eq!(words(&text), definition(&text));
    }

    /// Cutting ASCII at white space first changes nothing.
    #[test]
    fn ascii_words_are_unicode_words(text in "([ -~]|[ab'._,:;0-9 ]){0,40}") {
        prop_assert_eq!(words(&text), text.unicode_words().collect::<Vec<_>>());
    }
}
