/* The head of a response as data, as every version of HTTP has it: what it answers, what is noted of its fields as they
 * are written one by one, and how far its content has come. */
#ifndef UW_HTTP_RESPONSE_HEAD_H
#define UW_HTTP_RESPONSE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/field.h"
#include "http/framing.h"
#include "http/head.h"

struct uw_http_response {
    int status;
    uint8_t version_minor; /* of the request: a client of HTTP/1.0 understands less */
    bool to_head;          /* the request was HEAD */
    bool tunnel;           /* the answer makes a tunnel of the connection (RFC 9110, section 9.3.6) */
    bool hijacked;         /* the connection is the application's after the head */

    /* Noted from the fields. */
    bool has_date, has_length;
    bool has_coding; /* the application frames its content itself */
    bool close, upgrade;
    uint64_t length;

    /* Decided: uw_http_frame. */
    enum uw_http_framing framing;
    bool keep_alive;

    uint64_t written; /* of the content */
};

/* What must not be sent; returned negative. */
enum uw_http_response_error {
    UW_ESTATUS = 1001,  /* no status code */
    UW_EINFORMATIONAL,  /* a status after which the client waits for another */
    UW_EFIELD_NAME,     /* not a token */
    UW_EFIELD_VALUE,    /* with a control byte: a line's end would let it write fields or responses of its own */
    UW_ELENGTH,         /* a Content-Length that is no number */
    UW_ELENGTH_EMPTY,   /* one without a digit */
    UW_ELENGTH_OTHER,   /* one that is not the content's */
    UW_ECODING,         /* a Transfer-Encoding, for a client of HTTP/1.0 */
    UW_ECONTENT_LONGER, /* than Content-Length says */
    UW_ECONTENT_SHORTER,
};

/* Begins a response to `request`. Returns 0, UW_ESTATUS or UW_EINFORMATIONAL. */
int uw_http_response_begin(struct uw_http_response *response, const struct uw_http_head *request, int status);

/* Whether a field may be sent: 0, UW_EFIELD_NAME or UW_EFIELD_VALUE. */
int uw_http_field_check(const char *name, size_t name_length, const char *value, size_t value_length);

/* Which of the fields that have to be noted `name` is; UW_FIELD_OTHER for all others. */
enum uw_http_field uw_http_noted_field(const char *name, size_t length);

/* Notes such a field, whose lines come as one list (RFC 9110, section 5.3). Returns 0 when it is to be sent as it is; 1
 * when it is the server's to write; or UW_ELENGTH, UW_ELENGTH_EMPTY or UW_ECODING. */
int uw_http_response_note(struct uw_http_response *response, enum uw_http_field field, const char *list, size_t length);

/* The length is known from the content itself: the application's own claim must agree. Returns 0 or UW_ELENGTH_OTHER.
 */
int uw_http_response_set_length(struct uw_http_response *response, uint64_t length);

/* So much more content is about to be written. Returns 0 or UW_ECONTENT_LONGER. */
int uw_http_response_count(struct uw_http_response *response, size_t length);

/* There is no more. Returns 0 or UW_ECONTENT_SHORTER. */
int uw_http_response_check_whole(const struct uw_http_response *response);

/* What is wrong, as a sentence for whoever wrote the application; `subject` is the name or value at fault as it is to
 * be shown. Writes at most `capacity` bytes with a final NUL, and returns the length of the whole, as snprintf does. */
int uw_http_response_error_text(const struct uw_http_response *response, int error, const char *subject, char *text,
                                size_t capacity);

#endif
