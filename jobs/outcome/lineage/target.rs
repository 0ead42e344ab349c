//! Where events go: to a file, one JSON object a line, or to a catalogue over HTTP.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use dupsieve::error::At;
use dupsieve::{Error, Kind, Result};

/// What names the catalogue of the variables OPENLINEAGE_*.
const ENVIRONMENT: &str = "env";
/// Where a catalogue takes events, if only its host is named.
const ENDPOINT: &str = "api/v1/lineage";

/// Where events go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(PathBuf),
    Catalogue(String),
}

impl Target {
    /// Reads the value of the flag: a file, an address, or `env`.
    pub(super) fn read(text: &str) -> Result<Target> {
        match text {
            ENVIRONMENT => match env::var("OPENLINEAGE_URL") {
                Ok(url) => Target::catalogue(&url),
                Err(_) => Err(Error::new(Kind::Usage, "--lineage env needs OPENLINEAGE_URL")
                    .help("set the variable, or give --lineage a file or an address")),
            },
            url if url.starts_with("http://") || url.starts_with("https://") => {
                Target::catalogue(url)
            }
            path => Ok(Target::File(Path::new(path).to_path_buf())),
        }
    }

    /// The catalogue at an address. One without a path gets the usual one.
    fn catalogue(url: &str) -> Result<Target> {
        if !cfg!(feature = "object-store") {
            return Err(no_http());
        }
        let url = url.trim_end_matches('/');
        let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
        Ok(Target::Catalogue(if has_path { url.to_owned() } else { format!("{url}/{ENDPOINT}") }))
    }

    /// Whether events are written to a file.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Target::File(_))
    }

    /// Sends an event.
    pub(super) fn send(&self, event: &str) -> Result<()> {
        match self {
            Target::File(path) => append(path, event),
            Target::Catalogue(url) => post(url, event),
        }
    }
}

/// Appends a line in one write, because other jobs may append to the same file.
fn append(path: &Path, event: &str) -> Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path).at(path)?;
    file.write_all(format!("{event}\n").as_bytes()).at(path)
}

/// The error of a build that has no HTTP client.
fn no_http() -> Error {
    Error::new(Kind::Usage, "this build of dupsieve cannot send events by HTTP")
        .expected("a build with the feature `object-store`")
        .help("--lineage FILE works in every build")
}

#[cfg(not(feature = "object-store"))]
fn post(_: &str, _: &str) -> Result<()> {
    Err(no_http())
}

/// Sends an event by HTTP. All attempts together end within a few seconds, so that the job can end.
#[cfg(feature = "object-store")]
fn post(url: &str, event: &str) -> Result<()> {
    let failed = |cause: &dyn std::error::Error| {
        let causes = std::iter::successors(Some(cause), |cause| cause.source());
        let causes: Vec<String> = causes.map(ToString::to_string).collect();
        let what = format!("the catalogue did not take an event: {}", causes.join(": "));
        Error::new(Kind::Unavailable, what).at(url)
    };
    // Another part of the program may have chosen it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| failed(&cause))?;
    let client = reqwest::Client::builder()
        .connect_timeout(std::time::Duration::from_secs(2))
        .timeout(std::time::Duration::from_secs(5))
        .build()
        .map_err(|cause| failed(&cause))?;
    let request = client.post(url).header("content-type", "application/json");
    let request = match env::var("OPENLINEAGE_API_KEY") {
        Ok(key) => request.bearer_auth(key),
        Err(_) => request,
    };
    let request = request.body(event.to_owned());
    let sent = runtime.block_on(async { request.send().await });
    let answer = sent.map_err(|cause| failed(&cause.without_url()))?;
    answer.error_for_status().map(drop).map_err(|cause| failed(&cause.without_url()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_file_or_an_address() {
        assert_eq!(Target::read("out/events").unwrap(), Target::File("out/events".into()));
        for (text, url) in [
            ("http://catalogue:5000", "http://catalogue:5000/api/v1/lineage"),
            ("https://catalogue/", "https://catalogue/api/v1/lineage"),
            ("https://catalogue/own/path", "https://catalogue/own/path"),
        ] {
            match Target::read(text) {
                Ok(target) => assert_eq!(target, Target::Catalogue(url.to_owned())),
                Err(error) => assert!(error.to_string().contains("object-store"), "{error}"),
            }
        }
    }
}
