#include "websocket/extensions.h"

#include "check.h"
#include "guard_page.h"

static struct uw_deflate_terms terms;

/* What is answered to an offer; "" when it is declined. */
static const char *answer(const char *offer)
{
    static char text[UW_EXTENSIONS_BYTES_MAX];
    size_t length;

    terms = (struct uw_deflate_terms){.agreed = false};
    uw_extensions_read(&terms, guard_copy(offer, strlen(offer)), strlen(offer));
    length = uw_extensions_answer(&terms, text);
    text[length] = '\0';
    return text;
}

#define USUAL "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

TEST(offers_that_are_met)
{
    static const char *const offers[] = {
        "permessage-deflate",
        "Permessage-Deflate ",
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate;client_max_window_bits=8",
        "permessage-deflate; client_max_window_bits = \"15\"",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        "x-other; a=b; c, permessage-deflate",
        "permessage-deflate; unknown, permessage-deflate",
        "permessage-deflate; server_max_window_bits=7, permessage-deflate; client_no_context_takeover",
    };

    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
        CHECK(strcmp(USUAL, answer(offers[i])) == 0);
    CHECK_EQUAL(15, terms.window_bits);
}

TEST(a_window_that_was_asked_for)
{
    CHECK(strcmp(USUAL "; server_max_window_bits=10", answer("permessage-deflate; server_max_window_bits=10")) == 0);
    CHECK_EQUAL(10, terms.window_bits);
    CHECK(strcmp(USUAL "; server_max_window_bits=8", answer("permessage-deflate; server_max_window_bits=8")) == 0);
    /* the first that can be met */
    CHECK(strcmp(USUAL "; server_max_window_bits=9",
                 answer("permessage-deflate; server_max_window_bits=9, permessage-deflate")) == 0);
}

TEST(offers_that_are_declined)
{
    static const char *const offers[] = {
        "",
        "x-webkit-deflate-frame",
        "permessage-deflate; unknown",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits=09",
        "permessage-deflate; server_max_window_bits=1x",
        "permessage-deflate; server_max_window_bits=100",
        "permessage-deflate; client_max_window_bits=0",
        "permessage-deflate; client_max_window_bits=\"\"",
        "permessage-deflate; client_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover=true",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
        "permessage-deflate;",
        "permessage-deflate,",
        "permessage-deflate, permessage-deflate;;",
        ", permessage-deflate",
        "permessage-deflate; client_max_window_bits=\"9",
        "permessage-deflate x",
    };

    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
        if (*answer(offers[i])) {
            check_failures++;
            printf("%s was met\n", offers[i]);
        }
}

/* Fields are one list (RFC 9110, section 5.3). */
TEST(several_fields)
{
    (void)answer("permessage-deflate; server_max_window_bits=11");
    uw_extensions_read(&terms, "permessage-deflate", 18);
    CHECK_EQUAL(11, terms.window_bits);
}

TEST_MAIN
