//! The flags of a scheme of buckets.

use std::num::NonZeroU32;

use clap::Args;
use dupsieve::Result;
use dupsieve::document::Format;
use dupsieve::fingerprint::Width;
use dupsieve::lsh::{Banding, Bands, Permutations, Shingle, Space};
use dupsieve::matches::Similarity;

use crate::flags::{RecipeSettings, parse_width, reads_texts};

/// What decides which documents share a bucket, and which of them match.
#[derive(Args, Clone, Debug)]
pub(super) struct SchemeFlags {
    /// What is compared, by jaccard, cosine, hamming or euclidean: jaccard (sets of shingles or features; also called minhash), cosine (weighted
    /// features or vectors), hamming (fingerprints) or euclidean (vectors) [default: jaccard; of vectors cosine, of fingerprints hamming]
    #[arg(long, value_name = "NAME")]
    family: Option<Space>,
    /// Drop a document if a kept one is at least so similar. Bands and rows are chosen for this similarity unless they are
    /// given. Without it texts are dropped as `dedup` drops them, if a kept one contains nine tenths of them [default: 0.8; of texts
    /// only for the bands]
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

fn parse_permutations(text: &str) -> Result<Permutations, String> {
    match text {
        "many" => Ok(Permutations::Many),
        "one" => Ok(Permutations::One),
        _ => Err("expected many or one".to_owned()),
    }
}

impl SchemeFlags {
    pub(super) fn least(&self) -> f64 {
        self.similarity.unwrap_or(Similarity::USUAL).number()
    }

    /// Whether the similarity decides what is dropped: where it is asked for, and where there is no text.
    pub(super) fn decides(&self, format: Option<Format>) -> bool {
        self.similarity.is_some() || !reads_texts(format.unwrap_or_default())
    }

    /// The width of ready-made fingerprints and the time limit for a page; where these flags say nothing, those of the `file`.
    pub(super) fn over(&self, file: RecipeSettings) -> RecipeSettings {
        RecipeSettings {
            width: self.width.or(file.width),
            page_time: self.page_time.or(file.page_time),
            ..file
        }
    }

    /// The format of the documents, if one was `named`, or the family takes one alone.
    pub(super) fn format(&self, named: Option<Format>) -> Option<Format> {
        named.or((self.family == Some(Space::Euclidean)).then_some(Format::Vectors))
    }

    pub(super) fn bands(&self, format: Option<Format>) -> Result<Bands> {
        let usual = match format {
            Some(Format::Vectors) => Space::Cosine,
            Some(Format::Fingerprints) => Space::Hamming,
            _ => Space::default(),
        };
        let space = self.family.unwrap_or(usual);
        let bands = Bands::new(space, Banding { bands: 1, rows: 1 });
        let bands = Bands {
            permutations: self.permutations.unwrap_or(bands.permutations),
            shingle: self.shingle.unwrap_or(bands.shingle),
            seed: self.seed,
            ..bands.with_slots_for(self.least())
        };
        let banding = match (self.bands, self.rows) {
            (Some(bands), Some(rows)) => Banding { bands, rows },
            _ => {
                let hashes = self.hashes.unwrap_or(Banding::USUAL_HASHES);
                Banding { bands: 1, rows: hashes }.check()?;
                Banding::best(hashes, self.least(), |similarity| bands.collision(similarity))
            }
        };
        let bands = Bands { banding, ..bands };
        bands.check().map(|()| bands)
    }
}

pub(super) fn announce(bands: &Bands, least: f64) {
    let at =
        |similarity: f64| format!("{:.1} % at {similarity}", 100.0 * bands.probability(similarity));
    let found = [least / 2.0, least, (1.0 + least) / 2.0].map(at).join(", ");
    tracing::info!("{bands}: pairs that share a bucket, by similarity: {found}");
}
