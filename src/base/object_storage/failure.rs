//! What a failed request to an object store means for the user.

use object_store::Error as Cause;

use super::address::{Address, Scheme};
use crate::error::{Error, Kind};

const MOST_SHOWN: usize = 400;

const DENIED: (Kind, &str, &str) = (
    Kind::Permission,
    "the object store does not allow this",
    "check the credentials: they may have expired, or may not reach this bucket",
);

const NO_CREDENTIALS: (Kind, &str, &str) = (
    Kind::Permission,
    "there are no credentials for the object store",
    "set them in the environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket",
);

/// What the library says of an endpoint that is http, which it does not speak without being told to.
const NOT_ALLOWED: &str = "URL scheme is not allowed";

const METADATA_SERVERS: [&str; 2] = ["http://169.254.169.254/", "http://metadata.google.internal/"];

pub(super) fn is_for_credentials(said: &str) -> bool {
    METADATA_SERVERS.iter().any(|server| said.contains(server))
}

/// Whether the server said that there is not even the bucket. Of a listing, nothing else can be missing.
pub(super) fn is_without_bucket(cause: &Cause) -> bool {
    let said = said(cause);
    let is_listing = said.contains("list request");
    said.contains("NoSuchBucket") || is_listing && said.contains("404 Not Found")
}

/// Whether the server has the object, but not the bytes that it was asked for, or knows no ranges.
pub(super) fn is_about_the_range(cause: &Cause) -> bool {
    match cause {
        Cause::NotSupported { .. } => true,
        Cause::Generic { .. } => said(cause).contains("416 Range Not Satisfiable"),
        _ => false,
    }
}

pub(super) fn failure(cause: &Cause, address: &Address) -> Error {
    let (kind, what, help) = match cause {
        // The crate knows only objects that are missing.
        Cause::NotFound { .. } | Cause::Generic { .. } if is_without_bucket(cause) => {
            (Kind::Missing, "there is no such bucket", "check the address")
        }
        Cause::NotFound { .. } => (Kind::Missing, "there is no such object", "check the address"),
        Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => DENIED,
        Cause::Generic { .. } if is_for_credentials(&said(cause)) => NO_CREDENTIALS,
        Cause::Generic { .. } if said(cause).contains(NOT_ALLOWED) => {
            (Kind::Config, "the endpoint is http, which is not encrypted", allowing_http(address))
        }
        // What S3 says of a token that has expired; of a HEAD it says no more.
        Cause::Generic { .. } if said(cause).contains("400 Bad Request") => DENIED,
        Cause::Precondition { .. } | Cause::AlreadyExists { .. } | Cause::NotModified { .. } => {
            (Kind::Temporary, "the object has changed in the meantime", "try again")
        }
        Cause::InvalidPath { .. } => {
            (Kind::Usage, "this cannot be the address of an object", "check the address")
        }
        Cause::NotSupported { .. } | Cause::NotImplemented { .. } => {
            (Kind::Usage, "this server cannot do that", "choose another place")
        }
        _ => (
            Kind::Io,
            "the object store cannot be reached, or failed again and again",
            "try again later, or check the address and the network",
        ),
    };
    Error::new(kind, what).at(address.to_string()).found(said(cause)).help(help)
}

fn allowing_http(address: &Address) -> &'static str {
    match address.scheme {
        Scheme::Google => "give an endpoint with https, or set GOOGLE_ALLOW_HTTP=true",
        Scheme::Azure => "give an endpoint with https, or set AZURE_ALLOW_HTTP=true",
        Scheme::S3 | Scheme::Http => "give an endpoint with https, or set AWS_ALLOW_HTTP=true",
    }
}

fn said(cause: &Cause) -> String {
    let mut text = cause.to_string();
    let mut below = std::error::Error::source(cause);
    while let Some(cause) = below {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        below = cause.source();
    }
    let line = text.split_whitespace().map(Address::without_secrets).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_SHOWN) {
        None => line,
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn of(cause: &Cause) -> Error {
        let address = Address::of(Path::new("s3://b/k")).unwrap().unwrap();
        failure(cause, &address)
    }

    #[test]
    fn what_will_fail_again_is_not_retryable() {
        let path = || "k".to_owned();
        let missing = |said: &'static str| Cause::NotFound { path: path(), source: said.into() };
        let generic = |said: &'static str| Cause::Generic { store: "S3", source: said.into() };
        let without_bucket = "PUT failed: 404 Not Found: <Code>NoSuchBucket</Code>";
        let denied = "the object store does not allow this";
        for (cause, kind, what) in [
            (missing("404"), Kind::Missing, "there is no such object"),
            (missing(without_bucket), Kind::Missing, "there is no such bucket"),
            (generic("<Code>NoSuchBucket</Code>"), Kind::Missing, "there is no such bucket"),
            (generic("list request: 404 Not Found"), Kind::Missing, "there is no such bucket"),
            (
                Cause::PermissionDenied { path: path(), source: "403".into() },
                Kind::Permission,
                denied,
            ),
            (
                Cause::Unauthenticated { path: path(), source: "401".into() },
                Kind::Permission,
                denied,
            ),
            (generic("400 Bad Request"), Kind::Permission, denied),
            (generic("PUT http://169.254.169.254/latest"), Kind::Permission, "no credentials"),
            (
                Cause::Precondition { path: path(), source: "412".into() },
                Kind::Temporary,
                "changed",
            ),
            (generic("503"), Kind::Io, "cannot be reached"),
        ] {
            let error = of(&cause);
            assert_eq!(error.kind(), kind, "{error}");
            let shown = error.to_string();
            assert!(shown.starts_with("s3://b/k: ") && shown.contains(what), "{error}");
        }
    }

    #[test]
    fn no_secret_is_shown() {
        let source = "GET http://h/b/k?X-Amz-Signature=5ec2e7\nfailed".into();
        let error = of(&Cause::Generic { store: "S3", source }).to_string();
        assert!(error.contains("http://h/b/k failed") && !error.contains("5ec2e7"), "{error}");
        let source = "HEAD https://me:p4ss@h:8/b@k failed".into();
        let error = of(&Cause::Generic { store: "HTTP", source }).to_string();
        assert!(error.contains("https://h:8/b@k failed") && !error.contains("p4ss"), "{error}");
        let long = of(&Cause::Generic { store: "S3", source: "é".repeat(999).into() }).to_string();
        assert!(long.len() < 1200, "{long}");
    }
}
