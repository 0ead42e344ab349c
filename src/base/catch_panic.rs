//! Code of others that panics on bad input, where it should give an error.
//!
//! A panic ends the program, as a defect of it. The readers of some formats panic on damaged files; what they do
//! runs in [`call`], which turns that into an error. The program's panic hook asks [`is_called`] and then leaves the
//! panic alone.
//!
//! ```
//! use dupsieve_base::catch_panic;
//!
//! assert_eq!(catch_panic::call(|| 7), Ok(7));
//! assert_eq!(catch_panic::call(|| panic!("damaged")), Err::<(), _>("damaged".to_owned()));
//! assert!(!catch_panic::is_called());
//! ```

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// How many calls this thread is in.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Calls code of others; its panic becomes an error. What it was working on must not be used again then.
pub fn call<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CALLS.set(CALLS.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    CALLS.set(CALLS.get() - 1);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        text.unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

/// Whether this thread is in code of others, whose panics are errors.
pub fn is_called() -> bool {
    CALLS.get() > 0
}
