//! Small text files, here or in an object store.

use std::io::Read;
use std::path::Path;

use super::{Address, Objects};
use crate::error::{At, Error, Kind, Result};
use crate::small_file;

pub fn read_text(path: &Path, most: u64, kind: Kind) -> Result<String> {
    let Some(address) = Address::of(path)? else {
        let local = Address::local(path);
        return small_file::read_text(local.as_deref().unwrap_or(path), most, kind);
    };
    let at = address.to_string();
    if address.is_one_object() {
        return Err(Error::new(Kind::Usage, "such a file is not read from a server of files")
            .at(at)
            .expected("a path, or an address in an object store, such as s3://BUCKET/KEY"));
    }
    let file = Objects::open(&address)?.one()?;
    let file = file.ok_or_else(|| Error::new(Kind::Missing, "there is no such object").at(&*at))?;
    let mut bytes = Vec::new();
    file.reader().take(most + 1).read_to_end(&mut bytes).at(Path::new(&at))?;
    small_file::text(bytes, most, kind).map_err(|error| error.at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_this_machine_has_two_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.toml");
        std::fs::write(&path, "add = 1").unwrap();
        let named = format!("file://{}", path.display());
        for path in [path.as_path(), Path::new(&named)] {
            assert_eq!(read_text(path, 10, Kind::Config).unwrap(), "add = 1");
        }
    }

    #[test]
    fn no_configuration_comes_from_a_server_of_files() {
        let error = read_text(Path::new("https://a:secret@host/run.toml"), 10, Kind::Config);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
