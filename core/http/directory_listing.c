#include "http/directory_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "http/byte_class.h"

#define NUMBER_BYTES 32

struct page {
    char *text;
    size_t length, capacity; /* length may exceed the capacity */
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

static int compare(const void *left, const void *right)
{
    const struct uw_http_listing_entry *a = left, *b = right;

    return a->folder == b->folder ? strcmp(a->name, b->name) : b->folder - a->folder;
}

void uw_http_listing_sort(struct uw_http_listing *listing)
{
    if (listing->count > 0)
        qsort(listing->entries, listing->count, sizeof *listing->entries, compare);
}

static void put(struct page *page, const char *bytes, size_t length)
{
    if (page->length <= page->capacity && length <= page->capacity - page->length)
        memcpy(page->text + page->length, bytes, length);
    page->length += length;
}

static void put_text(struct page *page, const char *text)
{
    put(page, text, strlen(text));
}

/* Returns the entity of a character that HTML treats specially, or NULL for any other. */
static const char *entity(char c)
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

static void put_escaped(struct page *page, const char *text)
{
    const char *end = text + strlen(text);

    while (text < end) {
        size_t length = uw_utf8_character(text, (size_t)(end - text));
        const char *instead = length > 0 ? entity(*text) : UW_UTF8_REPLACEMENT;

        if (instead)
            put_text(page, instead);
        else
            put(page, text, length);
        text += length > 0 ? length : 1;
    }
}

/* Encodes a segment of a URI. Only unreserved characters are kept, so that "a:b" is no scheme and "?" starts no query.
 */
static void put_encoded(struct page *page, const char *text)
{
    char encoded[4];

    for (; *text; text++) {
        bool plain = uw_http_byte_is(*text, UW_BYTE_DIGIT) || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= 'a' && *text <= 'z') || strchr("-._~", *text);

        if (!plain)
            snprintf(encoded, sizeof encoded, "%%%02X", (unsigned char)*text);
        put(page, plain ? text : encoded, plain ? 1 : 3);
    }
}

static void put_size(struct page *page, int64_t size)
{
    static const char units[][4] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char text[NUMBER_BYTES];
    double amount = (double)size;
    size_t unit = 0;

    for (; amount >= 1023.95 && unit < sizeof units / sizeof *units - 1; unit++)
        amount /= 1024;
    snprintf(text, sizeof text, "%.*f %s", unit > 0 ? 1 : 0, amount, units[unit]);
    put_text(page, text);
}

static void put_date(struct page *page, time_t time)
{
    char text[NUMBER_BYTES] = "";
    struct tm parts = {0};

    if (gmtime_r(&time, &parts))
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
    put_text(page, text);
}

static void put_entry(struct page *page, const struct uw_http_listing_entry *entry)
{
    const char *slash = entry->folder ? "/" : "";

    put_text(page, "<tr><td><a href=\"");
    put_encoded(page, entry->name);
    put_text(page, slash);
    put_text(page, "\">");
    put_escaped(page, entry->name);
    put_text(page, slash);
    put_text(page, "</a><td>");
    if (!entry->folder)
        put_size(page, entry->size);
    put_text(page, "<td>");
    put_date(page, entry->modified);
    put_text(page, "\n");
}

static void put_heading(struct page *page, const char *tag, const char *path)
{
    put_text(page, "<");
    put_text(page, tag);
    put_text(page, ">Index of /");
    put_escaped(page, path);
    put_text(page, *path ? "/</" : "</");
    put_text(page, tag);
    put_text(page, ">\n");
}

size_t uw_http_listing_write(const struct uw_http_listing *listing, char *text, size_t capacity)
{
    struct page page = {.text = text, .capacity = capacity};

    put_text(&page, head);
    put_heading(&page, "title", listing->path);
    put_heading(&page, "h1", listing->path);
    put_text(&page, "<table>\n<tr><th>Name<th>Size<th>Modified (UTC)\n");
    if (*listing->path)
        put_text(&page, "<tr><td><a href=\"../\">../</a><td><td>\n");
    for (size_t i = 0; i < listing->count; i++)
        put_entry(&page, &listing->entries[i]);
    put_text(&page, "</table>\n");
    if (listing->cut)
        put_text(&page, "<p>There are more entries than are shown here.\n");
    return page.length;
}
