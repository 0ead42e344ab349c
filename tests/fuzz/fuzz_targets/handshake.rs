//! What a caller says to a process of a cluster.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::handshake::hear(bytes));
