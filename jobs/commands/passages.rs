//! `dupsieve passages`: which text is repeated inside the pages of a corpus?
//!
//! ```text
//! found/passages.tsv  each passage, with where it stands and where it stood first
//! found/report.json   the figures; report.html for people
//! clean/              the pages without their passages (with --cut and --kept)
//! ```

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::Args;
use dupsieve::error::Named;
use dupsieve::flow::{Documents, Harvest, Processes};
use dupsieve::matches::KeepOrder;
use dupsieve::output::Staging;
use dupsieve::output::parent_of;
use dupsieve::passages::{CorpusPage, Cut, PassageTables, PassagesFound};
use dupsieve::results::ResultFormat;
use dupsieve::runs::SortedRecords;
use dupsieve::{Error, Kind, Result};

use crate::commands::filter::{Cutting, Kept};
use crate::commands::fingerprint::two_orders;
use crate::commands::reading::Pages;
use crate::commands::searching::{Asked, Search};
use crate::commands::{examples, searching};
use crate::flags::{FormatFlag, GlobalFlags, JOB, Keep, Output, PageSettings, Share, shared};
use crate::outcome::{Summary, counted};

const WORDS: NonZeroU16 = NonZeroU16::new(50).unwrap();

const EXAMPLES: &str = "
# Find what is repeated in a corpus
dupsieve passages --input corpus/ --output found
# Copy the pages without the lines that are repeated
dupsieve passages --input corpus/ --output found --cut lines --kept clean";

/// Find text that is repeated inside pages
///
/// A passage is text of 50 words or more (--words) that stood at an earlier place with the same words: in an earlier page, or earlier in its
/// page. All passages are found. Case, punctuation and line breaks make no difference.
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// Output folder
    #[arg(long, value_name = "DIR")]
    output: Output,
    /// Least length of a passage, in words [default: 50]
    #[arg(long, value_name = "N")]
    words: Option<NonZeroU16>,
    /// Which of several pages keeps a passage that they share: first-id, oldest, newest or longest; or by a field of the pages, FIELD:max, FIELD:min or
    /// FIELD:LIST [default: first-id]
    #[arg(long, value_name = "ORDER", env = "DUPSIEVE_KEEP")]
    keep: Option<Keep>,
    /// Cut repeated passages out of the copies: words (to the word), lines (whole lines and sentences that are repeated) or paragraphs.
    /// The first copy of a passage stays
    #[arg(long, value_name = "HOW", requires = "kept")]
    cut: Option<Cut>,
    /// Do not copy pages of which more than this share of the words is repeated, from 0 to 1
    #[arg(long, value_name = "SHARE", requires = "kept")]
    max_repeated: Option<Share>,
    /// Folder for copies of all pages but those that --max-repeated leaves out, each without what --cut takes out of it: for each input file a file of
    /// the same name and format, or JSON Lines where no text can be put back
    #[arg(long, value_name = "DIR")]
    kept: Option<Output>,
    #[command(flatten)]
    format: FormatFlag,
    #[command(flatten)]
    pages: PageSettings,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    if arguments.kept.is_some() {
        arguments.check_cut()?;
    }
    let output = &*arguments.output.here()?;
    let asked = Asked {
        input: &arguments.input,
        output,
        format: arguments.format.or(&global.config()?.output),
        pages: searching::settings(&arguments.pages, global)?,
        kept: arguments.kept.as_ref().map(Output::here).transpose()?,
    };
    let search = |pages| {
        let (pages, keep) = arguments.in_order(pages, &asked.pages)?;
        Ok((pages, PassageSearch { words: arguments.words.unwrap_or(WORDS), keep }))
    };
    let copy = |copies: &Kept| {
        let most = arguments.max_repeated.map(|Share(share)| share);
        let memory_bytes = global.budget().passages();
        let cutting = Cutting::read(output, arguments.cut, most, memory_bytes)?;
        copies.copy_cut(cutting, global)
    };
    let (found, copied) = asked.search(arguments, global, search, copy)?;
    let Some(copied) = copied else { return Ok(found) };
    let [pages, having, passages, words, repeated] =
        ["documents", "pages", "passages", "words", "repeated"].map(|name| found.counted(name));
    let share = repeated as f64 / words.max(1) as f64 * 100.0;
    let table = asked.format.file_name("passages");
    let named = output.named();
    let cut = arguments.kept.is_some().then(|| {
        let [pages, words, dropped, all] =
            ["pages_cut", "words_cut", "pages_dropped", "copied"].map(|name| copied.counted(name));
        format!("{all} pages copied, {dropped} dropped; {words} words cut out of {pages}")
    });
    Ok(found
        .then(copied)
        .say(format!(
            "{}: {} in {having} of them; {share:.1} % of the words are repeated",
            counted(pages, "page(s)"),
            counted(passages, "repeated passage(s)")
        ))
        .say_if(cut)
        .say(format!("written to {named}: {table}, report.json, report.html")))
}

impl Arguments {
    fn check_cut(&self) -> Result<()> {
        if self.cut.is_some() || self.max_repeated.is_some() {
            return Ok(());
        }
        Err(Error::new(Kind::Usage, "nothing is to be cut out of the pages that are copied")
            .help("add --cut lines, or --max-repeated 0.5 to leave pages out"))
    }

    fn in_order(&self, pages: Pages, settings: &PageSettings) -> Result<(Pages, KeepOrder)> {
        match &self.keep {
            Some(Keep::Field(_)) if settings.time_field.is_some() => Err(two_orders()),
            Some(Keep::Field(field)) => Ok((pages.ordered_by(field.read()?)?, KeepOrder::Field)),
            Some(Keep::Order(order)) => {
                let keep = KeepOrder::for_documents(Some(*order), pages.has_order(), true)?;
                Ok((pages, keep))
            }
            None => Ok((pages, KeepOrder::FirstId)),
        }
    }
}

struct PassageSearch {
    words: NonZeroU16,
    keep: KeepOrder,
}

impl Search for PassageSearch {
    type Made = CorpusPage;
    type Found = PassagesFound;
    const DOING: &'static str = "reading words";

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let words = ("words", self.words.to_string());
        match self.keep {
            // The pages have the name of the field.
            KeepOrder::Field => vec![words],
            order => vec![words, ("keep", order.to_string())],
        }
    }

    fn read(&self, documents: Documents, processes: &mut Processes) -> Result<Harvest<CorpusPage>> {
        documents.read_words(processes, self.keep)
    }

    fn write(
        &self,
        pages: SortedRecords<CorpusPage>,
        format: ResultFormat,
        staging: &Staging,
        global: &GlobalFlags,
    ) -> Result<PassagesFound> {
        let tables = PassageTables {
            size: self.words.get().into(),
            format,
            folder: parent_of(staging.folder()),
            memory_bytes: global.budget().passages(),
            workers: global.workers(1),
        };
        tables.write(pages, staging)
    }
}
