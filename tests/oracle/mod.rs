//! What must come out, by definition: compared pair by pair and page by page, in no clever way.

mod bits;
mod days;
mod fixed_point;
mod texts;

pub(crate) use bits::{Days, Page, matches, near, verdicts};
pub(crate) use days::{DAYS, Found, Model, crawl, history, numbered};
pub(crate) use fixed_point::dropped;
pub(crate) use texts::{CHANCE, Texts, containment, families, length_class, lines, shingles};
