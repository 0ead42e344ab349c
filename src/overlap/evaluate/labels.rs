//! Labels: which documents belong together.

use std::collections::HashMap;
use std::path::Path;

use super::columns;
use crate::error::{Error, Kind, Result};

const OTHER_TABLES: [[&str; 2]; 3] = [["new", "existing"], ["id1", "id2"], ["id", "verdict"]];

/// A cluster for each document. Documents and clusters are numbered from 0 in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    documents: HashMap<Box<str>, u32>,
    clusters: Vec<u32>,
    names: HashMap<Box<str>, u32>,
}

impl Labels {
    /// Reads `id<TAB>cluster` lines; a header with these names, and more columns, are allowed.
    ///
    /// Fails with [`Kind::BadData`] on an id that has two labels, and on a table of pairs or of verdicts.
    pub fn read(path: &Path) -> Result<Labels> {
        let mut labels = Labels::default();
        columns::each(path, &[["id", "cluster"]], true, |[id, cluster]| {
            if labels.documents.is_empty() && OTHER_TABLES.contains(&[id, cluster]) {
                return Err(Error::new(Kind::BadData, "these are no labels of clusters")
                    .expected("the columns id and cluster")
                    .found(format_args!("a table with the columns {id} and {cluster}")));
            }
            labels.add(id, cluster)
        })?;
        Ok(labels)
    }

    pub fn add(&mut self, id: &str, cluster: &str) -> Result<()> {
        if self.documents.contains_key(id) {
            return Err(Error::new(Kind::BadData, "the id has a label already").found(id));
        }
        let next = self.names.len() as u32;
        let cluster = *self.names.entry(cluster.into()).or_insert(next);
        self.documents.insert(id.into(), self.clusters.len() as u32);
        self.clusters.push(cluster);
        Ok(())
    }

    pub fn document(&self, id: &str) -> Option<u32> {
        self.documents.get(id).copied()
    }

    pub fn clusters(&self) -> &[u32] {
        &self.clusters
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.len()];
        self.clusters.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::tests::file;
    use super::*;

    #[test]
    fn labels_are_numbered_as_they_come() {
        let labels = Labels::read(file("id\tcluster\nx\tB\ny\tA\nz\tB\n").path()).unwrap();
        assert_eq!(labels.clusters(), [0, 1, 0]);
        assert_eq!([labels.document("z"), labels.document("B")], [Some(2), None]);
        assert_eq!((labels.len(), labels.sizes()), (2, vec![2, 1]));
        let twice = Labels::read(file("x\tB\nx\tB\n").path()).unwrap_err();
        assert!(twice.to_string().contains(":2: the id has a label already"), "{twice}");
    }

    #[test]
    fn tables_of_pairs_are_no_labels() {
        for (table, said) in [
            ("new\texisting\tedit\nb\ta\tcopy\n", "new and existing"),
            ("id1\tid2\nb\ta\n", "id1 and id2"),
            ("id\tverdict\tof\nb\tdrop\ta\n", "id and verdict"),
        ] {
            let error = Labels::read(file(table).path()).unwrap_err();
            assert_eq!(error.kind(), Kind::BadData);
            assert!(error.to_string().contains(said), "{error}");
        }
        let both = Labels::read(file("id\tverdict\tcluster\nb\tdrop\ta\n").path());
        assert_eq!(both.unwrap().document("b"), Some(0));
    }
}
