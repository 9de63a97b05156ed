#include "server/access.h"

static struct uw_access_text text(const struct uw_request *request, struct uw_http_slice slice)
{
    return (struct uw_access_text){uw_request_text(request, slice), slice.length};
}

static struct uw_access_text field(const struct uw_request *request, enum uw_http_field field)
{
    for (uint32_t i = 0; i < request->head.header_count; i++)
        if (request->head.headers[i].field == field)
            return text(request, request->head.headers[i].value);
    return (struct uw_access_text){"", 0};
}

struct uw_access uw_access(const struct uw_request *request, int status, int64_t bytes)
{
    return (struct uw_access){
        .time = time(NULL),
        .remote = uw_request_remote(request),
        .method = text(request, request->head.method_name),
        .target = text(request, request->head.target),
        .referer = field(request, UW_FIELD_REFERER),
        .user_agent = field(request, UW_FIELD_USER_AGENT),
        .version_minor = request->head.version_minor,
        .status = status,
        .bytes = bytes,
    };
}
