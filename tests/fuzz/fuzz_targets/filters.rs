//! Filters of ids, with their checksums as they are and repaired.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::filters(bytes));
