//! Recipes and the other settings that are text.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::recipe(bytes));
