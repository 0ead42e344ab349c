//! Tables of results, in every format.

#![no_main]

libfuzzer_sys::fuzz_target!(init: readers::pass_panics_of_libraries(), |bytes: &[u8]| readers::tables::results(bytes));
