//! Checksums made right, by the documents of the formats and not by the code that is tried.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

const HEADER: usize = 16;
const TRAILER: usize = 56;
const COLUMN: usize = 40;

/// A segment: the checksums of blocks, entries, table and metadata, and the digest, as far as its
/// parts can be found.
pub(crate) fn segment(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let _ = repair_segment(&mut bytes);
    bytes
}

fn repair_segment(bytes: &mut [u8]) -> Option<()> {
    let trailer = bytes.len().checked_sub(TRAILER)?;
    let width: [u8; 4] = bytes.get(12..HEADER)?.try_into().ok()?;
    let metadata = trailer.checked_sub(number::<8>(bytes, trailer + 16)?)?;
    let table = metadata.checked_sub(number::<8>(bytes, trailer)?)?;
    let _ = repair_columns(bytes, u32::from_le_bytes(width) as usize / 8, table, metadata);
    let checksums =
        [(8, xxh3_64(&bytes[table..metadata])), (24, xxh3_64(&bytes[metadata..trailer]))];
    for (at, checksum) in checksums {
        bytes[trailer + at..][..8].copy_from_slice(&checksum.to_le_bytes());
    }
    let told: serde_json::Value = serde_json::from_slice(&bytes[metadata..trailer]).ok()?;
    let (length, stamp) = ((metadata - table) as u64, told["stamp"].as_str()?);
    let whole =
        [&width[..], &length.to_le_bytes(), &bytes[table..metadata], stamp.as_bytes()].concat();
    bytes[trailer + 32..][..16].copy_from_slice(&xxh3_128(&whole).to_le_bytes());
    Some(())
}

/// The checksums of the blocks and the entries of all columns of a table.
fn repair_columns(bytes: &mut [u8], width: usize, table: usize, end: usize) -> Option<()> {
    let heads: Vec<[usize; 3]> = (table..end)
        .step_by(COLUMN)
        .map(|head| {
            let (rows, in_a_block) = (number::<8>(bytes, head + 8)?, number::<4>(bytes, head + 4)?);
            let entry = if bytes[head + 1] == 1 { 12 + width } else { 12 };
            Some([
                head,
                rows.checked_div(in_a_block).map_or(0, |_| rows.div_ceil(in_a_block)),
                entry,
            ])
        })
        .collect::<Option<_>>()?;
    let all = heads
        .iter()
        .try_fold(0usize, |all, [_, blocks, entry]| all.checked_add(blocks.checked_mul(*entry)?))?;
    let (mut block, mut entries) = (HEADER, table.checked_sub(all)?);
    for [head, blocks, entry] in heads {
        let first = entries;
        for _ in 0..blocks {
            let length = number::<4>(bytes, entries)?;
            let checksum = xxh3_64(bytes.get(block..block.checked_add(length)?)?);
            bytes.get_mut(entries + 4..entries + 12)?.copy_from_slice(&checksum.to_le_bytes());
            (block, entries) = (block + length, entries + entry);
        }
        let checksum = xxh3_128(&bytes[first..entries]);
        bytes.get_mut(head + 24..head + COLUMN)?.copy_from_slice(&checksum.to_le_bytes());
    }
    Some(())
}

/// Frames behind the first twelve bytes: the checksums of all that can be found by their lengths.
pub(crate) fn frames(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let _ = repair_frames(&mut bytes);
    bytes
}

fn repair_frames(bytes: &mut [u8]) -> Option<()> {
    let mut at = 12_usize;
    loop {
        let body = at + 24;
        let end = body.checked_add(number::<4>(bytes, at)?)?;
        let checksum = xxh3_64(bytes.get(body..end)?);
        bytes[at + 8..at + 16].copy_from_slice(&checksum.to_le_bytes());
        let head = [&bytes[at..at + 16], &(at as u64).to_le_bytes()].concat();
        bytes[at + 16..body].copy_from_slice(&xxh3_64(&head).to_le_bytes());
        at = end;
    }
}

pub(crate) fn manifest(lines: &[u8]) -> Vec<u8> {
    // The last line of a whole one is its checksum.
    let end = lines.windows(8).rposition(|last| last == b"xxh3-64 ").unwrap_or(lines.len());
    let mut whole = lines[..end].to_vec();
    whole.extend(format!("xxh3-64 {:016x}\n", xxh3_64(&lines[..end])).into_bytes());
    whole
}

/// What names a manifest as the newest, of this version.
pub(crate) fn current(version: u64, manifest: &[u8]) -> String {
    format!("{version:06} {:016x}\n", xxh3_64(manifest))
}

/// A list of removed pages: its last bytes are the checksum of those before.
pub(crate) fn removed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes[..bytes.len().saturating_sub(8)].to_vec();
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// A ledger of this key, and its frames.
pub(crate) fn ledger(bytes: &[u8], key: u128) -> Vec<u8> {
    const BEGIN: usize = 52;
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(BEGIN), 0);
    bytes[..12].copy_from_slice(b"DUPSLEDG\x01\0\0\0");
    bytes[12..16].copy_from_slice(&16_u32.to_le_bytes());
    bytes[36..BEGIN].copy_from_slice(&key.to_le_bytes());
    frames(&bytes)
}

/// A table of counts of these rows: its last line says how many, and the checksum of what is before.
pub(crate) fn counts(lines: &[u8]) -> Vec<u8> {
    let end = lines.windows(5).rposition(|last| last == b"\nend ").map_or(lines.len(), |at| at + 1);
    let mut whole = lines[..end].to_vec();
    let rows = whole.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(2);
    whole.extend(format!("end {rows} {:032x}\n", xxh3_128(&lines[..end])).into_bytes());
    whole
}

/// The little-endian number of so many bytes that stands at `at`.
fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let mut number = [0; 8];
    number[..BYTES].copy_from_slice(bytes.get(at..at.checked_add(BYTES)?)?);
    usize::try_from(u64::from_le_bytes(number)).ok()
}
