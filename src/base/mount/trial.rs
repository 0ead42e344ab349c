//! Whether an object store does what a tree needs: it tells what was put, and holds to the condition of a put.

use super::push::new_attempt;
use crate::error::{Error, Kind, Result};
use crate::object_storage::{Address, Objects};

/// The object that is put, read and deleted, below the name of an attempt: should it stay, the next run that publishes there deletes it.
const NAME: &str = "doctor";
const BYTES: &[u8] = b"dupsieve doctor was here";

pub fn try_out(address: &Address) -> Result<()> {
    let objects = Objects::open(address)?;
    let name = format!("{}/{NAME}", new_attempt());
    let tried = put_and_look(&objects, &name);
    let deleted = objects.delete(&name);
    tried.and(deleted)
}

fn put_and_look(objects: &Objects, name: &str) -> Result<()> {
    let wrong = |what: &str| Err(Error::new(Kind::Config, what).at(objects.at(name).to_string()));
    objects.put_if(name, BYTES.to_vec(), None)?;
    let found = objects.get(name, BYTES.len() as u64)?;
    if found.is_none_or(|(bytes, _)| bytes != BYTES) {
        return wrong("the object store does not give what was put");
    }
    if objects.put_if(name, Vec::new(), None)?.is_some() {
        return wrong("the object store puts an object where there is one, against the condition");
    }
    Ok(())
}
