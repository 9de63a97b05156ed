#include "http/directory_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "http/byte_class.h"

#define NUMBER_BYTES 32

struct page {
    char *text;
    size_t length, capacity; /* `length` may exceed `capacity` */
};

static const char head[] = "<!DOCTYPE html>\n"
                           "<html lang=\"en\">\n"
                           "<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n"
                           "<style>\n"
                           "body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem; overflow-wrap: anywhere }\n"
                           "th, td { padding: 0 2rem 0 0; text-align: left }\n"
                           "td + td { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }\n"
                           "</style>\n";

static int compare_entries(const void *left, const void *right)
{
    const struct uw_http_listing_entry *a = left, *b = right;

    return a->folder == b->folder ? strcmp(a->name, b->name) : b->folder - a->folder;
}

void uw_http_listing_sort(struct uw_http_listing *listing)
{
    if (listing->count > 0)
        qsort(listing->entries, listing->count, sizeof *listing->entries, compare_entries);
}

static void append_bytes(struct page *page, const char *bytes, size_t length)
{
    if (page->length <= page->capacity && length <= page->capacity - page->length)
        memcpy(page->text + page->length, bytes, length);
    page->length += length;
}

static void append_text(struct page *page, const char *text)
{
    append_bytes(page, text, strlen(text));
}

/* Returns the text that replaces a special character of HTML or a control character. Returns NULL for other
 * characters. */
static const char *html_replacement(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return (unsigned char)c < ' ' || c == 0x7f ? UW_UTF8_REPLACEMENT : NULL;
    }
}

static void append_escaped(struct page *page, const char *text)
{
    const char *end = text + strlen(text);

    while (text < end) {
        size_t length = uw_utf8_character(text, (size_t)(end - text));
        const char *replacement = length > 0 ? html_replacement(*text) : UW_UTF8_REPLACEMENT;

        if (replacement)
            append_text(page, replacement);
        else
            append_bytes(page, text, length);
        text += length > 0 ? length : 1;
    }
}

/* Percent-encodes a segment of a URI, except unreserved characters. So "a:b" has no scheme, and "?" starts no query. */
static void append_encoded(struct page *page, const char *text)
{
    char encoded[4];

    for (; *text; text++) {
        bool plain = uw_http_byte_is(*text, UW_BYTE_DIGIT) || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= 'a' && *text <= 'z') || strchr("-._~", *text);

        if (!plain)
            snprintf(encoded, sizeof encoded, "%%%02X", (unsigned char)*text);
        append_bytes(page, plain ? text : encoded, plain ? 1 : 3);
    }
}

static void append_size(struct page *page, int64_t size)
{
    static const char units[][4] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char text[NUMBER_BYTES];
    double amount = (double)size;
    size_t unit = 0;

    for (; amount >= 1023.95 && unit < sizeof units / sizeof *units - 1; unit++)
        amount /= 1024;
    snprintf(text, sizeof text, "%.*f %s", unit > 0 ? 1 : 0, amount, units[unit]);
    append_text(page, text);
}

static void append_date(struct page *page, time_t time)
{
    char text[NUMBER_BYTES] = "";
    struct tm parts = {0};

    if (gmtime_r(&time, &parts))
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
    append_text(page, text);
}

static void append_entry(struct page *page, const struct uw_http_listing_entry *entry)
{
    const char *slash = entry->folder ? "/" : "";

    append_text(page, "<tr><td><a href=\"");
    append_encoded(page, entry->name);
    append_text(page, slash);
    append_text(page, "\">");
    append_escaped(page, entry->name);
    append_text(page, slash);
    append_text(page, "</a><td>");
    if (!entry->folder)
        append_size(page, entry->size);
    append_text(page, "<td>");
    append_date(page, entry->modified);
    append_text(page, "\n");
}

static void append_heading(struct page *page, const char *tag, const char *path)
{
    append_text(page, "<");
    append_text(page, tag);
    append_text(page, ">Index of /");
    append_escaped(page, path);
    append_text(page, *path ? "/</" : "</");
    append_text(page, tag);
    append_text(page, ">\n");
}

size_t uw_http_listing_write(const struct uw_http_listing *listing, char *text, size_t capacity)
{
    struct page page = {.text = text, .capacity = capacity};

    append_text(&page, head);
    append_heading(&page, "title", listing->path);
    append_heading(&page, "h1", listing->path);
    append_text(&page, "<table>\n<tr><th>Name<th>Size<th>Modified (UTC)\n");
    if (*listing->path)
        append_text(&page, "<tr><td><a href=\"../\">../</a><td><td>\n");
    for (size_t i = 0; i < listing->count; i++)
        append_entry(&page, &listing->entries[i]);
    append_text(&page, "</table>\n");
    if (listing->truncated)
        append_text(&page, "<p>There are more entries than are shown here.\n");
    return page.length;
}
