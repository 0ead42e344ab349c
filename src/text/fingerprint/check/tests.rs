//! Names of checks, and their signatures.

use super::*;

const NAMES: [&str; 4] = ["containment", "minhash-64x8", "cosine-16", "sentences-3"];

#[test]
fn names_read_back_and_what_is_no_name_is_refused() {
    for name in NAMES.into_iter().chain(["points"]) {
        assert_eq!(name.parse::<Check>().unwrap().to_string(), name);
    }
    for (alias, name) in ALIASES {
        assert_eq!(alias.parse::<Check>().unwrap().to_string(), name);
    }
    let wrong = "minhash- minhash-64 minhash-64x3 minhash-1x4 minhash-064x8 minhash-0x8 \
        minhash-9999x8 minhash-99999999999999999999x8 minhash-+64x8 simhash-64 cosine-257 \
        cosine-99999999999999999999 sentences-0 sentences-18446744073709551615 \
        sentences-129 jaccard";
    for wrong in wrong.split(' ').chain([""]) {
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
                let has_length = check.has_direction() || signature.len() == check.bytes();
                assert!(has_length, "{name}");
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

/// Signatures are kept in stores: these bytes never change.
#[test]
fn signatures_stay_as_they_are() {
    for (name, golden) in [("minhash-8x8", "55af9ada591b7d47"), ("sentences-1", "7873d6b44f4ed977")]
    {
        let mut signature = Vec::new();
        let text = "Ｗｉｄｅ letters, 中文和 Numbers 123. The end";
        name.parse::<Check>().unwrap().signer().sign(text, &mut signature).unwrap();
        let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, golden, "{name}");
    }
}
