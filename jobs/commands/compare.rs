//! `dupsieve compare`: the distance of two files by a recipe and how much of each the other one contains, or their similarity by a check.

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::document::{Content, Format, Inputs};
use dupsieve::fingerprint::recipe::{Features, NILSIMSA};
use dupsieve::fingerprint::{Class, Contained, Nilsimsa, Recipe, TextMeasure, Width, hex};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::{examples, pages};
use crate::flags::{
    FingerprintSettings, GlobalFlags, PageSettings, Place, RecipeChoice, RecipeSettings,
    parse_width,
};
use crate::outcome::Summary;

/// The id of a file that is compared: no URL, so a table of boilerplate by host does not apply.
const NO_ID: &str = "";

const EXAMPLES: &str = "
# Compare two pages
dupsieve compare one.txt two.txt
# Compare them by the exact share of common shingles
dupsieve compare --recipe jaccard one.txt two.txt";

/// Show how much of each of two files the other one contains
///
/// Prints an object: `containment` is the share of the first file that the second contains, and the reverse; `distance` the bits in which
/// their fingerprints differ. By a check it is `similarity`.
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Recipe (a name, nilsimsa, or a .toml file) or check (containment, minhash-NxB, cosine-N, sentences-N, or
    /// jaccard: of the 3-word shingles of both texts the share that both have, exactly) [default: the recipe of the preset
    /// balanced]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Bits of a fingerprint, if the recipe allows both
    #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
    width: Option<Width>,
    /// First file: text, HTML, or `id<TAB>feature:weight ...` for a recipe that reads features
    one: Place,
    /// Second file
    another: Place,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let files = [&arguments.one.here()?, &arguments.another.here()?];
    let FingerprintSettings { made, pages } = global.config()?.fingerprint;
    let made = RecipeSettings {
        recipe: arguments.recipe.clone().or(made.recipe),
        width: arguments.width.or(made.width),
        ..made
    };
    let name = made.recipe.as_ref().and_then(RecipeChoice::name);
    let object = match (name, name.and_then(|name| name.parse::<TextMeasure>().ok())) {
        (Some(NILSIMSA), _) => by_nilsimsa(files)?,
        (_, Some(check)) => {
            let similarity = check.similarity([&text(files[0])?, &text(files[1])?])?;
            json!({ "recipe": check.to_string(), "similarity": similarity })
        }
        _ => {
            let pages = PageSettings { format: Some(Format::Text), ..pages };
            by_recipe(&made.recipe(&pages)?, files)?
        }
    };
    println!("{object}");
    Ok(Summary::new())
}

fn by_nilsimsa(files: [&PathBuf; 2]) -> Result<serde_json::Value> {
    let [one, another] = [Nilsimsa::of(&text(files[0])?), Nilsimsa::of(&text(files[1])?)];
    let distance = one.distance(&another);
    let digests = [one, another].map(|digest| format!("0x{digest}"));
    Ok(json!({
        "recipe": NILSIMSA,
        "distance": distance,
        "score": one.score(&another),
        "digests": digests,
    }))
}

fn by_recipe(recipe: &Recipe, files: [&PathBuf; 2]) -> Result<serde_json::Value> {
    let mut sketcher = recipe.sketcher()?;
    let mut boilerplate = recipe.boilerplate();
    let check = recipe.check();
    let mut page = |path: &PathBuf| {
        let mut sketch = Vec::new();
        let format = match recipe.features() {
            Features::Given { .. } => Format::Features,
            _ => text_format(path),
        };
        let fingerprint = with_document(path, format, |content| match content {
            Content::Text(text) => {
                let text = match &mut boilerplate {
                    Some(boilerplate) => boilerplate.drop_from(NO_ID, text).text,
                    None => text,
                };
                check.map(|check| check.signer().sign(text, &mut sketch)).transpose()?;
                sketcher.page(text)
            }
            Content::Features(features) => {
                Ok(sketcher.features(features)?.map(|fingerprint| (fingerprint, Class::Full)))
            }
            Content::Fingerprint(_) | Content::Vector(_) => {
                unreachable!("the format is text or features")
            }
        })?;
        let lacking = || Error::new(Kind::BadData, "the document has no word to compare").at(path);
        Ok((fingerprint.ok_or_else(lacking)?, sketch))
    };
    let [(one, sketch), (another, of_another)] = [page(files[0])?, page(files[1])?];
    let fingerprints = [one, another].map(|(fingerprint, _)| hex(fingerprint, recipe.width()));
    let mut object = json!({
        "recipe": recipe.name(),
        "distance": (one.0 ^ another.0).count_ones(),
        "fingerprints": fingerprints,
    });
    if recipe.has_classes() {
        object["classes"] = json!([one.1, another.1]);
    }
    if let Some(both) = check.and_then(|check| check.containment(&sketch, &of_another)) {
        object["containment"] = json!(both.map(Contained::share));
    }
    Ok(object)
}

fn text(path: &Path) -> Result<String> {
    with_document(path, text_format(path), |content| match content {
        Content::Text(text) => Ok(text.clone().into_owned()),
        _ => unreachable!("the format is text"),
    })
}

/// HTML, if the file is recognized as that, or text.
fn text_format(path: &Path) -> Format {
    let is_html = |inputs: Inputs| inputs.files().iter().any(|it| it.format() == Format::Html);
    let found = Inputs::find(&[path.to_owned()], Format::Auto);
    if found.is_ok_and(is_html) { Format::Html } else { Format::Text }
}

fn with_document<T>(
    path: &Path,
    format: Format,
    mut take: impl FnMut(&Content<'_>) -> Result<T>,
) -> Result<T> {
    let mut taken = None;
    let settings = PageSettings { format: Some(format), ..PageSettings::default() };
    pages::each(&[path.to_owned()], &settings, |document| {
        if taken.is_some() {
            return Err(Error::new(Kind::Usage, "the file has more than one document").at(path));
        }
        taken = Some(take(&document.content)?);
        Ok(())
    })?;
    taken.ok_or_else(|| {
        Error::new(Kind::BadData, "the file has no document that can be read").at(path)
    })
}
