//! Responses whose payload came before, as revisit records: in place of the payload stands which record has it.

use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::head::Archive;
use super::headers::{Headers, Response, head_bytes};

const PROFILE: &str = "revisit/identical-payload-digest";
/// What a revisit says in its own way.
const REPLACED: [&str; 9] = [
    "WARC-Type",
    "WARC-Profile",
    "WARC-Refers-To",
    "WARC-Refers-To-Target-URI",
    "WARC-Refers-To-Date",
    "WARC-Payload-Digest",
    "WARC-Block-Digest",
    "WARC-Identified-Payload-Type",
    "Content-Length",
];

#[derive(Debug)]
pub struct Payload {
    /// Hash of the digest, as the record says it or, if it says none, of SHA-1.
    pub digest: u128,
    pub holder: Holder,
}

#[derive(Debug)]
pub enum Holder {
    /// A revisit record, whose payload is in some record with this digest.
    Revisit,
    Response(Original),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Original {
    /// Hash of the bytes and of how they are coded: digests are not trusted, and only the same bytes refer to each other.
    pub bytes: u128,
    pub(super) url: String,
    pub(super) date: String,
    pub(super) id: String,
}

impl Original {
    pub fn text_bytes(&self) -> usize {
        self.url.len() + self.date.len() + self.id.len()
    }
}

impl Payload {
    /// The payload of a record of WARC, if it has one that a revisit may refer to, or refers to one.
    pub fn of(record: &[u8]) -> Option<Payload> {
        let (head, block) = divided(record)?;
        let digest = head.get("WARC-Payload-Digest").map(xxh3_128);
        let kind = head.get("WARC-Type")?;
        if kind.eq_ignore_ascii_case(b"revisit") {
            return Some(Payload { digest: digest?, holder: Holder::Revisit });
        }
        let is_part = ["WARC-Truncated", "WARC-Segment-Number"];
        if !kind.eq_ignore_ascii_case(b"response")
            || is_part.iter().any(|it| head.get(it).is_some())
        {
            return None;
        }
        let response = Response::parse(block).filter(|response| !response.body.is_empty())?;
        let text = |name| Some(str::from_utf8(head.get(name)?).ok()?.to_owned());
        let mut bytes = Xxh3::new();
        for name in ["Content-Encoding", "Transfer-Encoding"] {
            for value in response.headers.all(name) {
                bytes.update(value);
                bytes.update(b"\n");
            }
            bytes.update(b"\n");
        }
        bytes.update(response.body);
        let original = Original {
            bytes: bytes.digest128(),
            url: text("WARC-Target-URI")?,
            date: text("WARC-Date")?,
            id: text("WARC-Record-ID")?,
        };
        let digest = digest.unwrap_or_else(|| xxh3_128(sha1(response.body).as_bytes()));
        Some(Payload { digest, holder: Holder::Response(original) })
    }
}

/// The record of a response without its payload, which the record `original` has.
pub fn revisit(record: &[u8], original: &Original) -> Option<Vec<u8>> {
    let (head, block) = divided(record)?;
    let response = Response::parse(block)?;
    let http = &block[..block.len() - response.body.len()];
    let mut lines = head.lines();
    let version = str::from_utf8(lines.next()?).ok()?.trim_ascii();
    let profile = match version {
        "WARC/1.1" => format!("http://netpreserve.org/warc/1.1/{PROFILE}"),
        _ => format!("http://netpreserve.org/warc/1.0/{PROFILE}"),
    };
    let digest = match head.get("WARC-Payload-Digest") {
        Some(digest) => String::from_utf8_lossy(digest).into_owned(),
        None => sha1(response.body),
    };
    let Original { url, date, id, .. } = original;
    let mut revisit = format!(
        "{version}\r\nWARC-Type: revisit\r\nWARC-Profile: {profile}\r\nWARC-Refers-To: {id}\r\n\
         WARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: {date}\r\n\
         WARC-Payload-Digest: {digest}\r\n"
    )
    .into_bytes();
    let is_replaced = |line: &[u8]| {
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default().trim_ascii();
        REPLACED.iter().any(|it| name.eq_ignore_ascii_case(it.as_bytes()))
    };
    for line in lines.map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty()) {
        if !is_replaced(line) {
            revisit.extend_from_slice(line);
            revisit.extend_from_slice(b"\r\n");
        }
    }
    revisit.extend_from_slice(format!("Content-Length: {}\r\n\r\n", http.len()).as_bytes());
    revisit.extend_from_slice(http);
    revisit.extend_from_slice(Archive::Warc.record_end());
    Some(revisit)
}

fn divided(record: &[u8]) -> Option<(Headers<'_>, &[u8])> {
    let head_bytes = head_bytes(record)?;
    let (head, rest) = record.split_at(head_bytes);
    let block_bytes = Archive::Warc.head(head).ok()?.block_bytes().ok()?;
    Some((Headers(head), rest.get(..usize::try_from(block_bytes).ok()?)?))
}

/// The digest as archives have it: in base 32, whose 5 bits a character divide 20 bytes without a rest.
fn sha1(payload: &[u8]) -> String {
    let mut digest = "sha1:".to_owned();
    for five in Sha1::digest(payload).chunks(5) {
        let bits = five.iter().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
        for at in (0..8).rev() {
            let character = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(bits >> (5 * at) & 31) as usize];
            digest.push(char::from(character));
        }
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_other_writers() {
        assert_eq!(sha1(b""), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(sha1(b"abc"), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    }
}
