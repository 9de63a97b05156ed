#include "static/static_handler.h"

#include <stdio.h>
#include <string.h>

#include "base/system.h"
#include "http/range.h"
#include "http/status.h"
#include "server/server.h"

#define ERROR_TEXT_BYTES_MAX 64

void uw_answer_begin(const struct uw_static *files, struct uw_response *response, struct uw_request *request,
                     int status)
{
    uw_response_begin(response, request, status);
    if (files->settings.fields)
        uw_response_put(response, files->settings.fields, strlen(files->settings.fields));
}

int uw_answer_find(struct uw_static *files, const struct uw_request *request, const char *path,
                   struct uw_resource **resource)
{
    return uw_file_cache_find(&files->cache, path, strlen(path), request->server_context->loop.now_ns, resource);
}

/* Returns the page for `status` in the root directory, or NULL. */
static struct uw_representation *error_page(struct uw_static *files, const struct uw_request *request, int status)
{
    const char *name = status == 404 ? "404.html" : status >= 500 ? "50x.html" : NULL;
    struct uw_resource *resource;

    if (!name || uw_answer_find(files, request, name, &resource))
        return NULL;
    return resource->representations[UW_CODING_IDENTITY];
}

static void put_page(struct uw_response *response, struct uw_representation *page)
{
    uw_response_put(response, page->text + page->type_start, page->head_end - page->type_start);
    if (!uw_answer_is_head(response->request))
        uw_response_put_content(response, page, 0, uw_representation_size(page));
}

static void put_error_text(struct uw_response *response)
{
    char text[ERROR_TEXT_BYTES_MAX];
    int length = snprintf(text, sizeof text, "%d %s\n", response->head.status, uw_http_reason(response->head.status));

    uw_response_put_field(response, "Content-Type", "text/plain");
    uw_response_end_head(response, length);
    if (uw_answer_is_head(response->request))
        return;
    uw_response_put(response, text, (size_t)length);
    response->content_bytes = length;
}

void uw_answer_failure(struct uw_static *files, struct uw_request *request, int status, const char *name,
                       const char *value)
{
    struct uw_representation *page = error_page(files, request, status);
    struct uw_response response;

    uw_answer_begin(files, &response, request, status);
    if (name)
        uw_response_put_field(&response, name, value);
    if (page)
        put_page(&response, page);
    else
        put_error_text(&response);
    uw_response_finish(&response);
}

void uw_answer_page(struct uw_static *files, struct uw_request *request, struct uw_representation *page)
{
    struct uw_response response;

    uw_answer_begin(files, &response, request, 200);
    put_page(&response, page);
    uw_response_finish(&response);
}

/* Returns the first line of the field, or NULL. */
static const struct uw_http_header *find_header(const struct uw_request *request, enum uw_http_field field)
{
    const struct uw_http_head *head = &request->head;

    for (uint32_t i = 0; i < head->header_count; i++)
        if (uw_http_header(head, i)->field == field)
            return uw_http_header(head, i);
    return NULL;
}

/* Returns the best coding that the client accepts, or -406. */
static int choose_coding(const struct uw_request *request, const struct uw_resource *resource)
{
    struct uw_http_accepted_codings accepted;

    if (resource->codings == UW_CODING_BIT(UW_CODING_IDENTITY))
        return UW_CODING_IDENTITY;
    uw_http_accepted_codings_init(&accepted);
    for (uint32_t i = 0; i < request->head.header_count; i++) {
        const struct uw_http_header *header = uw_http_header(&request->head, i);

        if (header->field == UW_FIELD_ACCEPT_ENCODING)
            uw_http_accepted_codings_add(&accepted, uw_request_text(request, header->value), header->value.length);
    }
    return uw_http_coding_choose(&accepted, resource->codings);
}

static void answer_not_modified(struct uw_static *files, struct uw_request *request,
                                const struct uw_representation *representation)
{
    struct uw_response response;

    uw_answer_begin(files, &response, request, 304);
    uw_response_put(&response, representation->text, representation->validators_end);
    uw_response_end_head(&response, -1);
    uw_response_finish(&response);
}

static void answer_whole(struct uw_static *files, struct uw_request *request, struct uw_representation *representation)
{
    struct uw_response response;

    uw_answer_begin(files, &response, request, 200);
    uw_response_put(&response, representation->text, representation->head_end);
    if (!uw_answer_is_head(request))
        uw_response_put_content(&response, representation, 0, uw_representation_size(representation));
    uw_response_finish(&response);
}

static void answer_range(struct uw_static *files, struct uw_request *request, struct uw_representation *representation,
                         const struct uw_http_range *range)
{
    char content_range[UW_HTTP_CONTENT_RANGE_BYTES_MAX];
    struct uw_response response;

    uw_http_content_range(content_range, range, uw_representation_size(representation));
    uw_answer_begin(files, &response, request, 206);
    uw_response_put(&response, representation->text, representation->type_end);
    uw_response_put_field(&response, "Content-Range", content_range);
    uw_response_end_head(&response, range->length);
    uw_response_put_content(&response, representation, range->first, range->length);
    uw_response_finish(&response);
}

static void put_multipart_head(struct uw_response *response, const struct uw_representation *representation,
                               const struct uw_http_multipart *multipart)
{
    char type[sizeof "multipart/byteranges; boundary=" + UW_HTTP_BOUNDARY_BYTES];

    snprintf(type, sizeof type, "multipart/byteranges; boundary=%s", multipart->boundary);
    uw_response_put(response, representation->text, representation->type_start);
    uw_response_put_field(response, "Content-Type", type);
    uw_response_end_head(response, uw_http_multipart_length(multipart));
}

static void answer_ranges(struct uw_static *files, struct uw_request *request, struct uw_representation *representation,
                          const struct uw_http_ranges *ranges, const uint64_t random[2])
{
    struct uw_http_multipart multipart;
    struct uw_response response;

    uw_http_multipart_init(&multipart, ranges, representation->type, random);
    uw_answer_begin(files, &response, request, 206);
    put_multipart_head(&response, representation, &multipart);
    for (int i = 0; i <= ranges->count; i++) {
        char part[UW_HTTP_PART_BYTES_MAX];

        uw_response_put(&response, part, uw_http_multipart_part(&multipart, i, part));
        if (i < ranges->count)
            uw_response_put_content(&response, representation, ranges->ranges[i].first, ranges->ranges[i].length);
    }
    response.content_bytes = uw_http_multipart_length(&multipart);
    uw_response_finish(&response);
}

static void refuse_range(struct uw_static *files, struct uw_request *request, int64_t size)
{
    char content_range[UW_HTTP_CONTENT_RANGE_BYTES_MAX];

    uw_http_content_range(content_range, NULL, size);
    uw_answer_failure(files, request, 416, "Content-Range", content_range);
}

/* Returns the number of requested ranges, 0 for the whole representation, or -416. */
static int read_ranges(const struct uw_request *request, const struct uw_representation *representation,
                       struct uw_http_ranges *ranges)
{
    const struct uw_http_header *range = uw_answer_is_head(request) ? NULL : find_header(request, UW_FIELD_RANGE);

    if (!range || !uw_http_if_range(&request->head, request->bytes, &representation->validators))
        return 0;
    return uw_http_ranges_parse(ranges, uw_request_text(request, range->value), range->value.length,
                                uw_representation_size(representation));
}

static void answer_content(struct uw_static *files, struct uw_request *request,
                           struct uw_representation *representation)
{
    struct uw_http_ranges ranges;
    int count = read_ranges(request, representation, &ranges);
    uint64_t random[2];

    if (count < 0)
        refuse_range(files, request, uw_representation_size(representation));
    else if (count == 1)
        answer_range(files, request, representation, &ranges.ranges[0]);
    else if (count > 1 && uw_random(random, sizeof random))
        answer_ranges(files, request, representation, &ranges, random);
    else
        answer_whole(files, request, representation);
}

void uw_answer_file(struct uw_static *files, struct uw_request *request, const struct uw_resource *resource)
{
    int coding = choose_coding(request, resource), status;
    struct uw_representation *representation;

    if (coding < 0) {
        uw_answer_failure(files, request, -coding, "Vary", "Accept-Encoding");
        return;
    }
    representation = resource->representations[coding];
    status = uw_http_precondition(&request->head, request->bytes, &representation->validators);
    if (status == 304)
        answer_not_modified(files, request, representation);
    else if (status)
        uw_answer_failure(files, request, status, NULL, NULL);
    else
        answer_content(files, request, representation);
}
