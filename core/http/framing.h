/* How a response's end is told, and whether its connection goes on: decided once, from what is known of the response
 * (RFC 9112, section 6; RFC 9110, sections 6.4.1 and 8.6). */
#ifndef UW_HTTP_FRAMING_H
#define UW_HTTP_FRAMING_H

#include <stdbool.h>

struct uw_http_response;

enum uw_http_framing {
    UW_FRAMING_NONE,      /* no content */
    UW_FRAMING_SIZED,     /* content of a known length */
    UW_FRAMING_CHUNKED,   /* in pieces, until the last is told */
    UW_FRAMING_TO_CLOSE,  /* ended by closing: HTTP/1.0 */
    UW_FRAMING_UNTOUCHED, /* by the application, in a way that is not known here */
};

/* Whether there is content, and the server is to frame it. */
bool uw_http_frames_content(const struct uw_http_response *response);

/* Decides `framing` and `keep_alive`, when all the rest is known. `may_keep_alive`: as far as the request and the
 * server are concerned. */
void uw_http_frame(struct uw_http_response *response, bool may_keep_alive);

/* Whether the response has a Content-Length. */
bool uw_http_tells_length(const struct uw_http_response *response);

/* Whether the client can tell a response that was cut from a whole one, however the connection ends. */
static inline bool uw_http_framing_shows_end(enum uw_http_framing framing)
{
    return framing == UW_FRAMING_SIZED || framing == UW_FRAMING_CHUNKED;
}

#endif
