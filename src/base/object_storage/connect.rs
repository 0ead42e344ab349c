//! Connections to object stores, and the runtime that they need.

use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as S3Key};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, GetOptions, ObjectMeta, ObjectStore,
    ObjectStoreExt, RetryConfig,
};
use tokio::runtime::{Builder, Runtime};

use super::address::{Address, Scheme};
use super::counted::Counted;
use super::failure::{failure, is_about_the_range};
use crate::error::{Error, Kind, Result};

const THREADS: [usize; 2] = [2, 8];

const PATIENCE: Duration = Duration::from_secs(180);
const PATIENCE_VARIABLE: &str = "DUPSIEVE_OBJECT_PATIENCE";
/// How long a whole answer may take, on a slow line too, and how long the server may be silent meanwhile.
const DEADLINES: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::Timeout, "1 hour"), (ClientConfigKey::ReadTimeout, "2 minutes")];
const MOST_TRIES: usize = 64;

pub(super) struct Connection {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The same one, for listings page by page, where the protocol has them.
    pub(super) pages: Option<Arc<dyn PaginatedListStore>>,
}

/// The runtime that drives the connections of this process. A process has one, which has a thread for each processor: two users of the
/// library at once share its threads and see nothing of each other.
pub(super) fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let [least, most] = THREADS;
    let start = || {
        // Another part of the program may have chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Builder::new_multi_thread()
            .worker_threads(available_parallelism().map_or(least, usize::from).clamp(least, most))
            .thread_name("objects")
            .enable_all()
            .build()
    };
    RUNTIME.get_or_init(start).as_ref().map_err(|cause| {
        Error::system("cannot start the threads that talk to object stores", cause)
    })
}

/// The client that a builder of a provider makes for a bucket. The builders have the same methods and no trait in common.
macro_rules! built {
    ($builder:ident, $key:ident, $bucket:expr, $retry:expr) => {{
        let start = $builder::from_env().with_url($bucket).with_retry($retry);
        let set = |it: $builder, (key, value)| it.with_config($key::Client(key), value);
        shared(DEADLINES.into_iter().fold(start.with_http_connector(Counted), set).build())
    }};
}

/// A client for the bucket of `address`. Credentials are found as the tools of the provider find them: in the environment, or from
/// the machine.
pub(super) fn connect(address: &Address) -> Result<Connection> {
    runtime()?;
    let (bucket, retry) = (&*address.bucket, retry()?);
    let connected = match address.scheme {
        Scheme::S3 => built!(AmazonS3Builder, S3Key, bucket, retry),
        Scheme::Google => built!(GoogleCloudStorageBuilder, GoogleConfigKey, bucket, retry),
        Scheme::Azure => built!(MicrosoftAzureBuilder, AzureConfigKey, bucket, retry),
        Scheme::Http => {
            let start = HttpBuilder::new()
                .with_url(format!("{bucket}{}", address.query))
                .with_client_options(ClientOptions::new().with_allow_http(true))
                .with_http_connector(Counted)
                .with_retry(retry);
            let set = |it: HttpBuilder, (key, value)| it.with_config(key, value);
            let built = DEADLINES.into_iter().fold(start, set).build();
            built.map(|store| Connection { store: Arc::new(store), pages: None })
        }
    };
    connected.map_err(|cause| failure(&cause, address))
}

/// What a server says of an object. A signature in a query is good for reading alone, so there the first byte is read.
pub(super) async fn look(
    store: &dyn ObjectStore,
    key: &Key,
    address: &Address,
) -> object_store::Result<ObjectMeta> {
    match &*address.query {
        "" => store.head(key).await,
        _ => match store.get_opts(key, GetOptions::new().with_range(Some(0..1))).await {
            // An object without bytes has no first one.
            Err(cause) if is_about_the_range(&cause) => {
                let whole = store.get(key).await.ok().map(|whole| whole.meta);
                whole.filter(|meta| meta.size == 0).ok_or(cause)
            }
            told => Ok(told?.meta),
        },
    }
}

fn shared<S: ObjectStore + PaginatedListStore>(
    built: object_store::Result<S>,
) -> object_store::Result<Connection> {
    let store = Arc::new(built?);
    Ok(Connection { pages: Some(Arc::clone(&store) as _), store })
}

fn retry() -> Result<RetryConfig> {
    let backoff =
        BackoffConfig { max_backoff: Duration::from_secs(15), ..BackoffConfig::default() };
    Ok(RetryConfig { backoff, max_retries: MOST_TRIES, retry_timeout: patience()? })
}

pub(super) fn patience() -> Result<Duration> {
    let Ok(told) = std::env::var(PATIENCE_VARIABLE) else { return Ok(PATIENCE) };
    told.parse().map(Duration::from_secs).map_err(|_| {
        Error::new(Kind::Usage, format!("{PATIENCE_VARIABLE} is not a number of seconds"))
            .found(told)
    })
}
