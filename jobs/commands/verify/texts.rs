//! What an output states as lost, compared with the texts: `verify --texts`.
//!
//! Each text is read once. The runs of each page go into a sort on disk, those of a dropped page behind those of the page that
//! its verdict names. So the sets of two pages are in memory, and about fifty bytes for each dropped page.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use dupsieve::rooms::document::Content;
use dupsieve::rooms::fingerprint::ShingleSet;
use dupsieve::rooms::fingerprint::check::held_run_set;
use dupsieve::rooms::matches::Lost;
use dupsieve::rooms::report::{Report, each_held};
use dupsieve::rooms::runs::{Record, SortedRecords, Sorter};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::commands::pages::{self, PageFlags, PageSource, no_text};
use crate::flags::global::GlobalFlags;
use crate::flags::settings::PageSettings;
use crate::outcome::summary::Summary;

/// How far the stated shares may be from those of the texts where they are estimated.
const PROMISED: f64 = 0.01;
/// What chance adds to that with few pages: so many standard errors of a mean.
const DEVIATIONS: f64 = 3.0;
/// The greatest standard error of the estimate for one page that counts.
const ONE_PAGE: f64 = 0.08;
/// How far rounding to four decimals takes a number that is exact.
const ROUNDING: f64 = 0.000_051;
/// The share of a page whose loss is more than a tenth.
const TENTH: f64 = 0.9;

/// A page: by the number of the inputs that have it, and the XXH3-128 of its id.
type PageKey = (u32, u128);

/// A verdict: the dropped page, the page that it names, and the stated share in ten-thousandths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    dropped: u128,
    of: PageKey,
    held: u32,
}

/// The runs of a page: of one that verdicts name, or of one that is dropped, by the place of its claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct PageRuns {
    of: PageKey,
    claim: Option<u64>,
    runs: ShingleSet,
}

impl Record for PageRuns {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.runs.bytes() as usize
    }
}

/// What the texts say of the dropped pages that could be compared.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    pages: u64,
    runs: u64,
    missing: u64,
    over_tenth: u64,
}

impl Compared {
    fn lost(self) -> Lost {
        Lost {
            share: self.missing as f64 / self.runs.max(1) as f64,
            over_tenth: self.over_tenth as f64 / self.pages.max(1) as f64,
            exact: true,
            dropped_runs: self.runs,
            ..Lost::default()
        }
    }

    /// Fails if the `stated` shares are false by more than is promised.
    fn check(self, stated: Lost) -> Result<()> {
        let found = self.lost();
        let pages = self.pages.max(1) as f64;
        let of_share = DEVIATIONS * ONE_PAGE / pages.sqrt();
        let spread = (found.over_tenth * (1.0 - found.over_tenth)).max(1.0 / pages);
        let of_tenth = DEVIATIONS * (spread / pages).sqrt();
        for (name, stated, found, chance) in [
            ("lost.share", stated.share, found.share, of_share),
            ("lost.over_tenth", stated.over_tenth, found.over_tenth, of_tenth),
        ]
        .map(|(name, told, found, chance)| {
            (name, told, found, if stated.exact { ROUNDING } else { PROMISED + chance })
        }) {
            if (stated - found).abs() > chance {
                let what = format!("`{name}` is false by more than {chance:.4}");
                return Err(Error::new(Kind::BadData, what)
                    .expected(format_args!("{found:.4}, by the texts"))
                    .found(format_args!("{stated:.4}"))
                    .help("the inputs are not those of the output, or the report was changed"));
            }
        }
        Ok(())
    }
}

/// Compares what the output of a join states as lost with its texts, which are in `inputs`, or where the report says.
pub(super) fn check(
    output: &Path,
    report: &Report,
    (inputs, flags): (&[String], &PageFlags),
    global: &GlobalFlags,
) -> Result<Summary> {
    let at = |error: Error| error.at(output);
    let Some(stated) = report.lost else {
        return Err(at(Error::new(Kind::Usage, "this output does not tell what is lost")
            .expected("an output of dedup with a check such as held")));
    };
    if !report.recipe["boilerplate"].is_null() {
        return Err(at(Error::new(Kind::Usage, "the recipe leaves out lines of the texts")
            .expected("an output whose shares are of whole texts")));
    }
    let (source, settings) = PageSource::of_output(output, (inputs, "--texts"), flags, global)?;
    let memory_bytes = global.budget().verification();
    let claims = Claims::read(output, &source, memory_bytes as u64)?;
    let runs = claims.runs(&settings, memory_bytes)?;
    let compared = compare(&claims.claims, runs, stated.exact).map_err(at)?;
    let without = claims.claims.len() as u64 - compared.pages;
    let Lost { share, over_tenth, .. } = compared.lost();
    let told = |number: f64| format!("{number:.4}");
    let said = format!(
        "lost by report.json {} (over a tenth {}), by the texts of {} dropped pages {} ({})",
        told(stated.share),
        told(stated.over_tenth),
        compared.pages,
        told(share),
        told(over_tenth)
    );
    if without > 0 {
        tracing::warn!(
            "{without} dropped pages were not compared: their texts, or those of the pages that stay, are not in the inputs"
        );
    } else {
        compared.check(stated).map_err(at)?;
    }
    Ok(Summary::new()
        .count("texts_compared", compared.pages)
        .count("texts_missing", without)
        .count("dropped_runs", compared.runs)
        .count("lost_runs", compared.missing)
        .count("over_tenth", compared.over_tenth)
        .say(said))
}

/// The verdicts on the dropped pages, and where their texts are.
struct Claims {
    /// Ascending, so that the claim of a page is found by its id.
    claims: Vec<Claim>,
    /// The pages that verdicts name, ascending, each once.
    named: Vec<PageKey>,
    /// The inputs by their number. The first are those of the batch.
    inputs: Vec<Vec<PathBuf>>,
}

impl Claims {
    /// Reads the verdicts of an output.
    fn read(output: &Path, source: &PageSource, memory_bytes: u64) -> Result<Claims> {
        let most = memory_bytes / (size_of::<Claim>() + size_of::<PageKey>()) as u64;
        let mut claims = Vec::new();
        let mut inputs = vec![source.inputs_of(None)?];
        let mut numbers = BTreeMap::from([("batch".to_owned(), 0)]);
        let mut failure = None;
        each_held(output, |new, of, held| {
            if failure.is_some() || claims.len() as u64 >= most {
                failure.get_or_insert_with(|| too_many(most));
                return;
            }
            let number = match numbers.get(&of.against) {
                Some(&number) => number,
                None => match source.inputs_of(Some(&of)) {
                    Ok(found) => {
                        inputs.push(found);
                        let number = inputs.len() as u32 - 1;
                        numbers.insert(of.against.clone(), number);
                        number
                    }
                    Err(error) => return failure = Some(error),
                },
            };
            let [dropped, id] = [new, &of.id].map(|id| xxh3_128(id.as_bytes()));
            claims.push(Claim { dropped, of: (number, id), held });
        })?;
        failure.map_or(Ok(()), Err)?;
        claims.sort_unstable();
        let mut named: Vec<PageKey> = claims.iter().map(|claim| claim.of).collect();
        named.sort_unstable();
        named.dedup();
        Ok(Claims { claims, named, inputs })
    }

    /// The runs of all pages that the inputs hold, in order. Of records with one id the first counts.
    fn runs(
        &self,
        settings: &PageSettings,
        memory_bytes: usize,
    ) -> Result<SortedRecords<PageRuns>> {
        let mut found = Sorter::new(&env::temp_dir(), memory_bytes);
        let mut is_taken = vec![false; self.claims.len()];
        let mut is_named_taken = vec![false; self.named.len()];
        for (number, inputs) in (0..).zip(&self.inputs) {
            let read = pages::each(inputs, settings, |document| {
                let id = xxh3_128(document.id.as_bytes());
                let claim = match number {
                    0 => self.claims.binary_search_by_key(&id, |claim| claim.dropped).ok(),
                    _ => None,
                };
                let claim = claim.filter(|&at| !std::mem::replace(&mut is_taken[at], true));
                let named = self.named.binary_search(&(number, id)).ok();
                let named = named.filter(|&at| !std::mem::replace(&mut is_named_taken[at], true));
                if claim.is_none() && named.is_none() {
                    return Ok(());
                }
                let Content::Text(text) = &document.content else {
                    return Err(no_text(&document.id));
                };
                let runs = held_run_set(text);
                if let Some(at) = claim {
                    let (of, claim) = (self.claims[at].of, Some(at as u64));
                    found.push(PageRuns { of, claim, runs: runs.clone() })?;
                }
                named.map_or(Ok(()), |at| {
                    found.push(PageRuns { of: self.named[at], claim: None, runs })
                })
            });
            match read {
                // The pages of earlier days have often been deleted.
                Err(error) if error.kind() == Kind::Missing => tracing::warn!("{error}"),
                read => read?,
            }
        }
        found.sorted()
    }
}

/// Compares the runs of the pages, which are in order, with the claims.
fn compare(
    claims: &[Claim],
    runs: impl Iterator<Item = Result<PageRuns>>,
    is_exact: bool,
) -> Result<Compared> {
    let mut compared = Compared::default();
    let mut named: Option<(PageKey, ShingleSet)> = None;
    for page in runs {
        let PageRuns { of, claim, runs } = page?;
        let Some(claim) = claim else {
            named = Some((of, runs));
            continue;
        };
        let Some((_, holder)) = named.as_ref().filter(|(key, _)| *key == of) else { continue };
        let shared = runs.shared(holder) as u64;
        let held = shared as f64 / runs.len().max(1) as f64;
        let stated = f64::from(claims[claim as usize].held) / 1e4;
        let allowed = if is_exact { ROUNDING } else { 6.0 * ONE_PAGE };
        if (stated - held).abs() > allowed {
            return Err(Error::new(Kind::BadData, "the share `held` of a dropped page is false")
                .expected(format_args!("{held:.4}, by the texts"))
                .found(format_args!("{stated:.4}")));
        }
        compared.pages += 1;
        compared.runs += runs.len() as u64;
        compared.missing += runs.len() as u64 - shared;
        compared.over_tenth += u64::from(held < TENTH);
    }
    Ok(compared)
}

fn too_many(most: u64) -> Error {
    Error::new(Kind::Usage, "the verdicts need too much memory")
        .expected(format_args!("at most {most} dropped pages"))
        .help("allow more with --memory")
}
