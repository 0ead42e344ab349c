//! One corpus in one go: the kept records as they came, packed as they were.

use std::io::Write;

use crate::support::Bench;
use crate::world::{gzip, words};

fn text(number: usize) -> String {
    words(100 * number..100 * number + 60)
}

fn line(number: usize) -> String {
    format!("{{\"text\": \"{}\", \"n\": {number}}}\n", text(number))
}

#[test]
fn a_copy_is_packed_exactly_if_its_file_is() {
    let bench = Bench::new();
    bench.write("in/X.JSONL.GZ", gzip(line(1)));
    bench.write("in/bare", gzip(line(2)));
    bench.write("in/plain.jsonl.gz", line(3));
    bench.write("in/plain.jsonl.zst", line(4));
    bench.write("in/z.jsonl", zstd::encode_all(line(5).as_bytes(), 0).unwrap());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(line(6).as_bytes()).unwrap();
    bench.write("in/b.jsonl.bz2", bzip2.finish().unwrap());
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    xz.write_all(line(7).as_bytes()).unwrap();
    bench.write("in/x.jsonl.xz", xz.finish().unwrap());
    let wide = format!("\u{feff}{}", text(8));
    let wide: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bench.write("in/wide.txt", wide);
    bench.done("dedup --input in/* --output found --kept kept");
    let plain = ["plain.jsonl.gz", "plain.jsonl.zst"];
    let packed = ["X.JSONL.GZ", "bare", "z.jsonl", "b.jsonl.bz2", "x.jsonl.xz"];
    for name in plain.into_iter().chain(packed) {
        let [came, copied] = ["in", "kept"].map(|folder| bench.bytes(&format!("{folder}/{name}")));
        assert_eq!(came[..2], copied[..2], "{name}");
    }
    for name in ["plain.jsonl.gz", "wide.txt"] {
        assert_eq!(bench.bytes(&format!("kept/{name}")), bench.bytes(&format!("in/{name}")));
    }
    let again = bench.done("dedup --input kept/* --output again");
    assert_eq!(again.count("kept"), 8);
}
