//! What an output says of each page, found by its id: the verdict, the page that is kept in its place, and its cluster.
//!
//! Each page takes 32 bytes of memory. What is said of it stands in a temporary file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::clusters::{Clusters, PageDay};
use crate::error::{At, Error, Excerpt, Kind, Result};
use crate::matches::{RECRAWL, VERDICTS};
use crate::progress::{self, Activity};
use crate::results::{ResultColumn, ResultReader, Values};

/// What an output says of each of its pages. A page is found once: the first record with an id was judged.
pub struct Annotations {
    folder: PathBuf,
    columns: Vec<ResultColumn>,
    /// Ascending by key.
    pages: Vec<Page>,
    texts: File,
}

pub struct ClustersOf {
    pub folder: PathBuf,
    /// What they are, by their report.
    pub found: Clusters,
    pub day: PageDay,
}

struct Page {
    /// XXH3-128 of its id.
    key: u128,
    /// Where the text on it begins.
    offset: u64,
    bytes: u32,
    is_taken: bool,
}

/// What is known of a record by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    Page(usize),
    /// Its id came before, so it was not judged.
    Repeated,
    /// The output has no page with its id.
    Never,
}

impl Annotations {
    /// Reads the verdicts in `folder`, and the clusters. Temporary files go to `scratch`.
    pub fn read(
        folder: &Path,
        clusters: Option<&ClustersOf>,
        scratch: &Path,
        memory_bytes: u64,
    ) -> Result<Annotations> {
        let verdicts = ResultReader::of(folder, VERDICTS)?;
        let columns = columns(&verdicts, clusters.is_some())?;
        let most = usize::try_from(memory_bytes / size_of::<Page>() as u64).unwrap_or(usize::MAX);
        let texts = BufWriter::new(tempfile::tempfile_in(scratch).at(scratch)?);
        let mut reading = Reading {
            verdicts,
            next: None,
            has_clusters: clusters.is_some(),
            // The id and `against` are said nowhere else, and no verdict says the cluster.
            columns: columns.len() + 2 - usize::from(clusters.is_some()),
            pages: Vec::new(),
            most,
            texts,
            bytes: 0,
        };
        reading.advance()?;
        if let Some(ClustersOf { folder, found, day }) = clusters {
            let space = (scratch, usize::try_from(memory_bytes / 4).unwrap_or(usize::MAX));
            found
                .each_member(folder, *day, space, &mut |id, cluster| reading.member(id, cluster))?;
        }
        while reading.next.is_some() {
            reading.note("")?;
        }
        let Reading { mut pages, texts, .. } = reading;
        pages.sort_unstable_by_key(|page| page.key);
        let texts = texts.into_inner().map_err(|error| Error::io(scratch, error.error()))?;
        Ok(Annotations { folder: folder.to_path_buf(), columns, pages, texts })
    }

    /// The columns of what is said of a page: `verdict`, `duplicate_of`, `distance` or `similarity`; `containment`, `copies` and `hosts` if the
    /// verdicts have them; and `cluster` if there are clusters.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// What is known of the next record with this id.
    pub fn take(&mut self, id: &str) -> Judged {
        let key = xxh3_128(id.as_bytes());
        let Ok(at) = self.pages.binary_search_by_key(&key, |page| page.key) else {
            return Judged::Never;
        };
        match std::mem::replace(&mut self.pages[at].is_taken, true) {
            false => Judged::Page(at),
            true => Judged::Repeated,
        }
    }

    /// What is said of a record: the texts of the columns with tabs between them. A repeated record has the verdict
    /// `repeated`; of one that was never judged nothing is said.
    pub fn text(&self, judged: Judged) -> Result<String> {
        let Judged::Page(at) = judged else {
            let verdict = if judged == Judged::Repeated { "repeated" } else { "" };
            return Ok(verdict.to_owned() + &"\t".repeat(self.columns.len() - 1));
        };
        let Page { offset, bytes, .. } = self.pages[at];
        let mut text = vec![0; bytes as usize];
        self.texts.read_exact_at(&mut text, offset).at(&self.folder)?;
        String::from_utf8(text).map_err(|cause| Error::new(Kind::Internal, cause.to_string()))
    }

    /// Fails if a page was never taken, and names the first.
    pub fn check_all_taken(&self) -> Result<()> {
        let missing = self.pages.iter().filter(|page| !page.is_taken).count();
        if missing == 0 {
            return Ok(());
        }
        let what = format!("{missing} pages of the output were not found in the inputs");
        let mut rows = ResultReader::of(&self.folder, VERDICTS)?;
        let mut error = Error::new(Kind::BadData, what).at(rows.path());
        while let Some(row) = rows.next_row()? {
            let id = row.split('\t').next().unwrap_or_default();
            let key = xxh3_128(id.as_bytes());
            let found = self.pages.binary_search_by_key(&key, |page| page.key);
            if found.is_ok_and(|at| !self.pages[at].is_taken) {
                error = error.found(Excerpt(id)).line(rows.number());
                break;
            }
        }
        Err(error.help("use the same inputs and fields that the output was made from"))
    }
}

/// The columns of what is said of a page, by those of the verdicts.
fn columns(verdicts: &ResultReader, has_clusters: bool) -> Result<Vec<ResultColumn>> {
    let names: Vec<&str> = verdicts.columns().into_iter().flatten().map(String::as_str).collect();
    let recrawl = RECRAWL.map(|column| column.name);
    let (names, recrawl) = match names.strip_suffix(&recrawl[..]) {
        Some(names) => (names, &RECRAWL[..]),
        None => (&names[..], &[][..]),
    };
    let near = match names[..] {
        // JSON Lines without a row do not tell.
        ["id", "verdict", "of", "distance", "against"] | [] => {
            vec![ResultColumn::new("distance", Values::Bits)]
        }
        ["id", "verdict", "of", "distance", "against", "containment", "copies", "hosts"] => vec![
            ResultColumn::new("distance", Values::Bits),
            ResultColumn::new("containment", Values::Share),
            ResultColumn::new("copies", Values::Count),
            ResultColumn::new("hosts", Values::Count),
        ],
        _ => {
            return Err(verdicts
                .wrong("not the expected header")
                .expected("id\tverdict\tof\tdistance\tagainst"));
        }
    };
    let [verdict, duplicate_of, cluster] =
        ["verdict", "duplicate_of", "cluster"].map(|name| ResultColumn::new(name, Values::Names));
    let columns = [verdict, duplicate_of].into_iter().chain(near).chain(recrawl.iter().copied());
    let columns = columns.chain(has_clusters.then_some(cluster));
    Ok(columns.map(ResultColumn::or_null).collect())
}

/// Verdicts on their way to the pages. They are in the order of ids, and so are the clusters.
struct Reading {
    verdicts: ResultReader,
    next: Option<String>,
    has_clusters: bool,
    /// How many columns a verdict has.
    columns: usize,
    pages: Vec<Page>,
    /// The most pages that there is memory for.
    most: usize,
    texts: BufWriter<File>,
    /// How many bytes the texts have so far.
    bytes: u64,
}

impl Reading {
    fn advance(&mut self) -> Result<()> {
        self.next = self.verdicts.next_row()?.map(str::to_owned);
        Ok(())
    }

    fn id(&self) -> Option<&str> {
        self.next.as_ref().and_then(|row| row.split('\t').next())
    }

    /// Takes the verdicts up to that on this page, which is in a cluster.
    fn member(&mut self, id: &str, cluster: &str) -> Result<()> {
        while self.id().is_some_and(|next| next < id) {
            self.note("")?;
        }
        if self.id() == Some(id) { self.note(cluster) } else { Ok(()) }
    }

    /// Takes the next verdict, on a page in this cluster.
    fn note(&mut self, cluster: &str) -> Result<()> {
        let row = self.next.take().unwrap_or_default();
        let columns: Vec<&str> = row.split('\t').collect();
        let (id, mut text) = match columns[..] {
            [id, verdict, of, near, _, ref rest @ ..] if columns.len() == self.columns => {
                let rest = rest.iter().flat_map(|cell| ["\t", cell]).collect::<String>();
                (id, format!("{verdict}\t{of}\t{near}{rest}"))
            }
            _ => {
                return Err(self
                    .verdicts
                    .wrong("dupsieve does not write such a line; the file was changed"));
            }
        };
        if self.has_clusters {
            text += "\t";
            text += cluster;
        }
        if self.pages.len() == self.most {
            return Err(Error::new(Kind::Usage, "the verdicts need too much memory")
                .at(self.verdicts.path())
                .expected(format_args!(
                    "at most {} pages, {} bytes for each",
                    self.most,
                    size_of::<Page>()
                ))
                .help("allow more memory")
                .setting("memory"));
        }
        progress::tick(Activity::Reading);
        self.texts.write_all(text.as_bytes()).at(self.verdicts.path())?;
        let bytes = text.len() as u32;
        let key = xxh3_128(id.as_bytes());
        self.pages.push(Page { key, offset: self.bytes, bytes, is_taken: false });
        self.bytes += u64::from(bytes);
        self.advance()
    }
}
