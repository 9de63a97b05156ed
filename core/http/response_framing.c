#include "http/response_framing.h"

#include "http/response_head.h"
#include "http/status.h"

/* A 205 has no content, and its Content-Length says so (RFC 9110, section 15.3.6). */
static bool bodiless(const struct uw_http_response *response)
{
    return response->tunnel || response->to_head || uw_http_bodiless(response->status) || response->status == 205;
}

bool uw_http_frames_content(const struct uw_http_response *response)
{
    return !bodiless(response) && !response->has_coding && !response->hijacked;
}

static enum uw_http_framing choose(const struct uw_http_response *response)
{
    if (bodiless(response))
        return UW_FRAMING_NONE;
    if (!uw_http_frames_content(response))
        return UW_FRAMING_UNTOUCHED;
    if (response->has_length)
        return UW_FRAMING_SIZED;
    return response->version >= UW_HTTP_1_1 ? UW_FRAMING_CHUNKED : UW_FRAMING_TO_CLOSE;
}

/* Returns whether the connection must end with the response. Otherwise the client could not see the response's end, or
 * could see another end in a body that the application framed. */
static bool ends_connection(const struct uw_http_response *response)
{
    return response->close || response->tunnel || response->hijacked || response->status == 101 ||
           response->framing == UW_FRAMING_TO_CLOSE || response->framing == UW_FRAMING_UNTOUCHED;
}

void uw_http_frame(struct uw_http_response *response, bool may_keep_alive)
{
    if (response->status == 205) {
        response->has_length = true;
        response->length = 0;
    }
    response->framing = choose(response);
    response->keep_alive = may_keep_alive && !ends_connection(response);
}

/* Returns whether the response has a Content-Length. A 1xx, a 204 and a tunnel have none (RFC 9110, section 8.6). */
bool uw_http_tells_length(const struct uw_http_response *response)
{
    bool allowed = response->status >= 200 && response->status != 204 && !response->has_coding && !response->tunnel;

    return allowed && response->has_length;
}
