//! Several trees by one address: a pattern of their names, or the folder that they are in.

use glob::Pattern;

use super::tree::nearest;
use crate::error::{Error, Kind, Result};
use crate::object_storage::{Address, Objects, folders_in};
use crate::parallel::in_parallel;

const AT_ONCE: usize = 16;

/// The trees with a file of this name that `address` stands for, in order: itself, if it is in a tree; those whose names match, if it
/// is a pattern; else those in the folder that it is.
pub fn trees_with(file: &str, address: &Address) -> Result<Vec<Address>> {
    let (_, _, listed) = nearest(address)?;
    if listed.is_some() {
        return Ok(vec![address.clone()]);
    }
    let mut found = Vec::new();
    let named = named(address)?;
    for (address, has_file) in
        named.iter().zip(in_parallel(AT_ONCE, &named, |it| has_file(it, file)))
    {
        found.extend(has_file?.then(|| address.clone()));
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let error = Error::new(Kind::Missing, "there is no finished output here");
    Err(error
        .at(address.to_string())
        .expected("an output, a folder of outputs, or a pattern such as s3://BUCKET/out/2026-11-*"))
}

/// What a pattern names, whether it is there or not. A folder stands for all that is in it.
fn named(address: &Address) -> Result<Vec<Address>> {
    let is_wild = |part: &str| part.contains(['*', '?', '[']);
    let all = Some("*").filter(|_| !is_wild(address.key()));
    let parts = address.key().split('/').filter(|part| !part.is_empty()).chain(all);
    let mut found = vec![Objects::open(&address.with_key(""))?];
    for part in parts {
        found = match is_wild(part) {
            true => {
                let pattern = Pattern::new(part).map_err(|cause| {
                    Error::new(Kind::Usage, "not a pattern").at(address.to_string()).found(cause)
                })?;
                folders_in(&found, &pattern)?
            }
            false => found.iter().map(|folder| folder.below(part)).collect(),
        };
    }
    Ok(found.iter().map(|it| it.at("")).collect())
}

fn has_file(address: &Address, file: &str) -> Result<bool> {
    let listed = match nearest(address) {
        Ok((_, _, listed)) => listed,
        // What others have put there is no tree.
        Err(error) if error.kind() == Kind::Exists => None,
        Err(error) => return Err(error),
    };
    let names = listed.iter().flat_map(|listed| listed.head.files.keys());
    Ok(names.filter_map(|name| name.rsplit('/').next()).any(|name| name == file))
}
