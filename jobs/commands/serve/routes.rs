//! The paths of the service, and what guards them: the token, the limits and the clock.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dupsieve::online::requests::{self, CommitRequest};
use dupsieve::store::Day;
use tokio::sync::oneshot;
use tokio::task::block_in_place;
use tokio::time::timeout;

use super::bodies::{CommitAnswer, Status};
use super::problem::{Fault, Problem};
use super::queue::Peer;
use super::service::{Service, json, write};
use crate::outcome::{exposition, identity};

const QUERY: &str = "/v1/query";
const PAGES: &str = "/v1/pages";
const COMMIT: &str = "/v1/commit";
const STATUS: &str = "/v1/status";
const HEALTHZ: &str = "/healthz";
const READYZ: &str = "/readyz";
const METRICS: &str = "/metrics";
const OPENAPI: &str = "/openapi.json";

/// The description of the service by OpenAPI. A test holds it against the paths, the requests and the answers.
const DESCRIPTION: &str = include_str!("openapi.json");

const COMMIT_BYTES: usize = 1 << 10;

type Shared = State<Arc<Service>>;

pub(super) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route(QUERY, post(query))
        .route(PAGES, post(pages))
        .route(COMMIT, post(commit))
        .route(STATUS, get(status))
        .route(HEALTHZ, get(healthz))
        .route(READYZ, get(readyz))
        .route(METRICS, get(metrics))
        .route(OPENAPI, get(openapi))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(&service), guard))
        .with_state(service)
}

/// Checks the token, keeps to the limits, and counts the request.
async fn guard(State(service): Shared, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map(MatchedPath::as_str);
    let response = answer(&service, path, request, next).await;
    let response = response.unwrap_or_else(IntoResponse::into_response);
    service.metrics.answered(path, response.status(), began.elapsed());
    response
}

async fn answer(
    service: &Service,
    path: Option<&str>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if matches!(path, Some(HEALTHZ | READYZ)) {
        return Ok(next.run(request).await);
    }
    check_client(service, &request)?;
    let _permit = service
        .requests
        .try_acquire()
        .map_err(|_| Problem::new(Fault::Overloaded, "too many requests are being worked on"))?;
    // A day takes as long as it takes.
    if path == Some(COMMIT) {
        return Ok(next.run(request).await);
    }
    // The body has its own time.
    let most = service.limits.max_time * 2;
    timeout(most, next.run(request)).await.map_err(|_| {
        let told = format!("no answer was found within {} s", most.as_secs());
        Problem::new(Fault::Unavailable, told)
    })
}

/// Checks the token; without one, that the request does not come from a page in a browser.
fn check_client(service: &Service, request: &Request) -> Result<(), Problem> {
    let Some(token) = &service.token else { return check_place(request) };
    let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
    match given.and_then(bearer) {
        Some(given) if token.is_made_of(given) => Ok(()),
        Some(_) => Err(Problem::new(Fault::Unauthorised, "this is not the token of the service")),
        None => {
            let told = "send the token as `Authorization: Bearer TOKEN`";
            Err(Problem::new(Fault::Unauthorised, told))
        }
    }
}

/// Refuses what a page in a browser sends: a page of any site reaches a loopback address, and reads the answers if the
/// name of its site leads there. Such a request names the site as its host or its origin.
fn check_place(request: &Request) -> Result<(), Problem> {
    let refused = |told: String| Problem::new(Fault::Forbidden, told);
    let hosts = request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes);
    let named = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    for host in hosts.chain(named) {
        let is_here = Authority::try_from(host).is_ok_and(|host| is_loopback(host.host()));
        if !is_here {
            let host = String::from_utf8_lossy(host);
            return Err(refused(format!(
                "the request is for {host:.100?}; without --token-file the service answers only to localhost and loopback addresses"
            )));
        }
    }
    match request.headers().get(ORIGIN) {
        None => Ok(()),
        Some(origin) => Err(refused(format!(
            "the request comes from a page of {:.100?}; without --token-file the service answers to no page",
            String::from_utf8_lossy(origin.as_bytes())
        ))),
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The token in the value of `Authorization`, if its scheme is Bearer, in whatever case.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii_start())
}

/// What is near to fingerprints or pages.
async fn query(State(service): Shared, request: Request) -> Result<Response, Problem> {
    let peer = Peer::of(&request);
    let body = service.body(request, service.limits.max_body).await?;
    service.query(body, peer).await.map(json)
}

/// Judge pages, and remember those that are kept. They are on disk when the answer comes, and every later query sees
/// them.
async fn pages(State(service): Shared, request: Request) -> Result<Response, Problem> {
    let peer = Peer::of(&request);
    let body = service.body(request, service.limits.max_body).await?;
    service.remember(body, peer).await.map(json)
}

/// Make a day of the store of what is remembered; no day if that is nothing. The same day again changes nothing.
async fn commit(State(service): Shared, request: Request) -> Result<Response, Problem> {
    let body = service.body(request, COMMIT_BYTES).await?;
    let CommitRequest { day, confirm_day } = requests::read(body.as_ref(), 0)?;
    let day: Day = day.parse()?;
    let online = Arc::clone(service.online()?);
    // The commit before may still be merging segments.
    let turn = Arc::clone(&service.commits).acquire_owned();
    let Ok(Ok(permit)) = timeout(service.limits.max_time, turn).await else {
        return Err(Problem::new(Fault::Unavailable, "another day is being committed"));
    };
    let (answer, answered) = oneshot::channel();
    // It goes on when the client gives up. A panic ends the service: the next start finishes the day.
    let work = move || {
        identity::locks().clone().enter();
        let committed = online.commit(day, (!confirm_day).then(Day::today));
        let is_done = committed.as_ref().is_ok_and(|committed| committed.is_held);
        service.metrics.commits.fetch_add(is_done.into(), Ordering::Relaxed);
        drop(answer.send(committed));
        if is_done {
            (service.keep_up)(&online);
        }
        drop(permit);
    };
    std::thread::Builder::new()
        .name("commit".into())
        .spawn(work)
        .map_err(|cause| Problem::from(dupsieve::Error::system("cannot start a thread", &cause)))?;
    let committed = answered.await.map_err(|_| Problem::new(Fault::Internal, "no answer"))??;
    Ok(json(write(&CommitAnswer::of(day.to_string(), &committed))))
}

/// What is served.
async fn status(State(service): Shared) -> Result<Response, Problem> {
    let online = service.online()?;
    let version = online.version();
    let options = online.options();
    // The journal may be waiting for the disk.
    let (journal_pages, journal_bytes) =
        block_in_place(|| (online.journal().pages(), online.journal().bytes()));
    Ok(json(write(&Status {
        store_version: version.number(),
        rows: version.shown_rows(),
        days: version.entries().len() as u64,
        journal_pages,
        journal_bytes,
        width: options.width.bits(),
        distance: options.lookup.distance,
        check: options.lookup.check.map(|check| check.to_string()),
    })))
}

/// Whether the service lives, and can read its store.
async fn healthz(State(service): Shared) -> Result<&'static str, Problem> {
    service.check_store().map(|()| "ok\n")
}

async fn readyz(State(service): Shared) -> Result<&'static str, Problem> {
    service.online().map(|_| "ready\n")
}

/// Counts and times for Prometheus.
async fn metrics(State(service): Shared) -> Response {
    let online = service.online.get().map(Arc::as_ref);
    // The journal may be waiting for the disk.
    let text = block_in_place(|| service.metrics.text(online));
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static(exposition::CONTENT_TYPE);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// This description.
async fn openapi() -> Response {
    json(DESCRIPTION)
}

async fn not_found(request: Request) -> Problem {
    Problem::new(
        Fault::NotFound,
        format!("{:.200}; /openapi.json lists the paths", request.uri().path()),
    )
}

async fn method_not_allowed(request: Request) -> Problem {
    let told = format!("{} {:.200}", request.method(), request.uri().path());
    Problem::new(Fault::MethodNotAllowed, told)
}

/// What is told to a connection beyond the limit.
pub(super) fn refusal() -> String {
    let problem = Problem::new(Fault::Overloaded, "too many connections are open");
    let body = problem.to_json();
    let status = StatusCode::SERVICE_UNAVAILABLE;
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
