//! The promises of dupsieve, one module each.

mod architecture;
mod exact;
mod nothing_lost;
mod same_bytes;
mod support;
