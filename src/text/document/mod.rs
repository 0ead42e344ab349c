//! Reads documents: finds the input files, cuts them into records and parses these.
//!
//! ```text
//! Inputs -> Source (bytes) -> Records (bytes of whole records) -- another thread --> Document, or the Reason why not
//! ```
//!
//! - `expand`, `walk`, `inputs`, `origin`, `format`, `share`: which files are read, and by which process.
//! - `contents`: what the files hold, and states that tell when that has changed.
//! - `in_order`, `source`, `lines`, `read`: what must happen in order: opening, decompressing, cutting.
//! - `records`: what a format is: a cutter of records, and portions of them that any thread parses.
//! - `layout` with `jsonl`, `tsv` and `ready`, `csv`, `whole_files`, `warc`, `parquet`: the formats. A new one is a file
//!   or a folder beside these.
//! - `value`: the values of the fields of a record, and the document that they make. `html`, `charset`: the text and the characters of a page of HTML.
//! - `encoding`: files of text in other encodings than UTF-8. `json_lines`: JSON over several lines, or in an array.
//! - `survey`: which fields there are, and which are likely the id, the text and the time.
//! - `host`: the host of a page, if its id is a URL. `page_key`, `surt`: which pages are versions of one page.
//! - `skipped`: records that are no pages, counted by what they are.
//! - `reason`, `quarantine`, `repeated`, `tolerance`: records that cannot be read never stop the job;
//!   they are counted and listed.
//!
//! Imports `error`, `catch_panic`, `progress`, `small_file`, `work_queues`, `parallel`, `object_storage`, `output` and `results`. Start with [`read`].

mod charset;
mod contents;
mod csv;
mod encoding;
mod expand;
mod fields;
mod format;
mod host;
mod html;
mod id_list;
mod id_sieve;
mod in_order;
mod inputs;
mod json_lines;
mod jsonl;
mod layout;
mod lines;
mod markup;
mod new_text;
mod order_field;
mod order_key;
mod origin;
mod page_key;
#[cfg(feature = "parquet")]
mod parquet;
mod quarantine;
mod read;
mod ready;
mod reason;
mod record;
mod records;
mod repeated;
#[cfg(test)]
mod sample;
mod share;
mod skipped;
mod source;
mod standard_input;
mod surt;
mod survey;
mod time;
mod tolerance;
mod tsv;
mod value;
mod walk;
mod warc;
mod whole_files;

pub use contents::FileContents;
pub use encoding::TextEncoding;
pub use fields::{Fields, PlaceIds, ReadOptions};
pub use format::Format;
pub use host::host;
pub use id_list::{IdList, each_id};
pub use id_sieve::IdSieve;
pub use inputs::{Input, Inputs, PassedOver};
pub use new_text::NewText;
pub use order_field::{OrderBy, OrderField, OrderedValues};
pub use order_key::{OrderCounts, OrderKey, OrderKind};
pub use page_key::PageKey;
#[cfg(feature = "parquet")]
pub use parquet::ParquetCopy;
pub use quarantine::{Quarantine, Quarantined};
pub use read::{Deliver, FileRead, FilesRead, read, read_to};
pub use reason::Reason;
pub use record::{Content, Declared, Document, MAX_ID_BYTES, Position, check_id};
pub use records::{Passed, Records};
pub use repeated::{Occurrence, Repeated};
pub use share::Share;
pub use skipped::{Skip, Skipped};
pub use source::{Damage, packing};
pub use standard_input::keep_standard_input;
pub use survey::{FieldSurvey, Survey};
pub use tolerance::Tolerance;
pub use warc::{Holder, Original, Payload, revisit};

#[cfg(test)]
mod tests;
