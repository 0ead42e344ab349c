//! What all requests share, and what they do: parse a body, ask the store, write an answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::Response;
use dupsieve::document::{Content, Document, Position};
use dupsieve::fingerprint::Recipe;
use dupsieve::flow::Fingerprinting;
use dupsieve::index::Question;
use dupsieve::online::{Online, Remember, Told};
use dupsieve::peers::Secret;
use dupsieve::store::FingerprintedDocument;
use dupsieve::{Kind, Result as LibraryResult};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use super::bodies::{Answers, Page, QueryRequest, RememberRequest, Which};
use super::limits::Limits;
use super::memory::{Held, Memory};
use super::metrics::Metrics;
use super::pool::Pool;
use super::problem::{Fault, Problem};
use crate::commands::query::parse_fingerprint;
use crate::outcome::exit;

/// The largest distance that a query may ask for, unless the service has a larger one.
const MOST_DISTANCE: u32 = 7;
/// So few fingerprints at the usual distance are answered at once, without another thread.
const LIGHT_FINGERPRINTS: usize = 16;
/// The longest body that may be as light as that.
const LIGHT_BYTES: usize = 1 << 10;

/// What all requests share.
pub(super) struct Service {
    /// The store, once it is open.
    pub(super) online: OnceLock<Arc<Online>>,
    pub(super) recipe: Recipe,
    pub(super) limits: Limits,
    /// Without one, everybody who reaches the service may ask.
    pub(super) token: Option<Secret>,
    /// The requests that may be worked on.
    pub(super) requests: Semaphore,
    /// What their bodies and answers may take.
    pub(super) memory: Memory,
    /// The commit that may run.
    pub(super) commits: Arc<Semaphore>,
    pub(super) pool: Pool,
    pub(super) metrics: Metrics,
    /// Is called with the store after a day was committed.
    pub(super) keep_up: Box<dyn Fn(&Online) + Send + Sync>,
}

impl Service {
    /// The open store.
    pub(super) fn online(&self) -> Result<&Arc<Online>, Problem> {
        self.online.get().ok_or_else(|| Problem::new(Fault::NotReady, "the store is being opened"))
    }

    /// The body of a request, which must be JSON.
    pub(super) async fn body(&self, request: Request) -> Result<Held, Problem> {
        let headers = request.headers();
        let kind =
            headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let told =
                format!("the body is {kind:.60?}; send it with `Content-Type: application/json`");
            return Err(Problem::new(Fault::UnsupportedMediaType, told));
        }
        let coding = headers.get(CONTENT_ENCODING).map_or(&b"identity"[..], |it| it.as_bytes());
        if !coding.eq_ignore_ascii_case(b"identity") {
            let told = "a body is taken as it is, without Content-Encoding";
            return Err(Problem::new(Fault::UnsupportedMediaType, told));
        }
        let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: u64| length > self.limits.max_body as u64) {
            return Err(self.too_large());
        }
        let read = self.read(request.into_body(), length.unwrap_or(0) as usize);
        timeout(self.limits.max_time, read).await.unwrap_or_else(|_| {
            let told = format!("it may take {} s", self.limits.max_time.as_secs());
            Err(Problem::new(Fault::TimedOut, told))
        })
    }

    /// Reads a body of about `length` bytes.
    async fn read(&self, mut body: Body, length: usize) -> Result<Held, Problem> {
        let mut room = self.memory.room(length)?;
        let mut bytes = Vec::with_capacity(length);
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let frame = frame.map_err(|error| {
                Problem::new(Fault::BadRequest, format!("the body broke off: {error}"))
            })?;
            // Trailers say nothing that is needed.
            let Ok(data) = frame.into_data() else { continue };
            let all = bytes.len() + data.len();
            if all > self.limits.max_body {
                return Err(self.too_large());
            }
            self.memory.grow(&mut room, all)?;
            bytes.extend_from_slice(&data);
        }
        Ok(Held::new(bytes, room))
    }

    fn too_large(&self) -> Problem {
        let most = self.limits.max_body;
        Problem::new(Fault::TooLarge, format!("at most {most} bytes of body are taken"))
    }

    /// Answers a query.
    pub(super) async fn query(self: Arc<Self>, body: Held) -> Result<Held, Problem> {
        self.online()?;
        if is_light(&body) {
            let answer = exit::contain(|| self.answer_query(&body, None));
            let broken_off = |_| Problem::new(Fault::Internal, "the work was given up");
            if let Some(answer) = answer.map_err(broken_off)?? {
                return Ok(answer);
            }
        }
        let service = Arc::clone(&self);
        let work = move |fingerprinting: &mut Fingerprinting| {
            service.answer_query(&body, Some(fingerprinting))
        };
        self.pool.run(work).await??.ok_or_else(|| Problem::new(Fault::Internal, "no answer"))
    }

    /// The answer to a query; none if it takes long or has pages, and this is not a thread for that.
    fn answer_query(
        &self,
        body: &[u8],
        fingerprinting: Option<&mut Fingerprinting>,
    ) -> Result<Option<Held>, Problem> {
        let online = self.online()?;
        let QueryRequest { distance, fingerprints, pages } = parse(body)?;
        let usual = online.options().lookup.distance;
        let distance = distance.unwrap_or(usual);
        let most = usual.max(MOST_DISTANCE);
        if distance > most {
            let told = format!("the distance is {distance}; at most {most} can be asked for");
            return Err(Problem::new(Fault::BadRequest, told));
        }
        let (ids, told) = match (fingerprints, pages) {
            (Some(fingerprints), None) => {
                let is_quick = distance <= usual && fingerprints.len() <= LIGHT_FINGERPRINTS;
                if fingerprinting.is_none() && !is_quick {
                    return Ok(None);
                }
                let told = self.ask_fingerprints(online, &fingerprints, distance)?;
                (fingerprints, told)
            }
            (None, Some(pages)) => {
                let Some(fingerprinting) = fingerprinting else { return Ok(None) };
                let made = self.fingerprint(pages, fingerprinting)?;
                let asked: Vec<_> = made.iter().map(question).collect();
                let told = online.query(&asked, distance)?;
                (made.into_iter().map(|page| page.id).collect(), told)
            }
            _ => {
                let told = "give either `fingerprints` or `pages`";
                return Err(Problem::new(Fault::BadRequest, told));
            }
        };
        self.metrics.asked.inc_by(ids.len() as u64);
        self.memory.hold(write(&Answers::of(&told, &ids))).map(Some)
    }

    fn ask_fingerprints(
        &self,
        online: &Online,
        fingerprints: &[String],
        distance: u32,
    ) -> Result<Told, Problem> {
        self.check_batch(fingerprints.len())?;
        let width = online.options().width;
        let asked = (1..).zip(fingerprints).map(|(number, text)| {
            let fingerprint = parse_fingerprint(text, width).map_err(|error| {
                Problem::new(Fault::BadRequest, format!("fingerprint {number}: {error}"))
            })?;
            Ok(Some(Question { fingerprint, page: None }))
        });
        let asked = asked.collect::<Result<Vec<_>, Problem>>()?;
        Ok(online.query(&asked, distance)?)
    }

    /// Remembers pages. The answer is there once they are on disk.
    pub(super) async fn remember(self: Arc<Self>, body: Held) -> Result<Held, Problem> {
        self.online()?;
        let service = Arc::clone(&self);
        let (done, written) = oneshot::channel::<LibraryResult<()>>();
        let work = move |fingerprinting: &mut Fingerprinting| {
            let RememberRequest { remember, pages } = parse(&body)?;
            drop(body);
            let made = service.fingerprint(pages, fingerprinting)?;
            let which = match remember {
                Which::Kept => Remember::Kept,
                Which::All => Remember::All,
            };
            let done = Box::new(move |result| drop(done.send(result)));
            let told = service.online()?.remember(&made, which, done)?;
            service.metrics.remembered.inc_by(made.len() as u64);
            let ids: Vec<String> = made.into_iter().map(|page| page.id).collect();
            service.memory.hold(write(&Answers::of(&told, &ids)))
        };
        let answer = self.pool.run(work).await??;
        let written = written.await;
        written.map_err(|_| Problem::new(Fault::Internal, "the journal is closed"))??;
        Ok(answer)
    }

    /// The pages with their fingerprints.
    fn fingerprint(
        &self,
        pages: Vec<Page>,
        fingerprinting: &mut Fingerprinting,
    ) -> Result<Vec<FingerprintedDocument>, Problem> {
        self.check_batch(pages.len())?;
        let made = (1..).zip(pages).map(|(number, page)| {
            let (position, document) =
                page.into_document(number, self.recipe.width(), self.limits.max_text)?;
            self.fits(number, &document)?;
            make(fingerprinting, position, document).map_err(|error| match error.kind() {
                Kind::BadData => Problem::new(Fault::BadPage, format!("page {number}: {error}")),
                _ => error.into(),
            })
        });
        made.collect()
    }

    /// Refuses a fingerprint where texts are needed, and a text where fingerprints are.
    fn fits(&self, number: usize, document: &Document<'_>) -> Result<(), Problem> {
        let is_made = matches!(document.content, Content::Fingerprint(_));
        if is_made == self.recipe.is_external() {
            return Ok(());
        }
        let told = match is_made {
            true => "the store makes fingerprints of texts: give the text",
            false => "the store holds fingerprints made elsewhere: give the fingerprint",
        };
        Err(Problem::new(Fault::BadPage, format!("page {number}: {told}")))
    }

    fn check_batch(&self, count: usize) -> Result<(), Problem> {
        let most = self.limits.max_batch;
        if count <= most {
            return Ok(());
        }
        let told =
            format!("the request has {count} fingerprints or pages; at most {most} are taken");
        Err(Problem::new(Fault::TooLarge, told))
    }
}

fn make(
    fingerprinting: &mut Fingerprinting,
    position: Position,
    document: Document<'_>,
) -> LibraryResult<FingerprintedDocument> {
    fingerprinting.page(position, document)
}

/// What is asked for a page; nothing if it has no fingerprint.
fn question(page: &FingerprintedDocument) -> Option<Question<'_>> {
    let fingerprint = page.fingerprint?;
    Some(Question { fingerprint, page: Some((page.class, &page.check)) })
}

/// Whether a body is so short that it can perhaps be answered at once.
fn is_light(body: &[u8]) -> bool {
    body.len() <= LIGHT_BYTES
}

/// Reads a body.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::new(Fault::BadJson, error.to_string()))
}

/// Writes an answer.
pub(super) fn write(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("an answer is plain data")
}

/// An answer in JSON.
pub(super) fn json(answer: impl Into<Body>) -> Response {
    let mut response = Response::new(answer.into());
    let kind = axum::http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
