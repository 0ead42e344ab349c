//! The kept pages themselves: the records of the inputs whose ids are listed, as they came.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::error::At;
use dupsieve::{Error, Kind, Result};

use crate::arguments::Common;
use crate::summary::Summary;
