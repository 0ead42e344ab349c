//! Records that get more fields.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::tables::annotated(bytes));
