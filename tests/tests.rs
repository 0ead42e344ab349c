//! The promises of dupsieve, one module each.

mod architecture;
mod cases;
mod chains;
mod clean_files;
mod command_line;
mod containment;
mod copies;
mod corpus;
mod crowds;
mod days_again;
mod evaluate;
mod exact;
mod faults;
mod filter;
mod forged_reports;
mod forgery;
mod formats;
mod hostile;
mod inputs;
mod keep_rule;
mod linear;
mod logs;
mod lsh;
mod memory;
mod metrics;
mod nothing_lost;
#[cfg(feature = "object-store")]
mod objects;
mod oracle;
mod output_formats;
mod passages_over_days;
mod pipes;
mod proof;
mod query;
#[allow(unreachable_pub, dead_code)] // They are public to the fuzz targets, and one is for these alone.
#[path = "fuzz/readers.rs"]
mod readers;
mod recrawls;
mod resume;
mod retention;
mod same_bytes;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod skipped;
mod slices;
mod store;
mod support;
mod tiers;
mod version;
mod which_version;
mod world;
