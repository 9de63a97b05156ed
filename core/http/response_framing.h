/* Decides how a response marks its end, and whether its connection persists (RFC 9112, section 6; RFC 9110,
 * sections 6.4.1 and 8.6). */
#ifndef UW_HTTP_RESPONSE_FRAMING_H
#define UW_HTTP_RESPONSE_FRAMING_H

#include <stdbool.h>

struct uw_http_response;

enum uw_http_framing {
    UW_FRAMING_NONE,      /* the response has no content */
    UW_FRAMING_SIZED,     /* Content-Length ends the content */
    UW_FRAMING_CHUNKED,   /* the last chunk ends the content */
    UW_FRAMING_TO_CLOSE,  /* the end of the connection ends the content (HTTP/1.0) */
    UW_FRAMING_UNTOUCHED, /* the application frames the content in a transfer coding or protocol of its own */
};

/* Returns true if the server must frame the content of the response. Returns false without content. */
bool uw_http_frames_content(const struct uw_http_response *response);

/* Sets `framing` and `keep_alive`. All other members must be set before. `may_keep_alive`: the request and the server
 * permit a persistent connection. */
void uw_http_frame(struct uw_http_response *response, bool may_keep_alive);

/* Returns true if the response has a Content-Length. */
bool uw_http_tells_length(const struct uw_http_response *response);

/* Returns true if the client can detect a truncated response, however the connection ends. */
static inline bool uw_http_framing_shows_end(enum uw_http_framing framing)
{
    return framing == UW_FRAMING_SIZED || framing == UW_FRAMING_CHUNKED;
}

#endif
