//! Connections to object stores, and the runtime that they need.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::address::{Address, Scheme};
use super::failure::failure;
use crate::error::{Error, Kind, Result};

/// How many threads drive the connections of a process.
const THREADS: usize = 2;

/// How long a request is repeated while the server is busy or fails.
const PATIENCE: Duration = Duration::from_secs(180);
/// The variable of the environment that says otherwise, in seconds.
const PATIENCE_VARIABLE: &str = "DUPSIEVE_OBJECT_PATIENCE";
/// How often it is repeated at most; the patience ends before.
const MOST_TRIES: usize = 64;

/// The runtime that drives the connections of this process.
///
/// # Errors
/// [`Kind::Temporary`] if its threads cannot start.
pub(super) fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let start = || {
        // Another part of the program may have chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("objects")
            .enable_all()
            .build()
    };
    RUNTIME.get_or_init(start).as_ref().map_err(|cause| {
        Error::system("cannot start the threads that talk to object stores", cause)
    })
}

/// A client for the bucket of `address`. Credentials are found as the tools of the provider find them: in the environment, or from
/// the machine.
///
/// # Errors
/// What cannot be a connection is [`Kind::Usage`].
pub(super) fn connect(address: &Address) -> Result<Arc<dyn ObjectStore>> {
    runtime()?;
    let (bucket, retry) = (address.bucket(), retry()?);
    let connected = match address.scheme() {
        Scheme::S3 => {
            shared(AmazonS3Builder::from_env().with_url(bucket).with_retry(retry).build())
        }
        Scheme::Google => {
            shared(GoogleCloudStorageBuilder::from_env().with_url(bucket).with_retry(retry).build())
        }
        Scheme::Azure => {
            shared(MicrosoftAzureBuilder::from_env().with_url(bucket).with_retry(retry).build())
        }
        Scheme::Http => {
            let client = ClientOptions::new().with_allow_http(true);
            shared(
                HttpBuilder::new()
                    .with_url(bucket)
                    .with_client_options(client)
                    .with_retry(retry)
                    .build(),
            )
        }
    };
    connected.map_err(|cause| failure(&cause, address))
}

fn shared<S: ObjectStore>(
    built: object_store::Result<S>,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    built.map(|store| Arc::new(store) as _)
}

/// How requests are repeated.
fn retry() -> Result<RetryConfig> {
    let patience = match std::env::var(PATIENCE_VARIABLE) {
        Err(_) => PATIENCE,
        Ok(told) => told.parse().map(Duration::from_secs).map_err(|_| {
            Error::new(Kind::Usage, format!("{PATIENCE_VARIABLE} is not a number of seconds"))
                .found(told)
        })?,
    };
    let backoff =
        BackoffConfig { max_backoff: Duration::from_secs(15), ..BackoffConfig::default() };
    Ok(RetryConfig { backoff, max_retries: MOST_TRIES, retry_timeout: patience })
}
