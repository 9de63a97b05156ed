#include "static/static.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "http/path.h"
#include "http/range.h"
#include "http/status.h"
#include "http/token.h"
#include "server/server.h"
#include "static/folder.h"
#include "static/response.h"

#define ALLOWED_METHODS "GET, HEAD, OPTIONS"
#define INDEX_NAME "index.html"
#define ERROR_TEXT_BYTES_MAX 64

static bool is_field_value(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (!uw_http_byte_is(text[i], UW_BYTE_VALUE))
            return false;
    return length <= UW_CACHE_CONTROL_BYTES_MAX;
}

int uw_static_open(struct uw_static *files, const struct uw_static_settings *settings)
{
    int error;

    if (settings->cache.cache_control && !is_field_value(settings->cache.cache_control))
        return -EINVAL;
    files->settings = *settings;
    files->root = open(settings->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (files->root < 0)
        return -errno;
    error = uw_file_cache_open(&files->cache, files->root, &settings->cache);
    if (error)
        close(files->root);
    return error;
}

void uw_static_close(struct uw_static *files)
{
    uw_file_cache_close(&files->cache);
    close(files->root);
}

static void finish(struct uw_static *files, struct uw_response *response)
{
    if (files->settings.answered)
        files->settings.answered(files->settings.answered_context, response);
    uw_response_finish(response);
}

static bool is_head(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_HEAD;
}

static int find_file(struct uw_static *files, const struct uw_request *request, const char *path,
                     struct uw_resource **resource)
{
    return uw_file_cache_find(&files->cache, path, strlen(path), request->server->loop.now_ns, resource);
}

/* The page of its own that the folder has for `status`, or NULL. */
static struct uw_representation *error_page(struct uw_static *files, const struct uw_request *request, int status)
{
    const char *name = status == 404 ? "404.html" : status >= 500 ? "50x.html" : NULL;
    struct uw_resource *resource;

    if (!name || find_file(files, request, name, &resource))
        return NULL;
    return resource->representations[UW_CODING_IDENTITY];
}

static void put_error_page(struct uw_response *response, struct uw_representation *page)
{
    uw_response_put(response, page->text + page->type_start, page->head_end - page->type_start);
    if (!is_head(response->request))
        uw_response_put_content(response, page, 0, uw_representation_size(page));
}

static void put_error_text(struct uw_response *response)
{
    char text[ERROR_TEXT_BYTES_MAX];
    int length = snprintf(text, sizeof text, "%d %s\n", response->status, uw_http_reason(response->status));

    uw_response_put_field(response, "Content-Type", "text/plain");
    uw_response_end_head(response, length);
    if (is_head(response->request))
        return;
    uw_response_put(response, text, (size_t)length);
    response->content_bytes = length;
}

/* `name` and `value` are of a further header field, or NULL. */
static void fail(struct uw_static *files, struct uw_request *request, int status, const char *name, const char *value)
{
    struct uw_representation *page = error_page(files, request, status);
    struct uw_response response;

    uw_response_begin(&response, request, status);
    if (name)
        uw_response_put_field(&response, name, value);
    if (page)
        put_error_page(&response, page);
    else
        put_error_text(&response);
    finish(files, &response);
}

static void answer_options(struct uw_static *files, struct uw_request *request)
{
    struct uw_response response;

    uw_response_begin(&response, request, 204);
    uw_response_put_field(&response, "Allow", ALLOWED_METHODS);
    uw_response_put(&response, "\r\n", 2);
    finish(files, &response);
}

/* The first field of that name. */
static const struct uw_http_header *find_header(const struct uw_request *request, enum uw_http_field field)
{
    const struct uw_http_head *head = &request->head;

    for (uint32_t i = 0; i < head->header_count; i++)
        if (head->headers[i].field == field)
            return &head->headers[i];
    return NULL;
}

/* The best coding that the client accepts, or -406. */
static int choose_coding(const struct uw_request *request, const struct uw_resource *resource)
{
    struct uw_http_accepted_codings accepted;

    if (resource->codings == UW_CODING_BIT(UW_CODING_IDENTITY))
        return UW_CODING_IDENTITY;
    uw_http_accepted_codings_init(&accepted);
    for (uint32_t i = 0; i < request->head.header_count; i++) {
        const struct uw_http_header *header = &request->head.headers[i];

        if (header->field == UW_FIELD_ACCEPT_ENCODING)
            uw_http_accepted_codings_add(&accepted, uw_request_text(request, header->value), header->value.length);
    }
    return uw_http_coding_choose(&accepted, resource->codings);
}

static void answer_not_modified(struct uw_static *files, struct uw_request *request,
                                const struct uw_representation *representation)
{
    struct uw_response response;

    uw_response_begin(&response, request, 304);
    uw_response_put(&response, representation->text, representation->validators_end);
    uw_response_put(&response, "\r\n", 2);
    finish(files, &response);
}

static void answer_whole(struct uw_static *files, struct uw_request *request, struct uw_representation *representation)
{
    struct uw_response response;

    uw_response_begin(&response, request, 200);
    uw_response_put(&response, representation->text, representation->head_end);
    if (!is_head(request))
        uw_response_put_content(&response, representation, 0, uw_representation_size(representation));
    finish(files, &response);
}

static void answer_range(struct uw_static *files, struct uw_request *request, struct uw_representation *representation,
                         const struct uw_http_range *range)
{
    char content_range[UW_HTTP_CONTENT_RANGE_BYTES_MAX];
    struct uw_response response;

    uw_http_content_range(content_range, range, uw_representation_size(representation));
    uw_response_begin(&response, request, 206);
    uw_response_put(&response, representation->text, representation->type_end);
    uw_response_put_field(&response, "Content-Range", content_range);
    uw_response_end_head(&response, range->length);
    uw_response_put_content(&response, representation, range->first, range->length);
    finish(files, &response);
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
    uw_response_begin(&response, request, 206);
    put_multipart_head(&response, representation, &multipart);
    for (int i = 0; i <= ranges->count; i++) {
        char part[UW_HTTP_PART_BYTES_MAX];

        uw_response_put(&response, part, uw_http_multipart_part(&multipart, i, part));
        if (i < ranges->count)
            uw_response_put_content(&response, representation, ranges->ranges[i].first, ranges->ranges[i].length);
    }
    response.content_bytes = uw_http_multipart_length(&multipart);
    finish(files, &response);
}

static void refuse_range(struct uw_static *files, struct uw_request *request, int64_t size)
{
    char content_range[UW_HTTP_CONTENT_RANGE_BYTES_MAX];

    uw_http_content_range(content_range, NULL, size);
    fail(files, request, 416, "Content-Range", content_range);
}

/* How many ranges of the representation are asked for; 0: all of it; or -416. */
static int read_ranges(const struct uw_request *request, const struct uw_representation *representation,
                       struct uw_http_ranges *ranges)
{
    const struct uw_http_header *range = is_head(request) ? NULL : find_header(request, UW_FIELD_RANGE);

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
    else if (count > 1 && getrandom(random, sizeof random, GRND_NONBLOCK) == sizeof random)
        answer_ranges(files, request, representation, &ranges, random);
    else
        answer_whole(files, request, representation);
}

static void answer_file(struct uw_static *files, struct uw_request *request, const struct uw_resource *resource)
{
    int coding = choose_coding(request, resource), status;
    struct uw_representation *representation;

    if (coding < 0) {
        fail(files, request, -coding, "Vary", "Accept-Encoding");
        return;
    }
    representation = resource->representations[coding];
    status = uw_http_precondition(&request->head, request->bytes, &representation->validators);
    if (status == 304)
        answer_not_modified(files, request, representation);
    else if (status)
        fail(files, request, status, NULL, NULL);
    else
        answer_content(files, request, representation);
}

/* To the same path with a slash: relative links in the folder's page count from there. */
static void redirect_to_folder(struct uw_static *files, struct uw_request *request, const struct uw_http_path *path)
{
    struct uw_response response;

    uw_response_begin(&response, request, 301);
    uw_folder_put_location(&response, path->name, uw_request_text(request, request->head.query),
                           request->head.query.length);
    uw_response_end_head(&response, 0);
    finish(files, &response);
}

static void answer_listing(struct uw_static *files, struct uw_request *request, const struct uw_http_path *path)
{
    struct uw_response response;
    struct uw_folder_page page;
    int error = uw_folder_page_make(&page, files->root, path->name);

    if (error) {
        fail(files, request, error == -ENOENT || error == -ENOTDIR ? 404 : 500, NULL, NULL);
        return;
    }
    uw_response_begin(&response, request, 200);
    uw_response_put_field(&response, "Content-Type", "text/html; charset=utf-8");
    uw_response_end_head(&response, (int64_t)page.length);
    if (!is_head(request)) {
        uw_response_put(&response, page.text, page.length);
        response.content_bytes = (int64_t)page.length;
    }
    uw_folder_page_free(&page);
    finish(files, &response);
}

/* Finds the file for `path`: of a folder, its index. Returns 0; -EISDIR for a folder whose path lacks the slash; or
 * another -errno. */
static int locate(struct uw_static *files, const struct uw_request *request, struct uw_http_path *path,
                  struct uw_resource **resource)
{
    uint32_t length = path->length;
    int error;

    if (!path->folder)
        return find_file(files, request, path->name, resource);
    if (length + sizeof "/" INDEX_NAME > sizeof path->name)
        return -ENAMETOOLONG;
    memcpy(path->name + length, length ? "/" INDEX_NAME : INDEX_NAME, sizeof "/" INDEX_NAME - !length);
    error = find_file(files, request, path->name, resource);
    path->name[length] = '\0';
    return error == -EISDIR ? -ENOENT : error;
}

static bool is_route(const struct uw_http_path *path)
{
    const char *slash = strrchr(path->name, '/');

    return !strchr(slash ? slash : path->name, '.');
}

static int status_of(int error)
{
    switch (error) {
    case -EACCES:
    case -EPERM:
        return 403;
    case -EMFILE:
    case -ENFILE:
    case -ENOMEM:
        return 503;
    case -ENOENT:
    case -ENOTDIR:
    case -ELOOP:
    case -EXDEV:
    case -ENAMETOOLONG:
        return 404;
    default:
        return 500;
    }
}

static void answer_missing(struct uw_static *files, struct uw_request *request, const struct uw_http_path *path,
                           int error)
{
    int status = status_of(error);
    struct uw_resource *resource;

    if (status == 404 && path->folder && files->settings.list)
        answer_listing(files, request, path);
    else if (status == 404 && files->settings.fallback && is_route(path) &&
             find_file(files, request, files->settings.fallback, &resource) == 0)
        answer_file(files, request, resource);
    else
        fail(files, request, status, NULL, NULL);
}

static int resolve(const struct uw_request *request, struct uw_http_path *path)
{
    return uw_http_path_resolve(path, uw_request_text(request, request->head.path), request->head.path.length);
}

static void answer_get(struct uw_static *files, struct uw_request *request)
{
    struct uw_resource *resource;
    struct uw_http_path path;
    int error = resolve(request, &path);

    if (error) {
        fail(files, request, -error, NULL, NULL);
        return;
    }
    error = locate(files, request, &path, &resource);
    if (!error)
        answer_file(files, request, resource);
    else if (error == -EISDIR)
        redirect_to_folder(files, request, &path);
    else
        answer_missing(files, request, &path, error);
}

static bool is_get(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_GET || is_head(request);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct uw_static *files = context;

    if (event != UW_EVENT_REQUEST)
        return;
    if (is_get(request))
        answer_get(files, request);
    else if (request->head.method == UW_METHOD_OPTIONS)
        answer_options(files, request);
    else
        fail(files, request, 405, "Allow", ALLOWED_METHODS);
}

struct uw_handler uw_static_handler(struct uw_static *files)
{
    return (struct uw_handler){.context = files, .notify = notify};
}

bool uw_static_try(struct uw_static *files, struct uw_request *request)
{
    struct uw_resource *resource;
    struct uw_http_path path;

    if (!is_get(request) || resolve(request, &path) || locate(files, request, &path, &resource))
        return false;
    answer_file(files, request, resource);
    return true;
}
