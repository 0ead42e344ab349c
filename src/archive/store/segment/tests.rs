//! Segments answer to the plain rows they were written from, and to no others.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::document::MAX_ID_BYTES;
use crate::error::{Kind, Result};
use crate::fingerprint::Fingerprint;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store) struct Document<F> {
    fingerprint: F,
    id: String,
    details: Details,
}

impl<F: Fingerprint> Document<F> {
    pub(in crate::store) fn new(fingerprint: F, id: impl ToString) -> Document<F> {
        let id = id.to_string();
        let length = id.len() as u64 * 1000;
        let time = (!length.is_multiple_of(3)).then_some(1_700_000_000 + length as i64);
        let byte = |at: usize| (xxh3_64(id.as_bytes()) >> at) as u8;
        let details = Details {
            length,
            time,
            check: (0..3).map(byte).collect(),
            bands: (0..10).map(byte).collect(),
            digest: u128::from_le_bytes(std::array::from_fn(byte)),
            ..Details::default()
        };
        Document { fingerprint, id, details }
    }

    pub(in crate::store) fn id(&self) -> &str {
        &self.id
    }

    pub(in crate::store) fn row(&self) -> Row<'_, F> {
        let Document { fingerprint, id, details } = self;
        Row { details, ..Row::new(*fingerprint, id) }
    }
}

/// The columns of the details that a document has.
pub(in crate::store) fn options(ids: IdKind, stamp: &str) -> SegmentOptions {
    SegmentOptions {
        ids,
        lengths: true,
        times: true,
        order: Some("score".to_owned()),
        check_bytes: 3,
        band_bytes: 10,
        digests: true,
        stamp: stamp.to_owned(),
        ..SegmentOptions::default()
    }
}

pub(in crate::store) fn write<F: Fingerprint>(
    path: &Path,
    options: SegmentOptions,
    documents: &[Document<F>],
    empties: &[&str],
) -> Result<Segment> {
    let mut writer = SegmentWriter::create(path, options)?;
    for document in documents {
        writer.push(&document.row())?;
    }
    for id in empties {
        writer.push_empty(id)?;
    }
    let fingerprinted = documents.len() as u64;
    let empty = empties.len() as u64;
    let read = fingerprinted + empty;
    writer.finish(RecordCounts { read, fingerprinted, empty, ..RecordCounts::default() }, "a test")
}

pub(in crate::store) fn read<F: Fingerprint>(segment: &Segment) -> Result<Vec<Document<F>>> {
    let mut ids = segment.ids();
    let mut scan = segment.scan::<F>(KeyRange::all());
    let mut details = DetailLookup::new(segment);
    let mut run = Vec::new();
    let mut documents = Vec::new();
    while let Some(first) = scan.next(&mut run)? {
        for (row, &fingerprint) in (first..).zip(&run) {
            let (id, details) = (ids.get(row)?.to_owned(), details.get(row)?.clone());
            documents.push(Document { fingerprint, id, details });
        }
    }
    Ok(documents)
}

pub(in crate::store) fn scanned<F: Fingerprint>(mut scan: Scan<F>) -> Result<Vec<F>> {
    let (mut run, mut all) = (Vec::new(), Vec::new());
    while scan.next(&mut run)?.is_some() {
        all.extend(&run);
    }
    Ok(all)
}

pub(in crate::store) fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i: u64| {
        let mut z = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

pub(in crate::store) fn documents<F: Fingerprint>(fingerprints: &[F]) -> Vec<Document<F>> {
    let ids = numbers(9).map(|number| format!("page-{:x}", number >> 20));
    let mut all: Vec<Document<F>> =
        fingerprints.iter().zip(ids).map(|(&f, id)| Document::new(f, id)).collect();
    all.sort();
    all
}

fn round_trip<F: Fingerprint>(fingerprints: &[F]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    let documents = documents(fingerprints);
    let segment = write(&path, options(IdKind::Text, "a recipe"), &documents, &["e", "f"]).unwrap();
    let bits = scanned(segment.scan::<F>(KeyRange::all())).unwrap();
    assert!(bits.into_iter().eq(documents.iter().map(|page| page.fingerprint)));
    let (mut by_row, ranked) =
        (segment.fingerprints(), Ranked::<F>::open(&segment, Access::OnDisk).unwrap());
    for (row, page) in (0..).zip(&documents).step_by(97) {
        assert_eq!(ranked.get(row).unwrap(), page.fingerprint);
        assert_eq!(by_row.get(row).unwrap(), page.fingerprint.to_u128());
    }
    segment.verify().unwrap();
    assert_eq!(read::<F>(&segment).unwrap(), documents);
    assert_eq!(segment.rows(), fingerprints.len() as u64);
    let empties: Vec<String> = segment.empty_ids().map(Result::unwrap).collect();
    assert_eq!(empties, ["e", "f"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn rows_of_any_length_come_back(
        rows in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), any::<u8>(), 0..3000_usize), 0..60),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = SegmentOptions { words: true, passage_anchors: true, ..options(IdKind::Numbers, "a recipe") };
        let documents: Vec<Document<u64>> = (0..).zip(rows).map(|(row, (words, byte, count))| {
            let mut document = Document::new(row, row);
            (document.details.words, document.details.passage_anchors) = (words, vec![byte; count]);
            document
        }).collect();
        let segment = write(&folder.path().join("a.seg"), options, &documents, &[]).unwrap();
        prop_assert_eq!(read::<u64>(&segment).unwrap(), documents);
        prop_assert_eq!(SegmentOptions::like(&segment).words, true);
    }

    #[test]
    fn rows_come_back(random in prop::collection::vec(any::<u64>(), 0..600)) {
        round_trip(&random);
        round_trip(&random.iter().map(|&f| u128::from(f) << 50).collect::<Vec<u128>>());
    }

    #[test]
    fn a_scan_of_a_range_gives_that_range(
        few in prop::collection::vec(0u64..50, 1..6),
        mut low in 0u64..60,
        mut high in 0u64..60,
    ) {
        (low, high) = (low.min(high), low.max(high));
        // Blocks of equal fingerprints, and blocks that several of them share.
        let mut all: Vec<u64> = few.iter().flat_map(|&f| vec![f; 300 * f as usize]).collect();
        all.sort_unstable();
        let folder = tempfile::tempdir().unwrap();
        let options = SegmentOptions::default();
        let segment = write(&folder.path().join("a"), options, &documents(&all), &[]).unwrap();
        let mut scan = segment.scan(KeyRange { low, high });
        let mut run = Vec::new();
        let mut next = all.partition_point(|&f| f < low);
        while let Some(row) = scan.next(&mut run).unwrap() {
            prop_assert!(!run.is_empty() && row == next as u64);
            prop_assert_eq!(&run, &all[next..next + run.len()]);
            next += run.len();
        }
        prop_assert_eq!(next, all.partition_point(|&f| f <= high));
    }
}

#[test]
fn extremes_come_back() {
    round_trip::<u64>(&[]);
    round_trip::<u128>(&[]);
    round_trip(&[0u64]);
    round_trip(&[0, u64::MAX]);
    round_trip(&[0, 0, u128::MAX, u128::MAX]);
    round_trip(&[u64::MAX; BLOCK_ROWS + 1]);
    round_trip(&numbers(1).take(2 * BLOCK_ROWS).collect::<Vec<u64>>());
}

#[test]
fn ids_need_no_column() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<_> = (0..70_000u64).map(|f| Document::new(f << 20, "")).collect();
    for (kind, expected) in [(IdKind::Numbers, "69999"), (IdKind::None, "0x000000111")] {
        let segment = write(&folder.path().join("a"), options(kind, "a recipe"), &documents, &[])?;
        segment.verify()?;
        assert_eq!(segment.id_kind(), kind);
        assert!(segment.ids().get(69_999)?.starts_with(expected));
        assert_eq!(segment.columns().filter(|size| size.bytes > 0).count(), 6);
    }
    Ok(())
}

#[test]
fn equal_rows_have_equal_digests() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let documents = documents(&[1u64, 2, 3]);
    let of = |documents: &[Document<u64>], stamp: &str, identity: &str| {
        let options = options(IdKind::Text, stamp);
        let mut writer = SegmentWriter::create(folder.path().join("a"), options)?;
        documents.iter().try_for_each(|document| writer.push(&document.row()))?;
        writer.finish(RecordCounts::default(), identity).map(|segment| segment.digest())
    };
    let digest = of(&documents, "r", "one")?;
    assert_eq!(of(&documents, "r", "two")?, digest);
    assert_ne!(of(&documents, "s", "one")?, digest);
    assert_ne!(of(&documents[1..], "r", "one")?, digest);
    Ok(())
}

#[test]
fn disorder_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |ids, rows: &[(u64, &str)], kind| {
        let documents: Vec<_> = rows.iter().map(|&(f, id)| Document::new(f, id)).collect();
        let error =
            write(&folder.path().join("a"), options(ids, "a recipe"), &documents, &[]).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        error.to_string()
    };
    let shown = refused(IdKind::Text, &[(2, "a"), (1, "b")], Kind::Internal);
    assert!(shown.contains("0x0000000000000002 `a`") && shown.contains("0x0000000000000001 `b`"));
    refused(IdKind::Text, &[(1, "b"), (1, "a")], Kind::Internal);
    refused(IdKind::Text, &[(1, "a"), (1, "a")], Kind::Internal);
    refused(IdKind::Numbers, &[(1, ""), (1, "")], Kind::Internal);
    refused(IdKind::None, &[(1, ""), (1, "")], Kind::Internal);
    for id in ["", "a\tb", "a\nb", "a\rb", "\0", &"x".repeat(MAX_ID_BYTES + 1)] {
        refused(IdKind::Text, &[(1, id)], Kind::BadData);
    }
    let empties =
        write::<u64>(&folder.path().join("a"), options(IdKind::Text, "a recipe"), &[], &["b", "a"]);
    assert_eq!(empties.unwrap_err().kind(), Kind::Internal);
}

/// Writes a new file of these bytes: writing over the old one would wait for the disk.
pub(in crate::store) fn replace(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_byte_is_an_error_that_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped");
    let documents = documents(&numbers(3).take(300).collect::<Vec<u64>>());
    let options = SegmentOptions { lengths: true, times: true, ..SegmentOptions::default() };
    write(&path, options, &documents, &["x", "y"]).unwrap();
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        replace(&path, &bytes);
        let verified = Segment::open(&path).and_then(|segment| segment.verify());
        let error = verified.expect_err(&format!("byte {at}"));
        assert_eq!(error.kind(), Kind::BadData, "byte {at}: {error}");
        let shown = error.to_string();
        assert!(shown.contains("flipped at byte") && shown.contains("; "), "{shown}");
    }
}

#[test]
fn random_fingerprints_stay_near_the_bound() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let rows = 1u64 << 18;
    let density = 8e9;
    // Gaps as eight billion random fingerprints have them: exponential, of mean 2^64 / 8e9.
    let gaps = numbers(5).map(|number| {
        let uniform = (number >> 11) as f64 / (1u64 << 53) as f64;
        (-(1.0 - uniform).ln() * 2f64.powi(64) / density) as u64 + 1
    });
    let mut fingerprint = 0;
    let fingerprints: Vec<u64> = gaps
        .take(rows as usize)
        .map(|gap| {
            fingerprint += gap;
            fingerprint
        })
        .collect();
    let bound = 64.0 - f64::log2(density) + 1.443;
    for (codec, most) in [(Codec::EliasFano, 1.032), (Codec::Huffman, 1.085)] {
        let options = SegmentOptions { ids: IdKind::None, codec, ..SegmentOptions::default() };
        let mut writer = SegmentWriter::create(folder.path().join("a"), options)?;
        for &fingerprint in &fingerprints {
            writer.push(&Row::new(fingerprint, ""))?;
        }
        let segment = writer.finish(RecordCounts::default(), "")?;
        let bits = segment.bytes() as f64 * 8.0 / rows as f64;
        assert!(bits / bound < most, "{codec}: {bits:.3} bits, {:.4} of the bound", bits / bound);
        assert_eq!(segment.codecs()?.into_keys().collect::<Vec<Codec>>(), [codec]);
        assert!(scanned(segment.scan(KeyRange::<u64>::all()))? == fingerprints, "{codec}");
    }
    Ok(())
}

#[test]
fn large_segments_are_read_ahead() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let options = SegmentOptions { ids: IdKind::None, ..Default::default() };
    let pages: Vec<_> = (0..1_200_000u64).map(|f| Document::new(f << 40, "")).collect();
    let segment = write(&folder.path().join("a"), options, &pages, &[])?;
    for bytes in [2 << 20, 300 << 10, 1] {
        for forgotten in [false, true] {
            if forgotten {
                let _ = rustix::fs::fadvise(
                    &segment.source().file,
                    0,
                    None,
                    rustix::fs::Advice::DontNeed,
                );
            }
            let all = scanned(segment.scan::<u64>(KeyRange::all()).in_pieces_of(bytes))?;
            assert!(all.into_iter().eq((0..1_200_000).map(|f| f << 40)));
        }
    }
    Ok(())
}

/// How many fingerprints a file of tests/data has, which no later version may read otherwise, the first, the last, and all by XOR.
fn kept<F: Fingerprint>(codec: Codec) -> Result<[u128; 4]> {
    let name = format!("../../tests/data/segment-v1-{codec}-{}.seg", F::BITS);
    let segment = Segment::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(name))?;
    segment.verify()?;
    assert_eq!(segment.codecs()?.into_keys().collect::<Vec<Codec>>(), [codec]);
    let all: Vec<u128> =
        scanned(segment.scan::<F>(KeyRange::all()))?.into_iter().map(F::to_u128).collect();
    Ok([all.len() as u128, all[0], all[499], all.iter().fold(0, |sum, bits| sum ^ bits)])
}

/// Made by `dupsieve generate segment --count 500 --seed 7 --codec C --width W`.
#[test]
fn files_of_every_codec_stay_readable() -> Result<()> {
    for codec in Codec::ALL {
        let narrow = [500, 0x001a_6a17_f06b_4369, 0xfed7_4abe_0e81_2e92, 0xe28f_6233_b0dc_2b85];
        assert_eq!(kept::<u64>(codec)?, narrow, "{codec}");
        let wide = [
            500,
            0x007e_89d5_1a74_aaec_dedb_89ef_65af_81a8,
            0xff7f_f1ec_adda_1115_4262_593c_d0ad_fc4f,
            0xe288_68ef_9fb0_9df7_90c0_5530_a849_33ec,
        ];
        assert_eq!(kept::<u128>(codec)?, wide, "{codec}");
    }
    Ok(())
}

#[test]
fn a_row_without_the_signature_that_the_segment_keeps_is_bad_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.seg");
    let options = SegmentOptions { check_bytes: 16, ..SegmentOptions::default() };
    for check in [vec![], vec![1; 15], vec![1; 17]] {
        let mut writer = SegmentWriter::create(&path, options.clone()).unwrap();
        let details = Details { check, ..Details::default() };
        let error = writer.push(&Row { details: &details, ..Row::new(7_u64, "a") }).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
        assert!(error.to_string().contains("16 bytes"), "{error}");
        assert!(!path.exists());
    }
}
