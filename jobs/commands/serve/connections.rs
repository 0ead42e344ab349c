//! Connections: how many there are, how long a client may be silent or deaf, and how they end.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::{set_tcp_nodelay, set_tcp_user_timeout};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::queue::Peer;
use super::routes;
use super::service::Service;
use super::stream::TimedStream;

/// Connections beyond the limit that are told so at the same time. Those beyond are closed without a word.
const REFUSED_AT_ONCE: usize = 64;
const REFUSAL: Duration = Duration::from_secs(1);
/// The pause after the system could not accept a connection, as when no file can be opened.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest head of a request, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// Serves connections until `stop` says so. Then no more are accepted, and those that are open end with the answer
/// to their last request. Returns when all have ended, or after twice the longest time of a request.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    service: Arc<Service>,
    mut stop: watch::Receiver<bool>,
) {
    let most = service.limits.max_connections;
    let open = Arc::new(Semaphore::new(most));
    let refused = Arc::new(Semaphore::new(REFUSED_AT_ONCE));
    loop {
        let accepted = tokio::select! {
            _ = stop.changed() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&open).try_acquire_owned() else {
            if let Ok(permit) = Arc::clone(&refused).try_acquire_owned() {
                tokio::spawn(async move {
                    refuse(stream).await;
                    drop(permit);
                });
            }
            continue;
        };
        let (router, service, stop) = (router.clone(), Arc::clone(&service), stop.clone());
        tokio::spawn(async move {
            service.metrics.connections.fetch_add(1, Ordering::Relaxed);
            connection(stream, router, service.limits.max_time, stop).await;
            service.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
        });
    }
    drop(listener);
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let _ = timeout(2 * service.limits.max_time, open.acquire_many(all)).await;
}

async fn connection(
    stream: TcpStream,
    router: Router,
    time: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let _ = set_tcp_nodelay(stream.as_fd(), true);
    // A client that has gone is given up, and one that does not take its answer.
    let _ = set_tcp_user_timeout(stream.as_fd(), time.as_millis() as u32);
    let peer = Peer(stream.peer_addr().ok().map(|address| address.ip()));
    let router = TowerToHyperService::new(router);
    let answer = |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    };
    let stream = TimedStream::new(stream, time);
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(time)
        .max_buf_size(HEAD_BYTES)
        .max_header_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    let mut serving = std::pin::pin!(serving);
    let is_stopped = *stop.borrow_and_update();
    if !is_stopped {
        tokio::select! {
            _ = serving.as_mut() => return,
            _ = stop.changed() => {}
        }
    }
    serving.as_mut().graceful_shutdown();
    let _ = serving.await;
}

async fn refuse(mut stream: TcpStream) {
    let told = routes::refusal();
    let _ = timeout(REFUSAL, async {
        stream.write_all(told.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}
