//! Configuration files. The binary's own room of flags reads them.

#![no_main]
// The room has more than is read here.
#![allow(dead_code, unused_imports)]

#[path = "../../../jobs/flags/mod.rs"]
mod flags;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(config) = flags::config::Config::of(text, "config.toml".as_ref()) {
        let flags::settings::FingerprintSettings { pages, made } = config.fingerprint;
        let _ = made.recipe(&pages);
    }
});
