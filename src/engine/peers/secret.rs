//! The secret that the processes of a job know and nobody else does.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::{At, Named};
use crate::{Error, Kind, Result};

const MOST: u64 = 4 << 10;
/// A shorter one could be guessed.
const FEW: usize = 16;
/// The bit of the mode by which the group can read the file: allowed with a warning.
const GROUP_READS: u32 = 0o040;
/// The bits of the mode that are refused: the group can write the file, or others can do anything with it.
const NOBODY: u32 = 0o027;

/// The key that protects all connections of a job. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// The key made of `words`. If there are none, everybody has the key.
    pub fn new(words: &[u8]) -> Secret {
        Secret(Sha256::new_with_prefix("dupsieve secret").chain_update(words).finalize().into())
    }

    pub fn read(path: &Path) -> Result<Secret> {
        let mut file = File::open(path).at(path)?;
        check_mode(file.metadata().at(path)?.permissions().mode(), path)?;
        let mut words = Vec::new();
        file.by_ref().take(MOST + 1).read_to_end(&mut words).at(path)?;
        if words.len() as u64 > MOST {
            return Err(Error::new(Kind::Config, "the secret is too long")
                .at(path)
                .expected(format_args!("at most {MOST} bytes"))
                .help(REMEDY));
        }
        let words = words.trim_ascii();
        if words.len() < FEW {
            return Err(Error::new(Kind::Config, "a secret this short can be guessed")
                .at(path)
                .expected(format_args!("at least {FEW} bytes"))
                .found(words.len())
                .help(REMEDY));
        }
        Ok(Secret::new(words))
    }

    /// Whether it is made of these words, found out in the same time whatever they are.
    #[must_use]
    pub fn is_made_of(&self, words: &[u8]) -> bool {
        Secret::new(words).0.ct_eq(&self.0).into()
    }

    pub(super) fn key(&self) -> &[u8; 32] {
        &self.0
    }
}

const REMEDY: &str = "make one with: (umask 077; head -c 32 /dev/urandom | base64 > FILE)";

fn check_mode(mode: u32, path: &Path) -> Result<()> {
    if mode & NOBODY != 0 {
        let error = Error::new(Kind::Permission, "the secret is open to others")
            .called("open-secret")
            .at(path);
        let found = format!("{:04o}", mode & 0o7777);
        return Err(error.expected("0600").found(found).help("close it with chmod 600"));
    }
    if mode & GROUP_READS != 0 {
        tracing::warn!("{}: the group of the file can read the secret", path.named());
    }
    Ok(())
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;

    #[test]
    fn a_secret_has_no_space_around_it_and_something_within() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let read = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Secret::read(&path)
        };
        let words = "not to be guessed";
        assert!(read(" not to be guessed\n", 0o600).unwrap() == Secret::new(words.as_bytes()));
        assert!(read(words, 0o440).unwrap() == Secret::new(words.as_bytes()));
        assert!(read("nottobeguessed at all", 0o400).unwrap() != Secret::new(words.as_bytes()));
        for short in ["\n", "hello", "not to be guess"] {
            assert_eq!(read(short, 0o600).unwrap_err().kind(), Kind::Config, "{short}");
        }
        assert!(read(&"s".repeat(MOST as usize), 0o600).is_ok());
        assert_eq!(read(&"s".repeat(MOST as usize + 1), 0o600).unwrap_err().kind(), Kind::Config);
        for open in [0o644, 0o604, 0o602, 0o620, 0o601] {
            assert_eq!(read(words, open).unwrap_err().kind(), Kind::Permission, "{open:o}");
        }
        assert_eq!(Secret::read(&folder.path().join("none")).unwrap_err().kind(), Kind::Missing);
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new(b"s3cret")), "Secret");
    }
}
