//! Serves the metrics of a job over HTTP while it runs, for Prometheus to fetch.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use dupsieve::{Error, Kind, Result};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::outcome::{exposition, live};

/// The most connections at a time; others wait.
const MOST_CONNECTIONS: usize = 8;
/// How long a connection may last: it serves one answer.
const MOST_TIME: Duration = Duration::from_secs(10);
/// The pause after the system could not accept a connection, as when no file can be opened.
const PAUSE: Duration = Duration::from_millis(50);

/// Listens at `address` from now on, in a thread of its own, until the process ends.
pub(super) fn start(address: SocketAddr) -> Result<()> {
    let failed = |cause: io::Error| {
        Error::new(Kind::Unavailable, format!("cannot serve metrics at {address}: {cause}"))
            .called("address-in-use")
            .help("end the program that listens there, or choose another address with --metrics")
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let serve = move || runtime.block_on(serve(listener));
    thread::Builder::new().name("metrics".into()).spawn(serve).map_err(failed)?;
    tracing::info!("metrics are served at http://{address}/metrics");
    Ok(())
}

async fn serve(listener: TcpListener) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let open = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while let Ok(permit) = Arc::clone(&open).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        tokio::spawn(async move {
            let _ = timeout(MOST_TIME, connection(stream)).await;
            drop(permit);
        });
    }
}

/// Answers one request. A client that goes away meanwhile is none of the job's business.
async fn connection(stream: TcpStream) {
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await;
}

async fn answer(request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    let (status, text) = match (request.uri().path(), request.method()) {
        ("/metrics", &Method::GET | &Method::HEAD) => (StatusCode::OK, live::text()),
        ("/metrics", _) => (StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, "only /metrics\n".to_owned()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(exposition::CONTENT_TYPE);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}
