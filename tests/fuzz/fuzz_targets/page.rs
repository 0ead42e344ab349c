//! Pages: by every recipe, weight, normaliser and check, with a clock.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::page(bytes));
