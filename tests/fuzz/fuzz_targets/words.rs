//! Texts cut into words, by our own code and by jieba.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::words(bytes));
