//! Compressed files are read as what they contain, and every damage to them is found.

use super::*;
use crate::document::sample::{folder, gzip, zstd};
use crate::document::{Format, Inputs};
use std::io::Write;
use std::sync::atomic::Ordering;

fn page() -> Vec<u8> {
    (0..20_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    xz_with_dictionary(bytes, 1 << 18)
}

fn xz_with_dictionary(bytes: &[u8], dictionary_bytes: u32) -> Vec<u8> {
    let mut options = lzma_rust2::XzOptions::with_preset(0);
    options.lzma_options.dict_size = dictionary_bytes;
    let mut packer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKS: [(Pack, &str); 4] = [(gzip, "gz"), (zstd, "zst"), (bzip2, "bz2"), (xz, "xz")];

fn read(name: &str, bytes: &[u8], accept_truncated: bool) -> Result<(Vec<u8>, Option<Damage>)> {
    read_with(name, bytes, &ReadOptions { accept_truncated, ..ReadOptions::default() })
}

fn read_with(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<(Vec<u8>, Option<Damage>)> {
    let folder = folder(&[(name, bytes)]);
    let inputs = Inputs::find(&[folder.path().join(name)], Format::Jsonl).unwrap();
    let progress = AtomicU64::new(0);
    let input = &inputs.files()[0];
    let mut source = Source::of(input.open()?, input, options, &progress)?;
    let mut all = Vec::new();
    loop {
        let len = all.len() + 4_097;
        match source.fill(&mut all, len)? {
            None => {}
            Some(End::Cut) => drop(source.go_on()),
            Some(End::Whole) => {
                assert_eq!(progress.load(Ordering::Relaxed), bytes.len() as u64);
                assert_eq!(source.contents(), Some(xxhash_rust::xxh3::xxh3_128(bytes)));
                return Ok((all, source.damage()));
            }
        }
    }
}

#[test]
fn the_packing_is_told_by_the_bytes_and_members_and_frames_follow_one_another() {
    let page = page();
    for name in ["page", "page.gz", "page.zst", "page.bz2", "page.xz"] {
        assert_eq!(read(name, &page, false).unwrap(), (page.clone(), None));
        for (pack, _) in PACKS {
            assert_eq!(read(name, &pack(b""), false).unwrap(), (vec![], None));
            let packed = [pack(&page), pack(b""), pack(b"second"), pack(&page)].concat();
            let whole = [&page[..], b"second", &page[..]].concat();
            assert_eq!(read(name, &packed, false).unwrap(), (whole, None));
        }
    }
    for plain in [&b"BZhou"[..], b""] {
        assert_eq!(read("page", plain, false).unwrap(), (plain.to_vec(), None));
    }
    let skippable = [&[0x51, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &zstd(&page)].concat();
    assert_eq!(read("page", &skippable, false).unwrap(), (page, None));
}

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
        assert_eq!(read("page", &packed, false).unwrap(), (whole.clone(), None));
        for len in (4..packed.len()).step_by(97) {
            let (some, _) = read("page.zst", &packed[..len], true).unwrap();
            assert!(whole.starts_with(&some), "{len}");
        }
        let length = u32::MAX.to_le_bytes();
        let error = read("page", &[&packed[..4], &length, &packed[8..]].concat(), false);
        assert!(error.unwrap_err().to_string().contains("ends too early"));
    }
    // Another program may have put anything in such a frame.
    for others in [&b"made by us"[..], b"", &[0; 20 << 20]] {
        let length = (others.len() as u32).to_le_bytes();
        let file = [&[0x5d, 0x2a, 0x4d, 0x18], &length, others, &zstd(b"page")].concat();
        assert_eq!(read("page", &file, false).unwrap(), (b"page".to_vec(), None));
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
    for (pack, extension) in PACKS {
        let name = format!("page.{extension}");
        let packed = pack(&page);
        let near = (0..40).chain(packed.len() - 40..packed.len());
        for len in near.chain((40..packed.len() - 40).step_by(5_003)) {
            let error = read(&name, &packed[..len], false).unwrap_err();
            assert_eq!(error.kind(), Kind::BadData, "{len}: {error}");
            assert!(error.to_string().contains("ends too early"), "{len}: {error}");
            assert!(error.to_string().contains(&format!("{name} at byte")), "{error}");
            let (some, damage) = read(&name, &packed[..len], true).unwrap();
            assert!(damage.is_some_and(|damage| damage.at <= len as u64), "{len}: {damage:?}");
            assert!(page.starts_with(&some), "{len}: {} bytes", some.len());
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_harmless() {
    let page = page();
    for (pack, _) in PACKS {
        let packed = pack(&page);
        // Before that are bytes by which the packing is known.
        for at in (10..60).chain((60..packed.len()).step_by(1_999)) {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << (at % 8);
            match read("page", &damaged, false) {
                Ok(read) => assert_eq!(read, (page.clone(), None), "byte {at}"),
                Err(error) => assert_eq!(error.kind(), Kind::BadData, "byte {at}: {error}"),
            }
        }
    }
}

#[test]
fn zeros_may_follow_gzip_and_nothing_else() {
    let padded = [gzip(b"page"), vec![0; 300_000]].concat();
    assert_eq!(read("page", &padded, false).unwrap(), (b"page".to_vec(), None));
    for garbage in [&b"x"[..], b"\0\0x", b"\x1f\x8bgarbage of some length"] {
        for packed in [gzip(b"page"), zstd(b"page")] {
            let error = read("page", &[&packed[..], garbage].concat(), false).unwrap_err();
            assert_eq!(error.kind(), Kind::BadData, "{error}");
        }
    }
}

#[test]
fn a_large_window_is_read_if_there_is_memory_for_it() {
    // Magic, a descriptor without content size, a window of 2^31 bytes, and an empty last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (31 - 10) << 3, 0x01, 0x00, 0x00];
    for accept_truncated in [false, true] {
        let error = read("page", &frame, accept_truncated).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert_eq!(error.remedy().settings, ["memory"]);
        let message = error.to_string();
        assert!(message.contains("page: unpacking this file needs more memory"), "{message}");
        assert!(message.contains("found 2048 MiB") && message.contains("8 GiB"), "{message}");
    }
    let options = ReadOptions { window_bytes: 2 << 30, ..ReadOptions::default() };
    assert_eq!(read_with("page", &frame, &options).unwrap(), (vec![], None));
    // A length of 7 bytes says that no more is needed.
    let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packer.window_log(27).unwrap();
    packer.set_pledged_src_size(Some(7)).unwrap();
    packer.write_all(b"a page\n").unwrap();
    let options = ReadOptions { window_bytes: 1 << 20, ..ReadOptions::default() };
    let packed = packer.finish().unwrap();
    assert_eq!(read_with("page", &packed, &options).unwrap(), (b"a page\n".to_vec(), None));
    let dictionary = xz_with_dictionary(b"a page\n", 64 << 20);
    let error = read_with("page", &dictionary, &options).unwrap_err().to_string();
    assert!(error.contains("needs more memory"), "{error}");
    assert_eq!(read("page", &dictionary, false).unwrap(), (b"a page\n".to_vec(), None));
}

type Harm = fn(Vec<u8>) -> Vec<u8>;

#[test]
fn what_follows_a_damaged_member_is_read() {
    let harms: [(&str, Harm); 6] = [
        ("zeros", |mut member| {
            let half = member.len() / 2;
            member[half..half + 30].fill(0);
            member
        }),
        ("a bit", |mut member| {
            let half = member.len() / 2;
            member[half] ^= 1;
            member
        }),
        ("a gap", |member| [&member[..40], &member[70..]].concat()),
        ("no end", |member| member[..member.len() - 20].to_vec()),
        ("no beginning", |member| member[20..].to_vec()),
        ("others between", |member| [&member, &b"no member at all"[..]].concat()),
    ];
    let text = |number: u32| {
        let words = (0..100).map(|n| (1000 * number + n).wrapping_mul(2_654_435_761));
        words.map(|word| format!("{word:x} ")).collect::<String>() + "\n"
    };
    for ((pack, extension), (name, harm)) in
        PACKS[..3].iter().flat_map(|pack| harms.iter().map(move |harm| (pack, harm)))
    {
        for harmed in [0, 5, 19] {
            let pack = |number| match pack(text(number).as_bytes()) {
                member if number == harmed => harm(member),
                member => member,
            };
            let packed: Vec<u8> = (0..20).flat_map(pack).collect();
            let what = format!("{name} in member {harmed} of {extension}");
            // A beginning that is gone tells nothing.
            let (all, damage) = read(&format!("page.{extension}"), &packed, true).expect(&what);
            if harmed == 0 && *name == "no beginning" {
                continue;
            }
            let all = String::from_utf8_lossy(&all);
            for number in (0..20).filter(|number| *number != harmed) {
                assert!(all.contains(&text(number)), "{what}: {number}");
            }
            let damage = damage.expect(&what);
            let is_within = damage.at <= packed.len() as u64;
            assert!(is_within && damage.places <= 3, "{what}: {damage:?}");
        }
    }
}

/// Each of these members holds, in a block without packing, the ones after it.
#[test]
fn members_within_members_take_linear_time() {
    let member = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0, 0xff, 0xff, 0, 0]].concat();
    let packed = member.repeat(100_000);
    let (all, damage) = read("page.gz", &packed, true).unwrap();
    assert!(all.len() < 8 * packed.len() && damage.is_some(), "{} bytes", all.len());
}
