//! Documents of every format, packed and not.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::documents(bytes));
