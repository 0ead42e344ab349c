//! A sample of the pages: how long they are, in which languages, and how many are near by each preset.

use std::sync::atomic::AtomicU64;

use dupsieve::document::{self, Content, Fields, Inputs, ReadOptions, Share};
use dupsieve::evaluate::{MethodTexts, PageSample, SampledPage};
use dupsieve::features::words::han_share;
use dupsieve::join::Preset;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::commands::difference;
use crate::commands::evaluate::presets;

const MOST_PAGES: usize = 1000;
const MOST_BYTES: usize = 16 << 20;
/// How many files are read from their beginning, and how many pages of each are offered to the sample.
const MOST_FILES: usize = 8;
const MOST_OFFERED: u64 = 1000;
const SEED: u64 = 1;
const EXAMPLES: usize = 3;
const NEAR_BY: Preset = Preset::Balanced;

pub(super) struct Pages {
    pub(super) pages: Vec<SampledPage>,
    /// Records that could not be read, and those that could.
    pub(super) bad: u64,
    good: u64,
    /// The characters of the shortest, the middle and the longest page.
    characters: [u64; 3],
    han: usize,
    /// For each preset how many pages are near to one before them.
    near: Vec<(Preset, usize)>,
    /// Some near pairs by [`NEAR_BY`], no copies if there are others.
    examples: Vec<(usize, usize)>,
}

impl Pages {
    pub(super) fn sample(inputs: &Inputs, fields: &Fields) -> Result<Pages> {
        let mut sample = PageSample::new(SEED, MOST_PAGES, MOST_BYTES);
        let [mut good, mut bad] = [0, 0];
        let mut first = None;
        let step = inputs.files().len().div_ceil(MOST_FILES).max(1);
        let options = ReadOptions {
            fields: fields.clone(),
            accept_truncated: true,
            ..ReadOptions::default()
        };
        for file in inputs.files().iter().step_by(step) {
            let inputs = Inputs::one(file);
            let mut offered = 0;
            document::read(
                &inputs,
                &Share::whole(),
                &options,
                &AtomicU64::new(0),
                &mut |records| {
                    records.parse(&options.fields, &mut |_, document| match document {
                        Ok(document) => {
                            offered += 1;
                            if let Content::Text(text) = &document.content {
                                sample.offer(&document.id, text);
                            }
                        }
                        Err(reason) => {
                            bad += 1;
                            first.get_or_insert(reason.to_string());
                        }
                    });
                    offered < MOST_OFFERED
                },
            )?;
            good += offered;
        }
        let pages = sample.pages();
        if pages.is_empty() {
            return Err(Error::new(Kind::BadData, "the first records hold no page with a text")
                .found(first.unwrap_or_else(|| "no record".to_owned()))
                .help(
                    "`dupsieve init` without --input writes an example: name your fields in it",
                ));
        }
        Pages::look(pages, good, bad)
    }

    pub(super) fn seen(&self) -> Value {
        let Pages { pages, bad, good, near, .. } = self;
        let [shortest, middle, longest] = self.characters;
        let near: Vec<String> = near.iter().map(|(by, count)| format!("{count} by {by}")).collect();
        // Twice the share of the sample that could not be read may be so in a day.
        let max_bad = if *bad == 0 { 1 } else { (200 * bad).div_ceil(bad + good).clamp(1, 100) };
        let example = |&(one, two): &(usize, usize)| {
            let [one, two] = [one, two].map(|at| &pages[at]);
            let difference = difference::lines([&one.text, &two.text]);
            json!({ "pages": [one.id, two.id], "difference": difference })
        };
        json!({
            "pages": pages.len(),
            "bad": bad,
            "records": bad + good,
            "max_bad": max_bad,
            "are_urls": pages.iter().all(|page| page.id.contains("://")),
            "shortest": shortest,
            "middle": middle,
            "longest": longest,
            "chinese": 100 * self.han / pages.len(),
            "near": near.join(", "),
            "near_by": NEAR_BY.to_string(),
            "examples": self.examples.iter().map(example).collect::<Vec<_>>(),
        })
    }

    fn look(pages: Vec<SampledPage>, good: u64, bad: u64) -> Result<Pages> {
        let length = |page: &SampledPage| page.text.chars().count() as u64;
        let mut lengths: Vec<u64> = pages.iter().map(length).collect();
        lengths.sort_unstable();
        let characters = [lengths[0], lengths[lengths.len() / 2], lengths[lengths.len() - 1]];
        let han = pages.iter().filter(|page| han_share(&page.text) >= 0.5).count();
        let methods = presets()?;
        let mut texts = MethodTexts::new(&methods)?;
        pages.iter().try_for_each(|page| texts.add(&page.text))?;
        let count = pages.len() as u32;
        let mut near = Vec::new();
        for (at, preset) in Preset::ALL.into_iter().enumerate() {
            let has_near = |&page: &u32| (0..page).any(|earlier| texts.is_near(at, earlier, page));
            near.push((preset, (0..count).filter(has_near).count()));
        }
        let balanced = Preset::ALL.iter().position(|&it| it == NEAR_BY).unwrap_or(0);
        let earlier = |page: u32| (0..page).find(|&it| texts.is_near(balanced, it, page));
        let mut pairs: Vec<(usize, usize)> =
            (0..count).filter_map(|page| Some((earlier(page)? as usize, page as usize))).collect();
        pairs.sort_by_key(|&(one, two)| pages[one].text == pages[two].text);
        pairs.truncate(EXAMPLES);
        Ok(Pages { pages, bad, good, characters, han, near, examples: pairs })
    }
}
