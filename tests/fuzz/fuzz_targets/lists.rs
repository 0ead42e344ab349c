//! Lists: stop words, labels, hosts.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::lists(bytes));
