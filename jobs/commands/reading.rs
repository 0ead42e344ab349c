//! Documents read by all processes together, for the commands that make one file of them. Records that cannot
//! be read are put into a list beside the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dupsieve::document::{
    Damage, Format, Inputs, OrderField, PlaceIds, Position, Quarantine, ReadOptions, Repeated,
    Tolerance,
};
use dupsieve::error::Named;
use dupsieve::fingerprint::Width;
use dupsieve::flow::{Collected, Documents, Harvest, Processes, Read};
use dupsieve::join;
use dupsieve::output::{self, Fence, ListFile, Listed, Lock, QUARANTINE, REPEATED, beside};
use dupsieve::report::Parameters;
use dupsieve::runs::{Record, SortedRecords};
use dupsieve::step::{self, Step};
use dupsieve::store::{Digest, Lists, RecordCounts};
use dupsieve::{Error, Kind, Result};

use crate::commands::places;
use crate::flags::{GlobalFlags, PageSettings};
use crate::outcome::{Progress, Summary, Unit, account};

mod inputs;

pub(crate) use inputs::{INPUTS, Listing};

const DAMAGED_NAMED: usize = 10;

pub(crate) struct Pages {
    inputs: Arc<Inputs>,
    pub(crate) output: PathBuf,
    /// Where the output is in the end.
    pub(crate) place: PathBuf,
    options: ReadOptions,
    /// Whether the field of the ids was named.
    names_ids: bool,
    max_bad: Tolerance,
}

pub(crate) struct Found<R> {
    collected: Collected<R>,
    pub(crate) read: Read,
    processes: usize,
}

impl Pages {
    /// Finds the inputs of `output` as the `settings` say. Ready-made fingerprints have this width.
    pub(crate) fn find(
        inputs: &[PathBuf],
        output: &Path,
        settings: &PageSettings,
        width: Width,
        processes: usize,
    ) -> Result<Pages> {
        let (inputs, options) = settings.inputs(inputs, width)?;
        if processes > 1 && inputs.files().iter().any(|file| file.is_stream()) {
            let what = "standard input cannot be read by several processes";
            return Err(
                Error::new(Kind::Usage, what).help("write it to a file first, or use one process")
            );
        }
        let written: Vec<PathBuf> =
            [output.to_path_buf()].into_iter().chain(beside_all(output)).collect();
        inputs.check_apart(&written)?;
        Ok(Pages {
            inputs: Arc::new(inputs),
            output: output.to_path_buf(),
            place: output.to_path_buf(),
            names_ids: settings.id_field.is_some() && options.fields.place_ids == PlaceIds::Missing,
            options,
            max_bad: settings.max_bad.unwrap_or(Tolerance::BAD),
        })
    }

    pub(crate) fn moved_to(self, place: PathBuf) -> Pages {
        Pages { place, ..self }
    }

    /// Whether what puts each document in order is read, such as its time.
    pub(crate) fn has_order(&self) -> bool {
        self.options.fields.order.is_some()
    }

    /// The field by whose values pages are kept, if it is another one than their time.
    pub(crate) fn kept_by(&self) -> Option<&OrderField> {
        self.options.fields.order.as_ref().filter(|order| !order.is_time())
    }

    pub(crate) fn ordered_by(mut self, order: OrderField) -> Result<Pages> {
        self.expect_fields("--keep")?;
        self.options.fields.order = Some(order);
        Ok(self)
    }

    pub(crate) fn keyed_by(mut self, field: &str) -> Result<Pages> {
        self.expect_fields("--key")?;
        self.options.fields.key = Some(field.to_owned());
        Ok(self)
    }

    fn expect_fields(&self, flag: &str) -> Result<()> {
        match self.inputs.files().iter().find(|file| !file.format().has_fields()) {
            Some(file) => {
                let what = format!("{flag} names a field, but this file has no fields");
                let found = format!("it is read as {}", file.format());
                Err(Error::new(Kind::Usage, what).at(file.path()).found(found))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn announce(&self) {
        let formats = self.inputs.formats().into_iter();
        let formats: Vec<String> =
            formats.map(|(format, files)| format!("as {format}: {files}")).collect();
        if !formats.is_empty() {
            tracing::debug!("files to read {}", formats.join(", "));
        }
        let passed_over = self.inputs.passed_over();
        if passed_over.count() > 0 {
            tracing::warn!("files that do not fit the format are not read, {passed_over}");
        }
        if let Some((count, first)) = passed_over.hidden() {
            let first = first.named();
            tracing::debug!(
                "names that begin with . or _ are passed over: {count}, such as {first}"
            );
        }
    }

    pub(crate) fn passed_over(&self) -> u64 {
        self.inputs.passed_over().count()
    }

    pub(crate) fn size(&self) -> (u64, u64) {
        (self.inputs.files().len() as u64, self.inputs.bytes())
    }

    pub(crate) fn has_stream(&self) -> bool {
        self.inputs.has_stream()
    }

    /// `asked`, with the digest of the inputs as they are now, to be compared with what decided the output that stands.
    pub(crate) fn with_inputs(&self, asked: &Parameters, made: &Parameters) -> Result<Parameters> {
        let mut asked = inputs::with_digest(asked, made, &self.inputs)?;
        // Where no file was cut off, it makes no difference whether such files are accepted.
        if made.get(ACCEPT_TRUNCATED).is_some_and(|accepted| accepted == NOTHING_CUT_OFF) {
            asked.insert(ACCEPT_TRUNCATED.to_owned(), NOTHING_CUT_OFF.to_owned());
        }
        Ok(asked)
    }

    /// What decides the documents, but for the contents of the inputs.
    pub(crate) fn parameters(&self) -> Parameters {
        let ReadOptions { fields, max_record_bytes, accept_truncated, .. } = &self.options;
        let time = fields.order.as_ref().filter(|order| order.is_time());
        let named = [
            ("id_field", fields.id.clone()),
            ("text_field", fields.text.clone()),
            ("time_field", time.map_or(String::new(), |order| order.name.clone())),
            ("max_record_bytes", max_record_bytes.to_string()),
            (ACCEPT_TRUNCATED, accept_truncated.to_string()),
        ];
        let places = Digest(self.inputs.place_digest());
        let has_lines = self.inputs.files().iter().any(|file| file.format() == Format::Lines);
        let place_ids = match fields.place_ids {
            PlaceIds::Never if !has_lines => None,
            PlaceIds::Never => Some((PLACE_IDS, format!("lines {places}"))),
            PlaceIds::Missing => Some((PLACE_IDS, places.to_string())),
            PlaceIds::All => Some((PLACE_IDS, format!("{ALL_PLACES}{places}"))),
        };
        let html = self.has_html().then(|| ("html", ALL_TEXT.to_owned()));
        named
            .into_iter()
            .chain(html)
            .chain(self.kept_by().map(|order| ("keep", order.to_string())))
            .chain(place_ids)
            .chain(fields.encoding.map(|encoding| ("encoding", encoding.to_string())))
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn has_html(&self) -> bool {
        let html = |format| matches!(format, Format::Html | Format::Warc);
        self.options.fields.html || self.inputs.files().iter().any(|file| html(file.format()))
    }

    /// The key of all that decides what is made of a file, by the `parameters` of the output; the file itself has its state.
    pub(crate) fn key(&self, parameters: &str) -> Result<Digest> {
        let names = Digest(self.inputs.place_digest());
        Ok(Digest::of(format!("{} {names} {parameters}", join::build()?).as_bytes()))
    }

    pub(crate) fn listing(&self) -> Listing {
        Listing::of(&self.inputs)
    }

    /// Fails if the field of the ids was named, and no record has it: its name is most likely misspelt.
    fn check_ids(&self, read: &Read) -> Result<()> {
        match &read.lacking_id {
            Some(lacking) if self.names_ids && read.without_id == read.documents => {
                Err(self.no_field(&self.options.fields.id, ["--id-field", "the id"], lacking, read))
            }
            _ => Ok(()),
        }
    }

    /// The error for a `field` that no record has, of which this one is the first, with the fields that it has. A flag names the field.
    fn no_field(
        &self,
        field: &str,
        [flag, holds]: [&str; 2],
        (position, found): &(Position, String),
        read: &Read,
    ) -> Error {
        let count = read.documents;
        // A row of a table does not say which columns there are.
        let found = match &**found {
            "none" => String::new(),
            found => format!("; fields found: {found}"),
        };
        let what = format!("no field `{field}` in {count} of {count} records{found}; see {flag}");
        Error::new(Kind::BadData, what)
            .at(self.inputs.files()[position.file as usize].path())
            .line(position.line)
            .help(format!("name the field that holds {holds}, or leave {flag} out"))
    }

    /// Fails if no record has the field of its order: its name is most likely misspelt. So it does if no value of it gives a page a place.
    fn check_order(&self, read: &Read) -> Result<()> {
        let Some(order) = &self.options.fields.order else { return Ok(()) };
        let (field, documents) = (&order.name, read.documents);
        let has_field = read.order.no_field < documents;
        match &read.without_order {
            Some(lacking) if !has_field => {
                let of_time = ["--time-field", "the time"];
                let flag = if order.is_time() { of_time } else { ["--keep", "the order"] };
                Err(self.no_field(field, flag, lacking, read))
            }
            _ if has_field && read.order.known() == 0 && !order.is_time() => {
                let what = format!(
                    "no page has a number in `{field}`, by which --keep puts them in order"
                );
                let found = format!("{} of {documents} pages without one", read.order.unknown());
                Err(Error::new(Kind::BadData, what).found(found).help(format!(
                    "if it holds times, use --time-field {field} with --keep newest or oldest"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Reads the documents by `read`, which makes something of them on every worker. Progress is shown as
    /// `doing`.
    pub(crate) fn read<R>(
        &self,
        processes: &mut Processes,
        global: &GlobalFlags,
        doing: &'static str,
        read: impl FnOnce(Documents, &mut Processes) -> Result<Harvest<R>>,
    ) -> Result<Found<R>> {
        step::begin(Step::Reading);
        let bytes = self.inputs.bytes();
        let (progress, _shown) = Progress::count(doing, Unit::Bytes, bytes, global.quiet);
        let documents = Documents {
            inputs: Arc::clone(&self.inputs),
            options: ReadOptions {
                ahead_bytes: global.budget().ahead(),
                window_bytes: global.budget().windows(),
                ..self.options.clone()
            },
            folder: output::parent_of(&self.output).to_path_buf(),
            memory_bytes: global.budget().documents(),
            progress,
            kept: None,
        };
        let count = processes.topology().processes;
        account::note_bytes(bytes);
        let Harvest { collected, read } = read(documents, processes)?;
        for share in read.shares.iter().filter(|share| share.process > 0) {
            account::note_bill(share.process, share.bill);
        }
        Ok(Found { collected, read, processes: count })
    }

    /// What was made, sorted, if everything has arrived and not too many records are bad; with the list of the
    /// bad records.
    pub(crate) fn accept<R: Record>(&self, found: Found<R>, fence: &Fence) -> Result<Accepted<R>> {
        let Found { collected, read, processes } = found;
        read.check_complete(processes)?;
        let contents = inputs::contents(&self.inputs, &read);
        // That a file changed explains that processes read different contents.
        self.inputs.check_unchanged(
            contents.as_ref().ok().and_then(Option::as_deref).unwrap_or_default(),
        )?;
        let contents = contents?;
        let Collected { made, quarantined } = collected;
        account::note_bad(quarantined.reasons());
        self.tell_damage(&read);
        let records = read.documents + read.bad;
        if self.max_bad.exceeded(read.bad, records) {
            let path = self.failed_list(QUARANTINE)?;
            self.list(&quarantined, &path, &path, fence)?.map_or(Ok(()), Listed::publish)?;
            let reasons = quarantined.commonest(records);
            return Err(too_many_bad(read.bad, records, self.max_bad)
                .at(path)
                .found(reasons)
                .help("the list names file and line: leave out files that hold no pages (--exclude), name their format (--format) or the fields (--id-field, --text-field, --key), take places as ids (--place-ids), or raise --max-bad"));
        }
        self.check_ids(&read)?;
        self.check_order(&read)?;
        if let Some(order) = self.options.fields.order.as_ref().filter(|_| read.documents > 0) {
            let what = if order.is_time() {
                "times".to_owned()
            } else {
                format!("values of `{}`", order.name)
            };
            tracing::debug!("{what} read: {}", read.order);
            if !order.is_time() && read.order.unknown() > 0 {
                tracing::warn!(
                    "{} of {} pages have no place by `{order}`: they come last in keep order",
                    read.order.unknown(),
                    read.documents
                );
            }
        }
        if let Some((file, lines)) = read.many_lines {
            let path = self.inputs.files()[file as usize].path().named();
            tracing::info!(
                "{path} has {lines} lines and is one page; --format lines makes a page of each line"
            );
        }
        if !read.skipped.is_empty() {
            tracing::debug!("records that are no pages: {}", read.skipped);
        }
        let path = beside(&self.output, QUARANTINE);
        let quarantine = self.list(&quarantined, &path, &beside(&self.place, QUARANTINE), fence)?;
        step::begin(Step::Sorting);
        let inputs = contents.as_deref().map(|contents| inputs::digest(&self.inputs, contents));
        Ok(Accepted { made: made.sorted()?, read, quarantine, inputs })
    }

    fn tell_damage(&self, read: &Read) {
        let mut damaged = read.damaged.clone();
        damaged.sort_unstable();
        for Damage { file, at, places, unread } in damaged.iter().take(DAMAGED_NAMED) {
            let path = self.inputs.files()[*file as usize].path().named();
            let places =
                if *places > 1 { format!("{places} places, first ") } else { String::new() };
            tracing::warn!("{path} is damaged {places}at byte {at}: {unread} bytes were not read");
        }
        if damaged.len() > DAMAGED_NAMED {
            tracing::warn!("{} files more are damaged", damaged.len() - DAMAGED_NAMED);
        }
    }

    /// Writes the list of the records that could not be read at `path`, which is at `place` in the end; none if there are none.
    fn list(
        &self,
        records: &Quarantine,
        path: &Path,
        place: &Path,
        fence: &Fence,
    ) -> Result<Option<Listed>> {
        if records.count() == 0 {
            return Ok(None);
        }
        let mut list = ListFile::beside(path, fence)?;
        list.write(|out| records.write(&self.inputs, out))?;
        let count = records.count();
        let records = if count == 1 { "record" } else { "records" };
        tracing::warn!("{count} {records} could not be read; listed in {}", place.named());
        list.finish().map(Some)
    }

    /// Process 0 takes the lock of the output by `take`, and removes what killed attempts at the output and its lists have left.
    pub(crate) fn lock(&self, take: impl FnOnce(&Path) -> Result<Lock>) -> Result<Lock> {
        let lock = take(&self.output)?;
        beside_all(&self.output).try_for_each(|path| lock.remove_unfinished(&path))?;
        Ok(lock)
    }

    pub(crate) fn would(&self, sentence: String) -> Summary {
        let (files, bytes) = self.size();
        Summary::new().count("files", files).count("bytes", bytes).say(sentence)
    }

    pub(crate) fn repeated<'a>(&'a self, fence: &'a Fence) -> Repeated<'a> {
        Repeated::new(&self.inputs, beside(&self.output, REPEATED), fence)
    }

    /// The lists beside the output, if no more ids of the documents are repeated than `allowed`, where that says a limit. Else the job
    /// fails, and the lists are those of a failed job.
    pub(crate) fn lists(
        &self,
        quarantine: Option<Listed>,
        repeated: Repeated<'_>,
        allowed: Option<Tolerance>,
        documents: u64,
    ) -> Result<Lists> {
        let (count, same) = (repeated.count(), repeated.same());
        let lists = Lists { quarantine, repeated: repeated.finish()? };
        let Some(allowed) = allowed.filter(|allowed| allowed.exceeded(count, documents)) else {
            return Ok(lists);
        };
        let what = "too many ids are repeated; a wrong id field looks like this";
        Err(Error::new(Kind::BadData, what)
            .called("too-many-repeated-ids")
            .at(self.publish_failed(lists)?)
            .expected(format!("at most {allowed}"))
            .found(format!("{count} of {documents} records, {same} of them with the same text"))
            .help("the file lists them; check --id-field, or raise --max-repeated"))
    }

    /// Puts the lists of a failed job beside its output, and returns the path of the list of repeated ids.
    pub(crate) fn publish_failed(&self, lists: Lists) -> Result<PathBuf> {
        let Lists { quarantine, repeated } = lists;
        for (list, suffix) in [(quarantine, QUARANTINE), (repeated, REPEATED)] {
            let path = self.failed_list(suffix)?;
            list.map_or(Ok(()), |list| list.publish_at(&path))?;
        }
        self.failed_list(REPEATED)
    }

    /// Fails if more records were bad when the output that stands was made than may be now.
    pub(crate) fn expect_few_bad(&self, standing: &Summary) -> Result<()> {
        let [bad, records] = ["quarantined", "read"].map(|name| standing.counted(name));
        match self.max_bad.exceeded(bad, records) {
            true => Err(too_many_bad(bad, records, self.max_bad)
                .at(&self.place)
                .help("the output was made with a higher limit: raise --max-bad")),
            false => Ok(()),
        }
    }

    pub(crate) fn say_passed_over(&self, summary: Summary, counts: &RecordCounts) -> Summary {
        summary.passed_over(counts).count("passed_over", self.passed_over())
    }

    /// Adds the paths of the lists that stand beside the output to a summary: of bad records, and of repeated ids.
    pub(crate) fn say_lists(&self, summary: Summary, has: [bool; 2]) -> Summary {
        let lists = [("quarantine", QUARANTINE), ("repeated", REPEATED)].into_iter().zip(has);
        let there = lists.filter_map(|(list, is_there)| is_there.then_some(list));
        there.fold(summary, |it, (name, suffix)| it.path(name, &beside(&self.place, suffix)))
    }

    /// The path of a list of a failed job. If the output exists, it may have lists itself, so the name is
    /// another one.
    fn failed_list(&self, suffix: &str) -> Result<PathBuf> {
        let failed = if self.output.exists() { FAILED } else { "" };
        places::of_failure(beside(&self.output, &format!("{failed}{suffix}")))
    }
}

/// The parameter that says which documents have their places as ids, and what it begins with if all have.
pub(crate) const PLACE_IDS: &str = "place_ids";
pub(crate) const ALL_PLACES: &str = "all ";

/// The parameter that says whether files that end too early are accepted, and its value in an output for which none was.
const ACCEPT_TRUNCATED: &str = "accept_truncated";
const NOTHING_CUT_OFF: &str = "false";

/// How text is made of HTML. Another number means another text, so an output must be made again.
const ALL_TEXT: &str = "all 1";

/// Precedes the suffix if a job failed to replace an output.
const FAILED: &str = ".failed";

pub(crate) struct Accepted<R> {
    pub(crate) made: SortedRecords<R>,
    pub(crate) read: Read,
    pub(crate) quarantine: Option<Listed>,
    /// The digest of what the files hold; none if there is a stream.
    inputs: Option<String>,
}

impl<R> Accepted<R> {
    pub(crate) fn counts(&self) -> RecordCounts {
        let read = &self.read;
        RecordCounts {
            read: read.documents + read.bad,
            quarantined: read.bad,
            blank: read.blank,
            truncated: read.damaged.len() as u64,
            unread_bytes: read.unread_bytes(),
            skipped: read.skipped,
            ..RecordCounts::default()
        }
    }

    /// What has decided the result: `parameters`, and the inputs as they were read. Of streams there is no digest, so the output is never
    /// done already.
    pub(crate) fn decided(&self, parameters: &Parameters) -> Parameters {
        let inputs = self.inputs.iter().map(|digest| (INPUTS.to_owned(), digest.clone()));
        let cut_off = (self.read.damaged.is_empty())
            .then(|| (ACCEPT_TRUNCATED.to_owned(), NOTHING_CUT_OFF.to_owned()));
        parameters.clone().into_iter().chain(inputs).chain(cut_off).collect()
    }
}

/// The lists that may be beside an output, and the report of a failure.
fn beside_all(output: &Path) -> impl Iterator<Item = PathBuf> {
    let failed = [QUARANTINE, REPEATED].map(|list| format!("{FAILED}{list}"));
    let lists = [QUARANTINE, REPEATED].map(str::to_owned);
    let all = lists.into_iter().chain(failed).chain([".failed.json".to_owned()]);
    all.map(|suffix| beside(output, &suffix))
}

/// Removes the lists that do not belong to `output`, now that it is complete: those of failures, and those
/// of an earlier output that this one does not have.
pub(crate) fn remove_stale(output: &Path, quarantine: bool, repeated: bool) {
    let stale = [
        (!quarantine, QUARANTINE.to_owned()),
        (!repeated, REPEATED.to_owned()),
        (true, format!("{FAILED}{QUARANTINE}")),
        (true, format!("{FAILED}{REPEATED}")),
    ];
    for (_, suffix) in stale.into_iter().filter(|(is_stale, _)| *is_stale) {
        // Most often there is none.
        let _ = fs::remove_file(beside(output, &suffix));
    }
}

pub(crate) fn too_many_bad(bad: u64, records: u64, most: Tolerance) -> Error {
    let records_are = match [bad, records] {
        [_, 1] => "record is",
        [1, _] => "records is",
        _ => "records are",
    };
    let what =
        format!("{bad} of {records} {records_are} unreadable (at most {most} may be: --max-bad)");
    Error::new(Kind::BadData, what).called("too-many-bad-records")
}

/// The output exists, and what was read from a stream cannot be compared.
pub(crate) fn stream_again(output: &Path) -> Error {
    Error::new(
        Kind::Exists,
        "the output exists, and standard input cannot be compared with what it was made from",
    )
    .at(output)
    .help("choose another output, or replace this one with --overwrite")
}
