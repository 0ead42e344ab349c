//! Every reader that takes bytes alone: the one that the variable READER names.
#![no_main]

use std::env;
use std::sync::LazyLock;

static READER: LazyLock<readers::Reader> = LazyLock::new(|| {
    let name = env::var("READER").expect("READER names a reader");
    let found = readers::READERS.iter().find(|(reader, _)| *reader == name);
    found.unwrap_or_else(|| panic!("there is no reader {name}")).1
});

libfuzzer_sys::fuzz_target!(init: readers::pass_panics_of_libraries(), |bytes: &[u8]| READER(bytes));
