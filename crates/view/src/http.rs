//! Answers: ranges of bytes, entity tags, errors as JSON.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use std::ops::Range;

pub(crate) type Answer = Response<Body>;

/// An answer of bytes.
pub(crate) fn bytes(status: StatusCode, mime: &'static str, body: impl Into<Body>) -> Answer {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(mime));
    answer
}

/// An answer of JSON that is never kept: it tells how things are now.
pub(crate) fn json(status: StatusCode, value: &serde_json::Value) -> Answer {
    let mut answer = bytes(status, "application/json", value.to_string());
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// An error that the page can show.
pub(crate) fn error(status: StatusCode, message: impl ToString) -> Answer {
    json(status, &serde_json::json!({ "error": message.to_string() }))
}

/// Headers that every answer has: nothing is guessed, nothing is told to other sites, nothing of other sites is loaded.
pub(crate) fn protect(answer: &mut Answer) {
    const HEADERS: [(&str, &str); 4] = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "content-security-policy",
            "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        ),
    ];
    for (name, value) in HEADERS {
        answer.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

/// What a `Range` header asks of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All of it: no range, several, or one that is not understood.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Nothing that is there.
    Outside,
}

/// Reads a `Range` header for a body of `length` bytes.
pub(crate) fn asked(headers: &HeaderMap, length: u64) -> Asked {
    let Some(range) = headers
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("bytes="))
    else {
        return Asked::Whole;
    };
    let Some((first, last)) = range.split_once('-') else { return Asked::Whole };
    let (first, last) = (first.trim(), last.trim());
    let range = if first.is_empty() {
        let Ok(count) = last.parse::<u64>() else { return Asked::Whole };
        length.saturating_sub(count)..length
    } else {
        let Ok(first) = first.parse::<u64>() else { return Asked::Whole };
        let last = match last {
            "" => Some(u64::MAX),
            last => last.parse::<u64>().ok(),
        };
        match last {
            Some(last) if last >= first => first..last.saturating_add(1).min(length),
            _ => return Asked::Whole,
        }
    };
    if range.start < range.end { Asked::Part(range) } else { Asked::Outside }
}

/// Does the client have this version already?
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| one.trim() == tag || one.trim() == "*")
}

pub(crate) fn not_modified(tag: &str) -> Answer {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NOT_MODIFIED;
    set_tag(&mut answer, tag);
    answer
}

/// The client may keep the answer but asks each time whether it still holds.
pub(crate) fn set_tag(answer: &mut Answer, tag: &str) {
    if let Ok(value) = HeaderValue::from_str(tag) {
        answer.headers_mut().insert(header::ETAG, value);
    }
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    answer.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
}

/// 206 with these bytes of `length`.
pub(crate) fn partial(mime: &'static str, range: &Range<u64>, length: u64, body: impl Into<Body>) -> Answer {
    let mut answer = bytes(StatusCode::PARTIAL_CONTENT, mime, body);
    let text = format!("bytes {}-{}/{length}", range.start, range.end - 1);
    if let Ok(value) = HeaderValue::from_str(&text) {
        answer.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    answer
}

/// 416: the range is outside.
pub(crate) fn outside(length: u64) -> Answer {
    let mut answer = error(StatusCode::RANGE_NOT_SATISFIABLE, format!("there are {length} bytes"));
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{length}")) {
        answer.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_rfc_9110_says() {
        let ask = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_str(text).unwrap());
            asked(&headers, 100)
        };
        assert_eq!(ask("bytes=0-9"), Asked::Part(0..10));
        assert_eq!(ask("bytes=90-"), Asked::Part(90..100));
        assert_eq!(ask("bytes=90-500"), Asked::Part(90..100));
        assert_eq!(ask("bytes=-5"), Asked::Part(95..100));
        assert_eq!(ask("bytes=-500"), Asked::Part(0..100));
        assert_eq!(ask("bytes=100-"), Asked::Outside);
        assert_eq!(ask("bytes=-0"), Asked::Outside);
        for not_understood in
            ["bytes=9-0", "bytes=0-1,5-6", "lines=1-2", "bytes=x-", "bytes=5-18446744073709551616"]
        {
            assert_eq!(ask(not_understood), Asked::Whole, "{not_understood}");
        }
        assert_eq!(ask("bytes=0-18446744073709551615"), Asked::Part(0..100));
    }
}
