//! The list of the files of a tree in an object store: what is read is written the same, and no name leads elsewhere.

#![no_main]
// The file has more than is read here.
#![allow(dead_code)]

use std::path::{Component, Path};

/// What the file imports.
mod error {
    pub use dupsieve::{Error, Kind, Result};
}

#[path = "../../../src/base/mount/head.rs"]
mod head;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(head) = head::Head::parse(bytes) {
        let objects = head.files.values().map(|held| &held.object);
        for name in head.files.keys().chain(objects).chain(&head.released) {
            let is_plain = |part| matches!(part, Component::Normal(_));
            assert!(Path::new(name).components().all(is_plain), "{name:?}");
        }
        assert_eq!(head::Head::parse(&head.to_bytes()), Ok(head));
    }
});
