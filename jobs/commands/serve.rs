//! `dupsieve serve`: a store that answers and remembers over HTTP while a crawl runs.

mod bodies;
mod connections;
mod limits;
mod memory;
mod metrics;
mod pool;
mod problem;
mod queue;
mod routes;
mod service;
mod stream;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use clap::Args;
use dupsieve::error::At;
use dupsieve::fingerprint::{Recipe, Width};
use dupsieve::flow::Fingerprinting;
use dupsieve::join::Preset;
use dupsieve::online::{Online, OnlineOptions};
use dupsieve::peers::Secret;
use dupsieve::progress::{self, Activity};
use dupsieve::step::{self, Step};
use dupsieve::store::{Store, Version};
use dupsieve::{Error, Kind, Result};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

use crate::commands::copies::{CopiesFlag, CopyCounter};
use crate::commands::near::LookupFlags;
use crate::commands::query::recipe;
use crate::commands::store::{expire_days, keep_up};
use crate::commands::{StoreFlag, examples};
use crate::flags::{
    Add, GlobalFlags, Listen, PageSettings, RecipeChoice, RecipeSettings, Replaced, Shared,
    parse_width, shared,
};
use crate::outcome::{Summary, counted, identity};
use crate::processes::signals;
use limits::Limits;
use memory::Memory;
use metrics::Metrics;
use pool::Pool;
use service::Service;

/// Where the service listens, unless --listen says something else.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8373);
/// How often the service looks whether another process has changed the store.
const REFRESH: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "
# Answer and remember for a crawler on this machine
dupsieve serve --store store
# Listen at all addresses, for clients that send a token
dupsieve serve --store store --listen 0.0.0.0:8373 --token-file token";

/// Answer over HTTP which pages of a store are near, and remember new ones
///
/// A crawler asks before it keeps a page (`POST /v1/query`), has pages remembered (`POST /v1/pages`: on disk when the
/// answer comes, and seen by every later query), and makes a day of them when the day is over (`POST /v1/commit`, which
/// judges them once more as `run` does). Bodies and answers are JSON; /openapi.json describes them. /healthz, /readyz and /metrics are for
/// those who watch over it.
///
/// Other commands may change the store meanwhile, such as `run` or `store compact`: the service takes up each new
/// version within a second. On SIGTERM or SIGINT it finishes the requests that it has, and ends.
#[derive(Args, Debug)]
#[command(args = shared(&[Shared::Workers, Shared::Memory]), after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreFlag,
    /// Address of this machine to listen at [default: 127.0.0.1:8373]
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = Listen::from_str)]
    listen: Option<Listen>,
    /// Make the store if it does not exist
    #[arg(long)]
    create: bool,
    /// File with a token that clients send as `Authorization: Bearer TOKEN`; only its owner may read it. Needed to
    /// listen at an address other than a loopback one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    lookup: LookupFlags,
    /// Preset of a store that is empty: paper or balanced [default: balanced; with --recipe, none]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_PRESET")]
    preset: Option<Preset>,
    /// Recipe of a store that is empty, or whose recipe has none of the usual names: a name or a .toml file
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_RECIPE")]
    recipe: Option<RecipeChoice>,
    /// Bits of the fingerprints of a store that is empty
    #[arg(long, value_name = "64|128", env = "DUPSIEVE_WIDTH", value_parser = parse_width)]
    width: Option<Width>,
    /// Days of the calendar to keep, counted back from the newest; after a commit, older ones expire as by
    /// `store expire` [default: all]
    #[arg(long, value_name = "N")]
    keep_days: Option<NonZero<u64>>,
    /// Versions of the store to keep; after a commit, older ones are removed as by `store prune` [default: all]
    #[arg(long, value_name = "N")]
    keep_versions: Option<NonZero<u64>>,
    #[command(flatten)]
    copies: CopiesFlag,
    #[command(flatten, next_help_heading = "Limits")]
    limits: Limits,
}

enum Event {
    Open,
    Stop(&'static str),
    Failed(Error),
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    step::begin(Step::Serving);
    let address = address(arguments.listen);
    let token = arguments.token_file.as_deref().map(Secret::read).transpose()?;
    if token.is_none() && !address.ip().is_loopback() {
        let what = "without a token the service listens at loopback addresses only";
        return Err(Error::new(Kind::Usage, what)
            .called("no-token")
            .expected("127.0.0.1 or ::1, or --token-file")
            .found(address));
    }
    arguments.limits.check()?;
    let path = arguments.store.path_on_disk(global)?;
    let store = arguments.open_store(&path)?;
    let version = store.at(None)?;
    let recipe = arguments.recipe_of(&store, &version)?;
    if recipe.has_passages() {
        tracing::info!(
            "commits keep the words of pages, but list no passages: `run` finds those that later days have in common with them"
        );
    }
    let options = arguments.options(&version, &recipe, global)?;
    let counter = arguments.copies.counter(global)?;
    let listener = listen(address)?;
    let address = listener.local_addr().at("the socket")?;
    let service = Arc::new(arguments.service(recipe, token, global)?);
    let (tell, events) = channel();
    let stopped = tell.clone();
    signals::handle_with(move |name| drop(stopped.send(Event::Stop(name))));
    let runtime = Runtime::new().map_err(|cause| Error::system("cannot start threads", &cause))?;
    let (stop, stopping) = watch::channel(false);
    let router = routes::router(Arc::clone(&service));
    let own = Arc::clone(&service);
    let serving = runtime.spawn(async move {
        if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
            connections::serve(listener, router, own, stopping).await;
        }
    });
    tracing::info!("listening at http://{address}");
    open((store, options, counter), Arc::clone(&service), tell)?;
    let signal = loop {
        match events.recv() {
            Ok(Event::Open) => tracing::info!("the store is open"),
            Ok(Event::Stop(signal)) => break signal,
            Ok(Event::Failed(error)) => return Err(error),
            Err(_) => break "nobody",
        }
    };
    tracing::info!("{signal}: finishing the requests that are here");
    let _ = stop.send(true);
    let _ = runtime.block_on(serving);
    Ok(service.closing(&path))
}

fn address(listen: Option<Listen>) -> SocketAddr {
    listen.map_or(LISTEN, |Listen { address, port }| {
        SocketAddr::new(address, port.unwrap_or(LISTEN.port()))
    })
}

fn listen(address: SocketAddr) -> Result<TcpListener> {
    let failed = |cause| {
        Error::new(Kind::Unavailable, format!("cannot listen at {address}: {cause}"))
            .help("end the program that listens there, or choose another address with --listen")
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Opens the store in a thread of its own, which then looks for new versions.
fn open(
    (store, options, counter): (Store, OnlineOptions, Option<CopyCounter>),
    service: Arc<Service>,
    tell: Sender<Event>,
) -> Result<()> {
    let open = move || {
        identity::locks().clone().enter();
        let online = match Online::open(store, options) {
            Ok(online) => Arc::new(online),
            Err(error) => return drop(tell.send(Event::Failed(error))),
        };
        finish(&online);
        let mut counted = service.count_copies(counter.as_ref(), &online);
        let _ = service.online.set(Arc::clone(&online));
        let _ = tell.send(Event::Open);
        loop {
            thread::sleep(REFRESH);
            // The service is alive, though it may have nothing to do.
            progress::tick(Activity::Reading);
            finish(&online);
            service.note(online.refresh(), &online);
            if counted != online.version().number() {
                counted = service.count_copies(counter.as_ref(), &online);
            }
        }
    };
    let thread = thread::Builder::new().name("store".into()).spawn(open);
    thread.map(drop).map_err(|cause| Error::system("cannot start a thread", &cause))
}

/// Finishes commits that were begun, if there are any and nobody else is changing the store.
fn finish(online: &Online) {
    match online.finish_commits() {
        Ok(0) => {}
        Ok(_) => tracing::info!("a commit is finished; version {}", online.version().number()),
        Err(error) => tracing::warn!("a commit is not finished: {error}"),
    }
}

impl Arguments {
    fn open_store(&self, path: &Path) -> Result<Store> {
        if self.create {
            return Store::init(path).map(|(store, _)| store);
        }
        Store::open(path).map_err(|error| match error.kind() {
            Kind::Missing => error.help("correct the path; or make a store there with --create"),
            _ => error,
        })
    }

    /// The recipe of the store, with the bands and digests that it keeps.
    fn recipe_of(&self, store: &Store, version: &Version) -> Result<Recipe> {
        let settings = RecipeSettings {
            preset: self.preset,
            recipe: self.recipe.clone(),
            width: self.width,
            boilerplate: self.lookup.boilerplate.clone(),
            ..RecipeSettings::default()
        };
        let pages = PageSettings::default();
        match version.stamp() {
            Some(stamp) => {
                recipe::whole(stamp, &settings, &pages).map_err(|it| it.at(store.path()))
            }
            None => settings.recipe(&pages),
        }
    }

    fn options(
        &self,
        version: &Version,
        recipe: &Recipe,
        global: &GlobalFlags,
    ) -> Result<OnlineOptions> {
        let stamp = recipe.stamp();
        let lookup = self.lookup.options(self.preset, Some(stamp.as_str()))?;
        let mut options = OnlineOptions::of(recipe, lookup);
        options.segment = Fingerprinting::columns(recipe)?;
        options.segment.stamp = version.stamp().unwrap_or(stamp.as_str()).to_owned();
        options.limit = self.limits.limit;
        options.most_answer_bytes = self.limits.max_answer;
        options.most_journal_bytes = self.limits.max_journal as u64;
        options.budget = global.budget();
        options.workers = global.workers(1);
        let config = global.config()?;
        options.adds_dropped = config.add == Add::All;
        options.hides_replaced = config.store.replaced == Replaced::Hide;
        Ok(options)
    }

    fn service(
        &self,
        recipe: Recipe,
        token: Option<Secret>,
        global: &GlobalFlags,
    ) -> Result<Service> {
        let limits = self.limits;
        let pool = Pool::start(global.workers(1), limits.max_requests, &recipe)?;
        let (flags, days, versions) = (global.clone(), self.keep_days, self.keep_versions);
        Ok(Service {
            online: OnceLock::new(),
            counted: ArcSwapOption::empty(),
            trouble: ArcSwapOption::empty(),
            recipe,
            limits,
            token,
            requests: Semaphore::new(limits.max_requests),
            memory: Memory::new(limits.max_in_flight),
            commits: Arc::new(Semaphore::new(1)),
            pool,
            metrics: Metrics::default(),
            keep_up: Box::new(move |online| {
                let store = online.store();
                let expired = days.map_or(Ok(0), |days| expire_days(store, days));
                let kept = expired.and_then(|_| keep_up(store, true, versions, &flags));
                if let Err(error) = kept {
                    tracing::warn!("the day is in the store, which could not be tidied: {error}");
                }
            }),
        })
    }
}

impl Service {
    /// Notes what became of the look at the store: a new version, or none, or that the store is gone or damaged, and nothing
    /// can be answered until it is back. The same trouble is logged once.
    fn note(&self, refreshed: Result<bool>, online: &Online) {
        let is_new = match refreshed {
            Ok(is_new) => is_new,
            Err(error) if matches!(error.kind(), Kind::Missing | Kind::BadData) => {
                let told = Some(Arc::new(error.to_string()));
                if self.trouble.swap(told.clone()) != told {
                    tracing::error!("nothing is answered until the store can be read: {error}");
                }
                return;
            }
            Err(error) => {
                return tracing::warn!("the version before goes on to answer: {error}");
            }
        };
        if self.trouble.swap(None).is_some() {
            tracing::info!("the store can be read again");
        }
        if is_new {
            tracing::info!("version {} answers", online.version().number());
        }
    }

    /// Counts the copies of the pages of the version that answers, if that is asked for. Returns the number of the version.
    fn count_copies(&self, counter: Option<&CopyCounter>, online: &Online) -> u64 {
        let version = online.version();
        let count = |counter: &CopyCounter| counter.count(&version, self.counted.load().as_deref());
        match counter.map(count).transpose() {
            Ok(Some(Some(counted))) => self.counted.store(Some(Arc::new(counted))),
            Ok(_) => {}
            Err(error) => tracing::warn!("the copies of the pages are not counted anew: {error}"),
        }
        version.number()
    }

    fn closing(&self, store: &std::path::Path) -> Summary {
        let left = self.online.get().map_or(0, |online| online.journal().pages());
        let [asked, remembered, commits] =
            [&self.metrics.asked, &self.metrics.remembered, &self.metrics.commits]
                .map(|it| it.load(Ordering::Relaxed));
        let journal = format!("{} in the journal, for the next start", counted(left, "page(s)"));
        let journal = (left > 0).then_some(journal);
        Summary::new()
            .count("asked", asked)
            .count("remembered", remembered)
            .count("commits", commits)
            .count("journal_pages", left)
            .path("store", store)
            .say(format!(
                "{} asked for, {remembered} sent to be remembered, {} committed",
                counted(asked, "page(s)"),
                counted(commits, "day(s)")
            ))
            .say_if(journal)
    }
}
