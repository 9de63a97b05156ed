#include "http/response_framing.h"

#include "http/response_head.h"
#include "http/status.h"

/* RFC 9110, section 15.3.6: a 205 has no content, and its Content-Length is 0. */
static bool has_no_content(const struct uw_http_response *response)
{
    return response->tunnel || response->to_head || uw_http_bodiless(response->status) || response->status == 205;
}

bool uw_http_frames_content(const struct uw_http_response *response)
{
    return !has_no_content(response) && !response->has_coding && !response->hijacked;
}

static enum uw_http_framing choose_framing(const struct uw_http_response *response)
{
    if (has_no_content(response))
        return UW_FRAMING_NONE;
    if (!uw_http_frames_content(response))
        return UW_FRAMING_UNTOUCHED;
    if (response->has_length)
        return UW_FRAMING_SIZED;
    return response->version >= UW_HTTP_1_1 ? UW_FRAMING_CHUNKED : UW_FRAMING_TO_CLOSE;
}

/* Returns true if the connection must end with the response. Otherwise the client might not find the end of the
 * response. Content that the application frames could contain a second end. */
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
    response->framing = choose_framing(response);
    response->keep_alive = may_keep_alive && !ends_connection(response);
}

/* RFC 9110, section 8.6: a 1xx, a 204 and a tunnel have no Content-Length. */
bool uw_http_tells_length(const struct uw_http_response *response)
{
    bool allowed = response->status >= 200 && response->status != 204 && !response->has_coding && !response->tunnel;

    return allowed && response->has_length;
}
