//! `dupsieve filter --annotate`: every record again, with what an output says of it.

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::vec;

#[cfg(feature = "parquet")]
use dupsieve::rooms::document::ParquetCopy;
use dupsieve::rooms::document::{
    self, AddedFields, Fields, Format, Input, Inputs, Position, ReadOptions, Records, Share,
};
use dupsieve::rooms::output::{self, Lock, PackedFile, PackedUnit, STDOUT};
use dupsieve::rooms::report::{self, Annotations, ClusterReport, ClustersOf, Judged, Made, Report};
use dupsieve::rooms::results::ResultColumn;
use dupsieve::rooms::store::Day;
use dupsieve::{Error, Kind, Result};

use crate::commands::cluster::{matches_of, not_whole, sums};
use crate::flags::global::GlobalFlags;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

pub(super) struct Asked<'a> {
    /// The output that says of each page what became of it.
    pub(super) judged: &'a Path,
    /// The clusters, if they do not stand beside it.
    pub(super) clusters: Option<PathBuf>,
    /// What the names of the fields begin with.
    pub(super) prefix: &'a str,
    pub(super) output: &'a Path,
}

pub(super) fn run(
    asked: &Asked<'_>,
    inputs: &Inputs,
    options: &ReadOptions,
    global: &GlobalFlags,
) -> Result<Summary> {
    let &Asked { judged, ref clusters, prefix, output } = asked;
    let format = format_of(inputs)?;
    let folder = report::folder(judged);
    let joined = Report::read(&folder)?.ok_or_else(|| not_whole(&folder))?;
    joined.check_files(&folder)?;
    let clusters = clusters.clone().or_else(|| beside(&folder));
    let clusters = clusters.map(|path| clusters_of(&path, &joined)).transpose()?;
    let scratch = if output == Path::new(STDOUT) {
        std::env::temp_dir()
    } else {
        output::parent_of(output).to_path_buf()
    };
    let summary = Summary::new().path("output", output);
    if global.dry_run {
        return Ok(summary.count("files", inputs.files().len() as u64));
    }
    let lock = (output != Path::new(STDOUT)).then(|| Lock::on_file(output)).transpose()?;
    let pages = Annotations::read(&folder, clusters.as_ref(), &scratch, global.budget().whole())?;
    let columns = named(pages.columns(), prefix)?;
    let out = match &lock {
        Some(lock) => PackedFile::locked(PackedUnit::File, output, lock)?,
        None => PackedFile::create(output)?,
    };
    let (out, counts) = match format {
        Format::Parquet => annotate_rows(inputs, options, pages, &columns, out, global)?,
        _ => annotate_lines(
            inputs,
            options,
            pages,
            AddedFields::new(format, &columns)?,
            out,
            global,
        )?,
    };
    let is_old = out.finish(global.overwrite)?;
    let summary = counts.summary(summary);
    Ok(if is_old { summary.already_done() } else { summary })
}

/// The format of all inputs, whose records have room for fields.
fn format_of(inputs: &Inputs) -> Result<Format> {
    let Some(first) = inputs.files().first() else { return Ok(Format::Jsonl) };
    if let Some(other) = inputs.files().iter().find(|file| file.format() != first.format()) {
        return Err(Error::new(Kind::Usage, "files of two formats cannot be copied into one file")
            .at(other.path())
            .found(format_args!(
                "{other} and {first}",
                other = other.format(),
                first = first.format()
            ))
            .help("annotate them one after the other"));
    }
    if first.format() != Format::Parquet {
        AddedFields::new(first.format(), &[]).map_err(|error| {
            error
                .at(first.path())
                .help("filter the pages with --ids, or join them with the table of verdicts")
        })?;
    }
    Ok(first.format())
}

/// The clusters that stand beside the output of a day of run.
fn beside(folder: &Path) -> Option<PathBuf> {
    let clusters = folder.with_file_name("clusters");
    (folder.ends_with("dedup") && clusters.is_dir()).then_some(clusters)
}

/// The clusters at `path`, which must have been made from the output `joined` in `folder`.
fn clusters_of(path: &Path, joined: &Report) -> Result<ClustersOf> {
    let report = ClusterReport::read(path)?.ok_or_else(|| {
        Error::new(Kind::BadData, "this is not a complete output of `cluster`").at(path)
    })?;
    let day = day_in(&report, joined).ok_or_else(|| {
        Error::new(Kind::Usage, "these clusters were not made from this output")
            .at(path)
            .help("name the clusters of the output with --clusters")
    })?;
    let day = (!day.is_empty()).then(|| day.parse::<Day>()).transpose()?;
    Ok(ClustersOf { folder: path.to_path_buf(), found: report.found, day: day.into() })
}

/// The day that the output `joined` has in clusters, if they were made from it. Of the days before the last they know no more
/// than which they are.
fn day_in(clusters: &ClusterReport, joined: &Report) -> Option<String> {
    let made = sums(joined);
    let same = clusters.parameters.iter().find(|(_, value)| **value == made);
    if let Some(day) = same.and_then(|(name, _)| name.strip_prefix("matches ")) {
        return Some(day.to_owned());
    }
    let day = joined.day?.to_string();
    let is_before = !clusters.parameters.contains_key(&matches_of(&day));
    (is_before && clusters.days.contains(&day)).then_some(day)
}

/// The columns with a prefix before their names. These live as long as the program, as those of all tables do.
fn named(columns: &[ResultColumn], prefix: &str) -> Result<Vec<ResultColumn>> {
    if !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(Error::new(
            Kind::Usage,
            "--annotate-prefix has other characters than letters, digits and _",
        )
        .found(prefix));
    }
    let name = |column: &ResultColumn| (prefix.to_owned() + column.name).leak();
    Ok(columns.iter().map(|column| ResultColumn { name: name(column), ..*column }).collect())
}

#[derive(Default)]
struct Counts {
    annotated: u64,
    repeated: u64,
    /// Read, but not judged.
    never: u64,
    unread: u64,
    /// Too long, or without an end.
    left_out: u64,
}

impl Counts {
    fn judged(&mut self, judged: Judged) {
        *match judged {
            Judged::Page(_) => &mut self.annotated,
            Judged::Repeated => &mut self.repeated,
            Judged::Never => &mut self.never,
        } += 1;
    }

    fn summary(&self, summary: Summary) -> Summary {
        let Counts { annotated, repeated, never, unread, left_out } = *self;
        for (count, what) in [
            (never, "records have no verdict: the output was made from other inputs"),
            (unread, "records could not be read; they have no verdict"),
            (left_out, "records are longer than --max-record or break off; they are left out"),
        ] {
            if count > 0 {
                tracing::warn!("{count} {what}");
            }
        }
        summary
            .count("annotated", annotated)
            .count("repeated", repeated)
            .count("unjudged", never)
            .count("unread", unread)
            .count("left_out", left_out)
    }
}

fn each_portion(
    inputs: &Inputs,
    options: &ReadOptions,
    global: &GlobalFlags,
    mut take: impl FnMut(Records) -> Result<()>,
) -> Result<()> {
    let (progress, _shown) =
        Progress::count("annotating", Unit::Bytes, inputs.bytes(), global.quiet);
    let mut outcome = Ok(());
    document::read(inputs, &Share::whole(), options, &progress, &mut |portion| {
        outcome = take(portion);
        outcome.is_ok()
    })?;
    outcome
}

/// What is known of the records of a portion, in order; none of those that could not be read.
fn judged(
    portion: &Records,
    fields: &Fields,
    pages: &mut Annotations,
) -> Vec<(Position, Option<Judged>)> {
    let mut judged = Vec::new();
    portion.parse(fields, &mut |position, document| {
        judged.push((position, document.ok().map(|document| pages.take(&document.id))));
    });
    judged
}

fn annotate_lines(
    inputs: &Inputs,
    options: &ReadOptions,
    pages: Annotations,
    fields: AddedFields,
    out: PackedFile,
    global: &GlobalFlags,
) -> Result<(PackedFile, Counts)> {
    let mut copy = LineCopy { inputs, pages, fields, header: None, out, counts: Counts::default() };
    each_portion(inputs, options, global, |portion| copy.portion(&portion, &options.fields))?;
    copy.pages.check_all_taken()?;
    Ok((copy.out, copy.counts))
}

struct LineCopy<'a> {
    inputs: &'a Inputs,
    pages: Annotations,
    fields: AddedFields,
    /// The header of the first file.
    header: Option<Vec<u8>>,
    out: PackedFile,
    counts: Counts,
}

impl LineCopy<'_> {
    fn portion(&mut self, portion: &Records, fields: &Fields) -> Result<()> {
        let mut judged = judged(portion, fields, &mut self.pages).into_iter().peekable();
        if let Some(header) = portion.header() {
            self.header(header).map_err(|error| match judged.peek() {
                Some((position, _)) => error.at(self.file(*position).path()).line(1),
                None => error,
            })?;
        }
        let mut outcome = Ok(());
        portion.raw(&mut |position, record| {
            if outcome.is_ok() {
                outcome = self.record(position, record, &mut judged);
            }
        });
        outcome?;
        // What has no bytes cannot be copied.
        self.counts.left_out += judged.count() as u64;
        Ok(())
    }

    fn file(&self, position: Position) -> &Input {
        &self.inputs.files()[position.file as usize]
    }

    fn header(&mut self, header: &[u8]) -> Result<()> {
        match &self.header {
            None => {
                let wider = self.fields.header(header)?;
                self.header = Some(header.to_vec());
                self.out.line(&wider)
            }
            Some(first) if first == header => Ok(()),
            Some(_) => Err(Error::new(Kind::Usage, "the inputs have different columns")
                .help("annotate the files one by one")),
        }
    }

    /// Copies a record. What `judged` does not have is a blank line.
    fn record(
        &mut self,
        position: Position,
        record: &[u8],
        judged: &mut Peekable<vec::IntoIter<(Position, Option<Judged>)>>,
    ) -> Result<()> {
        match judged.next_if(|(at, _)| *at == position) {
            None => self.out.line(record),
            Some((_, None)) => {
                self.counts.unread += 1;
                self.out.line(&self.fields.unread(record))
            }
            Some((_, Some(judged))) => {
                self.counts.judged(judged);
                let text = self.pages.text(judged)?;
                let wider = self
                    .fields
                    .record(record, &text)
                    .map_err(|error| error.at(self.file(position).path()).line(position.line))?;
                self.out.line(&wider)
            }
        }
    }
}

/// Annotates Parquet: first the rows are judged by their ids, and then copied with all their columns.
#[cfg(feature = "parquet")]
fn annotate_rows(
    inputs: &Inputs,
    options: &ReadOptions,
    mut pages: Annotations,
    columns: &[ResultColumn],
    out: PackedFile,
    global: &GlobalFlags,
) -> Result<(PackedFile, Counts)> {
    let mut rows: Vec<Vec<Option<Judged>>> = vec![Vec::new(); inputs.files().len()];
    each_portion(inputs, options, global, |portion| {
        for (position, judged) in judged(&portion, &options.fields, &mut pages) {
            rows[position.file as usize].push(judged);
        }
        Ok(())
    })?;
    pages.check_all_taken()?;
    let mut counts = Counts::default();
    for judged in rows.iter().flatten() {
        match judged {
            Some(judged) => counts.judged(*judged),
            None => counts.unread += 1,
        }
    }
    let Some(first) = inputs.files().first() else { return Ok((out, counts)) };
    let output = out.path().to_path_buf();
    let mut copy = ParquetCopy::with_columns(first, out, &output, columns)?;
    for (file, rows) in inputs.files().iter().zip(&rows) {
        copy.copy_all(file, &mut |row| {
            let judged = rows.get(row as usize - 1).copied().flatten();
            pages.text(judged.unwrap_or(Judged::Never))
        })?;
    }
    Ok((copy.finish()?, counts))
}

#[cfg(not(feature = "parquet"))]
fn annotate_rows(
    _: &Inputs,
    _: &ReadOptions,
    _: Annotations,
    _: &[ResultColumn],
    out: PackedFile,
    _: &GlobalFlags,
) -> Result<(PackedFile, Counts)> {
    dupsieve::rooms::results::ResultFormat::Parquet.check().map(|()| (out, Counts::default()))
}
