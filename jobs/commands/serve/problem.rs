//! Problem documents (RFC 9457): every answer that is not a success, and the one place where an error of the library
//! becomes one.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use dupsieve::online::requests::Wrong;
use dupsieve::{Error, Kind};
use serde::Serialize;

const RETRY_SECONDS: &str = "1";

/// Declares the faults: of each the name at the end of its type, its status and its title.
macro_rules! faults {
    ($($Fault:ident($name:literal, $STATUS:ident, $title:literal),)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fault {
            $($Fault,)*
        }

        impl Fault {
            fn parts(self) -> (&'static str, StatusCode, &'static str) {
                match self {
                    $(Fault::$Fault => ($name, StatusCode::$STATUS, $title),)*
                }
            }
        }
    };
}

faults! {
    BadRequest("bad-request", BAD_REQUEST, "The request asks for something that cannot be done"),
    BadJson("bad-json", BAD_REQUEST, "The body is not the JSON that this path takes"),
    Unauthorised("unauthorised", UNAUTHORIZED, "The token is missing or wrong"),
    Forbidden("forbidden", FORBIDDEN, "The request comes from where the service does not answer"),
    NotFound("not-found", NOT_FOUND, "There is no such path"),
    MethodNotAllowed("method-not-allowed", METHOD_NOT_ALLOWED, "This path takes another method"),
    TimedOut("timed-out", REQUEST_TIMEOUT, "The body did not arrive in time"),
    Conflict("conflict", CONFLICT, "The store has something else there already"),
    TooLarge("too-large", PAYLOAD_TOO_LARGE, "The request is larger than allowed"),
    UnsupportedMediaType(
        "unsupported-media-type",
        UNSUPPORTED_MEDIA_TYPE,
        "The body must be application/json, as it is"
    ),
    BadPage("bad-page", UNPROCESSABLE_ENTITY, "A page cannot be taken as it is"),
    Internal("internal", INTERNAL_SERVER_ERROR, "The service has failed"),
    NotReady("not-ready", SERVICE_UNAVAILABLE, "The store is being opened"),
    Overloaded("overloaded", SERVICE_UNAVAILABLE, "There is too much to do at the moment"),
    Unavailable("unavailable", SERVICE_UNAVAILABLE, "This cannot be done at the moment"),
}

#[derive(Clone, Debug)]
pub(super) struct Problem {
    fault: Fault,
    detail: String,
}

#[derive(Serialize)]
struct ProblemBody<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
}

impl Problem {
    pub(super) fn new(fault: Fault, detail: impl Into<String>) -> Problem {
        Problem { fault, detail: detail.into() }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.fault.parts().1
    }

    pub(super) fn to_json(&self) -> String {
        let (name, status, title) = self.fault.parts();
        let body = ProblemBody {
            kind: format!("urn:dupsieve:problem:{name}"),
            title,
            status: status.as_u16(),
            detail: &self.detail,
        };
        serde_json::to_string(&body).expect("a problem is plain data")
    }
}

impl From<Wrong> for Problem {
    fn from(wrong: Wrong) -> Problem {
        match wrong {
            Wrong::Json(told) => Problem::new(Fault::BadJson, told),
            Wrong::TooLarge(told) => Problem::new(Fault::TooLarge, told),
            Wrong::Page(told) => Problem::new(Fault::BadPage, told),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let fault = match error.kind() {
            Kind::Usage => Fault::BadRequest,
            Kind::Exists => Fault::Conflict,
            Kind::Temporary | Kind::Unavailable | Kind::Io => Fault::Unavailable,
            _ => Fault::Internal,
        };
        if fault != Fault::BadRequest {
            tracing::warn!("{error}");
        }
        let mut detail = error.to_string();
        // A request has this setting alone.
        if error.remedy().settings.iter().any(|setting| setting == "confirm-day") {
            detail += " (\"confirm_day\": true)";
        }
        Problem::new(fault, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = Response::new(Body::from(self.to_json()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
