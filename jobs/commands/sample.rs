//! `dupsieve sample`: some near pairs of an output, with what differs in their texts, so that a person can
//! judge whether the distance and the recipe suit the corpus.
//!
//! The same number of pairs is drawn for every distance, at random, but always the same pairs for the
//! same seed. Where the verdicts say how much of a dropped page the kept page contains, the pairs that lose most are shown
//! instead, the worst first. Only the drawn pairs and the beginnings of their texts are kept in memory.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::Args;
use dupsieve::document::PageKey;
use dupsieve::error::{At, Named};
use dupsieve::output::PackedFile;
use dupsieve::passages::PassagesFound;
use dupsieve::report::{self, Made, Nearest, Report, SearchReport};
use dupsieve::{Error, Kind, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::excerpts::Excerpts;
use crate::commands::{PageSource, difference, examples, excerpts, passages_in_place};
use crate::flags::{GlobalFlags, Output, Overwrite, PageSettings, Place, shared};
use crate::outcome::{Summary, answer, terminal};

const EXAMPLES: &str = "
# Show the twenty pairs that lose most
dupsieve sample out/2026-11-21
# Show five, with the pages from another folder
dupsieve sample found --pairs 5 --input crawl/
# Draw the pairs side by side into a page for a browser
dupsieve sample out/2026-11-21 --output pairs.html";

/// Show dropped pages beside the page they copy, as a word diff
///
/// The pages that lose most text are shown, the worst first. Where the check does not say what is lost, some pairs are drawn at random
/// for each distance. Where passages were found, the longest are shown in place.
#[derive(Args, Debug)]
#[command(args = shared(&[Overwrite]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    /// Output folder of dedup, or of a day of run
    output: Place,
    /// How many pairs to show: of those that lose most, or else for each distance; and as many passages
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// Files, folders, globs or addresses (s3://BUCKET/...) with the pages; {date} is replaced by the day of a page [default: the
    /// inputs named in the report]
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<String>,
    /// Draw the pairs side by side into a page, which needs no network
    #[arg(long = "output", value_name = "FILE.html")]
    page: Option<Output>,
    /// Random seed: another seed shows other pairs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    pages: PageSettings,
}

#[derive(Serialize)]
struct Pair {
    new: String,
    existing: Nearest,
    /// The share of the new page that the other one contains, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    containment: Option<f64>,
    /// The key of both, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl Pair {
    /// Notes the key of both pages, if it is one. Values of other fields than the id are not read.
    fn find(&mut self, key: &PageKey) {
        let [one, other] = [&self.new, &self.existing.id].map(|id| key.of(id, None));
        self.key = (key.field().is_none() && one == other).then(|| one.into_owned());
    }

    fn pages(&self) -> excerpts::Pair<'_> {
        (&self.new, &self.existing)
    }
}

struct Drawn {
    what: String,
    pairs: Vec<Pair>,
    seen: u64,
}

struct Reservoir {
    drawn: Drawn,
    random: ChaCha8Rng,
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let output = &*arguments.output.here()?;
    let outputs = report::outputs(output)?;
    let mut groups = Vec::new();
    let mut out = BufWriter::new(terminal::stdout());
    for of_day in &outputs {
        let report = Report::read(&report::folder(of_day))?.unwrap_or_default();
        let mut drawn = match report.lost {
            Some(_) => vec![worst(of_day, arguments)?],
            None => draw(of_day, arguments)?,
        };
        if let Some(key) = report.key() {
            drawn.iter_mut().flat_map(|drawn| &mut drawn.pairs).for_each(|pair| pair.find(&key));
        }
        let mut passages = "longest passages".to_owned();
        if of_day != output {
            let day = of_day.file_name().unwrap_or_default().to_string_lossy();
            let names = drawn.iter_mut().map(|drawn| &mut drawn.what).chain([&mut passages]);
            names.for_each(|name| *name = format!("{day}: {name}"));
        }
        let (source, settings) =
            PageSource::of_output(of_day, &arguments.input, &arguments.pages, global)?;
        let pairs = drawn.iter().flat_map(|drawn| drawn.pairs.iter().map(Pair::pages));
        let texts = Excerpts::read(pairs, &source, &settings)?;
        let beside = arguments.page.is_some();
        for Drawn { what, pairs, seen } in &drawn {
            let shown = pairs.iter().map(|pair| object(pair, &texts, beside));
            let shown = shown.collect::<Result<Vec<Value>>>()?;
            let all = format!("{seen} pairs");
            groups.push(json!({ "name": what, "seen": seen, "all": all, "shown": shown }));
        }
        if let Some(found) = report.passages {
            let most = arguments.pairs as usize;
            let mut longest = passages_in_place::longest(&report::folder(of_day), most)?;
            passages_in_place::read(&mut longest, &source.inputs_of(None)?, &settings)?;
            let shown = longest.iter().map(|passage| json!({ "passage": passage }));
            let (seen, shown) = (found.passages, shown.collect::<Vec<_>>());
            groups.push(json!({ "name": passages, "seen": seen, "all": seen, "shown": shown }));
        }
        if !beside {
            groups.drain(..).try_for_each(|group| say(&group, global.json, &mut out))?;
        }
    }
    if let Some(path) = &arguments.page {
        let mut file = PackedFile::create(&path.here()?)?;
        file.line(report::pairs_page(&output.named(), &groups).trim_end().as_bytes())?;
        file.finish(global.overwrite)?;
    }
    out.flush().at("stdout")?;
    Ok(Summary::new())
}

fn say(group: &Value, as_json: bool, out: &mut impl Write) -> Result<()> {
    if as_json {
        let mut shown = group["shown"].as_array().into_iter().flatten();
        return shown.try_for_each(|object| writeln!(out, "{object}")).at("stdout");
    }
    out.write_all(answer::drawn(group, include_str!("sample.txt")).as_bytes()).at("stdout")
}

/// The pairs that lose most, the worst first, in one pass over the verdicts.
fn worst(output: &Path, arguments: &Arguments) -> Result<Drawn> {
    let mut worst = BTreeMap::new();
    let mut seen = 0;
    report::each_contained(output, |new, existing, containment| {
        seen += 1;
        worst.insert((containment, new.to_owned()), existing);
        if worst.len() > arguments.pairs as usize {
            worst.pop_last();
        }
    })?;
    let pair = |((containment, new), existing)| Pair {
        new,
        existing,
        containment: Some(f64::from(containment) / 1e4),
        key: None,
    };
    let pairs = worst.into_iter().map(pair).collect();
    Ok(Drawn { what: "most text lost".to_owned(), pairs, seen })
}

fn draw(output: &Path, arguments: &Arguments) -> Result<Vec<Drawn>> {
    let most = u64::from(arguments.pairs);
    let mut drawn = BTreeMap::new();
    report::each_match(output, |new, existing| {
        let distance = existing.distance;
        let seed = arguments.seed.wrapping_add(u64::from(distance) << 32);
        let of_distance = drawn.entry(distance).or_insert_with(|| Reservoir {
            drawn: Drawn { what: format!("distance {distance}"), pairs: Vec::new(), seen: 0 },
            random: ChaCha8Rng::seed_from_u64(seed),
        });
        of_distance.add(Pair { new: new.to_owned(), existing, containment: None, key: None }, most);
    })
    .map_err(|error| match error.kind() {
        Kind::Missing => no_pairs(output),
        _ => error,
    })?;
    let mut drawn: Vec<Drawn> = drawn.into_values().map(|it| it.drawn).collect();
    for Drawn { pairs, .. } in &mut drawn {
        pairs.sort_by(|a, b| (&a.new, &a.existing.id).cmp(&(&b.new, &b.existing.id)));
    }
    Ok(drawn)
}

fn no_pairs(output: &Path) -> Error {
    let error = report::no_output(output);
    let page = output.join("report.html");
    match SearchReport::<PassagesFound>::read(output) {
        Ok(Some(_)) => error
            .found("an output of passages")
            .help(format!("{} shows its figures, the table beside it all passages", page.named())),
        _ => error,
    }
}

impl Reservoir {
    /// Takes in the next pair by reservoir sampling: every pair seen so far is kept with the same chance.
    fn add(&mut self, pair: Pair, most: u64) {
        let Drawn { pairs, seen, .. } = &mut self.drawn;
        let place = self.random.random_range(0..=*seen);
        *seen += 1;
        match pairs.get_mut(place as usize) {
            _ if *seen <= most => pairs.push(pair),
            Some(held) => *held = pair,
            None => {}
        }
    }
}

fn object(pair: &Pair, texts: &Excerpts<'_>, beside: bool) -> Result<Value> {
    let mut object = json!(pair);
    match texts.compare(pair.pages())? {
        Err(missing) => object["missing"] = missing.into(),
        Ok(compared) => {
            object["jaccard"] = compared.jaccard.into();
            if beside {
                let (sides, note) = compared.passages(&difference::BESIDE);
                (object["sides"], object["note"]) = (json!(sides), json!(note));
            } else {
                object["difference"] = difference::lines(compared.texts).into();
                object["cut"] = compared.is_cut.into();
            }
        }
    }
    Ok(object)
}
