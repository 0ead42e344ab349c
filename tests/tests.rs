//! The promises of dupsieve, one module each.

mod architecture;
mod exact;
mod same_bytes;
mod support;
