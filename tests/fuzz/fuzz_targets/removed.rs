//! Lists of removed pages, with their checksum as it is and repaired.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::removed(bytes));
