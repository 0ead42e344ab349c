//! What independent implementations answer.

use super::*;

fn texts(name: &str, vectors: &[(&str, u128)]) {
    let mut sketcher = Recipe::named(name, None).unwrap().sketcher().unwrap();
    for &(text, fingerprint) in vectors {
        assert_eq!(sketcher.text(text), Ok(Some(fingerprint)), "{name}: {text}");
    }
}

#[test]
fn charikar() {
    texts(
        "charikar-64",
        &[
            ("This is a test string for testing", 9227187964509734024),
            ("This is a test string for testing also", 13838926914130855848),
            ("This is a test string for testing also!", 9231709207871145706),
            ("nai nai ge xiong cao", 5272330353145394490),
            ("a b c d e f g", 12391511014),
            ("中国 好 声音 今晚 开播", 2526677345697405356),
        ],
    );
    texts(
        "charikar-128",
        &[
            ("This is a test string for testing", 9961709360205638079444993160),
            ("This is a test string for testing also", 9976218835835994013985195944),
            ("This is a test string for testing also!", 10208332588594785109269071594),
            ("nai nai ge xiong cao", 13766543409340470900026),
            ("a b c d e f g", 12391511014),
            ("中国 好 声音 今晚 开播", 2526677345697405356),
        ],
    );
}

#[test]
fn white_space_is_that_of_python() {
    let mut sketcher = sketcher_of("charikar-64");
    let spaced = sketcher.text("a b c d").unwrap();
    assert_eq!(sketcher.text(" a\u{1c}b\u{3000}c\n\u{85}d\t"), Ok(spaced));
    assert_eq!(sketcher.text(" \u{1f} "), Ok(None));
}

#[test]
fn pypi_simhash() {
    texts(
        "pypi-simhash",
        &[
            ("a", 3585878926028121697),
            ("ab", 3404963397999061920),
            ("abc", 15462616177412505458),
            ("hello", 36330143249342482),
            ("Hello, World!", 10747039046998140950),
            ("The quick brown fox jumps over the lazy dog", 3182376498800265610),
            ("This is a test string for testing", 11120175762276753846),
            ("This is a test string for testing also", 9967254257139335590),
            ("This is a test string for testing also!", 9967254257139335590),
            ("nai nai ge xiong cao", 7947763163519395005),
            ("美国", 3115520836749348696),
            ("51区", 15595487342204800658),
            ("雇员", 6749995433973559614),
            ("称", 18059968831339914660),
            ("内部", 16460969687012555033),
            ("有", 1809925115131384506),
            ("9架", 6866120941123534900),
            ("飞碟", 10601221299178849989),
            ("曾", 7247606270345653951),
            ("看见", 13930213484185487642),
            ("灰色", 8356060431464154429),
            ("外星人", 12580203596503975178),
            ("中国好声音", 5207363485223355137),
            ("今晚", 1540906782114066723),
            ("开播", 12158470298401107216),
            ("abcdefghijk", 11880888119434916743),
            ("abcdefghijkl", 13689225206824155111),
            ("abcdefghijklm", 12461993208854066049),
            ("ＡＢＣ全角", 433017917001466678),
            ("emoji 😀🎉 text", 587909554661100675),
            ("naïve café résumé", 1770057050127616530),
            ("tab here", 187057784040325156),
        ],
    );
    let digits = "0123456789".repeat(10);
    texts("pypi-simhash", &[(&digits, 1303381565754986928)]);
}

/// The second line is the example of the library itself.
#[test]
fn keywords_lookup3() {
    let vectors = [
        (
            "美国:4 51区:5 雇员:3 称:1 内部:2 有:1 9架:3 飞碟:5 曾:1 看见:3 灰色:4 外星人:5",
            16430673591484912568,
        ),
        (
            "蓝翔:11.7392 CEO:11.7392 升职:10.8562 加薪:10.6426 手扶拖拉机:10.0089",
            17831459094038722629,
        ),
        ("a:1", 6401452390262130604),
        ("a:1 b:1", 6400885007631794316),
        ("near:2.5 duplicate:3.25 web:1 crawl:1.5", 16984064981552629344),
        (
            "蓝翔:11.6755 CEO:11.6755 升职:10.8562 加薪:10.6426 手扶拖拉机:10.0089",
            17831459094038722629,
        ),
    ];
    let mut sketcher = sketcher_of("keywords-lookup3");
    for (line, fingerprint) in vectors {
        let feature = |text: &'static str| {
            let (name, weight) = text.rsplit_once(':').unwrap();
            (name, weight.parse().unwrap())
        };
        let features: Vec<(&str, f64)> = line.split(' ').map(feature).collect();
        assert_eq!(sketcher.features(&features), Ok(Some(fingerprint)), "{line}");
    }
}
