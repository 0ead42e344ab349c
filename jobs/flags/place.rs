//! Places that a user names: paths of this machine, or addresses in an object store. What is at an address is mounted: the command
//! works on a folder or a file of this machine that stands for the address. Inputs of pages are no such places: pages are read where they
//! are.

use std::any::TypeId;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Arg, ArgMatches, ValueHint};
use dupsieve::mount::{Mounts, trees_with};
use dupsieve::object_storage::Address;
use dupsieve::output::STDOUT;
use dupsieve::report::{Made, Report};
use dupsieve::{Error, Kind, Result};
use schemars::JsonSchema;
use serde::Deserialize;

static MOUNTS: OnceLock<Mounts> = OnceLock::new();

/// Sets the folder that mounts are below; none is that of the user.
pub(crate) fn keep_mounts_in(cache: Option<PathBuf>) {
    MOUNTS.get_or_init(|| Mounts::new(cache.unwrap_or_else(usual_cache)));
}

pub(crate) fn mounts() -> &'static Mounts {
    MOUNTS.get_or_init(|| Mounts::new(usual_cache()))
}

/// `dupsieve` in the folder that the user has for such things.
fn usual_cache() -> PathBuf {
    let folder = |variable: &str| {
        std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("dupsieve")
}

/// A file, folder or store that is read, or a store that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Place(PathBuf);

impl Place {
    /// The path here that stands for the place. An address is mounted, unless it is mounted already.
    pub(crate) fn here(&self) -> Result<PathBuf> {
        match Address::of(&self.0)? {
            Some(address) => mounts().mount(&address),
            None => Ok(self.0.clone()),
        }
    }

    pub(crate) fn named(&self) -> &Path {
        &self.0
    }

    /// The path, for what cannot work on a mount.
    #[cfg(feature = "serve")]
    pub(crate) fn on_disk(&self) -> Result<PathBuf> {
        match Address::of(&self.0)? {
            Some(address) => {
                Err(Error::new(Kind::Usage, "a service needs its store on a disk of its own")
                    .at(address.to_string())
                    .help("copy the store to a folder, and give that"))
            }
            None => Ok(self.0.clone()),
        }
    }
}

impl<T: Into<PathBuf>> From<T> for Place {
    fn from(named: T) -> Place {
        Place(named.into())
    }
}

/// A file or folder that is made.
#[derive(Clone, Debug)]
pub(crate) struct Output(Place);

impl Output {
    pub(crate) fn here(&self) -> Result<PathBuf> {
        match Address::of(&self.0.0)? {
            Some(address) => {
                check_output(&address)?;
                mounts().mount_output(&address)
            }
            None => Ok(self.0.0.clone()),
        }
    }

    pub(crate) fn is_stdout(&self) -> bool {
        self.0.0 == Path::new(STDOUT)
    }
}

impl<T: Into<Place>> From<T> for Output {
    fn from(named: T) -> Output {
        Output(named.into())
    }
}

pub(crate) fn check_output(address: &Address) -> Result<()> {
    match address.is_one_object() {
        false => Ok(()),
        true => Err(Error::new(Kind::Usage, "a server of files takes no outputs")
            .at(address.to_string())
            .expected("a path, or an address in an object store, such as s3://BUCKET/KEY")),
    }
}

/// Outputs that are read: a folder of them, or one. An address may be a pattern, which no shell expands.
#[derive(Clone, Debug)]
pub(crate) struct Outputs(Place);

impl Outputs {
    pub(crate) fn here(all: &[Outputs]) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for Outputs(place) in all {
            match Address::of(&place.0)? {
                None => paths.push(place.0.clone()),
                Some(address) => {
                    for address in trees_with(Report::NAME, &address)? {
                        paths.push(mounts().mount(&address)?);
                    }
                }
            }
        }
        Ok(paths)
    }
}

impl<T: Into<Place>> From<T> for Outputs {
    fn from(named: T) -> Outputs {
        Outputs(named.into())
    }
}

/// The flag, so that a shell completes its value by paths if it is a place.
pub(crate) fn completed_by_paths(flag: Arg) -> Arg {
    let value = flag.get_value_parser().type_id();
    let places = [TypeId::of::<Place>(), TypeId::of::<Output>(), TypeId::of::<Outputs>()];
    let is_place = places.iter().any(|place| value == *place);
    if is_place { flag.value_hint(ValueHint::AnyPath) } else { flag }
}

/// Mounts the places that were typed for a command. The processes that this one starts find the mounts.
pub(crate) fn mount_typed(typed: &ArgMatches) -> Result<()> {
    all_typed::<Output>(typed).try_for_each(|output| output.here().map(drop))?;
    all_typed::<Place>(typed).try_for_each(|place| place.here().map(drop))
}

fn all_typed<T: Clone + Send + Sync + 'static>(typed: &ArgMatches) -> impl Iterator<Item = &T> {
    let of = |id: &clap::Id| typed.try_get_many::<T>(id.as_str()).ok().flatten();
    typed.ids().filter_map(of).flatten()
}

#[cfg(test)]
mod tests {
    use clap::{Command, value_parser};

    use super::*;

    #[test]
    fn places_are_told_from_other_values_by_their_type() {
        let id = "https://a.example/page";
        let command = Command::new("job").args([
            Arg::new("id").value_parser(value_parser!(String)).required(true),
            Arg::new("store").long("store").value_parser(value_parser!(Place)).num_args(1..),
            Arg::new("output").long("output").value_parser(value_parser!(Output)),
        ]);
        let typed = command.get_matches_from(["job", id, "--store", "s3://b/a", "b", "--output=c"]);
        let places: Vec<&Place> = all_typed(&typed).collect();
        assert_eq!(places, [&Place::from("s3://b/a"), &Place::from("b")]);
        assert_eq!(all_typed::<Output>(&typed).count(), 1);
        assert_eq!(Place::from("b").here(), Ok("b".into()));
    }

    #[test]
    fn a_server_of_files_takes_no_output() {
        let error = Output::from("https://user:secret@host/a").here().unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
