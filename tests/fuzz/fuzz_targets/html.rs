//! Pages of HTML, as they are and repeated, on a small stack.

#![no_main]

libfuzzer_sys::fuzz_target!(init: readers::pass_panics_of_libraries(), |bytes: &[u8]| readers::html(bytes));
