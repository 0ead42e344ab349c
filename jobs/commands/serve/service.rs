//! What all requests share, and what they do: parse a body, ask the store, write an answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::Response;
use dupsieve::document::{Content, Document};
use dupsieve::fingerprint::{Recipe, Width, of_hex};
use dupsieve::flow::Fingerprinting;
use dupsieve::matches::Question;
use dupsieve::online::requests::{self, Pages, QueryRequest, RememberRequest};
use dupsieve::online::{Online, Told};
use dupsieve::peers::Secret;
use dupsieve::store::FingerprintedDocument;
use dupsieve::work::Work;
use dupsieve::{Kind, Result as LibraryResult};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use super::bodies::Answers;
use super::limits::Limits;
use super::memory::{Findings, Held, Memory, no_room};
use super::metrics::Metrics;
use super::pool::Pool;
use super::problem::{Fault, Problem};
use super::queue::{Asked, Peer};
use crate::commands::copies::Counted;

/// The largest distance that a query may ask for, unless the service has a larger one.
const MOST_DISTANCE: u32 = 7;

pub(super) struct Service {
    pub(super) online: OnceLock<Arc<Online>>,
    /// The copies of its pages, if they are counted.
    pub(super) counted: ArcSwapOption<Counted>,
    /// Why the store cannot be read any more; empty while it can.
    pub(super) trouble: ArcSwapOption<String>,
    pub(super) recipe: Recipe,
    pub(super) limits: Limits,
    /// Without one, everybody who reaches the service may ask.
    pub(super) token: Option<Secret>,
    pub(super) requests: Semaphore,
    /// What their bodies and answers may take.
    pub(super) memory: Memory,
    pub(super) commits: Arc<Semaphore>,
    pub(super) pool: Pool,
    pub(super) metrics: Metrics,
    /// Is called with the store after a day was committed.
    pub(super) keep_up: Box<dyn Fn(&Online) + Send + Sync>,
}

impl Service {
    pub(super) fn online(&self) -> Result<&Arc<Online>, Problem> {
        self.check_store()?;
        self.online.get().ok_or_else(|| Problem::new(Fault::NotReady, "the store is being opened"))
    }

    pub(super) fn check_store(&self) -> Result<(), Problem> {
        let Some(trouble) = &*self.trouble.load() else { return Ok(()) };
        Err(Problem::new(
            Fault::Unavailable,
            format!("the store cannot be read any more: {trouble}"),
        ))
    }

    /// The body of a request, which must be JSON of at most `most` bytes.
    pub(super) async fn body(&self, request: Request, most: usize) -> Result<Held, Problem> {
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
        if length.is_some_and(|length: u64| length > most as u64) {
            return Err(too_large(most));
        }
        let read = self.read(request.into_body(), most);
        timeout(self.limits.max_time, read).await.unwrap_or_else(|_| {
            let told = format!("it may take {} s", self.limits.max_time.as_secs());
            Err(Problem::new(Fault::TimedOut, told))
        })
    }

    /// Reads a body of at most `most` bytes. What was only announced takes no room.
    async fn read(&self, mut body: Body, most: usize) -> Result<Held, Problem> {
        let mut held = self.memory.growing(2)?;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let frame = frame.map_err(|error| {
                Problem::new(Fault::BadRequest, format!("the body broke off: {error}"))
            })?;
            // Trailers say nothing that is needed.
            let Ok(data) = frame.into_data() else { continue };
            if held.len() + data.len() > most {
                return Err(too_large(most));
            }
            held.push(&data, most)?;
        }
        Ok(held.held())
    }

    /// Answers a query. None is answered on this thread, so that it is free to tell that the service lives.
    pub(super) async fn query(self: Arc<Self>, body: Held, peer: Peer) -> Result<Held, Problem> {
        self.online()?;
        let service = Arc::clone(&self);
        let asked = Asked { peer, bytes: body.as_ref().len() };
        let work = move |fingerprinting: &mut Fingerprinting, is_wanted: &dyn Fn() -> bool| {
            service.answer_query(body, fingerprinting, is_wanted)
        };
        self.pool.run(asked, work).await?
    }

    fn answer_query(
        &self,
        mut body: Held,
        fingerprinting: &mut Fingerprinting,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Held, Problem> {
        let online = self.online()?;
        let QueryRequest { distance, fingerprints, pages } = self.parse(&mut body)?;
        let usual = online.options().lookup.distance;
        let distance = distance.unwrap_or(usual);
        let most = usual.max(MOST_DISTANCE);
        if distance > most {
            let told = format!("the distance is {distance}; at most {most} can be asked for");
            return Err(Problem::new(Fault::BadRequest, told));
        }
        let findings = self.memory.findings()?;
        let takes = |bytes| findings.take(bytes);
        let mut work = self.work(is_wanted).within(&takes);
        let (ids, told) = match (fingerprints, pages) {
            (Some(fingerprints), None) => {
                let asked = questions(&fingerprints, online.options().width)?;
                let told = online.query(&asked, distance, &mut work);
                (fingerprints, told)
            }
            (None, Some(pages)) => {
                let made = self.fingerprint(pages, fingerprinting, is_wanted)?;
                let asked: Vec<_> = made.iter().map(question).collect();
                let told = online.query(&asked, distance, &mut work);
                (made.into_iter().map(|page| page.id).collect(), told)
            }
            _ => {
                let told = "give either `fingerprints` or `pages`";
                return Err(Problem::new(Fault::BadRequest, told));
            }
        };
        let told = told.map_err(|error| refused(&work, error))?;
        self.metrics.asked.fetch_add(ids.len() as u64, Ordering::Relaxed);
        self.answer(&told, &ids, &findings)
    }

    fn work<'a>(&self, is_wanted: &'a dyn Fn() -> bool) -> Work<'a> {
        Work::of(self.limits.max_work as u64).while_wanted(is_wanted)
    }

    fn parse<T: DeserializeOwned>(&self, body: &mut Held) -> Result<T, Problem> {
        let read = requests::read(body.as_ref(), self.limits.max_batch)?;
        body.was_read();
        Ok(read)
    }

    /// The answer for these ids, with the room for it. What was found stands in its own room until the answer is written.
    fn answer(&self, told: &Told, ids: &[String], _: &Findings<'_>) -> Result<Held, Problem> {
        let mut answer = self.memory.growing(1)?;
        let counted = self.counted.load();
        let copies = counted.as_ref().map(|counted| &counted.copies);
        let written = serde_json::to_writer(&mut answer, &Answers::of(told, ids, copies));
        written.map(|()| answer.held()).map_err(|_| no_room())
    }

    /// Remembers pages. The answer is there once they are on disk.
    pub(super) async fn remember(self: Arc<Self>, body: Held, peer: Peer) -> Result<Held, Problem> {
        self.online()?;
        let service = Arc::clone(&self);
        let (done, written) = oneshot::channel::<LibraryResult<()>>();
        let asked = Asked { peer, bytes: body.as_ref().len() };
        let mut body = body;
        let work = move |fingerprinting: &mut Fingerprinting, is_wanted: &dyn Fn() -> bool| {
            let RememberRequest { remember, pages } = service.parse(&mut body)?;
            let made = service.fingerprint(pages, fingerprinting, is_wanted)?;
            let done = Box::new(move |result| drop(done.send(result)));
            let findings = service.memory.findings()?;
            let takes = |bytes| findings.take(bytes);
            let mut work = service.work(is_wanted).within(&takes);
            let told = service.online()?.remember(&made, remember, done, &mut work);
            let told = told.map_err(|error| refused(&work, error))?;
            service.metrics.remembered.fetch_add(made.len() as u64, Ordering::Relaxed);
            let ids: Vec<String> = made.into_iter().map(|page| page.id).collect();
            service.answer(&told, &ids, &findings)
        };
        let answer = self.pool.run(asked, work).await??;
        let written = written.await;
        written.map_err(|_| Problem::new(Fault::Internal, "the journal is closed"))??;
        Ok(answer)
    }

    fn fingerprint(
        &self,
        Pages(pages): Pages,
        fingerprinting: &mut Fingerprinting,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Vec<FingerprintedDocument>, Problem> {
        let made = (1..).zip(pages).map(|(number, page)| {
            if !is_wanted() {
                return Err(Problem::new(Fault::Unavailable, "nobody waits for the answer"));
            }
            let (position, document) =
                page.into_document(number, self.recipe.width(), self.limits.max_text)?;
            self.fits(number, &document)?;
            fingerprinting.page(position, document).map_err(|error| match error.kind() {
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
}

fn refused(work: &Work<'_>, error: dupsieve::Error) -> Problem {
    if work.lacks_room() { no_room() } else { error.into() }
}

fn question(page: &FingerprintedDocument) -> Option<Question<'_>> {
    let fingerprint = page.fingerprint?;
    Some(Question { fingerprint, page: Some(&page.details) })
}

fn questions(
    fingerprints: &[String],
    width: Width,
) -> Result<Vec<Option<Question<'static>>>, Problem> {
    let asked = (1..).zip(fingerprints).map(|(number, text)| {
        let fingerprint = of_hex(text, width).map_err(|error| {
            Problem::new(Fault::BadRequest, format!("fingerprint {number}: {error}"))
        })?;
        Ok(Some(Question { fingerprint, page: None }))
    });
    asked.collect()
}

fn too_large(most: usize) -> Problem {
    Problem::new(Fault::TooLarge, format!("at most {most} bytes of body are taken"))
}

pub(super) fn write(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("an answer is plain data")
}

pub(super) fn json(answer: impl Into<Body>) -> Response {
    let mut response = Response::new(answer.into());
    let kind = axum::http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
