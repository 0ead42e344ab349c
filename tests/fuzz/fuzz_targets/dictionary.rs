//! Dictionaries of a user.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::dictionary(bytes));
