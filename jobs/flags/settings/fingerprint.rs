//! The settings of fingerprinting: the section `[fingerprint]`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dupsieve::document::{
    Fields, Format, Inputs, OrderField, PageKey, PlaceIds, ReadOptions, TextEncoding, Tolerance,
};
use dupsieve::features::counts::Counts;
use dupsieve::fingerprint::{Check, PageTime, Recipe, Width};
use dupsieve::join::Preset;
use dupsieve::lsh::Bands;
use dupsieve::{Error, Kind, Result};
use glob::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flags::place::Place;

use super::section::section;
use super::{ByteSize, RecipeChoice, allowed, parse_width, typed};

section! {
    /// How pages are read, and what is made of them.
    FingerprintSettings;

    /// What is made of pages.
    made: RecipeSettings {
        /// What counts as near, `paper` or `balanced`: `paper` (fingerprints within 3 bits, 4 bytes a page) or `balanced` (a page is
        /// dropped only if a kept page contains nine tenths of it) [default: balanced; with --recipe, none]
        #[arg(long, value_name = "NAME", env = "DUPSIEVE_PRESET")]
        preset: Preset as "allowed::preset",
        /// Recipe: words, wide, short-text or shingles; features, external-64 or external-128 for features
        /// or fingerprints made elsewhere; keywords-lookup3, charikar-64, charikar-128 or pypi-simhash; or a
        /// .toml file [default: that of the preset]
        #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
        #[schemars(schema_with = "allowed::recipe")]
        recipe: RecipeChoice,
        /// Bits of a fingerprint, if the recipe allows both
        #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
        #[schemars(schema_with = "allowed::width")]
        width: Width,
        /// Make a sketch of each text, by which `dedup --check` confirms candidates: containment, minhash, minhash-NxB (N slots of B
        /// bits), cosine-N or sentences-N; or points, which --keep-bands makes [default: that of the preset]
        #[arg(long = "sketch", value_name = "C", env = "DUPSIEVE_SKETCH")]
        #[serde(rename = "sketch")]
        check: Check as "allowed::text",
        /// Keep the keys of these bands of each page, a further source of candidates for `dedup`:
        /// FAMILY-BxR, such as minhash-14x8 for 14 bands of 8 rows (70 bytes a page), and behind commas words:N or
        /// characters:N (the shingles), `one` (one permutation), slot:W (of euclidean) and seed:N. The families are jaccard
        /// (minhash), cosine, hamming and euclidean [default: none]
        #[arg(long = "keep-bands", value_name = "BANDS", env = "DUPSIEVE_KEEP_BANDS")]
        keep_bands: Bands as "allowed::text",
        /// Keep a digest of the text of each page (16 bytes), by which an unchanged page is known without a fingerprint:
        /// see --store, and `dupsieve seen`. It is a part of the recipe
        #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        #[arg(env = "DUPSIEVE_KEEP_DIGESTS")]
        keep_digests: bool,
        /// Keep the words of each page, by which `run` finds the passages of a day that pages of earlier days have: the section
        /// [passages] sets it. It is a part of the recipe
        #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        #[arg(env = "DUPSIEVE_KEEP_PASSAGES")]
        keep_passages: bool,
        /// Keep a key of each page (32 bytes, with the digest of its text), by which `dedup` and `run` know that a page came again:
        /// `url`, the id as it is, or `surt`, the id without what web archives ignore in a URL, such as www, the default port and the order of
        /// parameters; `field:NAME` and `surt:NAME` take the value of a field in place of the id. It is a part of the recipe [default: none]
        #[arg(long, value_name = "url|surt|field:NAME", env = "DUPSIEVE_KEY")]
        key: PageKey as "allowed::key",
        /// Leave these parameters out of --key surt, such as `sid,utm_source`: session ids, and what says where a reader came from
        /// [default: none]
        #[arg(long, value_name = "NAMES", value_delimiter = ',', env = "DUPSIEVE_DROP_PARAMETERS")]
        drop_parameters: Vec<String>,
        /// Table of lines that do not count as text, made by `weights --lines`. It is a part of the recipe:
        /// fingerprints by another table, or by none, cannot be compared with these
        #[arg(long, value_name = "FILE", env = "DUPSIEVE_BOILERPLATE")]
        boilerplate: Place,
        /// Abort (exit 65) if more records repeat an earlier id: a number, or a share such as 5%
        /// [default: 50%]
        #[arg(long, value_name = "N|P%", env = "DUPSIEVE_MAX_REPEATED")]
        max_repeated: Tolerance as "allowed::number",
        /// Time limit for each MiB of a page's text, applied to its fingerprint and to its check. A page
        /// that takes longer is quarantined. Ordinary pages need far less [default: 60]
        #[arg(long, value_name = "SECONDS", env = "DUPSIEVE_PAGE_TIME")]
        page_time: NonZeroU32,
    }

    /// How pages are read.
    #[derive(Serialize)]
    pages: PageSettings {
        /// File format: auto, jsonl, json (objects in an array or over several lines), text, lines (each line is a page), html, tsv,
        /// csv, warc (also WET and ARC), parquet, fingerprints, features or vectors. `auto` recognises JSON lines, web archives, Parquet
        /// and HTML by their first bytes and other files by their names, and refuses other formats, such as PDF [default: auto]
        #[arg(long, env = "DUPSIEVE_FORMAT")]
        #[serde(serialize_with = "typed::serialize")]
        format: Format as "allowed::format",
        /// Field with the id of a record; a nested field is written a.b. In web archives id is the URL, and
        /// every header of a record is a field, such as WARC-Record-ID [default: id]
        #[arg(long, value_name = "FIELD", env = "DUPSIEVE_ID_FIELD")]
        id_field: String,
        /// A record without an id (true) or each record (all) gets its place as the id: the path of its file below the input folder,
        /// a colon, and its line or number, such as news/part-3.jsonl:17
        #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "true|false|all")]
        #[arg(env = "DUPSIEVE_PLACE_IDS")]
        #[serde(serialize_with = "typed::serialize")]
        place_ids: PlaceIds as "allowed::place_ids",
        /// Field with the text or the vector [default: text, or vector]
        #[arg(long, value_name = "FIELD", env = "DUPSIEVE_TEXT_FIELD")]
        text_field: String,
        /// Field with the time: RFC 3339 (UTC if it has no zone), an HTTP date, or seconds or milliseconds
        /// since 1970, or a day such as 2026-07-01 or 20260701 [default: none; WARC-Date if all files are web archives]
        #[arg(long, value_name = "FIELD", env = "DUPSIEVE_TIME_FIELD")]
        time_field: String,
        /// The text field holds HTML: take the text of it. Web archives and HTML files need no flag
        #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        #[arg(env = "DUPSIEVE_HTML")]
        html: bool,
        /// Encoding of files of text, by its name in HTML, such as gbk, big5, shift_jis or windows-1252. A byte order mark wins over it;
        /// web archives, HTML and Parquet name their own [default: utf-8]
        #[arg(long, value_name = "NAME", env = "DUPSIEVE_ENCODING")]
        #[serde(serialize_with = "typed::serialize")]
        encoding: TextEncoding as "allowed::text",
        /// Abort (exit 65) if more records are bad: a number, or a share such as 0.5% [default: 1%]
        #[arg(long, value_name = "N|P%", env = "DUPSIEVE_MAX_BAD")]
        #[serde(serialize_with = "typed::serialize")]
        max_bad: Tolerance as "allowed::number",
        /// Longest record, such as 64MiB; longer ones are quarantined [default: 64MiB]
        #[arg(long, value_name = "SIZE", env = "DUPSIEVE_MAX_RECORD")]
        #[serde(serialize_with = "typed::serialize")]
        max_record: ByteSize as "allowed::number",
        /// Leave out the files whose names fit this pattern, such as '*.bak', or whose paths below the folder fit it, such as
        /// 'raw/**'; may be given several times. Names in folders that begin with . or _ are left out in any case
        #[arg(long, value_name = "GLOB", env = "DUPSIEVE_EXCLUDE")]
        exclude: Vec<String>,
        /// Read what can be read of compressed files that are damaged or end early
        #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        #[arg(env = "DUPSIEVE_ACCEPT_TRUNCATED")]
        accept_truncated: bool,
    }
}

pub(crate) fn reads_texts(format: Format) -> bool {
    !matches!(format, Format::Fingerprints | Format::Features | Format::Vectors)
}

impl FingerprintSettings {
    pub(crate) fn or(self, file: FingerprintSettings) -> FingerprintSettings {
        FingerprintSettings { made: self.made.or(file.made), pages: self.pages.or(file.pages) }
    }

    /// The recipe that was chosen, or the default of the format.
    pub(crate) fn chosen(&self) -> Result<Recipe> {
        self.made.recipe(&self.pages)
    }
}

impl PageSettings {
    /// These settings, as they are typed for a command that looks at pages; what is not set is taken from `file`. How many records may be
    /// bad there counts for jobs.
    pub(crate) fn over(&self, file: PageSettings) -> PageSettings {
        self.clone().or(PageSettings { max_bad: None, ..file })
    }

    /// Finds the files that `paths` name, and how to read them. Ready-made fingerprints have this width.
    pub(crate) fn inputs(&self, paths: &[PathBuf], width: Width) -> Result<(Inputs, ReadOptions)> {
        let mut options = self.read_options(width);
        let exclude = self.exclude.iter().flatten().map(|glob| pattern(glob));
        let exclude = exclude.collect::<Result<Vec<_>>>()?;
        let inputs = Inputs::find_without(paths, self.format.unwrap_or_default(), &exclude)?;
        self.check_fields(&inputs)?;
        let formats = inputs.formats();
        if self.time_field.is_none() && formats.keys().eq([&Format::Warc]) {
            options.fields.order = Some(OrderField::time("WARC-Date"));
        }
        Ok((inputs, options))
    }

    /// Whether times are read with the pages of these inputs; none if the inputs cannot be read.
    pub(crate) fn read_times(&self, paths: &[PathBuf]) -> Option<bool> {
        let (_, options) = self.inputs(paths, Width::W128).ok()?;
        Some(options.fields.order.is_some())
    }

    /// Refuses the name of a field if a file has no fields: the name would be ignored.
    fn check_fields(&self, inputs: &Inputs) -> Result<()> {
        type Has = fn(Format) -> bool;
        let flags: [(&str, bool, Has); 4] = [
            ("--id-field", self.id_field.is_some(), Format::has_fields),
            ("--text-field", self.text_field.is_some(), Format::has_text_field),
            ("--time-field", self.time_field.is_some(), Format::has_fields),
            ("--html", self.html == Some(true), Format::has_text_field),
        ];
        for (flag, _, has) in flags.into_iter().filter(|(_, is_given, _)| *is_given) {
            let Some(file) = inputs.files().iter().find(|file| !has(file.format())) else {
                continue;
            };
            let fields = if file.format().has_fields() { "no text field" } else { "no fields" };
            let what = format!("{flag} is given, but this file has {fields}");
            return Err(Error::new(Kind::Usage, what)
                .at(file.path())
                .found(format_args!("it is read as {}", file.format()))
                .help(format_args!("leave out {flag}, or set --format")));
        }
        Ok(())
    }

    fn read_options(&self, width: Width) -> ReadOptions {
        let default = ReadOptions::default();
        let text = match self.format {
            Some(Format::Vectors) => "vector".to_owned(),
            _ => default.fields.text,
        };
        let fields = Fields {
            id: self.id_field.clone().unwrap_or(default.fields.id),
            place_ids: self.place_ids.unwrap_or(default.fields.place_ids),
            text: self.text_field.clone().unwrap_or(text),
            order: self.time_field.clone().map(OrderField::time),
            key: None,
            html: self.html.unwrap_or(default.fields.html),
            encoding: self.encoding,
            vectors: self.format == Some(Format::Vectors),
            width_bits: width.bits(),
        };
        let max_record_bytes =
            self.max_record.map_or(default.max_record_bytes, |ByteSize(bytes)| bytes as usize);
        let accept_truncated = self.accept_truncated.unwrap_or(default.accept_truncated);
        ReadOptions { fields, max_record_bytes, accept_truncated, ..default }
    }
}

fn pattern(glob: &str) -> Result<Pattern> {
    Pattern::new(glob)
        .map_err(|error| Error::new(Kind::Usage, "--exclude has no valid pattern").found(error))
}

impl RecipeSettings {
    pub(crate) fn page_time(&self) -> PageTime {
        let seconds = |time: NonZeroU32| PageTime(Duration::from_secs(time.get().into()));
        self.page_time.map_or_else(PageTime::default, seconds)
    }

    /// The recipe that was chosen, or the default of the format of these pages, with the check and without the boilerplate.
    pub(crate) fn recipe(&self, pages: &PageSettings) -> Result<Recipe> {
        let recipe = self.recipe_of(pages.format.unwrap_or_default())?;
        let recipe = match &self.boilerplate {
            Some(table) => recipe.with_boilerplate(Counts::read(&table.here()?)?)?,
            None => recipe,
        };
        // A recipe of its own goes with no preset, unless one is named too.
        let preset = self.preset.filter(|_| self.recipe.is_some());
        let recipe = match self.check.or(preset.and_then(Preset::check).map(|it| it.check)) {
            Some(check) => recipe.with_check(check)?,
            None => recipe,
        };
        let recipe = match self.keep_bands {
            Some(_) if !recipe.check().is_some_and(Check::is_whole) => {
                let what = "bands find candidates for checks of whole documents";
                return Err(Error::new(Kind::Usage, what)
                    .expected("containment or points")
                    .found(recipe.check().map_or("no check".to_owned(), |it| it.to_string()))
                    .settings(["sketch points", "keep-bands"]));
            }
            Some(bands) => recipe.with_bands(bands.to_string()),
            None => recipe,
        };
        let recipe = match (&self.key, &self.drop_parameters) {
            (Some(key), Some(names)) => recipe.with_key(key.clone().dropping(names)?)?,
            (Some(key), None) => recipe.with_key(key.clone())?,
            (None, None) => recipe,
            (None, Some(_)) => {
                let what = "parameters are dropped from keys, and none are kept";
                return Err(Error::new(Kind::Usage, what).setting("key surt"));
            }
        };
        let recipe = match self.keep_digests {
            Some(true) => recipe.with_digests()?,
            _ => recipe,
        };
        if self.keep_passages == Some(true) { recipe.with_passages() } else { Ok(recipe) }
    }

    fn recipe_of(&self, format: Format) -> Result<Recipe> {
        let width = self.width;
        let reads_texts = reads_texts(format);
        if let Some(preset) = self.preset.filter(|&it| it != Preset::Paper && !reads_texts) {
            return Err(Error::new(Kind::Usage, "a preset with a check needs texts")
                .expected("paper, or no preset")
                .found(preset));
        }
        match &self.recipe {
            Some(choice) => choice.recipe(width),
            None if format == Format::Fingerprints => match width {
                Some(Width::W128) => Recipe::named("external-128", None),
                _ => Recipe::named("external-64", None),
            },
            None if format == Format::Features => Recipe::named("features", width),
            None if format == Format::Vectors => Recipe::named("vectors", width),
            None => self.preset.unwrap_or_default().recipe(width),
        }
    }
}
