//! The server: addresses, the token, and what each address answers.

use crate::http::{self, Answer, Asked};
use crate::launch::Launcher;
use crate::runs::{FrameProblem, KnownRun, Runs};
use crate::{bundle, thumbnails};
use axum::Router;
use axum::extract::{Path as FromPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::routing::{get, post};
use serde_json::json;
use splashdown_scene::run_folder::Layout;
use splashdown_scene::storage;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the server is set up.
#[derive(Debug)]
pub struct Options {
    /// Address to listen on; loopback unless others shall see it too.
    pub bind: IpAddr,
    /// Port; 0 takes a free one.
    pub port: u16,
    /// The run to show; `None` opens the start page.
    pub run: Option<PathBuf>,
    /// Starts scenes from the start page, if that is allowed.
    pub launcher: Option<Launcher>,
    /// Token of the address; `None` makes a random one. Tests give it.
    pub token: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { bind: Ipv4Addr::LOCALHOST.into(), port: 0, run: None, launcher: None, token: None }
    }
}

/// A viewer that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The folder is not that of a run.
    #[error("{} is not the folder of a run (it has no run.json)", .0.display())]
    NotARun(PathBuf),
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        cause: std::io::Error,
    },
    /// The system has no random numbers.
    #[error("no random numbers for the token: {0}")]
    Random(getrandom::Error),
    /// The server stopped.
    #[error("the server stopped: {0}")]
    Serve(std::io::Error),
}

/// A server that listens, ready to [`serve`](Server::serve).
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    app: Arc<App>,
    address: SocketAddr,
}

#[derive(Debug)]
struct App {
    token: String,
    runs: Runs,
    launcher: Option<Launcher>,
    /// Number of the run that the page opens with.
    opens: Option<usize>,
}

impl Server {
    /// Listens; nothing is answered before [`serve`](Self::serve).
    ///
    /// # Errors
    /// A folder that is not a run's, an address that cannot be listened on.
    pub fn open(options: Options) -> Result<Self, ViewError> {
        let runs = Runs::default();
        let opens = match &options.run {
            Some(path) if !Layout::new(path.as_path()).is_run() => {
                return Err(ViewError::NotARun(path.clone()));
            }
            Some(path) => Some(runs.add(path)),
            None => None,
        };
        let token = match options.token {
            Some(token) => token,
            None => random_token()?,
        };
        let address = SocketAddr::new(options.bind, options.port);
        let listen = |cause| ViewError::Listen { address, cause };
        let listener = std::net::TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let app = Arc::new(App { token, runs, launcher: options.launcher, opens });
        Ok(Self { listener, app, address })
    }

    /// What to open in a browser.
    pub fn url(&self) -> String {
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
            ip => ip,
        };
        let host = SocketAddr::new(host, self.address.port());
        match self.app.opens {
            Some(id) => format!("http://{host}/{}/#run={id}", self.app.token),
            None => format!("http://{host}/{}/", self.app.token),
        }
    }

    /// Answers until the program ends.
    ///
    /// # Errors
    /// The listener fails.
    pub fn serve(self) -> Result<(), ViewError> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(ViewError::Serve)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(ViewError::Serve)?;
            axum::serve(listener, router(self.app)).await.map_err(ViewError::Serve)
        })
    }
}

fn random_token() -> Result<String, ViewError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(ViewError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

type Shared = State<Arc<App>>;

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/{token}/", get(page))
        .route("/{token}/assets/{name}", get(asset))
        .route("/{token}/thumbnails/{name}", get(thumbnail))
        .route("/{token}/api/start", get(start))
        .route("/{token}/api/scenes/{name}/run", post(run_scene))
        .route("/{token}/api/runs/{id}", get(describe))
        .route("/{token}/api/runs/{id}/stop", post(stop))
        .route("/{token}/api/runs/{id}/log", get(log))
        .route("/{token}/api/runs/{id}/timings", get(timings))
        .route("/{token}/api/runs/{id}/scene", get(scene))
        .route("/{token}/api/runs/{id}/frames/{index}", get(frame))
        .fallback(async || http::error(StatusCode::NOT_FOUND, "there is nothing at this address"))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), admit))
        .with_state(app)
}

/// Only who knows the token gets in; the comparison takes as long for every wrong one.
async fn admit(State(app): Shared, request: Request, next: Next) -> Answer {
    let given = request.uri().path().split('/').nth(1).unwrap_or_default().as_bytes();
    let wanted = app.token.as_bytes();
    let differences = given.iter().zip(wanted).fold(0, |sum, (a, b)| sum | (a ^ b));
    let mut answer = if given.len() == wanted.len() && differences == 0 {
        next.run(request).await
    } else {
        http::error(StatusCode::FORBIDDEN, "wrong token; use the address that splashdown printed")
    };
    http::protect(&mut answer);
    answer
}

/// Files are read and frames unpacked off the thread that answers.
async fn away(work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(_) => http::error(StatusCode::INTERNAL_SERVER_ERROR, "this request failed inside the server"),
    }
}

async fn page() -> Answer {
    let mut answer = http::bytes(StatusCode::OK, "text/html; charset=utf-8", bundle::PAGE);
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

async fn asset(FromPath((_, name)): FromPath<(String, String)>) -> Answer {
    match bundle::asset(&name) {
        Some(asset) => {
            let mut answer = http::bytes(StatusCode::OK, asset.mime, asset.bytes);
            answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            answer
        }
        None => http::error(StatusCode::NOT_FOUND, "there is no such file"),
    }
}

async fn thumbnail(FromPath((_, name)): FromPath<(String, String)>) -> Answer {
    match name.strip_suffix(".jpg").and_then(thumbnails::of) {
        Some(picture) => http::bytes(StatusCode::OK, "image/jpeg", picture),
        None => http::error(StatusCode::NOT_FOUND, "there is no such picture"),
    }
}

async fn start(State(app): Shared) -> Answer {
    away(move || {
        if let Some(launcher) = &app.launcher {
            app.runs.add_all_in(launcher.folder());
        }
        let scenes: Vec<_> = splashdown_scene::shipped()
            .iter()
            .map(|scene| {
                json!({
                    "name": scene.name,
                    "dimension": scene.dimension,
                    "summary": scene.summary,
                    "picture": thumbnails::of(scene.name).is_some(),
                })
            })
            .collect();
        let runs: Vec<_> = app.runs.all().iter().enumerate().map(|(id, run)| run.describe(id)).collect();
        let version = splashdown_scene::run_folder::PROGRAM_VERSION;
        let told = json!({
            "version": version,
            "can_run": app.launcher.is_some(),
            "opens": app.opens,
            "scenes": scenes,
            "runs": runs,
        });
        http::json(StatusCode::OK, &told)
    })
    .await
}

async fn run_scene(State(app): Shared, FromPath((_, name)): FromPath<(String, String)>) -> Answer {
    away(move || {
        let Some(launcher) = &app.launcher else {
            return http::error(
                StatusCode::CONFLICT,
                "this viewer shows one run; `splashdown view` without a run starts scenes",
            );
        };
        let Some(scene) = splashdown_scene::find(&name) else {
            return http::error(StatusCode::NOT_FOUND, "there is no shipped scene of that name");
        };
        match launcher.start(scene.name) {
            Ok(path) => http::json(StatusCode::CREATED, &json!({ "id": app.runs.add(&path) })),
            Err(message) => http::error(StatusCode::CONFLICT, message),
        }
    })
    .await
}

fn known(app: &App, id: &str) -> Result<(usize, Arc<KnownRun>), Answer> {
    let found = id.parse::<usize>().ok().and_then(|id| Some((id, app.runs.get(id)?)));
    found.ok_or_else(|| http::error(StatusCode::NOT_FOUND, "there is no run of that number"))
}

async fn describe(State(app): Shared, FromPath((_, id)): FromPath<(String, String)>) -> Answer {
    away(move || match known(&app, &id) {
        Ok((id, run)) => {
            let mut told = run.describe(id);
            let ours = app.launcher.as_ref().is_some_and(|launcher| launcher.is_running(run.layout.root()));
            told["can_stop"] = ours.into();
            http::json(StatusCode::OK, &told)
        }
        Err(answer) => answer,
    })
    .await
}

async fn stop(State(app): Shared, FromPath((_, id)): FromPath<(String, String)>) -> Answer {
    away(move || match (known(&app, &id), &app.launcher) {
        (Ok((_, run)), Some(launcher)) if launcher.stop(run.layout.root()) => {
            http::json(StatusCode::OK, &json!({}))
        }
        (Ok(_), _) => http::error(StatusCode::CONFLICT, "this run was not started from the viewer"),
        (Err(answer), _) => answer,
    })
    .await
}

async fn scene(State(app): Shared, FromPath((_, id)): FromPath<(String, String)>) -> Answer {
    away(move || match known(&app, &id) {
        Ok((_, run)) => match run.file(run.layout.original_scene()).map(|path| storage::read(&path)) {
            Some(Ok(text)) => http::bytes(StatusCode::OK, "text/plain; charset=utf-8", text),
            Some(Err(error)) => http::error(StatusCode::NOT_FOUND, error),
            None => http::error(StatusCode::NOT_FOUND, "this run has no scene file"),
        },
        Err(answer) => answer,
    })
    .await
}

async fn frame(
    State(app): Shared,
    FromPath((_, id, index)): FromPath<(String, String, String)>,
    headers: HeaderMap,
) -> Answer {
    away(move || {
        let (id, run) = match known(&app, &id) {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let Ok(index) = index.parse::<u64>() else {
            return http::error(StatusCode::NOT_FOUND, "a frame has a number");
        };
        if let Some(tag) = run.tag(index).filter(|tag| http::is_known(&headers, tag)) {
            return http::not_modified(&tag);
        }
        let (packed, tag) = match app.runs.frame(id, &run, index) {
            Ok(found) => found,
            Err(problem) => {
                let status = match &problem {
                    FrameProblem::Missing(_) => StatusCode::NOT_FOUND,
                    FrameProblem::Unreadable { .. } => StatusCode::UNPROCESSABLE_ENTITY,
                    FrameProblem::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                };
                return http::error(status, problem);
            }
        };
        const MIME: &str = "application/octet-stream";
        let length = packed.len() as u64;
        let mut answer = match http::asked(&headers, length) {
            Asked::Whole => http::bytes(StatusCode::OK, MIME, packed.to_vec()),
            Asked::Part(range) => {
                let part = packed[range.start as usize..range.end as usize].to_vec();
                http::partial(MIME, &range, length, part)
            }
            Asked::Outside => return http::outside(length),
        };
        http::set_tag(&mut answer, &tag);
        answer
    })
    .await
}

/// Most of the log in one answer (bytes); the page asks again for the rest.
const LOG_BYTES: u64 = 4 << 20;

async fn log(
    State(app): Shared,
    FromPath((_, id)): FromPath<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    away(move || lines(&app, &id, &headers, Layout::log, "this run has no log")).await
}

async fn timings(
    State(app): Shared,
    FromPath((_, id)): FromPath<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    away(move || lines(&app, &id, &headers, Layout::timings, "this run has no times of stages")).await
}

/// A file of lines that grows while the run is computed.
fn lines(
    app: &App,
    id: &str,
    headers: &HeaderMap,
    file: fn(&Layout) -> PathBuf,
    missing: &'static str,
) -> Answer {
    let run = match known(app, id) {
        Ok((_, run)) => run,
        Err(answer) => return answer,
    };
    let Some(path) = run.file(file(&run.layout)) else {
        return http::error(StatusCode::NOT_FOUND, missing);
    };
    let length = std::fs::metadata(&path).map_or(0, |log| log.len());
    let range = match http::asked(headers, length) {
        Asked::Whole => 0..length,
        Asked::Part(range) => range,
        Asked::Outside => return http::outside(length),
    };
    let range = range.start..range.end.min(range.start + LOG_BYTES);
    if range.is_empty() {
        return http::bytes(StatusCode::OK, "application/jsonl", Vec::new());
    }
    match read_part(&path, range.start, range.end - range.start) {
        Ok(bytes) => {
            let mut answer = http::partial("application/jsonl", &range, length, bytes);
            answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            answer
        }
        Err(error) => http::error(StatusCode::NOT_FOUND, format!("the file cannot be read: {error}")),
    }
}

fn read_part(path: &Path, start: u64, count: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}
