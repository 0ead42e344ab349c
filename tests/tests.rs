//! The promises of dupsieve, one module each.
