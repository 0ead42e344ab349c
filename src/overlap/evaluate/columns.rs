//! Columns of a file of tab-separated lines, found by the names in its first line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{At, Error, Kind, Result};
use crate::results::{ResultFormat, ResultReader};

const LONGEST_LINE: u64 = 1 << 20;

/// Calls `each` with N columns of each line. `headers` are the names by which a first line may know
/// them; a file whose first line is none of these has no header, and its columns are the first N,
/// if that is `allowed`.
///
/// Fails with [`Kind::BadData`] on a line that is too long, is not UTF-8 or lacks a column.
pub(super) fn each<const N: usize>(
    path: &Path,
    headers: &[[&str; N]],
    allowed: bool,
    mut each: impl FnMut([&str; N]) -> Result<()>,
) -> Result<()> {
    if ResultFormat::of_path(path) != ResultFormat::Tsv {
        return each_row(path, headers, each);
    }
    let mut file = BufReader::new(File::open(path).at(path)?);
    let mut line = Vec::new();
    let mut places = None;
    for number in 1.. {
        line.clear();
        let read = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).at(path)?;
        let bad = |what: &str| Error::new(Kind::BadData, what).at(path).line(number);
        if read == 0 {
            break;
        }
        if read as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            return Err(bad("the line is too long"));
        }
        let text = std::str::from_utf8(&line).map_err(|_| bad("the line is not UTF-8"))?;
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            continue;
        }
        let places = match places {
            Some(places) => places,
            None => match header(text, headers) {
                Some(found) => {
                    places = Some(found);
                    continue;
                }
                None if allowed => *places.insert(std::array::from_fn(|place| place)),
                None => return Err(bad("the header lacks a column").expected(known(headers))),
            },
        };
        let columns = columns_at(text, places).and_then(&mut each);
        columns.map_err(|error| error.at(path).line(number))?;
    }
    Ok(())
}

fn each_row<const N: usize>(
    path: &Path,
    headers: &[[&str; N]],
    mut each: impl FnMut([&str; N]) -> Result<()>,
) -> Result<()> {
    let mut rows = ResultReader::open(path)?;
    let Some(found) = rows.columns() else { return Ok(()) };
    let Some(places) = header(&found.join("\t"), headers) else {
        let error = rows.wrong("the table lacks a column");
        return Err(error.expected(known(headers)));
    };
    while let Some(row) = rows.next_row()? {
        let columns = columns_at(row, places).and_then(&mut each);
        columns.map_err(|error| error.at(path).line(rows.number()))?;
    }
    Ok(())
}

fn columns_at<const N: usize>(line: &str, places: [usize; N]) -> Result<[&str; N]> {
    let mut columns = [""; N];
    for (place, column) in places.iter().zip(&mut columns) {
        *column = line.split('\t').nth(*place).ok_or_else(|| {
            Error::new(Kind::BadData, "the line lacks a column")
                .expected(format!("{} columns or more", place + 1))
        })?;
    }
    Ok(columns)
}

fn known<const N: usize>(headers: &[[&str; N]]) -> String {
    headers.iter().map(|names| names.join(", ")).collect::<Vec<_>>().join(" or ")
}

fn header<const N: usize>(line: &str, headers: &[[&str; N]]) -> Option<[usize; N]> {
    let place = |name: &str| line.split('\t').position(|column| column == name);
    headers.iter().find_map(|names| {
        let places: Vec<usize> = names.iter().map_while(|name| place(name)).collect();
        places.try_into().ok()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::evaluate) fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn columns(text: &str, allowed: bool) -> Result<Vec<String>> {
        let mut found = Vec::new();
        each(file(text).path(), &[["new", "existing"], ["id1", "id2"]], allowed, |[one, two]| {
            found.push(format!("{one}-{two}"));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn columns_are_found_by_name_or_are_the_first() {
        assert_eq!(
            columns("x\texisting\tnew\n1\t2\t3\r\n\n4\t5\t6", false).unwrap(),
            ["3-2", "6-5"]
        );
        assert_eq!(columns("id1\tid2\n1\t2\n", false).unwrap(), ["1-2"]);
        assert_eq!(columns("new\tid2\n1\t2\n", true).unwrap(), ["new-id2", "1-2"]);
        assert_eq!(columns("", false).unwrap(), [""; 0]);
    }

    #[test]
    fn what_lacks_a_column_is_refused_with_its_line() {
        for (text, allowed, said) in [
            ("1\t2\n", false, ":1: the header lacks a column"),
            ("1\t2\n3\n", true, ":2: the line lacks a column"),
            (&"x".repeat(2 << 20), true, ":1: the line is too long"),
        ] {
            let error = columns(text, allowed).unwrap_err();
            assert_eq!(error.kind(), Kind::BadData);
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
