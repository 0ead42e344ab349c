//! Parquet with lists of numbers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::tables::vectors(bytes));
