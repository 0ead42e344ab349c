//! Configuration files. The flags of the program itself read them.

#![no_main]
// They have more than is read here.
#![allow(dead_code, unexpected_cfgs, unused_imports)]

#[path = "../../../jobs/flags/mod.rs"]
mod flags;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(config) = flags::Config::of(text, "config.toml".as_ref()) {
        let flags::FingerprintSettings { pages, made } = config.fingerprint;
        let _ = made.recipe(&pages);
    }
});
