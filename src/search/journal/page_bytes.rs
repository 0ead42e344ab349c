//! The bytes of a remembered page in a journal, as FORMAT.md beside this file specifies them.

use crate::document::{MAX_ID_BYTES, Position};
use crate::fingerprint::Class;
use crate::fingerprint::check::AS_NEEDED;
use crate::store::{Details, FingerprintedDocument};

use super::header::Header;

/// The parts that a page may lack, and its class, as bits of its first byte.
const HAS_FINGERPRINT: u8 = 1;
const HAS_TIME: u8 = 2;
const IS_SHORT: u8 = 4;

pub(super) fn write(page: &FingerprintedDocument, header: &Header, out: &mut Vec<u8>) {
    let flag = |is: bool, bit: u8| if is { bit } else { 0 };
    let Details { length, time, class, check, anchors, bands, digest, .. } = &page.details;
    let Details { words, passage_anchors, key, declared, .. } = &page.details;
    out.push(
        flag(page.fingerprint.is_some(), HAS_FINGERPRINT)
            | flag(time.is_some(), HAS_TIME)
            | flag(*class == Class::Short, IS_SHORT),
    );
    out.extend((page.id.len() as u32).to_le_bytes());
    out.extend(page.id.as_bytes());
    out.extend(length.to_le_bytes());
    out.extend(page.content.to_le_bytes());
    if let Some(time) = time {
        out.extend(time.to_le_bytes());
    }
    if let Some(fingerprint) = page.fingerprint {
        out.extend(&fingerprint.to_le_bytes()[..header.fingerprint_bytes()]);
        if header.options.check_bytes == AS_NEEDED {
            out.extend((check.len() as u16).to_le_bytes());
        }
        out.extend(check);
        if header.options.anchors {
            write_row(anchors, out);
        }
        out.extend(bands);
        if header.options.digests {
            out.extend(digest.to_le_bytes());
        }
        if header.options.words {
            [words, passage_anchors].into_iter().for_each(|row| write_row(row, out));
        }
        if header.options.keys {
            out.extend(key.to_le_bytes());
            write_row(declared, out);
        }
    }
}

/// A row of as many bytes as it needs, behind its length.
fn write_row(row: &[u8], out: &mut Vec<u8>) {
    out.extend((row.len() as u32).to_le_bytes());
    out.extend(row);
}

fn read_row(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let length = u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?);
    Some(bytes.split_off(..length as usize)?.to_vec())
}

/// Takes a page from the front of `bytes`, and gives it this number; none if there is no such page.
pub(super) fn read(
    bytes: &mut &[u8],
    header: &Header,
    number: u64,
) -> Option<FingerprintedDocument> {
    let flags = *bytes.split_off_first()?;
    if flags & !(HAS_FINGERPRINT | HAS_TIME | IS_SHORT) != 0 {
        return None;
    }
    let id_bytes = u32::from_le_bytes(*bytes.split_off(..4)?.first_chunk()?) as usize;
    if !(1..=MAX_ID_BYTES).contains(&id_bytes) {
        return None;
    }
    let id = str::from_utf8(bytes.split_off(..id_bytes)?).ok()?.to_owned();
    let mut integer = || Some(u64::from_le_bytes(*bytes.split_off(..8)?.first_chunk()?));
    let length = integer()?;
    let content = integer()?;
    let time = if flags & HAS_TIME != 0 { Some(integer()?.cast_signed()) } else { None };
    let class = if flags & IS_SHORT != 0 { Class::Short } else { Class::Full };
    let mut page = FingerprintedDocument {
        position: Position { file: 0, line: number },
        content,
        details: Details { length, time, class, ..Details::default() },
        ..FingerprintedDocument::new(id, None)
    };
    if flags & HAS_FINGERPRINT != 0 {
        let mut fingerprint = [0; 16];
        let width = header.fingerprint_bytes();
        fingerprint[..width].copy_from_slice(bytes.split_off(..width)?);
        page.fingerprint = Some(u128::from_le_bytes(fingerprint));
        let check_bytes = match header.options.check_bytes {
            AS_NEEDED => u16::from_le_bytes(*bytes.split_off(..2)?.first_chunk()?).into(),
            bytes => bytes,
        };
        page.details.check = bytes.split_off(..check_bytes)?.to_vec();
        if header.options.anchors {
            page.details.anchors = read_row(bytes)?;
        }
        page.details.bands = bytes.split_off(..header.options.band_bytes)?.to_vec();
        if header.options.digests {
            page.details.digest = u128::from_le_bytes(*bytes.split_off(..16)?.first_chunk()?);
        }
        if header.options.words {
            for row in [&mut page.details.words, &mut page.details.passage_anchors] {
                *row = read_row(bytes)?;
            }
        }
        if header.options.keys {
            page.details.key = u128::from_le_bytes(*bytes.split_off(..16)?.first_chunk()?);
            page.details.declared = read_row(bytes)?;
        }
    }
    Some(page)
}
