//! The readers and writers of tables and records, as functions of bytes: results of every format, lists of numbers in Parquet.

use std::fs;
use std::sync::atomic::AtomicU64;

use dupsieve::document::{Content, Fields, Format, Inputs, ReadOptions, Share, read};
use dupsieve::results::{ResultFormat, ResultReader};

use super::file;

pub fn results(bytes: &[u8]) {
    for format in ResultFormat::ALL {
        let path = file(&format.file_name("table"), bytes);
        let Ok(mut rows) = ResultReader::open(&path) else { continue };
        let columns = rows.columns().map(<[String]>::len);
        while let Ok(Some(row)) = rows.next_row() {
            // The lines of a TSV are given as they are.
            let is_checked = format != ResultFormat::Tsv;
            assert!(!is_checked || columns == Some(row.split('\t').count()), "{format}: {row:?}");
        }
    }
}

/// A Parquet file with lists of numbers in the column `vector`.
pub fn vectors(bytes: &[u8]) {
    let path = file("vectors.parquet", bytes);
    let fields = Fields { text: "vector".into(), vectors: true, ..Fields::default() };
    let options = ReadOptions { fields, ..ReadOptions::default() };
    let Ok(inputs) = Inputs::find(std::slice::from_ref(&path), Format::Vectors) else { return };
    let _ = read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| {
            if let Ok(Content::Vector(vector)) = document.map(|document| document.content) {
                assert!(vector.iter().all(|component| component.is_finite()));
            }
        });
        true
    });
    let _ = fs::remove_file(path);
}
