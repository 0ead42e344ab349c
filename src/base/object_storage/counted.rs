//! HTTP as the clients of object stores speak it, counted for the [bill](super::Bill).

use std::pin::Pin;

use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};

use super::bill::{Request, count};
use super::failure::is_for_credentials;

#[derive(Debug)]
pub(super) struct Counted;

#[derive(Debug)]
struct Counting(HttpClient);

type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpConnector for Counted {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Counting(ReqwestConnector::default().connect(options)?)))
    }
}

impl HttpService for Counting {
    fn call<'s, 'a>(&'s self, request: HttpRequest) -> Answer<'a>
    where
        's: 'a,
    {
        Box::pin(async move {
            let Some(kind) = kind(&request) else { return self.0.execute(request).await };
            count(kind, 1, request.body().content_length() as u64);
            let (parts, body) = self.0.execute(request).await?.into_parts();
            let body = body.map_frame(move |frame| {
                count(kind, 0, frame.data_ref().map_or(0, |data| data.len() as u64));
                frame
            });
            Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
        })
    }
}

fn kind(request: &HttpRequest) -> Option<Request> {
    let (url, query) = (request.uri(), request.uri().query().unwrap_or_default());
    let asks = |word: &str| {
        query.split('&').any(|part| part == word || part.starts_with(&format!("{word}=")))
    };
    Some(match request.method().as_str() {
        _ if is_for_credentials(&url.to_string()) => return None,
        "GET" if asks("list-type") || asks("comp=list") => Request::List,
        "GET" => Request::Get,
        "HEAD" => Request::Head,
        "DELETE" => Request::Delete,
        "POST" if asks("delete") || asks("comp=batch") => Request::Delete,
        _ => Request::Put,
    })
}
