//! Outputs that are absent or whole: a file or a folder is built beside its place and renamed into
//! it once, under a lock.
//!
//! - `lock`: one run at a time makes an output ([`Lock`]), and a run that was superseded finds out
//!   before it commits ([`Fence`]).
//! - `new_file`, `staging`: one file, one folder. `output_file`: files that are hashed
//!   as they are written. `packed_file`: lines, compressed as the name says. `copy`: a file copied.
//! - `paths`: names beside an output, durable renames, free space. `direct`: reads and writes
//!   past the cache of the system.
//!
//! Imports `error`, `progress` and `parallel` only. Start with [`Staging`].
//!
//! ```
//! use dupsieve_base::output::{Lock, Staging};
//! # let folder = tempfile::tempdir().unwrap();
//! # let target = folder.path().join("out");
//!
//! let staging = Staging::beside(&target, Lock::beside(&target)?)?;
//! let mut file = staging.create("pairs.tsv")?;
//! file.write(|out| writeln!(out, "a\tb"))?;
//! assert_eq!(file.finish()?.bytes, 4);
//! assert!(!target.exists(), "nothing is there before the commit");
//! staging.commit()?;
//! assert!(target.join("pairs.tsv").exists() && target.join("_SUCCESS").exists());
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

mod copy;
mod direct;
mod lock;
mod new_file;
mod output_file;
mod packed_file;
mod paths;
mod staging;

pub use direct::{PAGE, forget, is_cached, margin, open_direct, will_need};
pub use lock::{Fence, Lock, Locks};
pub use new_file::{NewFile, UNFINISHED, write_file};
pub use output_file::{ListFile, Listed, OutputFile, QUARANTINE, REPEATED, Sum, copy_hashed};
pub use packed_file::{PackedFile, PackedUnit, Packing, STDOUT};
pub use paths::{
    FileId, beside, check_free_space, entries_in, files_in, foreign, has_magic, is_same_file,
    parent_of, remove_if_there, resolved, resume_folder, sync_folder,
};
pub use staging::{SUCCESS, Staging, publish_folder, remove_leftovers};
