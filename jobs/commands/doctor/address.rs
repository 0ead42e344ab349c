//! What an object store does with what jobs will write to an address.

use std::path::Path;

use dupsieve::rooms::mount;
use dupsieve::rooms::object_storage::Address;
use dupsieve::{Error, Result};

use super::finding::{Finding, State};
use crate::commands::places;
use crate::flags::place::check_output;

pub(super) fn finding(typed: &Path, address: Result<Address>) -> Finding {
    let tried = address.and_then(|address| {
        check_output(&address)?;
        mount::try_out(&address)
    });
    let what = format!("address {}", places::shown_input(&typed.to_string_lossy()));
    let works = || "an object was put, read and deleted; a put keeps to its condition".to_owned();
    let found = tried.as_ref().map_or_else(Error::to_string, |()| works());
    Finding::ok(what, found).but(
        tried.is_err(),
        State::Wrong,
        "no output and no store can be written there: mend what is said above",
    )
}
