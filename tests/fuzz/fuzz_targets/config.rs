//! Configuration files. The binary's own modules read them; of the cluster's section, whose module
//! starts processes, only what all its values have in common is here.

#![no_main]
// The modules of the binary have more than is read here.
#![allow(dead_code, unused_imports)]

#[path = "../../../jobs/config.rs"]
mod config;
#[path = "../../../jobs/settings/mod.rs"]
mod settings;

mod cluster {
    use std::path::PathBuf;

    use serde::Deserialize;

    use crate::settings::{ByteSize, typed};

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    pub(crate) struct ClusterSettings {
        workers: Option<usize>,
        hosts: Option<PathBuf>,
        #[serde(deserialize_with = "typed")]
        memory: Option<ByteSize>,
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = readers::file("config.toml", bytes);
    if let Ok(config) = config::Config::read(&path) {
        let format = config.fingerprint.format.unwrap_or_default();
        let _ = config.fingerprint.recipe(format);
    }
});
