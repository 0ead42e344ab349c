//! Bodies of requests to the service.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::bodies(bytes));
