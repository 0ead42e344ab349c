//! `dupsieve lsh`: `dedup` of a corpus, with buckets of locality-sensitive hashes as a further source of candidates.

mod plan;
mod scheme;

use clap::{ArgGroup, ArgMatches, Args, Subcommand};
use dupsieve::Result;
use dupsieve::matches::Confirm;

use crate::commands::dedup::{CorpusFlags, Request, dedup_corpus};
use crate::commands::examples;
use crate::flags::{
    DedupSettings, FingerprintSettings, FormatFlag, GlobalFlags, JOB, Output, RecipeSettings,
    flags_of, shared, typed_flag,
};
use crate::outcome::Summary;

use scheme::SchemeFlags;

const EXAMPLES: &str = "
# Find pages that have 80 % of their 5-word shingles in common
dupsieve lsh --input crawl/ --similarity 0.8 --output alike
# Drop pages that kept pages contain, with buckets as a further source of candidates
dupsieve lsh --input crawl/ --bands 20 --rows 5 --output found --kept kept
# Find near vectors, such as embeddings of pages
dupsieve lsh --format vectors --text-field embedding --similarity 0.95 \\
  --input vectors.parquet --output alike";

/// Find documents that overlap, or near vectors, by buckets of hashes such as MinHash
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
#[command(group = ArgGroup::new("documents").required(true))]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    about: Option<About>,
    /// Output folder: fingerprints as batch.seg, results in its folder dedup
    #[arg(long, value_name = "DIR", required = true)]
    output: Option<Output>,
    #[command(flatten)]
    scheme: SchemeFlags,
    #[command(flatten)]
    format: FormatFlag,
    #[command(flatten)]
    settings: DedupSettings,
    #[command(flatten)]
    corpus: CorpusFlags,
}

/// What is asked about buckets, in place of making them.
#[derive(Debug, Subcommand)]
enum About {
    Plan(Box<plan::Arguments>),
}

pub(crate) fn answers(typed: &ArgMatches) -> bool {
    typed.subcommand_name() == Some("plan")
}

pub(crate) fn typed_in_vain(typed: &ArgMatches) -> Option<String> {
    let of_texts = flags_of::<DedupSettings>();
    let of_texts = of_texts
        .into_iter()
        .filter(|it| ["confirm", "containment"].contains(&it.get_id().as_str()));
    let flag = typed_flag(typed, of_texts).filter(|_| typed.contains_id("similarity"))?;
    Some(format!("{flag} has no effect with --similarity"))
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    if let Some(About::Plan(arguments)) = &arguments.about {
        return plan::run(arguments, global);
    }
    let Arguments { scheme, output, format, settings, corpus, .. } = arguments;
    let file = global.config()?;
    let FingerprintSettings { made, pages } = file.fingerprint;
    let mut corpus = corpus.clone();
    corpus.pages = corpus.pages.or(pages);
    corpus.pages.format = scheme.format(corpus.pages.format);
    let read = corpus.pages.format;
    let bands = scheme.bands(read)?;
    scheme::announce(&bands, scheme.least());
    let made = RecipeSettings { keep_bands: Some(bands), ..scheme.over(made) };
    let mut settings = settings.clone().or(file.dedup);
    if scheme.decides(read) {
        let check = "points".parse().expect("the check has a name");
        settings.check = Some(Confirm::new(check, scheme.least()));
    }
    let request = Request {
        output: output.as_ref().expect("clap asks for it").here()?,
        format: format.or(&file.output),
        settings,
        ..Request::default()
    };
    let typed = format!("{arguments:?} {:?} {}", request.settings, request.format);
    let made = FingerprintSettings { made, pages: corpus.pages.clone() };
    dedup_corpus((&corpus, &typed), request, made, global)
}
