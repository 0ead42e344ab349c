//! What is made of the files that were read to their ends, so that a job that was killed does not read these files again.
//!
//! Each process appends to a file of its own, in the folder in which joins have their ledgers: a worker what it made of a portion of
//! records, before it sends that on, and the reading thread the end of an input file, with the numbers of its portions. An input file is
//! done if its end and all its portions are there, and its state is as it was. Files that are one page each end together, a portion
//! of them at once: they are done if the states of all of them are as they were. Nothing is synced: what a power cut takes
//! from it fails its checksum and is read again.
//!
//! The files are [frames](crate::frames): what was made and the counts of a portion, behind its number (8 bytes), or a list of
//! `FileRead`, in bincode.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::document::{FileRead, Inputs};
use crate::error::{At, Error, Kind, Result};
use crate::frames::{self, FoundFrame, FrameFile, HEAD_BYTES};
use crate::ledger;
use crate::output::{check_free_space, entries_in, remove_if_there};
use crate::parallel::lock;
use crate::progress::{self, Activity};
use crate::store::Digest;

const PORTION: u32 = 1;
const END: u32 = 2;
const NUMBER_BYTES: usize = 8;

/// The files that are done, and the place for those of this run.
pub(super) struct Checkpoint {
    folder: PathBuf,
    key: Digest,
    done: HashMap<u32, FileMade>,
    /// The file of this process, and its length; none until something is written.
    file: Mutex<Option<(File, u64)>>,
}

#[derive(Clone, Debug)]
pub(super) struct Portion {
    path: Arc<PathBuf>,
    at: u64,
    bytes: u64,
}

impl Checkpoint {
    /// Finds what earlier runs with this `key` have made of the `inputs`.
    pub(super) fn open(folder: &Path, key: Digest, inputs: &Inputs) -> Result<Checkpoint> {
        let mut done = HashMap::new();
        for entry in entries_in(folder)? {
            let (path, name) = (entry.path(), entry.file_name());
            if name.as_encoded_bytes().starts_with(key.to_string().as_bytes()) {
                done.extend(read(path, inputs)?);
            } else {
                remove_if_there(&path)?;
            }
        }
        Ok(Checkpoint { folder: folder.to_path_buf(), key, done, file: Mutex::default() })
    }

    pub(super) fn files(&self) -> HashSet<u32> {
        self.done.keys().copied().collect()
    }

    pub(super) fn file(&self, file: u32) -> Option<&FileMade> {
        self.done.get(&file)
    }

    pub(super) fn end(&self, read: &[FileRead]) -> Result<()> {
        self.append(END, Vec::new(), &read)
    }

    pub(super) fn add(&self, number: u64, made: &impl Serialize) -> Result<()> {
        self.append(PORTION, number.to_le_bytes().to_vec(), made)
    }

    fn append(&self, tag: u32, body: Vec<u8>, made: &impl Serialize) -> Result<()> {
        let mut frame = [vec![0; HEAD_BYTES], body].concat();
        bincode::serialize_into(&mut frame, made).map_err(|cause| {
            Error::new(Kind::Internal, format!("what was read cannot be written: {cause}"))
        })?;
        let mut file = lock(&self.file);
        let (file, at) = match &mut *file {
            Some(file) => file,
            none => none.insert((ledger::create(&self.folder, self.key, ".files")?.0, 0)),
        };
        check_free_space(&self.folder, frame.len() as u64)?;
        frames::seal(tag, *at, &mut frame);
        file.write_all(&frame).at(&self.folder)?;
        *at += frame.len() as u64;
        Ok(())
    }
}

impl Portion {
    pub(super) fn made<R: DeserializeOwned>(&self) -> Result<R> {
        let mut body = vec![0; self.bytes as usize];
        File::open(&*self.path)
            .and_then(|file| file.read_exact_at(&mut body, self.at))
            .at(&*self.path)?;
        bincode::deserialize(&body).map_err(|cause| {
            Error::new(Kind::Io, format!("what was read came back damaged: {cause}"))
                .at(&*self.path)
                .help("check the disk and try again")
        })
    }
}

type FileMade = (FileRead, Vec<Portion>);

/// The input files that are done by what the file at `path` holds, up to where it breaks off or is damaged.
fn read(path: PathBuf, inputs: &Inputs) -> Result<Vec<(u32, FileMade)>> {
    let (mut portions, mut ends) = (HashMap::new(), Vec::new());
    let file = FrameFile::open(&path)?;
    let path = Arc::new(path);
    let (mut at, end) = (0, file.bytes()?);
    let mut body = Vec::new();
    while let FoundFrame::Frame(head) = file.read(at, end, &mut body)? {
        progress::tick(Activity::Reading);
        if head.tag == END {
            ends.extend(bincode::deserialize::<Vec<FileRead>>(&body));
        } else if let Some((number, made)) = body.split_first_chunk::<NUMBER_BYTES>() {
            let at = at + (HEAD_BYTES + NUMBER_BYTES) as u64;
            let portion = Portion { path: Arc::clone(&path), at, bytes: made.len() as u64 };
            portions.insert(u64::from_le_bytes(*number), portion);
        }
        at = head.end(at);
    }
    let made = |read: FileRead| {
        let input = inputs.files().get(read.contents.file as usize)?;
        let portions = read.portions.clone().map(|number| portions.get(&number).cloned());
        let portions = portions.collect::<Option<_>>()?;
        let is_as_it_was = input.state_at_rest() == Some(read.state);
        is_as_it_was.then_some((read.contents.file, (read, portions)))
    };
    let done =
        ends.into_iter().filter_map(|read| read.into_iter().map(made).collect::<Option<Vec<_>>>());
    Ok(done.flatten().collect())
}
