/* What a response's status, fields and content, and its request, make of its framing and of the connection. */
#include "http/response_framing.h"

#include "check.h"
#include "http/response_head.h"

static struct uw_http_response begun(enum uw_http_method method, enum uw_http_version version, int status)
{
    struct uw_http_head request = {.method = method, .version = (uint8_t)version};
    struct uw_http_response response;

    CHECK_EQUAL(0, uw_http_response_begin(&response, &request, status));
    return response;
}

static struct uw_http_response got(int status)
{
    return begun(UW_METHOD_GET, UW_HTTP_1_1, status);
}

static int note(struct uw_http_response *response, const char *name, const char *value)
{
    return uw_http_response_note(response, uw_http_noted_field(name, strlen(name)), value, strlen(value));
}

static void check_framed(struct uw_http_response response, enum uw_http_framing framing, bool tells_length,
                         bool keep_alive)
{
    uw_http_frame(&response, true);
    CHECK_EQUAL(framing, response.framing);
    CHECK_EQUAL(tells_length, uw_http_tells_length(&response));
    CHECK_EQUAL(keep_alive, response.keep_alive);
    uw_http_frame(&response, false);
    CHECK(!response.keep_alive);
}

TEST(content_of_a_known_length_is_sized)
{
    struct uw_http_response response = got(200);

    CHECK_EQUAL(0, uw_http_response_set_length(&response, 3));
    check_framed(response, UW_FRAMING_SIZED, true, true);
    response = begun(UW_METHOD_GET, UW_HTTP_1_0, 200);
    CHECK_EQUAL(1, note(&response, "content-length", "3"));
    check_framed(response, UW_FRAMING_SIZED, true, true);
}

TEST(content_of_no_known_length_comes_in_pieces_or_until_the_end)
{
    check_framed(got(200), UW_FRAMING_CHUNKED, false, true);
    check_framed(begun(UW_METHOD_GET, UW_HTTP_1_0, 200), UW_FRAMING_TO_CLOSE, false, false);
}

TEST(a_response_to_head_has_no_content_but_its_length)
{
    struct uw_http_response response = begun(UW_METHOD_HEAD, UW_HTTP_1_1, 200);

    check_framed(response, UW_FRAMING_NONE, false, true);
    CHECK_EQUAL(0, uw_http_response_set_length(&response, 3));
    check_framed(response, UW_FRAMING_NONE, true, true);
    /* What the application says of it counts, as it knows what GET would give. */
    response.length = 9;
    CHECK_EQUAL(0, uw_http_response_set_length(&response, 3));
    CHECK_EQUAL(9, response.length);
}

TEST(statuses_without_content)
{
    struct uw_http_response response;

    for (size_t i = 0; i < 4; i++) {
        static const int statuses[] = {204, 304, 205, 101};

        response = got(statuses[i]);
        CHECK(!uw_http_frames_content(&response));
        CHECK_EQUAL(1, note(&response, "Content-Length", "3"));
        check_framed(response, UW_FRAMING_NONE, statuses[i] == 304 || statuses[i] == 205, statuses[i] != 101);
    }
    response = got(205);
    response.has_length = true;
    response.length = 3;
    uw_http_frame(&response, true);
    CHECK_EQUAL(0, response.length);
}

TEST(a_tunnel_has_neither_length_nor_coding_and_ends_the_connection)
{
    struct uw_http_response response = begun(UW_METHOD_CONNECT, UW_HTTP_1_1, 200);

    CHECK(response.tunnel);
    CHECK_EQUAL(1, note(&response, "transfer-encoding", "chunked"));
    CHECK_EQUAL(1, note(&response, "content-length", "3"));
    check_framed(response, UW_FRAMING_NONE, false, false);
    CHECK(!begun(UW_METHOD_CONNECT, UW_HTTP_1_1, 404).tunnel);
}

TEST(a_coding_of_the_applications_is_left_untouched_and_ends_the_connection)
{
    struct uw_http_response response = got(200);

    CHECK_EQUAL(1, note(&response, "content-length", "3"));
    CHECK_EQUAL(0, note(&response, "Transfer-Encoding", "gzip"));
    check_framed(response, UW_FRAMING_UNTOUCHED, false, false);
    response = begun(UW_METHOD_GET, UW_HTTP_1_0, 200);
    CHECK_EQUAL(-UW_ECODING, note(&response, "transfer-encoding", "chunked"));
    response = got(204);
    CHECK_EQUAL(1, note(&response, "transfer-encoding", "chunked"));
    check_framed(response, UW_FRAMING_NONE, false, true);
}

TEST(a_hijacked_response_is_left_untouched_and_ends_the_connection)
{
    struct uw_http_response response = got(200);

    response.hijacked = true;
    check_framed(response, UW_FRAMING_UNTOUCHED, false, false);
}

TEST(connection_options_are_found_in_lists)
{
    static const struct {
        const char *list;
        bool close, upgrade;
    } lists[] = {
        {"close", true, false},          {"Close", true, false},         {"x, close", true, false},
        {"x,upgrade", false, true},      {"UPGRADE ,close", true, true}, {"", false, false},
        {"closed", false, false},        {"not-close", false, false},    {"keep-alive", false, false},
        {"close-upgrade", false, false}, {",,;close", true, false},
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct uw_http_response response = got(200);

        CHECK_EQUAL(1, note(&response, "connection", lists[i].list));
        CHECK_EQUAL(lists[i].close, response.close);
        CHECK_EQUAL(lists[i].upgrade, response.upgrade);
        check_framed(response, UW_FRAMING_CHUNKED, false, !lists[i].close);
    }
}

TEST(lengths_that_are_none)
{
    static const struct {
        const char *text;
        int result;
    } lengths[] = {
        {"0", 1},
        {"007", 1},
        {"", -UW_ELENGTH_EMPTY},
        {"-1", -UW_ELENGTH},
        {"+1", -UW_ELENGTH},
        {"3, 3", -UW_ELENGTH},
        {"0x3", -UW_ELENGTH},
        {" 3", -UW_ELENGTH},
        {"18446744073709551616", -UW_ELENGTH},
        {"99999999999999999999999", -UW_ELENGTH},
    };

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct uw_http_response response = got(200);

        CHECK_EQUAL(lengths[i].result, note(&response, "content-length", lengths[i].text));
    }
}

TEST(fields_that_are_noted)
{
    struct uw_http_response response = got(200);

    CHECK_EQUAL(0, note(&response, "DATE", "x"));
    CHECK(response.has_date);
    CHECK_EQUAL(UW_FIELD_OTHER, uw_http_noted_field("datf", 4));
    CHECK_EQUAL(UW_FIELD_OTHER, uw_http_noted_field("host", 4)); /* known, but as long by chance */
    CHECK_EQUAL(UW_FIELD_OTHER, uw_http_noted_field("content-type", 12));
    CHECK_EQUAL(UW_FIELD_OTHER, uw_http_noted_field("", 0));
}

TEST(statuses_that_are_none)
{
    static const int statuses[] = {-200, 0, 99, 1000}, informational[] = {100, 102, 103, 199};
    struct uw_http_head request = {.method = UW_METHOD_GET, .version = UW_HTTP_1_1};
    struct uw_http_response response;

    for (size_t i = 0; i < 4; i++) {
        CHECK_EQUAL(-UW_ESTATUS, uw_http_response_begin(&response, &request, statuses[i]));
        CHECK_EQUAL(-UW_EINFORMATIONAL, uw_http_response_begin(&response, &request, informational[i]));
    }
    CHECK_EQUAL(0, uw_http_response_begin(&response, &request, 101));
    CHECK_EQUAL(0, uw_http_response_begin(&response, &request, 999));
}

TEST(fields_that_must_not_be_sent)
{
    CHECK_EQUAL(0, uw_http_field_check("x", 1, "", 0));
    CHECK_EQUAL(0, uw_http_field_check("x", 1, "caf\xc3\xa9\t!", 7));
    CHECK_EQUAL(-UW_EFIELD_NAME, uw_http_field_check("", 0, "a", 1));
    CHECK_EQUAL(-UW_EFIELD_NAME, uw_http_field_check("a b", 3, "a", 1));
    CHECK_EQUAL(-UW_EFIELD_NAME, uw_http_field_check("a:", 2, "a", 1));
    for (int byte = 0; byte < 256; byte++) {
        char value[] = {'a', (char)byte};
        bool control = (byte < ' ' && byte != '\t') || byte == 127;

        CHECK_EQUAL(control ? -UW_EFIELD_VALUE : 0, uw_http_field_check("x", 1, value, 2));
    }
}

TEST(content_is_counted_against_its_length)
{
    struct uw_http_response response = got(200);

    CHECK_EQUAL(1, note(&response, "content-length", "5"));
    uw_http_frame(&response, true);
    CHECK_EQUAL(0, uw_http_response_count(&response, 3));
    CHECK_EQUAL(-UW_ECONTENT_SHORTER, uw_http_response_check_whole(&response));
    CHECK_EQUAL(-UW_ECONTENT_LONGER, uw_http_response_count(&response, 3));
    CHECK_EQUAL(-UW_ECONTENT_LONGER, uw_http_response_count(&response, SIZE_MAX));
    CHECK_EQUAL(0, uw_http_response_count(&response, 2));
    CHECK_EQUAL(0, uw_http_response_check_whole(&response));
}

TEST(errors_have_texts)
{
    struct uw_http_response response = got(200);
    char text[128], small[8];
    int length;

    CHECK_EQUAL(1, note(&response, "content-length", "4"));
    CHECK_EQUAL(-UW_ELENGTH_OTHER, uw_http_response_set_length(&response, 3));
    uw_http_response_error_text(&response, -UW_ELENGTH_OTHER, "", text, sizeof text);
    CHECK(!strcmp(text,
                  "the response says content-length 4, but its body has 3 bytes; correct the header, or leave it out"));
    length = uw_http_response_error_text(&response, -UW_EFIELD_NAME, "\"a b\"", text, sizeof text);
    CHECK(!strcmp(text, "the server rejects response header \"a b\": HTTP forbids a character of the name; use "
                        "letters, digits and hyphens"));
    CHECK_EQUAL(strlen(text), length);
    CHECK_EQUAL(length, uw_http_response_error_text(&response, -UW_EFIELD_NAME, "\"a b\"", small, sizeof small));
    CHECK(!strcmp(small, "the ser"));
    for (int error = UW_ESTATUS; error <= UW_ECONTENT_SHORTER; error++) {
        CHECK(uw_http_response_error_text(&response, -error, "x", text, sizeof text) > 0);
        CHECK(!strstr(text, "nknown")); /* as strerror has it */
    }
}

TEST_MAIN
