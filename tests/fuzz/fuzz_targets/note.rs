//! Notes of removed pages for a journal, with their checksum as it is and repaired.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::note(bytes));
