//! The pages of a column. What a page takes when it is unpacked stands before it; one that takes too much is refused, so that a
//! small file cannot take all memory. Who wants to go on behind such a page gets another one in its place, of as many nulls or empty values, and the rows
//! that these stand for.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::grammar;
use crate::error::{Error, Kind};
use crate::parallel::lock;

/// The most bytes of a page when it is unpacked. Writers aim at one megabyte, but some look only after a thousand rows.
pub(super) const MOST_BYTES: usize = 512 << 20;

/// The rows of a column, counted from 0, that stand in pages which take too much, in order.
pub type Gaps = Arc<Mutex<Vec<Range<u64>>>>;

const INDEX_PAGE: i32 = 1;

pub(super) struct Pages<R: ChunkReader> {
    bytes: Arc<R>,
    left: Range<u64>,
    pages: SerializedPageReader<R>,
    most: usize,
    /// What stands in the place of pages that take too much; none if they are refused.
    replaced: Option<Replaced>,
}

/// Pages that take too much, of a column that has texts and no lists.
struct Replaced {
    rows: Gaps,
    row: u64,
    /// Whether values can be null, at one level or at more.
    is_nullable: bool,
    lacks_dictionary: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Header {
    kind: i32,
    unpacked: i32,
    packed: i32,
    own: u64,
}

impl<R: ChunkReader> Pages<R> {
    /// The pages of a column, of at most so many bytes. Others are replaced if `gaps` are wanted and the column has texts and no lists.
    pub(super) fn new(
        bytes: Arc<R>,
        column: &ColumnChunkMetaData,
        rows: usize,
        most: usize,
        gaps: Option<&Gaps>,
    ) -> Result<Pages<R>, ParquetError> {
        let (start, length) = column.byte_range();
        let of = column.column_descr();
        let has_texts = of.max_rep_level() == 0 && of.physical_type() == Type::BYTE_ARRAY;
        let replaced = gaps.filter(|_| has_texts).map(|rows| Replaced {
            rows: Arc::clone(rows),
            row: 0,
            is_nullable: of.max_def_level() > 0,
            lacks_dictionary: false,
        });
        let pages = SerializedPageReader::new(Arc::clone(&bytes), column, rows, None)?;
        Ok(Pages { bytes, left: start..start.saturating_add(length), pages, most, replaced })
    }

    /// Looks at what stands before the next page, and goes behind it. Returns whether it is too large, and may be replaced.
    fn pass(&mut self) -> Result<bool, ParquetError> {
        let mut is_large = false;
        while !self.left.is_empty() {
            let length = self.left.end - self.left.start;
            let header = Header::read(self.bytes.get_read(self.left.start)?.take(length))?;
            is_large = usize::try_from(header.unpacked).is_ok_and(|bytes| bytes > self.most);
            if is_large && (self.replaced.is_none() || header.kind == INDEX_PAGE) {
                return Err(too_large(header.unpacked, self.most));
            }
            let packed = u64::try_from(header.packed).unwrap_or(0);
            self.left.start += header.own + packed;
            if header.kind != INDEX_PAGE {
                break;
            }
        }
        Ok(is_large)
    }
}

impl Replaced {
    fn pass(&mut self, values: u32) -> Range<u64> {
        let first = self.row;
        self.row += u64::from(values);
        first..self.row
    }

    /// A page of nulls, or of empty texts, in the place of one of so many values.
    fn page(&mut self, values: u32, most: usize) -> Result<Page, ParquetError> {
        let rows = self.pass(values);
        lock(&self.rows).push(rows);
        let buf = match self.is_nullable {
            // One run of the level 0: twice its length in seven bits each, and the level.
            true => {
                let (mut run, mut left) = (Vec::new(), u64::from(values) << 1);
                while left >= 0x80 {
                    run.push(left as u8 | 0x80);
                    left >>= 7;
                }
                run.extend([left as u8, 0]);
                [&(run.len() as u32).to_le_bytes()[..], &run].concat()
            }
            // The length of each.
            false if values as usize <= most / 4 => vec![0; 4 * values as usize],
            false => return Err(too_large(i32::MAX, most)),
        };
        Ok(Page::DataPage {
            buf: buf.into(),
            num_values: values,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })
    }
}

fn too_large(unpacked: i32, most: usize) -> ParquetError {
    let error = Error::new(Kind::BadData, "a page of the Parquet file is too large")
        .expected(format_args!("at most {most} bytes when it is unpacked"))
        .found(unpacked)
        .help("write the file with smaller pages");
    ParquetError::External(Box::new(io::Error::other(error)))
}

impl Header {
    fn read(from: impl Read) -> Result<Header, ParquetError> {
        let mut from = Counted { from, read: 0 };
        let mut header = Header::default();
        grammar::check(&mut from, grammar::PAGE, &mut |field, number| match field {
            1 => header.kind = number,
            2 => header.unpacked = number,
            3 => header.packed = number,
            _ => {}
        })?;
        Ok(Header { own: from.read, ..header })
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        loop {
            let is_large = self.pass()?;
            let Some(replaced) = &mut self.replaced else { return self.pages.get_next_page() };
            if is_large {
                let Some(page) = self.pages.peek_next_page()? else { return Ok(None) };
                self.pages.skip_next_page()?;
                replaced.lacks_dictionary |= page.is_dict;
                let values = page.num_levels.and_then(|levels| u32::try_from(levels).ok());
                match values {
                    Some(values) => return replaced.page(values, self.most).map(Some),
                    None => continue,
                }
            }
            let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
            let values = page.num_values();
            return match page {
                Page::DictionaryPage { .. } => Ok(Some(page)),
                _ if replaced.lacks_dictionary && is_by_dictionary(page.encoding()) => {
                    replaced.page(values, self.most).map(Some)
                }
                _ => {
                    replaced.pass(values);
                    Ok(Some(page))
                }
            };
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.get_next_page().map(drop)
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.pages.at_record_boundary()
    }
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Result<Page, ParquetError>> {
        self.get_next_page().transpose()
    }
}

fn is_by_dictionary(encoding: Encoding) -> bool {
    [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY].contains(&encoding)
}

struct Counted<R> {
    from: R,
    read: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.read += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::metadata::ParquetMetaDataReader;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use thrift::protocol::{TCompactOutputProtocol, TFieldIdentifier, TOutputProtocol, TType};

    use super::*;

    fn file(version: WriterVersion) -> Bytes {
        let schema = parse_message_type("message m { required binary text (STRING); }").unwrap();
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_compression(Compression::SNAPPY)
            .set_data_page_size_limit(1000)
            .set_write_batch_size(10)
            .set_dictionary_page_size_limit(2000)
            .build();
        let mut bytes = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut bytes, schema.into(), properties.into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let text = |row: u32| ByteArray::from(format!("{} text", row % 40 * row).into_bytes());
        let texts: Vec<ByteArray> = (0..5000).map(text).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        bytes.into()
    }

    #[test]
    fn pages_are_those_of_the_library() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let bytes = file(version);
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
            let column = metadata.row_group(0).column(0);
            let bytes = Arc::new(bytes);
            let theirs = SerializedPageReader::new(Arc::clone(&bytes), column, 5000, None).unwrap();
            let mut ours = Pages::new(bytes, column, 5000, MOST_BYTES, None).unwrap();
            let mut count = 0;
            for page in theirs {
                let (page, own) = (page.unwrap(), ours.get_next_page().unwrap().unwrap());
                assert_eq!((page.buffer(), page.page_type()), (own.buffer(), own.page_type()));
                count += 1;
            }
            assert!(ours.get_next_page().unwrap().is_none() && ours.left.is_empty());
            assert!(count > 10, "{count}");
        }
    }

    fn header(kind: i32, unpacked: i32, packed: i32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut to = TCompactOutputProtocol::new(&mut bytes);
        to.write_struct_begin(&thrift::protocol::TStructIdentifier::new("PageHeader")).unwrap();
        for (id, number) in [(1, kind), (2, unpacked), (3, packed)] {
            to.write_field_begin(&TFieldIdentifier::new("size", TType::I32, id)).unwrap();
            to.write_i32(number).unwrap();
        }
        to.write_field_begin(&TFieldIdentifier::new("unknown", TType::String, 99)).unwrap();
        to.write_bytes(b"of a later format").unwrap();
        to.write_field_stop().unwrap();
        to.write_struct_end().unwrap();
        bytes
    }

    #[test]
    fn a_page_that_unpacks_to_too_much_is_refused() {
        let whole = file(WriterVersion::PARQUET_1_0);
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&whole).unwrap();
        let column = metadata.row_group(0).column(0).clone();
        let passed = |bytes: Vec<u8>| {
            let column = column
                .clone()
                .into_builder()
                .set_total_compressed_size(bytes.len() as i64)
                .set_dictionary_page_offset(None)
                .set_data_page_offset(0)
                .build()
                .unwrap();
            let mut pages =
                Pages::new(Arc::new(Bytes::from(bytes)), &column, 1, MOST_BYTES, None).unwrap();
            pages.pass().map(|_| pages.left.is_empty())
        };
        assert!(passed(header(0, MOST_BYTES as i32, 0)).unwrap());
        let said = passed(header(2, MOST_BYTES as i32 + 1, 0)).unwrap_err().to_string();
        assert!(said.contains("found 536870913"), "{said}");
        // Behind a page that the library passes over.
        let hidden = [header(INDEX_PAGE, 9, 3), vec![0; 3], header(0, i32::MAX, 0)].concat();
        assert!(passed(hidden).unwrap_err().to_string().contains("2147483647"));
        // Nothing that can be read.
        assert!(passed(vec![0x19; 40]).is_err());
    }
}
