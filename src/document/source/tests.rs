//! Compressed files are read as what they contain, and every damage to them is found.

use super::*;
use crate::document::{Format, Inputs};
use std::fs;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packer.include_checksum(true).unwrap();
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// Enough that does not pack to nothing.
fn page() -> Vec<u8> {
    (0..20_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// All of a file of these bytes and that name, and how it ended.
fn read(name: &str, bytes: &[u8], accept_truncated: bool) -> Result<(Vec<u8>, End)> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    let inputs = Inputs::find(&[folder.path().join(name)], Format::Jsonl).unwrap();
    let progress = AtomicU64::new(0);
    let mut source =
        Source::of(inputs.files()[0].open()?, &inputs.files()[0], accept_truncated, &progress)?;
    let mut all = Vec::new();
    loop {
        let len = all.len() + 4_097;
        if let Some(end) = source.fill(&mut all, len)? {
            let on_disk = progress.load(Ordering::Relaxed);
            assert!(end == End::Cut || on_disk == bytes.len() as u64, "{on_disk} bytes");
            let contents = (end == End::Whole).then(|| xxhash_rust::xxh3::xxh3_128(bytes));
            assert_eq!(source.contents(), contents);
            return Ok((all, end));
        }
    }
}

#[test]
fn the_packing_is_told_by_the_bytes() {
    let page = page();
    for name in ["page", "page.gz", "page.zst"] {
        for packed in [page.clone(), gzip(&page), zstd(&page)] {
            assert_eq!(read(name, &packed, false).unwrap(), (page.clone(), End::Whole));
        }
    }
    assert_eq!(read("page", b"", false).unwrap(), (vec![], End::Whole));
    assert_eq!(read("page", &gzip(b""), false).unwrap(), (vec![], End::Whole));
}

#[test]
fn members_and_frames_follow_one_another() {
    let page = page();
    for pack in [gzip, zstd] {
        let packed = [pack(&page), pack(b""), pack(b"second"), pack(&page)].concat();
        let whole = [&page[..], b"second", &page[..]].concat();
        assert_eq!(read("page", &packed, false).unwrap(), (whole, End::Whole));
    }
    let skippable = [&[0x51, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &zstd(&page)].concat();
    assert_eq!(read("page", &skippable, false).unwrap(), (page, End::Whole));
}

/// A file whose frames need the dictionary in front of them, and what it holds.
fn with_dictionary(is_packed: bool) -> (Vec<u8>, Vec<u8>) {
    let pages: Vec<String> = (0..500).map(|n| format!("<title>{n}</title><p>page {n}")).collect();
    let dictionary = zstd::dict::from_samples(&pages, 1 << 10).unwrap();
    let mut packer = zstd::bulk::Compressor::with_dictionary(1, &dictionary).unwrap();
    let front = if is_packed { zstd(&dictionary) } else { dictionary };
    let mut file = [&[0x5d, 0x2a, 0x4d, 0x18][..], &(front.len() as u32).to_le_bytes()].concat();
    file.extend(front);
    pages.iter().for_each(|page| file.extend(packer.compress(page.as_bytes()).unwrap()));
    (file, pages.concat().into_bytes())
}

#[test]
fn the_first_frame_may_hold_a_dictionary() {
    for is_packed in [false, true] {
        let (packed, whole) = with_dictionary(is_packed);
        assert_eq!(read("page", &packed, false).unwrap(), (whole.clone(), End::Whole));
        for len in (4..packed.len()).step_by(97) {
            match read("page.zst", &packed[..len], true) {
                Ok((some, _)) => assert!(whole.starts_with(&some), "{len}"),
                Err(error) => panic!("{len}: {error}"),
            }
        }
        let length = u32::MAX.to_le_bytes();
        let error = read("page", &[&packed[..4], &length, &packed[8..]].concat(), false);
        assert!(error.unwrap_err().to_string().contains("ends too early"));
    }
    // Another program may have put anything in such a frame.
    for others in [&b"made by us"[..], b"", &[0; 20 << 20]] {
        let length = (others.len() as u32).to_le_bytes();
        let file = [&[0x5d, 0x2a, 0x4d, 0x18], &length, others, &zstd(b"page")].concat();
        assert_eq!(read("page", &file, false).unwrap(), (b"page".to_vec(), End::Whole));
    }
    let zeros = zstd(&vec![0; (16 << 20) + 1]);
    let bomb =
        [&[0x5d, 0x2a, 0x4d, 0x18][..], &(zeros.len() as u32).to_le_bytes(), &zeros].concat();
    let error = read("page", &bomb, false).unwrap_err().to_string();
    assert!(error.contains("a dictionary of more than 16777216 bytes"), "{error}");
}

#[test]
fn every_truncation_is_an_error_or_counted() {
    let page = page();
    for (pack, extension) in [(gzip as fn(&[u8]) -> Vec<u8>, "gz"), (zstd, "zst")] {
        let name = format!("page.{extension}");
        let packed = pack(&page);
        let near = (0..40).chain(packed.len() - 40..packed.len());
        for len in near.chain((40..packed.len() - 40).step_by(5_003)) {
            let error = read(&name, &packed[..len], false).unwrap_err();
            assert_eq!(error.kind(), Kind::BadData, "{len}: {error}");
            assert!(error.to_string().contains("ends too early"), "{len}: {error}");
            assert!(error.to_string().contains(&format!("{name} at byte")), "{error}");
            let (some, end) = read(&name, &packed[..len], true).unwrap();
            assert_eq!(end, End::Cut);
            assert!(page.starts_with(&some), "{len}: {} bytes", some.len());
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_harmless() {
    let page = page();
    for pack in [gzip as fn(&[u8]) -> Vec<u8>, zstd] {
        let packed = pack(&page);
        for at in (4..60).chain((60..packed.len()).step_by(1_999)) {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << (at % 8);
            match read("page", &damaged, false) {
                Ok(read) => assert_eq!(read, (page.clone(), End::Whole), "byte {at}"),
                Err(error) => assert_eq!(error.kind(), Kind::BadData, "byte {at}: {error}"),
            }
        }
    }
}

#[test]
fn zeros_may_follow_gzip_and_nothing_else() {
    let padded = [gzip(b"page"), vec![0; 300_000]].concat();
    assert_eq!(read("page", &padded, false).unwrap(), (b"page".to_vec(), End::Whole));
    for garbage in [&b"x"[..], b"\0\0x", b"\x1f\x8bgarbage of some length"] {
        let error = read("page", &[&gzip(b"page")[..], garbage].concat(), false).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData, "{error}");
    }
    let error = read("page", &[&zstd(b"page")[..], b"garbage"].concat(), false).unwrap_err();
    assert_eq!(error.kind(), Kind::BadData, "{error}");
}

#[test]
fn a_zstd_frame_may_not_ask_for_much_memory() {
    // Magic, a descriptor without content size, a window of 2^31 bytes, and an empty last block.
    let frame = [ZSTD, &[0x00, (31 - 10) << 3, 0x01, 0x00, 0x00]].concat();
    let error = read("page", &frame, false).unwrap_err();
    assert!(error.to_string().contains("too much memory"), "{error}");
}
