/* Numbers of the known header fields. A perfect hash finds a number by name, case-insensitively. */
#ifndef UW_HTTP_KNOWN_FIELDS_H
#define UW_HTTP_KNOWN_FIELDS_H

#include <stddef.h>

/* Each line has a constant and the canonical name. Run known_fields_perfect_hash.rb after a change. */
#define UW_HTTP_FIELDS(FIELD) \
    FIELD(HOST, "Host") \
    FIELD(CONNECTION, "Connection") \
    FIELD(CONTENT_LENGTH, "Content-Length") \
    FIELD(TRANSFER_ENCODING, "Transfer-Encoding") \
    FIELD(EXPECT, "Expect") \
    FIELD(UPGRADE, "Upgrade") \
    FIELD(ACCEPT, "Accept") \
    FIELD(ACCEPT_CHARSET, "Accept-Charset") \
    FIELD(ACCEPT_ENCODING, "Accept-Encoding") \
    FIELD(ACCEPT_LANGUAGE, "Accept-Language") \
    FIELD(ACCESS_CONTROL_REQUEST_HEADERS, "Access-Control-Request-Headers") \
    FIELD(ACCESS_CONTROL_REQUEST_METHOD, "Access-Control-Request-Method") \
    FIELD(AUTHORIZATION, "Authorization") \
    FIELD(BAGGAGE, "Baggage") \
    FIELD(CACHE_CONTROL, "Cache-Control") \
    FIELD(CDN_LOOP, "CDN-Loop") \
    FIELD(CONTENT_ENCODING, "Content-Encoding") \
    FIELD(CONTENT_LANGUAGE, "Content-Language") \
    FIELD(CONTENT_TYPE, "Content-Type") \
    FIELD(COOKIE, "Cookie") \
    FIELD(DATE, "Date") \
    FIELD(DNT, "DNT") \
    FIELD(FORWARDED, "Forwarded") \
    FIELD(FROM, "From") \
    FIELD(IDEMPOTENCY_KEY, "Idempotency-Key") \
    FIELD(IF_MATCH, "If-Match") \
    FIELD(IF_MODIFIED_SINCE, "If-Modified-Since") \
    FIELD(IF_NONE_MATCH, "If-None-Match") \
    FIELD(IF_RANGE, "If-Range") \
    FIELD(IF_UNMODIFIED_SINCE, "If-Unmodified-Since") \
    FIELD(KEEP_ALIVE, "Keep-Alive") \
    FIELD(LAST_EVENT_ID, "Last-Event-ID") \
    FIELD(MAX_FORWARDS, "Max-Forwards") \
    FIELD(ORIGIN, "Origin") \
    FIELD(PRAGMA, "Pragma") \
    FIELD(PREFER, "Prefer") \
    FIELD(PRIORITY, "Priority") \
    FIELD(PROXY_AUTHORIZATION, "Proxy-Authorization") \
    FIELD(PROXY_CONNECTION, "Proxy-Connection") \
    FIELD(PURPOSE, "Purpose") \
    FIELD(RANGE, "Range") \
    FIELD(REFERER, "Referer") \
    FIELD(SAVE_DATA, "Save-Data") \
    FIELD(SEC_CH_PREFERS_COLOR_SCHEME, "Sec-CH-Prefers-Color-Scheme") \
    FIELD(SEC_CH_UA, "Sec-CH-UA") \
    FIELD(SEC_CH_UA_ARCH, "Sec-CH-UA-Arch") \
    FIELD(SEC_CH_UA_BITNESS, "Sec-CH-UA-Bitness") \
    FIELD(SEC_CH_UA_FULL_VERSION_LIST, "Sec-CH-UA-Full-Version-List") \
    FIELD(SEC_CH_UA_MOBILE, "Sec-CH-UA-Mobile") \
    FIELD(SEC_CH_UA_MODEL, "Sec-CH-UA-Model") \
    FIELD(SEC_CH_UA_PLATFORM, "Sec-CH-UA-Platform") \
    FIELD(SEC_CH_UA_PLATFORM_VERSION, "Sec-CH-UA-Platform-Version") \
    FIELD(SEC_FETCH_DEST, "Sec-Fetch-Dest") \
    FIELD(SEC_FETCH_MODE, "Sec-Fetch-Mode") \
    FIELD(SEC_FETCH_SITE, "Sec-Fetch-Site") \
    FIELD(SEC_FETCH_USER, "Sec-Fetch-User") \
    FIELD(SEC_GPC, "Sec-GPC") \
    FIELD(SEC_PURPOSE, "Sec-Purpose") \
    FIELD(SEC_WEBSOCKET_EXTENSIONS, "Sec-WebSocket-Extensions") \
    FIELD(SEC_WEBSOCKET_KEY, "Sec-WebSocket-Key") \
    FIELD(SEC_WEBSOCKET_PROTOCOL, "Sec-WebSocket-Protocol") \
    FIELD(SEC_WEBSOCKET_VERSION, "Sec-WebSocket-Version") \
    FIELD(TE, "TE") \
    FIELD(TRACEPARENT, "Traceparent") \
    FIELD(TRACESTATE, "Tracestate") \
    FIELD(TRAILER, "Trailer") \
    FIELD(UPGRADE_INSECURE_REQUESTS, "Upgrade-Insecure-Requests") \
    FIELD(USER_AGENT, "User-Agent") \
    FIELD(VIA, "Via") \
    FIELD(X_ACCEL_MAPPING, "X-Accel-Mapping") \
    FIELD(X_AMZN_TRACE_ID, "X-Amzn-Trace-Id") \
    FIELD(X_API_KEY, "X-API-Key") \
    FIELD(X_CORRELATION_ID, "X-Correlation-ID") \
    FIELD(X_CSRF_TOKEN, "X-CSRF-Token") \
    FIELD(X_FORWARDED_FOR, "X-Forwarded-For") \
    FIELD(X_FORWARDED_HOST, "X-Forwarded-Host") \
    FIELD(X_FORWARDED_PORT, "X-Forwarded-Port") \
    FIELD(X_FORWARDED_PREFIX, "X-Forwarded-Prefix") \
    FIELD(X_FORWARDED_PROTO, "X-Forwarded-Proto") \
    FIELD(X_FORWARDED_SCHEME, "X-Forwarded-Scheme") \
    FIELD(X_FORWARDED_SERVER, "X-Forwarded-Server") \
    FIELD(X_FORWARDED_SSL, "X-Forwarded-Ssl") \
    FIELD(X_HTTP_METHOD_OVERRIDE, "X-HTTP-Method-Override") \
    FIELD(X_REAL_IP, "X-Real-IP") \
    FIELD(X_REQUESTED_WITH, "X-Requested-With") \
    FIELD(X_REQUEST_ID, "X-Request-ID") \
    FIELD(X_REQUEST_START, "X-Request-Start") \
    FIELD(X_SENDFILE_TYPE, "X-Sendfile-Type")

enum uw_http_field {
    UW_FIELD_OTHER,
#define UW_FIELD_CONSTANT(constant, name) UW_FIELD_##constant,
    UW_HTTP_FIELDS(UW_FIELD_CONSTANT)
#undef UW_FIELD_CONSTANT
        UW_FIELD_COUNT
};

/* Returns the field with this name, compared case-insensitively, or UW_FIELD_OTHER for an unknown name. */
enum uw_http_field uw_http_field_find(const char *name, size_t length);

/* Returns the canonical name, or NULL for UW_FIELD_OTHER. */
const char *uw_http_field_name(enum uw_http_field field);

#endif
