#include "websocket/extensions.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "compression/deflate.h"
#include "http/byte_class.h"
#include "http/field_cursor.h"

struct word {
    const char *text;
    size_t length;
};

struct parameter {
    struct word name, value;
    bool has_value;
};

static bool take(struct uw_http_cursor *cursor, const char *sign)
{
    uw_http_skip_space(cursor);
    return uw_http_skip_text(cursor, sign);
}

static bool take_token(struct uw_http_cursor *cursor, struct word *word)
{
    uw_http_skip_space(cursor);
    word->text = cursor->at;
    while (cursor->at < cursor->end && uw_http_byte_is(*cursor->at, UW_BYTE_TOKEN))
        cursor->at++;
    word->length = (size_t)(cursor->at - word->text);
    return word->length > 0;
}

/* A quoted value must be a token, too (RFC 6455, section 9.1). */
static bool take_value(struct uw_http_cursor *cursor, struct word *word)
{
    bool quoted = take(cursor, "\"");

    return take_token(cursor, word) && (!quoted || (cursor->at < cursor->end && *cursor->at++ == '"'));
}

static bool take_parameter(struct uw_http_cursor *cursor, struct parameter *parameter)
{
    if (!take_token(cursor, &parameter->name))
        return false;
    parameter->has_value = take(cursor, "=");
    return !parameter->has_value || take_value(cursor, &parameter->value);
}

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && strncasecmp(word.text, text, word.length) == 0;
}

/* 8 to 15, without a leading zero (RFC 7692, section 7.1.2); 0 for anything else. */
static int window_bits(struct word word)
{
    int bits = 0;

    if (word.length == 0 || word.length > 2 || word.text[0] == '0')
        return 0;
    for (size_t i = 0; i < word.length; i++) {
        if (!uw_http_byte_is(word.text[i], UW_BYTE_DIGIT))
            return 0;
        bits = bits * 10 + (word.text[i] - '0');
    }
    return bits >= UW_WINDOW_BITS_MIN && bits <= UW_WINDOW_BITS_MAX ? bits : 0;
}

enum { SERVER_TAKEOVER = 1, CLIENT_TAKEOVER = 2, SERVER_BITS = 4, CLIENT_BITS = 8 };

/* Returns the parameter's bit; 0 for one that declines the offer (section 7.1). */
static int meet(const struct parameter *parameter, struct uw_deflate_terms *terms)
{
    if (is(parameter->name, "server_no_context_takeover"))
        return parameter->has_value ? 0 : SERVER_TAKEOVER;
    if (is(parameter->name, "client_no_context_takeover"))
        return parameter->has_value ? 0 : CLIENT_TAKEOVER;
    if (is(parameter->name, "client_max_window_bits"))
        return parameter->has_value && !window_bits(parameter->value) ? 0 : CLIENT_BITS;
    if (!is(parameter->name, "server_max_window_bits") || !parameter->has_value)
        return 0;
    terms->window_bits = window_bits(parameter->value);
    terms->window_was_asked = true;
    return terms->window_bits ? SERVER_BITS : 0;
}

/* Reads one extension with its parameters. Returns false at a syntax error. */
static bool read_offer(struct uw_http_cursor *cursor, struct uw_deflate_terms *terms)
{
    struct uw_deflate_terms offered = {.agreed = true, .window_bits = UW_WINDOW_BITS_MAX};
    struct parameter parameter = {.has_value = false};
    struct word name;
    int seen = 0;

    if (!take_token(cursor, &name))
        return false;
    while (take(cursor, ";")) {
        int which;

        if (!take_parameter(cursor, &parameter))
            return false;
        which = meet(&parameter, &offered);
        offered.agreed &= which && !(seen & which);
        seen |= which;
    }
    if (offered.agreed && is(name, "permessage-deflate") && !terms->agreed)
        *terms = offered;
    return true;
}

void uw_extensions_read(struct uw_deflate_terms *terms, const char *value, size_t length)
{
    struct uw_http_cursor cursor = uw_http_cursor(value, length);
    struct uw_deflate_terms found = *terms;

    do {
        if (!read_offer(&cursor, &found))
            return;
    } while (take(&cursor, ","));
    uw_http_skip_space(&cursor);
    if (cursor.at == cursor.end)
        *terms = found;
}

size_t uw_extensions_answer(const struct uw_deflate_terms *terms, char *text)
{
    static const char base[] = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
    int length;

    if (!terms->agreed)
        return 0;
    length = terms->window_was_asked
                 ? snprintf(text, UW_EXTENSIONS_BYTES_MAX, "%s; server_max_window_bits=%d", base, terms->window_bits)
                 : snprintf(text, UW_EXTENSIONS_BYTES_MAX, "%s", base);
    return (size_t)length;
}
