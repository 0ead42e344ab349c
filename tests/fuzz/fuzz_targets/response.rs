//! A response in a web archive: its head, what packs its body, its characters, its HTML.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::response(bytes));
