//! What an output says about itself: its report, its verdicts and its matches, read back.
//!
//! - `join_report`, `cluster_report`: `report.json` of a join ([`Report`]) and of a clustering
//!   ([`ClusterReport`]), both [`Made`] and sealed (`seal`).
//! - `search_report`: the report of a search in pages, for items or passages ([`SearchReport`]).
//! - `parameters`: what decides the result of a job ([`Parameters`]).
//! - `existing`: what may be where an output is to be made ([`existing()`]).
//! - `history`: the reports of many days, and which days are odd ([`History`]).
//! - `join_page`, `days_page`, `pairs_page`: drawn for people, by the templates in `html`.
//! - `readmission`: dropped pages for which no kept page is left.
//! - `copies`: how many pages the days have dropped as duplicates of a page ([`Copies`]).
//! - `verdicts`: the verdict on one page ([`verdict`]), and all matches ([`each_match`]).
//!
//! Imports `join`, and what `join` imports. Start with [`Made`].

mod cluster_report;
mod copies;
mod days_page;
mod existing;
mod history;
mod html;
mod join_page;
mod join_report;
mod made;
mod pairs_page;
mod parameters;
mod readmission;
mod seal;
mod search_report;
mod verdicts;

pub use cluster_report::ClusterReport;
pub use copies::{Copies, CopyCount};
pub use existing::{existing, refuse_strangers};
pub use history::{ContainedText, DayFigures, History, no_output, outputs, whole_outputs};
pub use join_report::{LaterDays, Report, records};
pub use made::Made;
pub use pairs_page::{Run, pairs_page};
pub use parameters::{Parameters, RECRAWLED, format, format_parameter, made_otherwise};
pub use readmission::{Dropped, Outputs};
pub use search_report::{SearchReport, Searched};
pub use verdicts::{
    Nearest, PageVerdict, each_contained, each_differing, each_match, folder, verdict,
};
