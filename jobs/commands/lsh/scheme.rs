//! The flags of a scheme of buckets.

use std::env;
use std::num::NonZeroU32;

use clap::Args;
use dupsieve::rooms::document::Format;
use dupsieve::rooms::fingerprint::Width;
use dupsieve::rooms::lsh::{Banding, Confirmation, Permutations, Scheme, Shingle, Space};
use dupsieve::rooms::matches::Similarity;
use dupsieve::rooms::report::Parameters;
use dupsieve::{Error, Kind, Result};

use crate::flags::settings::{LshSettings, PageSettings, RecipeSettings, parse_width};

/// What decides which documents share a bucket, and which of them match.
#[derive(Args, Clone, Debug)]
pub(crate) struct SchemeFlags {
    /// What is compared: jaccard (sets of shingles or features; also called minhash), cosine (weighted
    /// features or vectors), hamming (fingerprints) or euclidean (vectors) [default: jaccard]
    #[arg(long, value_name = "NAME")]
    family: Option<Space>,
    /// The least similarity of a match. Bands and rows are chosen for it unless they are given [default: 0.8]
    #[arg(long, value_name = "S")]
    similarity: Option<Similarity>,
    /// How many bands of hashes; pages share a bucket if they agree in all rows of one band
    #[arg(long, value_name = "B", requires = "rows")]
    bands: Option<usize>,
    /// How many rows a band has
    #[arg(long, value_name = "R", requires = "bands")]
    rows: Option<usize>,
    /// The most hashes that bands and rows are chosen for [default: 112]
    #[arg(long, value_name = "N", conflicts_with_all = ["bands", "rows"])]
    hashes: Option<usize>,
    /// What confirms pages that share a bucket: `signature` (the share of hashes that agree), `exact` (the
    /// shingles that --shingle says, features or vectors themselves; they need disk) or `simhash:K` (SimHashes that differ in K
    /// bits at most, of 64) [default: signature]
    #[arg(long, value_name = "signature|exact|simhash:K")]
    confirm: Option<Confirmation>,
    /// The shingles of a text: words:N or characters:N. Those of words leave out digits and markup
    /// [default: words:5]
    #[arg(long, value_name = "SORT")]
    shingle: Option<Shingle>,
    /// The hashes of sets: `many` (a permutation for each) or `one` (one permutation for all: far
    /// faster, and less exact for pages of few shingles) [default: many]
    #[arg(long, value_name = "many|one", value_parser = parse_permutations)]
    permutations: Option<Permutations>,
    /// Chooses the hash functions
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Bits of a ready-made fingerprint [default: 64]
    #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
    width: Option<Width>,
    /// Time limit for each MiB of a page's text. A page that takes longer is quarantined. Ordinary pages need far less
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_PAGE_TIME")]
    page_time: Option<NonZeroU32>,
}

fn name_of(permutations: Permutations) -> &'static str {
    match permutations {
        Permutations::One => "one",
        Permutations::Many => "many",
    }
}

fn parse_permutations(text: &str) -> Result<Permutations, String> {
    match text {
        "many" => Ok(Permutations::Many),
        "one" => Ok(Permutations::One),
        _ => Err("expected many or one".to_owned()),
    }
}

impl SchemeFlags {
    fn space(&self) -> Space {
        self.family.unwrap_or_default()
    }

    /// These flags, and what the section `[lsh]` of a file says where they say nothing.
    pub(crate) fn or(self, file: &LshSettings) -> SchemeFlags {
        // Bands and rows come from one place.
        let is_typed = self.bands.is_some() || self.hashes.is_some();
        let (bands, rows) =
            if is_typed { (self.bands, self.rows) } else { (file.bands, file.rows) };
        SchemeFlags {
            similarity: self.similarity.or(file.similarity),
            confirm: self.confirm.or(file.confirm),
            bands,
            rows,
            ..self
        }
    }

    /// The least similarity, and what confirms it.
    pub(crate) fn confirming(&self) -> (Similarity, Confirmation) {
        (self.similarity.unwrap_or(Similarity::USUAL), self.confirm.unwrap_or_default())
    }

    /// The width of ready-made fingerprints and the time limit for a page; where these flags say nothing, those of the `file`.
    pub(crate) fn over(&self, file: RecipeSettings) -> RecipeSettings {
        RecipeSettings {
            width: self.width.or(file.width),
            page_time: self.page_time.or(file.page_time),
            ..file
        }
    }

    /// The settings, with the format that the family takes unless another one is named.
    ///
    /// Fails with [`Kind::Usage`] if a flag has no effect.
    pub(crate) fn fitting(&self, pages: PageSettings) -> Result<PageSettings> {
        let vectors = (self.space() == Space::Euclidean).then_some(Format::Vectors);
        let format = pages.format.or(vectors);
        let format_reads = |formats: &[Format]| formats.contains(&format.unwrap_or_default());
        // The width of the environment, which other commands share, may mean those.
        let is_width_typed = self.width.is_some() && env::var_os("DUPSIEVE_WIDTH").is_none();
        let ready = [Format::Fingerprints, Format::Features, Format::Vectors];
        let idle = [
            ("--shingle", self.shingle.is_some() && format_reads(&ready)),
            ("--permutations", self.permutations.is_some() && self.space() != Space::Jaccard),
            ("--width", is_width_typed && !format_reads(&[Format::Fingerprints])),
        ];
        match idle.into_iter().find(|(_, is_idle)| *is_idle) {
            Some((flag, _)) => Err(Error::new(
                Kind::Usage,
                format!("{flag} has no effect with this family and format"),
            )),
            None => Ok(PageSettings { format, ..pages }),
        }
    }

    /// The scheme that is asked for, for pages read by these settings. Ready-made fingerprints have the `width`.
    pub(crate) fn scheme(&self, pages: &PageSettings, width: Option<Width>) -> Result<Scheme> {
        let width = width.filter(|_| pages.format == Some(Format::Fingerprints));
        let (least, confirmation) = self.confirming();
        let mut scheme = Scheme::new(self.space(), Banding { bands: 1, rows: 1 }, least);
        scheme.permutations = self.permutations.unwrap_or(scheme.permutations);
        scheme.shingle = self.shingle.unwrap_or(scheme.shingle);
        scheme.width = width.unwrap_or(scheme.width);
        scheme.vectors = pages.format == Some(Format::Vectors);
        scheme.confirmation = confirmation;
        scheme.seed = self.seed;
        scheme.banding = match (self.bands, self.rows) {
            (Some(bands), Some(rows)) => Banding { bands, rows },
            _ => {
                let hashes = self.hashes.unwrap_or(Banding::USUAL_HASHES);
                Banding { bands: 1, rows: hashes }.check()?;
                Banding::best(hashes, least.number(), |it| scheme.collision(it))
            }
        };
        scheme.check()?;
        Ok(scheme)
    }
}

/// What decides the buckets and matches of a scheme, by name.
pub(crate) fn parameters(scheme: &Scheme) -> Vec<(&'static str, String)> {
    let Scheme { space, permutations, shingle, width, banding, least, confirmation, seed, .. } =
        scheme;
    vec![
        ("family", space.to_string()),
        ("permutations", name_of(*permutations).to_owned()),
        ("shingle", shingle.to_string()),
        ("width", width.bits().to_string()),
        ("vectors", scheme.vectors.to_string()),
        ("bands", banding.bands.to_string()),
        ("rows", banding.rows.to_string()),
        ("similarity", least.to_string()),
        ("confirm", confirmation.to_string()),
        ("seed", seed.to_string()),
    ]
}

/// The scheme behind [`parameters`].
///
/// Fails with [`Kind::BadData`] if they are none of a scheme.
pub(crate) fn scheme_of(parameters: &Parameters) -> Result<Scheme> {
    let banding = Banding {
        bands: read(parameters, "bands", str::parse)?,
        rows: read(parameters, "rows", str::parse)?,
    };
    let space = read(parameters, "family", str::parse)?;
    let mut scheme = Scheme::new(space, banding, read(parameters, "similarity", str::parse)?);
    scheme.permutations = read(parameters, "permutations", parse_permutations)?;
    scheme.shingle = read(parameters, "shingle", str::parse)?;
    scheme.width = read(parameters, "width", parse_width)?;
    scheme.vectors = read(parameters, "vectors", str::parse)?;
    scheme.confirmation = read(parameters, "confirm", str::parse)?;
    scheme.seed = read(parameters, "seed", str::parse)?;
    Ok(scheme)
}

/// A parameter of a report, read by `parse`.
///
/// Fails with [`Kind::BadData`] if it cannot be read.
pub(crate) fn read<T, E>(
    parameters: &Parameters,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T> {
    let text = parameters.get(name).map_or("", String::as_str);
    parse(text).map_err(|_| {
        Error::new(Kind::BadData, format!("the report has an invalid {name}")).found(text)
    })
}

/// Says which banding is used, and what it finds.
pub(crate) fn announce(scheme: &Scheme) {
    let at = |similarity: f64| {
        format!("{:.1} % at {similarity}", 100.0 * scheme.probability(similarity))
    };
    let least = scheme.least.number();
    let found = [least / 2.0, least, (1.0 + least) / 2.0].map(at).join(", ");
    tracing::info!("{}: pairs that share a bucket, by similarity: {found}", scheme.banding);
}
