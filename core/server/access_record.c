#include "server/access_record.h"

static struct uw_access_text text(const struct uw_request *request, struct uw_http_slice slice)
{
    return (struct uw_access_text){uw_request_text(request, slice), slice.length};
}

static struct uw_access_text field(const struct uw_request *request, enum uw_http_field field)
{
    for (uint32_t i = 0; i < request->head.header_count; i++)
        if (uw_http_header(&request->head, i)->field == field)
            return text(request, uw_http_header(&request->head, i)->value);
    return (struct uw_access_text){"", 0};
}

struct uw_access_record uw_access_record(const struct uw_request *request, int status, int64_t bytes)
{
    return (struct uw_access_record){
        .time = time(NULL),
        .remote = uw_request_remote(request),
        .method = text(request, request->head.method_name),
        .target = text(request, request->head.target),
        .referer = field(request, UW_FIELD_REFERER),
        .user_agent = field(request, UW_FIELD_USER_AGENT),
        .version = request->head.version,
        .status = status,
        .bytes = bytes,
    };
}
