//! The beginnings of the texts of pairs of pages, read from the inputs again, and what differs between them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use dupsieve::fingerprint::{TextMeasure, Width};
use dupsieve::report::{Nearest, Run};
use dupsieve::{Kind, Result};

use crate::commands::{PageSource, difference, pages};
use crate::flags::PageSettings;

/// How many bytes of a text are kept and compared.
pub(crate) const EXCERPT_BYTES: usize = 32 << 10;

/// Inputs of more bytes than this, and what is no file, are not read again for a report. `sample` reads them.
pub(crate) const MOST_INPUT_BYTES: u64 = 128 << 20;

pub(crate) type Pair<'a> = (&'a str, &'a Nearest);

struct Excerpt {
    text: String,
    is_cut: bool,
}

pub(crate) struct Excerpts<'a> {
    texts: HashMap<(Vec<PathBuf>, String), Excerpt>,
    source: &'a PageSource,
}

/// How many bytes the inputs of these pairs have: each file once for each day that is read. Streams and objects have more than any.
pub(crate) fn input_bytes<'a>(
    pairs: impl IntoIterator<Item = Pair<'a>>,
    source: &PageSource,
    settings: &PageSettings,
) -> Result<u64> {
    let mut read = BTreeSet::new();
    for (_, existing) in pairs {
        read.extend([source.inputs_of(None)?, source.inputs_of(Some(existing))?]);
    }
    let bytes = |paths: &Vec<PathBuf>| match settings.inputs(paths, Width::W128) {
        Ok((inputs, _)) if inputs.are_files() => Ok(inputs.bytes()),
        Ok(_) => Ok(u64::MAX),
        // The pages of earlier days have often been deleted.
        Err(error) if error.kind() == Kind::Missing => Ok(0),
        Err(error) => Err(error),
    };
    read.iter().try_fold(0_u64, |sum, paths| Ok(sum.saturating_add(bytes(paths)?)))
}

impl<'s> Excerpts<'s> {
    pub(crate) fn read<'a>(
        pairs: impl IntoIterator<Item = Pair<'a>>,
        source: &'s PageSource,
        settings: &PageSettings,
    ) -> Result<Excerpts<'s>> {
        let mut wanted: BTreeMap<Vec<PathBuf>, HashSet<String>> = BTreeMap::new();
        for (new, existing) in pairs {
            for (of, id) in [(None, new), (Some(existing), &*existing.id)] {
                wanted.entry(source.inputs_of(of)?).or_default().insert(id.to_owned());
            }
        }
        let mut texts = HashMap::new();
        for (inputs, ids) in wanted {
            let read = pages::find_texts(&inputs, settings, ids, |id, text| {
                texts.insert((inputs.clone(), id.to_owned()), Excerpt::beginning(text));
                Ok(())
            });
            pages::warn_if_missing(read)?;
        }
        Ok(Excerpts { texts, source })
    }

    /// Both pages of a pair compared, or the id that the inputs lack.
    pub(crate) fn compare<'a>(
        &'a self,
        (new, existing): Pair<'a>,
    ) -> Result<Result<Compared<'a>, &'a str>> {
        let text = |of, id: &str| {
            Ok::<_, dupsieve::Error>(self.texts.get(&(self.source.inputs_of(of)?, id.to_owned())))
        };
        Ok(match [text(None, new)?, text(Some(existing), &existing.id)?] {
            [Some(one), Some(another)] => Ok(Compared::of([one, another])?),
            [None, _] => Err(new),
            [_, None] => Err(&existing.id),
        })
    }
}

impl Excerpt {
    fn beginning(text: &str) -> Excerpt {
        let end = text.floor_char_boundary(EXCERPT_BYTES);
        Excerpt { text: text[..end].to_owned(), is_cut: end < text.len() }
    }
}

pub(crate) struct Compared<'a> {
    pub(crate) texts: [&'a str; 2],
    /// The Jaccard similarity of the sets of 3-word shingles.
    pub(crate) jaccard: f64,
    pub(crate) is_cut: bool,
}

impl<'a> Compared<'a> {
    fn of(excerpts: [&'a Excerpt; 2]) -> Result<Compared<'a>> {
        let is_cut = excerpts.iter().any(|held| held.is_cut);
        let texts = excerpts.map(|held| held.text.as_str());
        Ok(Compared { texts, jaccard: TextMeasure::Jaccard.similarity(texts)?, is_cut })
    }

    pub(crate) fn passages(&self, room: &difference::Room) -> (Vec<Vec<Run>>, Option<String>) {
        let (passages, more) = difference::passages(self.texts, room);
        let notes = [
            passages.is_empty().then(|| "The texts have the same words.".to_owned()),
            (more > 0).then(|| format!("{more} more passages differ.")),
            self.is_cut
                .then(|| format!("Only the first {} KiB were compared.", EXCERPT_BYTES >> 10)),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        (passages, (!notes.is_empty()).then(|| notes.join(" ")))
    }
}

pub(crate) fn lacking(id: &str) -> String {
    format!("The inputs do not have the text of {id}.")
}
