//! `dupsieve dedup --input`: one corpus in one go. Its fingerprints are made and joined, and its kept records are copied.
//!
//! An id names one text here. Where an id stands for several texts, as where each file counts its documents from 0, all documents get
//! their places as ids, so that each text is judged. (A day of a crawl is another matter: there the id is a page, which may come twice.)
//!
//! The output looks like the output of a day of `run`, so all that reads one reads the other:
//!
//! ```text
//! found/batch.seg     the fingerprints, as `fingerprint` writes them
//! found/dedup/        the verdicts, as `dedup --batch` writes them
//! kept/               the kept records, as they came (with --kept)
//! ```

use std::env;
use std::fs;
use std::path::{self, Path, PathBuf};

use clap::Args;
use dupsieve::document::{self, IdList, PageKey, PlaceIds, Tolerance};
use dupsieve::error::{At, Named};
use dupsieve::fingerprint::Width;
use dupsieve::flow::{Processes, Role};
use dupsieve::output::{self, STDOUT};
use dupsieve::report::{Made, Report};
use dupsieve::store::Segment;
use dupsieve::{Error, Kind, Result};
use serde_json::json;
use tempfile::TempDir;

use super::batch::{Request, dedup};
use crate::commands::filter::Kept;
use crate::commands::fingerprint::{OtherTexts, fingerprint};
use crate::commands::pages::is_stream;
use crate::commands::{PageSource, fingerprint, places, shell};
use crate::flags::{
    FingerprintSettings, GlobalFlags, Output, PageSettings, RecipeChoice, RecipeSettings,
};
use crate::outcome::{Summary, answer, counted, failure, tally};
use crate::processes::machines;

#[derive(Args, Clone, Debug)]
pub(crate) struct CorpusFlags {
    /// Files, folders, globs or addresses (s3://BUCKET/...) with the documents of a corpus. A document without an id gets its
    /// place as the id, such as news/part-3.jsonl:17; and if an id stands for several texts, all documents do
    #[arg(long, value_name = "PATH", num_args = 1.., group = "documents")]
    input: Vec<PathBuf>,
    /// Copy the documents that are kept, as they came, into this folder: for each input file a file of the same name and format. Or -
    /// for standard output: one document after the other, not compressed
    #[arg(long, value_name = "DIR")]
    kept: Option<Output>,
    /// Leave documents without any word out of --kept
    #[arg(long, requires = "kept")]
    drop_empty: bool,
    /// Recipe of the fingerprints, as in `fingerprint` [default: that of the preset]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Make a key of each document, by which its verdict says whether it came again, as in `fingerprint`: `url`, `surt`, `field:NAME` or
    /// `surt:NAME` [default: none]
    #[arg(long, value_name = "url|surt|field:NAME", env = "DUPSIEVE_KEY")]
    key: Option<PageKey>,
    /// Leave these parameters out of --key surt, such as `sid,utm_source` [default: none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', env = "DUPSIEVE_DROP_PARAMETERS")]
    drop_parameters: Option<Vec<String>>,
    /// Of several texts with one id judge the first alone, as `fingerprint` does, and abort (exit 65) if more records repeat an earlier
    /// id: a number, or a share such as 5% [default: all texts are judged]
    #[arg(long, value_name = "N|P%", env = "DUPSIEVE_MAX_REPEATED")]
    max_repeated: Option<Tolerance>,
    #[command(flatten)]
    pub(crate) pages: PageSettings,
}

#[derive(Debug)]
struct Corpus {
    made: fingerprint::Request,
    joined: Request,
    kept: Option<PathBuf>,
    drop_empty: bool,
    has_output: bool,
}

/// Makes the fingerprints of a corpus, joins them as `request` says, and copies what is kept. `typed` is the command line with the
/// settings of the join. Without an output the results are in a temporary folder, of which only lists of records stay.
pub(crate) fn run(
    (flags, typed): (&CorpusFlags, &str),
    mut request: Request,
    file: FingerprintSettings,
    global: &GlobalFlags,
) -> Result<Summary> {
    if !request.output.as_os_str().is_empty() {
        return make(Corpus::of(flags, request, file)?, typed, global);
    }
    let scratch = TempDir::with_prefix("dupsieve-").at(env::temp_dir())?;
    request.output = scratch.path().join("found");
    let corpus = Corpus { has_output: false, ..Corpus::of(flags, request, file)? };
    let made = make(corpus, typed, global);
    failure::forget();
    leave_lists(scratch)?;
    made
}

/// Removes a temporary folder. Of its results the lists of records stay, which log and errors have named.
fn leave_lists(mut scratch: TempDir) -> Result<()> {
    let (lists, others): (Vec<_>, Vec<_>) = output::entries_in(&scratch.path().join("found"))?
        .into_iter()
        .map(|entry| entry.path())
        .partition(|path| path.extension().is_some_and(|it| it == "tsv"));
    if lists.is_empty() {
        return Ok(());
    }
    for path in others {
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.at(&path)?;
    }
    scratch.disable_cleanup(true);
    Ok(())
}

fn make(mut corpus: Corpus, typed: &str, global: &GlobalFlags) -> Result<Summary> {
    let settings = &corpus.made.settings;
    let mut processes = machines::join(global, &format!("{typed} {settings:?}"))?;
    corpus.keep_stdin(&processes, global.dry_run)?;
    let (kept, stands) = processes.agree("check the folders", || {
        Ok((Role::Leader(corpus.check(global)?), corpus.stands_by_place()?))
    })?;
    let mut kept = kept.leader().flatten();
    let mut read = Summary::new();
    let mut by_place = stands;
    if !stands {
        read = fingerprint(&mut processes, &corpus.made, global)?;
        by_place = processes.agree("tell the documents apart", || corpus.needs_places(&read))?;
    }
    if by_place {
        corpus.name_by(PlaceIds::All);
        kept = kept.map(Kept::by_place);
        read = fingerprint(&mut processes, &corpus.made, global)?;
    }
    let is_made = processes.agree("look at the fingerprints", || Ok(read.is_already_done()))?;
    if global.dry_run && !is_made {
        return Ok(read);
    }
    let found = dedup(&mut processes, &corpus.joined, global)?;
    if global.dry_run {
        return Ok(read.then(found));
    }
    let copied = processes.agree("copy the kept documents", || {
        let Some(kept) = &kept else { return Ok(Role::Leader(Summary::new().already_done())) };
        let batch = Segment::open(&corpus.made.output)?;
        kept.copy(corpus.copied_ids(global)?, None, Some(&batch), global).map(Role::Leader)
    })?;
    places::publish_job(&mut processes, global)?;
    let total = read.then(found).then(copied.leader().unwrap_or_default());
    Ok(if processes.is_leader() { corpus.closing(total) } else { total })
}

impl Corpus {
    fn of(flags: &CorpusFlags, request: Request, file: FingerprintSettings) -> Result<Corpus> {
        let CorpusFlags { input, kept, drop_empty, recipe, max_repeated, pages, .. } = flags;
        let made = recipe_settings(&request, recipe.as_ref());
        let settings = FingerprintSettings {
            made: RecipeSettings {
                key: flags.key.clone(),
                drop_parameters: flags.drop_parameters.clone(),
                max_repeated: *max_repeated,
                ..made
            }
            .or(file.made),
            pages: pages.clone().or(file.pages),
        };
        let place_ids = settings.pages.place_ids.unwrap_or(PlaceIds::Missing);
        let mut join = request.settings.clone();
        join.preset = join.preset.or(settings.made.preset);
        let folder = &request.output;
        let joined = Request {
            batch: folder.join("batch.seg"),
            output: folder.join("dedup"),
            settings: join,
            ..request.clone()
        };
        let other_texts = match settings.made.max_repeated {
            Some(_) => OtherTexts::Allowed,
            None => OtherTexts::Counted,
        };
        let made = fingerprint::Request {
            other_texts,
            inputs: input.clone(),
            output: joined.batch.clone(),
            settings,
            keep: joined.settings.keep.as_ref().and_then(|keep| keep.field().cloned()),
            ..fingerprint::Request::default()
        };
        let kept = kept.as_ref().map(Output::here).transpose()?;
        let (drop_empty, has_output) = (*drop_empty, true);
        let mut corpus = Corpus { made, joined, kept, drop_empty, has_output };
        corpus.name_by(place_ids);
        Ok(corpus)
    }

    fn folder(&self) -> &Path {
        self.made.output.parent().expect("the file is in the folder of the output")
    }

    fn is_printed(&self) -> bool {
        self.kept.as_deref() == Some(Path::new(STDOUT))
    }

    /// Keeps standard input in a file, if its documents are to be copied to standard output.
    fn keep_stdin(&self, processes: &Processes, is_dry: bool) -> Result<()> {
        let is_kept = self.made.inputs.iter().any(|input| self.is_kept_stdin(input));
        if processes.topology().processes > 1 && (is_kept || !self.has_output) {
            let what = "several processes share neither standard input nor a temporary folder";
            return Err(Error::new(Kind::Usage, what)
                .help("name files as --input and a folder as --output, or use one process"));
        }
        if is_kept && !is_dry { document::keep_standard_input() } else { Ok(()) }
    }

    fn is_kept_stdin(&self, input: &Path) -> bool {
        self.is_printed() && input == Path::new("-")
    }

    /// Whether an earlier run has made the fingerprints of these inputs with the places of all documents as ids.
    fn stands_by_place(&self) -> Result<bool> {
        let may_be = self.made.settings.pages.place_ids == Some(PlaceIds::Missing);
        if !may_be || !fingerprint::is_by_place(&self.made.output) {
            return Ok(false);
        }
        let mut made = self.made.clone();
        made.settings.pages.place_ids = Some(PlaceIds::All);
        fingerprint::stands(&made)
    }

    fn needs_places(&self, read: &Summary) -> Result<bool> {
        let Some(count) = read.find(OtherTexts::COUNT) else { return Ok(false) };
        let list = output::beside(&self.made.output, output::REPEATED);
        let inputs = &mut self.made.inputs.iter();
        let is_stream = inputs.any(|path| is_stream(path) && !self.is_kept_stdin(path));
        if is_stream || self.made.settings.pages.place_ids == Some(PlaceIds::Never) {
            return Err(Error::new(Kind::BadData, "an id stands for several texts").called("ambiguous-ids")
                .at(list)
                .expected("one text for each id")
                .found(format!("{count} documents with the id of an earlier one and another text"))
                .help("the file lists them; give all documents their places as ids, or allow that only the first text of an id is judged")
                .settings(["place-ids all", "max-repeated 100%"]));
        }
        tracing::warn!(
            "{} with the id of another one, so all get their places as ids, and fingerprints are made again (--place-ids all spares that)",
            counted(count, "document(s)")
        );
        Ok(true)
    }

    fn name_by(&mut self, place_ids: PlaceIds) {
        let pages = &mut self.made.settings.pages;
        pages.place_ids = Some(place_ids);
        let named: Vec<String> =
            self.made.inputs.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        self.joined.pages = Some(PageSource::new(&named, pages));
    }

    /// Makes the folder of the output. Returns how the kept documents will be copied: if they cannot be copied, the job fails before
    /// there is any work.
    fn check(&self, global: &GlobalFlags) -> Result<Option<Kept>> {
        let folder = self.folder();
        let kept = self.kept.as_deref().map(|kept| self.copies(kept, folder)).transpose()?;
        self.joined.store.find()?;
        let recipe = self.made.settings.chosen()?;
        if let Some(keep) = &self.joined.settings.keep {
            // A stream may have times: it cannot be looked at before.
            let inputs = &self.made.inputs;
            let read = || self.made.settings.pages.read_times(inputs).unwrap_or(true);
            keep.expect_known(|| inputs.iter().any(|it| is_stream(it)) || read(), &recipe)?;
        }
        self.joined.settings.check_limits(recipe.stamp().as_str())?;
        self.expect_apart(folder)?;
        places::expect_folder(folder)?;
        expect_own(folder, "a folder", Path::is_dir)?;
        expect_own(&self.joined.output, "a whole output of dupsieve", |it| {
            it.is_dir() && !matches!(Report::read(it), Ok(None))
        })?;
        if !global.dry_run {
            fs::create_dir_all(folder).at(folder)?;
        }
        Ok(kept)
    }

    fn expect_apart(&self, folder: &Path) -> Result<()> {
        let place = output::resolved(folder);
        let mut folders = self.made.inputs.iter().filter(|it| it.is_dir());
        match folders.find(|it| place.starts_with(output::resolved(it))) {
            None => Ok(()),
            Some(input) => Err(Error::new(Kind::Usage, "the output lies in an input folder")
                .at(folder)
                .found(format_args!("every file below {} is read", input.named()))
                .help("choose another --output, or name the input files by a pattern")),
        }
    }

    fn copies(&self, kept: &Path, output: &Path) -> Result<Kept> {
        let place = |path: &Path| Ok(output::resolved(&path::absolute(path).at(path)?));
        let [one, other] = [place(kept)?, place(output)?];
        if !self.is_printed() && (one.starts_with(&other) || other.starts_with(&one)) {
            return Err(Error::new(Kind::Usage, "one of --kept and --output lies in the other")
                .at(kept)
                .help("choose two folders beside each other"));
        }
        let inputs = self.made.settings.pages.inputs(&self.made.inputs, Width::W128)?;
        Kept::of(inputs, kept)
    }

    /// The ids of the documents that are copied: the kept ones, and those without any word unless they are not wanted.
    fn copied_ids(&self, global: &GlobalFlags) -> Result<IdList> {
        let kept = IdList::read(&self.joined.output.join("keep.txt"), global.budget().whole())?;
        if self.drop_empty {
            return Ok(kept);
        }
        kept.with(Segment::open(&self.made.output)?.empty_ids())
    }

    fn closing(&self, total: Summary) -> Summary {
        let [read, empty] = ["read", "empty"].map(|name| total.counted(name));
        if read == 0 {
            tracing::warn!("the inputs have no documents: check the paths of --input");
        }
        let found = tally(read, "document(s)", &total.verdicts());
        if self.is_printed() {
            // Nothing but the documents goes to standard output.
            tracing::info!("{found}");
            return total;
        }
        let output = self.joined.output.named();
        let object = json!({
            "tally": found,
            "kept": self.kept.as_ref().map(|folder| folder.named()),
            "from_stdin": self.made.inputs.iter().any(|input| is_stream(input)),
            "empty": empty,
            "drop_empty": self.drop_empty,
            "output": self.has_output.then_some(&output),
            "results": shell::word(&self.folder().named()),
            "verdicts": self.joined.format.file_name("verdicts"),
            "program": shell::program(),
        });
        total.say_lines(&answer::drawn(&object, include_str!("closing.txt")))
    }
}

fn expect_own(path: &Path, what: &str, is_ours: impl Fn(&Path) -> bool) -> Result<()> {
    let is_there = path.symlink_metadata().is_ok();
    if is_there && !is_ours(path) { Err(output::foreign(path, what)) } else { Ok(()) }
}

/// What is made of the documents, so that the join finds the sketches that it asks for.
fn recipe_settings(request: &Request, recipe: Option<&RecipeChoice>) -> RecipeSettings {
    let preset = request.settings.preset;
    let check = request.settings.check.map(|confirm| {
        let usual = preset.unwrap_or_default().recipe(None);
        usual.map_or(confirm, |usual| confirm.fitting(usual.stamp().as_str())).check
    });
    RecipeSettings { preset, recipe: recipe.cloned(), check, ..RecipeSettings::default() }
}
