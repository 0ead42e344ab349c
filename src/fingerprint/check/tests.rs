//! Names of checks, and their signatures.

use super::*;

const NAMES: [&str; 8] = [
    "minhash-64x8",
    "word-minhash-128x2",
    "word-overlap-124x2",
    "page-overlap-124x2",
    "classic-minhash-128x1",
    "simhash-128",
    "cosine-16",
    "sentences-3",
];

#[test]
fn names_read_back_and_what_is_no_name_is_refused() {
    for name in NAMES {
        assert_eq!(name.parse::<Check>().unwrap().to_string(), name);
    }
    for (alias, name) in ALIASES {
        assert_eq!(alias.parse::<Check>().unwrap().to_string(), name);
    }
    for wrong in [
        "",
        "minhash-",
        "minhash-64",
        "minhash-64x3",
        "minhash-1x4",
        "minhash-064x8",
        "minhash-0x8",
        "minhash-9999x8",
        "minhash-99999999999999999999x8",
        "minhash-+64x8",
        "simhash-64",
        "cosine-257",
        "cosine-99999999999999999999",
        "sentences-0",
        "sentences-18446744073709551615",
        "sentences-129",
        "jaccard",
    ] {
        assert_eq!(wrong.parse::<Check>().unwrap_err().kind(), Kind::Usage, "{wrong}");
    }
}

#[test]
fn signatures_have_their_length_and_equal_texts_have_equal_ones() {
    for name in NAMES {
        let check: Check = name.parse().unwrap();
        let mut signer = check.signer();
        let mut signatures =
            ["The  end of it all.", "the end of it all.", "开始", "", "?!"].map(|text| {
                let mut signature = Vec::new();
                signer.sign(text, &mut signature).unwrap();
                assert_eq!(signature.len(), check.bytes(), "{name}");
                signature
            });
        signatures.reverse();
        let [marks, empty, other, second, first] = &signatures;
        assert_eq!((first, marks), (second, empty), "{name}");
        assert!(marks.iter().all(|&byte| byte == 0), "{name}");
        assert_eq!(check.similarity(first, second), 1.0);
        assert!(check.similarity(first, other) < 0.8, "{name}");
    }
}

/// Otherwise pages of different numbers would confirm each other.
#[test]
fn texts_without_words_are_not_alike_by_their_words() {
    let signatures = |name: &str, texts: [&str; 2]| {
        let mut signer = name.parse::<Check>().unwrap().signer();
        texts.map(|text| {
            let mut signature = Vec::new();
            signer.sign(text, &mut signature).unwrap();
            signature
        })
    };
    for texts in [["12 345 6", "2024-01-01 99"], ["", "7"], ["", ""]] {
        for name in NAMES {
            let [one, other] = signatures(name, texts);
            // Numbers are words to a short text, but those are other numbers.
            let words =
                name.starts_with("word-") || texts[0].is_empty() && name.starts_with("page-");
            if words || texts == ["", ""] {
                let similarity = name.parse::<Check>().unwrap().similarity(&one, &other);
                assert_eq!(similarity, if words { 0.0 } else { 1.0 }, "{name}: {texts:?}");
            }
        }
    }
    // A single word leaves a few equal bits in every slot, in many texts all of them zeros.
    for name in ["word-minhash-128x2", "word-minhash-8x1", "word-overlap-8x1"] {
        for word in ('a'..='z').map(String::from) {
            let [one, other] = signatures(name, [&format!("{word} 1"), &format!("{word} 2")]);
            assert!(one.iter().any(|&byte| byte != 0), "{name}: {word}");
            assert_eq!(name.parse::<Check>().unwrap().similarity(&one, &other), 1.0, "{word}");
        }
    }
}

/// Signatures are kept in stores: these bytes never change.
#[test]
fn signatures_stay_as_they_are() {
    for (name, golden) in [
        ("minhash-8x8", "55af9ada591b7d47"),
        ("word-minhash-32x2", "e59fbbadeab6f6ea"),
        ("word-overlap-32x2", "06e59fbbadeab6f6ea"),
        ("page-overlap-32x2", "255d2e6f2418b1dfc4"),
        ("simhash-128", "52a5751fb7849507824bca2b58924617"),
        ("sentences-1", "7873d6b44f4ed977"),
    ] {
        let mut signature = Vec::new();
        let text = "Ｗｉｄｅ letters, 中文和 Numbers 123. The end";
        name.parse::<Check>().unwrap().signer().sign(text, &mut signature).unwrap();
        let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, golden, "{name}");
    }
}
