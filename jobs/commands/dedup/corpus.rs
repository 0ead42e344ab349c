//! `dupsieve dedup --input`: one corpus in one go. Its fingerprints are made and joined, and its kept records are copied.
//!
//! The output looks like the output of a day of `run`, so all that reads one reads the other:
//!
//! ```text
//! found/batch.seg     the fingerprints, as `fingerprint` writes them
//! found/dedup/        the verdicts, as `dedup --batch` writes them
//! kept/               the kept records, as they came (with --kept)
//! ```

use std::fs;
use std::path::{self, Path, PathBuf};

use clap::Args;
use dupsieve::rooms::document::Tolerance;
use dupsieve::rooms::error::{At, Named};
use dupsieve::rooms::fingerprint::Width;
use dupsieve::rooms::output;
use dupsieve::{Error, Kind, Result};

use super::batch::{Request, dedup};
use crate::commands::destination::Destination;
use crate::commands::filter::Kept;
use crate::commands::fingerprint::{self, fingerprint};
use crate::commands::pages::{PageInputs, PageSource};
use crate::commands::places;
use crate::commands::store_at::StoreAt;
use crate::flags::global::GlobalFlags;
use crate::flags::place::Output;
use crate::flags::settings::{
    Compare, FingerprintSettings, PageSettings, RecipeChoice, RecipeSettings,
};
use crate::outcome::summary::Summary;
use crate::processes::machines;

/// What only a corpus has.
#[derive(Args, Clone, Debug)]
pub(super) struct CorpusFlags {
    /// Files, folders, globs or addresses (s3://BUCKET/...) with the documents of a corpus. A document without an id gets its
    /// place as the id, such as news/part-3.jsonl:17
    #[arg(long, value_name = "PATH", num_args = 1.., group = "documents")]
    input: Vec<PathBuf>,
    /// Copy the documents that are kept, as they came, into this folder: for each input file a file of the same name and format
    #[arg(long, value_name = "DIR")]
    kept: Option<Output>,
    /// Recipe of the fingerprints, as in `fingerprint` [default: that of the preset]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Abort (exit 65) if more records repeat an earlier id, as in `fingerprint`: a number, or a share such as 5% [default: 50%]
    #[arg(long, value_name = "N|P%", env = "DUPSIEVE_MAX_REPEATED")]
    max_repeated: Option<Tolerance>,
    #[command(flatten)]
    pages: PageSettings,
}

/// A corpus that is asked for.
#[derive(Debug)]
struct Corpus {
    made: fingerprint::Request,
    joined: Request,
    kept: Option<PathBuf>,
}

/// Makes the fingerprints of a corpus, joins them as `request` says, and copies what is kept.
pub(super) fn run(
    flags: &CorpusFlags,
    request: Request,
    file: FingerprintSettings,
    global: &GlobalFlags,
) -> Result<Summary> {
    let corpus = Corpus::of(flags, request, file)?;
    let mut processes = machines::join(global, &format!("{corpus:?}"))?;
    let mut kept = None;
    processes.agree("check the folders", || {
        kept = corpus.check(global)?;
        Ok(())
    })?;
    let read = fingerprint(&mut processes, &corpus.made, global)?;
    if global.dry_run {
        return Ok(read);
    }
    let found = dedup(&mut processes, &corpus.joined, global)?;
    let mut copied = Summary::new().already_done();
    processes.agree("copy the kept documents", || {
        if let Some(kept) = &kept {
            copied = kept.copy(&corpus.joined.output.join("keep.txt"), global)?;
        }
        Ok(())
    })?;
    let total = read.then(found).then(copied);
    Ok(if processes.is_leader() { corpus.closing(total) } else { total })
}

impl Corpus {
    fn of(flags: &CorpusFlags, request: Request, file: FingerprintSettings) -> Result<Corpus> {
        let CorpusFlags { input, kept, recipe, max_repeated, pages } = flags;
        let made = recipe_settings(&request, recipe.as_ref());
        let settings = FingerprintSettings {
            made: RecipeSettings { max_repeated: *max_repeated, ..made }.or(file.made),
            pages: pages.clone().or(file.pages),
        };
        let place_ids = Some(settings.pages.place_ids.unwrap_or(true));
        let pages = PageSettings { place_ids, ..settings.pages };
        let named: Vec<String> = input.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        let mut join = request.settings.clone();
        join.preset = join.preset.or(settings.made.preset);
        let folder = &request.output;
        let joined = Request {
            batch: folder.join("batch.seg"),
            output: folder.join("dedup"),
            pages: Some(PageSource::new(&named, &pages)),
            texts: PageInputs::new(input.clone(), pages.clone()),
            settings: join,
            ..request.clone()
        };
        let made = fingerprint::Request {
            inputs: input.clone(),
            output: joined.batch.clone(),
            destination: Destination::default(),
            settings: FingerprintSettings { pages, ..settings },
            keep: joined.settings.keep.as_ref().and_then(|keep| keep.field().cloned()),
            known: StoreAt::NoStore,
        };
        let kept = kept.as_ref().map(Output::here).transpose()?;
        Ok(Corpus { made, joined, kept })
    }

    /// Makes the folder of the output. Returns how the kept documents will be copied: if they cannot be copied, the job fails before
    /// there is any work.
    fn check(&self, global: &GlobalFlags) -> Result<Option<Kept<'_>>> {
        let folder = self.made.output.parent().expect("the file is in the folder of the output");
        let kept = self.kept.as_deref().map(|kept| self.copies(kept, folder)).transpose()?;
        self.joined.store.find()?;
        if let Request { settings, texts, .. } = &self.joined
            && settings.compare == Some(Compare::Texts)
        {
            let recipe = self.made.settings.chosen()?;
            settings.compares_texts(recipe.stamp().as_str(), texts.is_some())?;
        }
        places::expect_folder(folder)?;
        if !global.dry_run {
            fs::create_dir_all(folder).at(folder)?;
        }
        Ok(kept)
    }

    /// Copies into the folder `kept`, which is apart from the output.
    fn copies<'a>(&self, kept: &'a Path, output: &Path) -> Result<Kept<'a>> {
        let place = |path: &Path| Ok(output::resolved(&path::absolute(path).at(path)?));
        let [one, other] = [place(kept)?, place(output)?];
        if one.starts_with(&other) || other.starts_with(&one) {
            return Err(Error::new(Kind::Usage, "one of --kept and --output lies in the other")
                .at(kept)
                .help("choose two folders beside each other"));
        }
        let inputs = self.made.settings.pages.inputs(&self.made.inputs, Width::W128)?;
        Kept::of(inputs, kept)
    }

    /// Adds sentences: what was read and found, what was written, and what to do next.
    fn closing(&self, total: Summary) -> Summary {
        let program = std::env::args().next().unwrap_or_else(|| "dupsieve".to_owned());
        let [read, kept, dropped, empty, repeated, bad] =
            ["read", "kept", "dropped", "empty", "repeated", "quarantined"]
                .map(|name| total.counted(name));
        let found = self.joined.output.named();
        let verdicts = self.joined.format.file_name("verdicts");
        let copies = self.kept.as_ref().map(|folder| {
            format!(
                "The kept documents are in {}/, as they came: a file for each file of the input.",
                folder.named()
            )
        });
        let copy = self.kept.is_none().then(|| {
            "  copy the kept documents   add --kept DIR to this command, and run it again"
                .to_owned()
        });
        total
            .say(format!("{read} documents read:"))
            .say(format!("  {kept} kept, because no other document is nearly the same"))
            .say(format!("  {dropped} dropped as near-duplicates, each of a document that was kept"))
            .say(format!("  {empty} without any word, {repeated} with the id of an earlier one, {bad} unreadable"))
            .say_if(copies)
            .say(format!("Results are in {found}/:"))
            .say(format!("  {verdicts:<20} the verdict on each document, and the document it is a duplicate of"))
            .say("  keep.txt, drop.txt   the ids of the kept documents and of the dropped documents")
            .say("  report.html          the figures, for a browser; report.json for programs")
            .say("Next:")
            .say_if(copy)
            .say(format!("  look at some pairs        {program} sample {found}"))
            .say(format!("  check the results         {program} verify {found}"))
    }
}

/// What is made of the documents, so that the join finds the signatures that it asks for.
fn recipe_settings(request: &Request, recipe: Option<&RecipeChoice>) -> RecipeSettings {
    let preset = request.settings.preset;
    let check = request.settings.check.map(|confirm| {
        let usual = preset.unwrap_or_default().recipe(None);
        usual.map_or(confirm, |usual| confirm.fitting(usual.stamp().as_str())).check
    });
    RecipeSettings { preset, recipe: recipe.cloned(), check, ..RecipeSettings::default() }
}
