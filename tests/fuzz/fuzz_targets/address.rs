//! Addresses of object stores.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::address(bytes));
