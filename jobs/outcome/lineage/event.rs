//! Events, as version 2-0-2 of the OpenLineage specification has them.

use serde_json::{Map, Value, json};

use super::super::account::Account;
use super::super::dataset::Dataset;
use super::super::log;

/// Who makes the events.
const PRODUCER: &str = concat!("urn:dupsieve:", env!("CARGO_PKG_VERSION"));
/// Where the specification is.
const SPECIFICATION: &str = "https://openlineage.io/spec";

/// A run of a job.
#[derive(Debug)]
pub(super) struct Run {
    id: String,
    namespace: String,
    name: String,
    parent: Option<Parent>,
}

/// The run that started this one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parent {
    namespace: String,
    name: String,
    id: String,
}

impl Parent {
    /// Reads `NAMESPACE/JOB/RUN`.
    pub(super) fn read(text: &str) -> Option<Parent> {
        let mut parts = text.rsplitn(3, '/').map(str::to_owned);
        let (id, name, namespace) = (parts.next()?, parts.next()?, parts.next()?);
        let is_whole = is_uuid(&id) && !name.is_empty() && !namespace.is_empty();
        is_whole.then_some(Parent { namespace, name, id })
    }
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|it| it == b'-' || it.is_ascii_hexdigit())
}

/// A random UUID, of version 4.
fn random_uuid() -> String {
    let random = rand::random::<u128>() & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{random:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    parts.join("-")
}

impl Run {
    /// A new run of this job.
    pub(super) fn new(namespace: String, name: String, parent: Option<Parent>) -> Run {
        Run { id: random_uuid(), namespace, name, parent }
    }

    /// An event of this kind, such as `START`.
    pub(super) fn event(&self, kind: &str, account: &Account, error: Option<&str>) -> String {
        let inputs: Vec<Value> = account.inputs.iter().map(dataset).collect();
        let outputs: Vec<Value> = account.outputs.iter().map(output).collect();
        let mut facets = Map::new();
        if let Some(Parent { namespace, name, id }) = &self.parent {
            let parent =
                json!({ "run": { "runId": id }, "job": { "namespace": namespace, "name": name } });
            facets.insert("parent".to_owned(), facet("1-0-1", "ParentRunFacet", parent));
        }
        if let Some(message) = error {
            let message = json!({ "message": message, "programmingLanguage": "Rust" });
            let message = facet("1-0-1", "ErrorMessageRunFacet", message);
            facets.insert("errorMessage".to_owned(), message);
        }
        let kind_of_job =
            json!({ "processingType": "BATCH", "integration": "DUPSIEVE", "jobType": "COMMAND" });
        let event = json!({
            "eventType": kind,
            "eventTime": log::now(),
            "producer": PRODUCER,
            "schemaURL": format!("{SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent"),
            "run": { "runId": self.id, "facets": facets },
            "job": {
                "namespace": self.namespace,
                "name": self.name,
                "facets": { "jobType": facet("2-0-3", "JobTypeJobFacet", kind_of_job) },
            },
            "inputs": inputs,
            "outputs": outputs,
        });
        event.to_string()
    }
}

/// A facet with where it is specified.
fn facet(version: &str, name: &str, mut fields: Value) -> Value {
    fields["_producer"] = PRODUCER.into();
    fields["_schemaURL"] =
        format!("{SPECIFICATION}/facets/{version}/{name}.json#/$defs/{name}").into();
    fields
}

fn dataset(read: &Dataset) -> Value {
    let (namespace, name) = read.name();
    let source = json!({ "name": namespace, "uri": read.address() });
    let mut facets = Map::new();
    facets.insert("dataSource".to_owned(), facet("1-0-1", "DatasourceDatasetFacet", source));
    if !read.columns.is_empty() {
        let fields: Vec<Value> = read.columns.iter().map(|name| field(name)).collect();
        let schema = facet("1-1-1", "SchemaDatasetFacet", json!({ "fields": fields }));
        facets.insert("schema".to_owned(), schema);
    }
    json!({ "namespace": namespace, "name": name, "facets": facets })
}

/// A column of a table of results.
fn field(name: &str) -> Value {
    let kind = match name {
        "distance" | "size" | "diff" => "integer",
        "similarity" | "check" => "double",
        "day" => "date",
        _ => "string",
    };
    json!({ "name": name, "type": kind })
}

fn output(written: &Dataset) -> Value {
    let mut described = dataset(written);
    let counts = [("rowCount", written.rows), ("size", written.bytes)];
    let known =
        counts.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count?.into())));
    let counts: Map<String, Value> = known.collect();
    if !counts.is_empty() {
        let name = "OutputStatisticsOutputDatasetFacet";
        let statistics = facet("1-0-2", name, counts.into());
        described["outputFacets"] = json!({ "outputStatistics": statistics });
    }
    described
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_as_airflow_names_it() {
        let id = random_uuid();
        assert!(is_uuid(&id) && id.as_bytes()[14] == b'4', "{id}");
        let parent = Parent::read(&format!("prod/eu/dag.task/{id}")).unwrap();
        assert_eq!((parent.namespace.as_str(), parent.name.as_str()), ("prod/eu", "dag.task"));
        for wrong in ["", "a/b/c", &format!("job/{id}"), &format!("//{id}")] {
            assert_eq!(Parent::read(wrong), None, "{wrong}");
        }
    }
}
