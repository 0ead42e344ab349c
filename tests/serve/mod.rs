//! `serve`: answers over HTTP against the definition, verdicts and days against `dedup` and `store add`, problems of
//! every kind, limits, the drain, and kills under load.

mod answers;
mod bytes;
mod client;
mod days;
mod description;
mod guards;
mod limits;
mod requests;

pub(crate) use client::Served;
