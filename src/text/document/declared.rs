//! What a record declares of its page, beside the text: evidence that is listed beside verdicts, and that none goes by.

use xxhash_rust::xxh3::xxh3_128;

const DIGEST_BYTES: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The XXH3-128 of the `WARC-Payload-Digest` of the record; 0 if it has none.
    pub payload: u128,
    /// The address that the page names by `rel=canonical`.
    pub canonical: Option<String>,
}

impl Declared {
    pub(super) fn payload(digest: Option<&[u8]>) -> u128 {
        digest.map_or(0, |digest| xxh3_128(&digest.to_ascii_lowercase()))
    }

    /// What a segment has of it: the digest, and behind it the address. Empty where nothing is declared.
    pub fn to_row(&self) -> Vec<u8> {
        match self {
            Declared { payload: 0, canonical: None } => Vec::new(),
            Declared { payload, canonical } => {
                let address = canonical.as_deref().unwrap_or_default();
                [&payload.to_le_bytes(), address.as_bytes()].concat()
            }
        }
    }

    /// What a row of a segment has; none if it cannot be one.
    pub fn of_row(row: &[u8]) -> Option<Declared> {
        if row.is_empty() {
            return Some(Declared::default());
        }
        let (payload, address) = row.split_first_chunk::<DIGEST_BYTES>()?;
        let canonical = Some(str::from_utf8(address).ok()?.to_owned());
        let is_field = !address.iter().any(u8::is_ascii_control);
        let canonical = canonical.filter(|address| !address.is_empty());
        is_field.then(|| Declared { payload: u128::from_le_bytes(*payload), canonical })
    }
}
