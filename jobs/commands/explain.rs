//! `dupsieve explain`: why two documents have the distance they have.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::document::Content;
use dupsieve::error::At;
use dupsieve::evaluate::Measure;
use dupsieve::features::ONE;
use dupsieve::fingerprint::{Class, Difference, Recipe, Weighted, Width, hex};
use dupsieve::store::Day;
use dupsieve::{Error, Kind, Result};
use serde_json::{Value, json};

use crate::commands::pages::{self, PageFlags, no_text};
use crate::flags::common::Common;
use crate::flags::config::Config;
use crate::flags::settings::{FingerprintSettings, RecipeChoice, parse_width};
use crate::outcome::summary::Summary;
use dupsieve::report::{self, Nearest, Verdict};

/// How many features are shown for a text, for a difference, and for a bit.
const SHOWN: [usize; 3] = [10, 20, 5];

/// Explain the distance of two documents: their features, and those that changed the bits.
///
/// With --config and --date one id is enough: the other page is the one named in the verdict of that
/// day.
#[derive(Args, Debug)]
#[command(override_usage = "\
dupsieve explain [OPTIONS] --input <PATH>... <ID> <ID>
       dupsieve explain [OPTIONS] --config <FILE> --date <YYYY-MM-DD> <ID>")]
pub(crate) struct Arguments {
    /// Files, folders, globs, or - for standard input
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,
    /// Day of `run` whose verdict names the other page; the file named with --config gives the inputs
    /// and the output
    #[arg(long, value_name = "YYYY-MM-DD", conflicts_with = "input")]
    date: Option<Day>,
    /// Recipe: a name, or a .toml file [default: default]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Bits of a fingerprint, if the recipe allows both
    #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
    width: Option<Width>,
    /// Also show the similarity by this check: one of `fingerprint --check`, or jaccard
    #[arg(long, value_name = "C", num_args = 1, default_value = "jaccard")]
    check: Measure,
    #[command(flatten)]
    pages: PageFlags,
    /// Ids of the two documents; with --date, of one document
    #[arg(value_name = "ID", num_args = 1..=2)]
    ids: Vec<PathBuf>,
}

/// A document to find, and the inputs to look in.
struct Wanted {
    id: String,
    inputs: Vec<PathBuf>,
}

impl Arguments {
    /// The two documents. After `--input PATH...` clap takes their ids for two more paths.
    fn wanted(&self) -> Result<[Wanted; 2]> {
        let (inputs, ids) = if self.ids.is_empty() {
            self.input.split_at(self.input.len().saturating_sub(2))
        } else {
            (&self.input[..], &self.ids[..])
        };
        match ids {
            [one, another] if !inputs.is_empty() => {
                let wanted = |id| Ok(Wanted { id: id_text(id)?, inputs: inputs.to_vec() });
                Ok([wanted(one)?, wanted(another)?])
            }
            _ => Err(Error::new(Kind::Usage, "two ids are needed after the inputs")
                .help("with --config and --date one id is enough")),
        }
    }

    /// The document with the given id, and the verdict of the day on it.
    fn by_verdict(&self, day: Day, config: &Config) -> Result<(Wanted, Verdict)> {
        let output = config.output.as_deref().filter(|_| !config.inputs.is_empty());
        let (Some(output), [id]) = (output, &self.ids[..]) else {
            return Err(Error::new(
                Kind::Usage,
                "--date needs one id and a configuration file of `run`",
            )
            .help("give the file with --config"));
        };
        let id = id_text(id)?;
        let output = day.expand(output);
        let verdict = report::verdict(Path::new(&output), &id)?;
        Ok((Wanted { id, inputs: inputs_of(config, day) }, verdict))
    }
}

/// An id as text.
fn id_text(id: &Path) -> Result<String> {
    let id = id.to_str().ok_or_else(|| Error::new(Kind::Usage, "the id is not UTF-8"))?;
    Ok(id.to_owned())
}

/// The inputs of a day, as the file names them.
fn inputs_of(config: &Config, day: Day) -> Vec<PathBuf> {
    config.inputs.iter().map(|input| day.expand(input).into()).collect()
}

/// A document with its features.
struct Analysed {
    id: String,
    fingerprint: u128,
    class: Class,
    features: Vec<Weighted>,
    text: String,
}

/// Runs `explain`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Summary> {
    let config = common.config()?;
    let (wanted, verdict) = match arguments.date {
        None => (arguments.wanted()?, None),
        Some(day) => {
            let (wanted, verdict) = arguments.by_verdict(day, &config)?;
            let Some(Nearest { id, against, .. }) = &verdict.nearest else {
                return print_undropped(&wanted.id, &verdict, common.json);
            };
            // `batch` is the same day.
            let inputs = inputs_of(&config, against.parse().unwrap_or(day));
            ([wanted, Wanted { id: id.clone(), inputs }], Some(verdict))
        }
    };
    let file = FingerprintSettings { check: None, ..config.fingerprint };
    let settings = FingerprintSettings {
        recipe: arguments.recipe.clone().or(file.recipe.clone()),
        width: arguments.width.or(file.width),
        ..arguments.pages.over(file)
    };
    let recipe = settings.recipe(settings.format.unwrap_or_default())?;
    let documents = analyse(&wanted, &settings, &recipe)?;
    let [one, another] = &documents;
    let distant = one.fingerprint ^ another.fingerprint;
    let sides = [&one.features[..], &another.features[..]];
    let difference = Difference::of(sides, distant, recipe.width());
    if let Some(Verdict { nearest: Some(nearest), .. }) = &verdict
        && nearest.distance != distant.count_ones()
    {
        tracing::warn!(
            "the verdict gives a distance of {} bits: the recipe or the pages have changed since then",
            nearest.distance
        );
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let check = arguments.check;
    let alike = (check, check.similarity([&one.text, &another.text])?);
    let printed = if common.json {
        let mut object = object(&documents, &difference, &recipe, alike);
        object["verdict"] = json!(verdict);
        writeln!(out, "{object}")
    } else {
        describe_verdict(verdict.as_ref(), &mut out)
            .and_then(|()| describe(&documents, &difference, &recipe, alike, &mut out))
    };
    printed.and_then(|()| out.flush()).at("stdout")?;
    Ok(Summary::answered())
}

/// Prints the verdict on a page that was not dropped.
fn print_undropped(id: &str, verdict: &Verdict, as_json: bool) -> Result<Summary> {
    match (as_json, verdict.word.as_str()) {
        (true, _) => println!("{}", json!({ "id": id, "verdict": verdict })),
        (false, "empty") => {
            println!(
                "{id}: empty; it has no feature, so it has no fingerprint and was not compared"
            )
        }
        (false, word) => println!("{id}: {word}; it is not near any page that was kept before it"),
    }
    Ok(Summary::answered())
}

/// Finds the two documents and their features. Of several documents with the same id it takes the first.
fn analyse(
    wanted: &[Wanted; 2],
    settings: &FingerprintSettings,
    recipe: &Recipe,
) -> Result<[Analysed; 2]> {
    let mut sketcher = recipe.sketcher()?;
    let mut found = [None, None];
    let same = wanted[0].inputs == wanted[1].inputs;
    for inputs in wanted.iter().take(if same { 1 } else { 2 }).map(|wanted| &wanted.inputs) {
        pages::each(inputs, settings, |document| {
            for (wanted, found) in wanted.iter().zip(&mut found) {
                if found.is_some() || wanted.id != document.id || wanted.inputs != *inputs {
                    continue;
                }
                let id = &wanted.id;
                let Content::Text(text) = &document.content else { return Err(no_text(id)) };
                let (fingerprint, class) = sketcher.page(text)?.ok_or_else(|| {
                    Error::new(Kind::BadData, "the document has no feature").found(id)
                })?;
                let features = sketcher.weighted(text)?;
                let text = text.clone().into_owned();
                *found = Some(Analysed { id: id.clone(), fingerprint, class, features, text });
            }
            Ok(())
        })?;
    }
    match found {
        [Some(one), Some(another)] => Ok([one, another]),
        [one, _] => {
            let id = &wanted[usize::from(one.is_some())].id;
            Err(Error::new(Kind::Missing, "the inputs have no document with this id").found(id))
        }
    }
}

fn describe_verdict(verdict: Option<&Verdict>, out: &mut impl Write) -> io::Result<()> {
    let Some(Verdict { word, nearest: Some(nearest) }) = verdict else { return Ok(()) };
    let Nearest { id, distance, against } = nearest;
    let held = match against.as_str() {
        "batch" => "a kept page of the same day".to_owned(),
        day => format!("a page that the store holds since {day}"),
    };
    writeln!(out, "verdict   {word}: {distance} bits from {id}, {held}")
}

/// The comparison as one JSON object.
fn object(
    documents: &[Analysed; 2],
    difference: &Difference,
    recipe: &Recipe,
    (check, similarity): (Measure, f64),
) -> Value {
    let weight = |fixed: i128| fixed as f64 / ONE as f64;
    let described = documents.iter().zip(difference.totals).map(|(document, total)| {
        let features = document.features.iter();
        let features = features.map(|it| json!([it.feature, weight(it.weight.into())]));
        json!({
            "id": document.id,
            "fingerprint": hex(document.fingerprint, recipe.width()),
            "class": document.class,
            "weight": weight(total),
            "features": features.collect::<Vec<_>>(),
        })
    });
    let moved = difference.moved.iter().map(|moved| {
        json!({ "feature": moved.feature, "weights": moved.weights.map(|it| weight(it.into())) })
    });
    let bits = difference.bits.iter().map(|bit| {
        let movers = bit.movers.iter().map(|&(at, way)| {
            json!({ "feature": difference.moved[at].feature, "weight": weight(way.into()) })
        });
        json!({
            "bit": bit.place,
            "sums": bit.sums.map(weight),
            "movers": movers.collect::<Vec<_>>(),
        })
    });
    json!({
        "recipe": recipe.name(),
        "width": recipe.width().bits(),
        "documents": described.collect::<Vec<_>>(),
        "distance": difference.bits.len(),
        "shared_weight": weight(difference.shared),
        "check": { "name": check.to_string(), "similarity": similarity },
        "moved": moved.collect::<Vec<_>>(),
        "bits": bits.collect::<Vec<_>>(),
    })
}

fn describe(
    documents: &[Analysed; 2],
    difference: &Difference,
    recipe: &Recipe,
    (check, similarity): (Measure, f64),
    out: &mut impl Write,
) -> io::Result<()> {
    let weight = |fixed: i128| fixed as f64 / ONE as f64;
    writeln!(out, "recipe    {}, {} bits", recipe.name(), recipe.width().bits())?;
    for (document, total) in documents.iter().zip(difference.totals) {
        writeln!(out, "\n{}", document.id)?;
        writeln!(out, "    fingerprint  {}", hex(document.fingerprint, recipe.width()))?;
        if document.class == Class::Short {
            writeln!(out, "    class        short: the hash of these features in order of weight")?;
        }
        let features = document.features.len();
        writeln!(out, "    features     {features}, total weight {:.1}", weight(total))?;
        let mut heaviest: Vec<&Weighted> = document.features.iter().collect();
        heaviest.sort_by_key(|feature| (-feature.weight, feature.hash));
        for feature in &heaviest[..features.min(SHOWN[0])] {
            writeln!(out, "    {:>11.3}  {:?}", weight(feature.weight.into()), feature.feature)?;
        }
    }
    let larger = difference.totals[0].max(difference.totals[1]);
    let shared = 100.0 * weight(difference.shared) / weight(larger);
    writeln!(out, "\ndistance  {}; {shared:.1} % of the weight is shared", difference.bits.len())?;
    writeln!(out, "check     {similarity:.4} by {check}")?;
    let moved = &difference.moved;
    writeln!(out, "\n{} features differ     first    second", moved.len())?;
    for moved in &moved[..moved.len().min(SHOWN[1])] {
        let [first, second] = moved.weights.map(|one| weight(one.into()));
        writeln!(out, "    {first:>20.3} {second:>9.3}  {:?}", moved.feature)?;
    }
    match documents.each_ref().map(|document| document.class) {
        [Class::Full, Class::Full] => describe_bits(difference, out),
        [Class::Short, Class::Short] => Ok(()),
        _ => writeln!(out, "\nthey are of different classes, so they never match"),
    }
}

/// Prints for each bit that differs both sums, and the features that changed it.
fn describe_bits(difference: &Difference, out: &mut impl Write) -> io::Result<()> {
    let weight = |fixed: i128| fixed as f64 / ONE as f64;
    for bit in &difference.bits {
        let [first, second] = bit.sums.map(weight);
        writeln!(out, "\nbit {}: {first:+.3} in the first, {second:+.3} in the second", bit.place)?;
        for &(at, way) in &bit.movers[..bit.movers.len().min(SHOWN[2])] {
            writeln!(out, "    {:>+11.3}  {:?}", weight(way.into()), difference.moved[at].feature)?;
        }
        if let Some(more) = bit.movers.len().checked_sub(SHOWN[2] + 1) {
            writeln!(out, "                 and {} more", more + 1)?;
        }
    }
    Ok(())
}
