/* A response in any version of HTTP: the status, facts from its fields, and the progress of its content. The fields
 * themselves are not stored. */
#ifndef UW_HTTP_RESPONSE_HEAD_H
#define UW_HTTP_RESPONSE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/known_fields.h"
#include "http/request_head.h"
#include "http/response_framing.h"

struct uw_http_response {
    int status;
    uint8_t version; /* enum uw_http_version of the request. HTTP/1.0 clients do not know chunks */
    bool to_head;    /* the request was HEAD */
    bool tunnel;     /* the response makes the connection a tunnel (RFC 9110, section 9.3.6) */
    bool hijacked;   /* the application owns the connection after the head */

    /* Set by uw_http_response_note */
    bool has_date, has_length;
    bool has_coding; /* Transfer-Encoding: the application frames the content */
    bool close, upgrade;
    uint64_t length;

    /* Set by uw_http_frame */
    enum uw_http_framing framing;
    bool keep_alive;

    uint64_t written; /* number of content bytes so far */
};

/* Errors in a response, which must then not be sent. Functions return them negated. */
enum uw_http_response_error {
    UW_ESTATUS = 1001,  /* the status code is out of range */
    UW_EINFORMATIONAL,  /* the status is informational, so the client would wait for a final response */
    UW_EFIELD_NAME,     /* the name is not a token */
    UW_EFIELD_VALUE,    /* the value has a control byte. A line end would inject fields or responses */
    UW_ELENGTH,         /* the Content-Length is not a number */
    UW_ELENGTH_EMPTY,   /* the Content-Length has no digit */
    UW_ELENGTH_OTHER,   /* the Content-Length differs from the content's length */
    UW_ECODING,         /* an HTTP/1.0 client does not understand Transfer-Encoding */
    UW_ECONTENT_LONGER, /* the content is longer than Content-Length */
    UW_ECONTENT_SHORTER,
};

/* Begins a response to `request`. Returns 0, -UW_ESTATUS or -UW_EINFORMATIONAL. */
int uw_http_response_begin(struct uw_http_response *response, const struct uw_http_head *request, int status);

/* Checks the syntax of a field. Returns 0, -UW_EFIELD_NAME or -UW_EFIELD_VALUE. */
int uw_http_field_check(const char *name, size_t name_length, const char *value, size_t value_length);

/* Returns the field if uw_http_response_note must be called for it, or else UW_FIELD_OTHER. */
enum uw_http_field uw_http_noted_field(const char *name, size_t length);

/* Stores the facts of a field of uw_http_noted_field. `list` joins all lines of the field (RFC 9110, section 5.3).
 * Returns 0 if the caller must send the field unchanged. Returns 1 if the server writes this field. Otherwise returns
 * -UW_ELENGTH, -UW_ELENGTH_EMPTY or -UW_ECODING. */
int uw_http_response_note(struct uw_http_response *response, enum uw_http_field field, const char *list, size_t length);

/* Sets the actual length of the content. A Content-Length of the application must be equal. Returns 0 or
 * -UW_ELENGTH_OTHER. */
int uw_http_response_set_length(struct uw_http_response *response, uint64_t length);

/* Counts `length` bytes of content, before they are written. Returns 0 or -UW_ECONTENT_LONGER. */
int uw_http_response_count(struct uw_http_response *response, size_t length);

/* Checks the length at the end of the content. Returns 0 or -UW_ECONTENT_SHORTER. */
int uw_http_response_check_whole(const struct uw_http_response *response);

/* Writes a sentence that explains the error to the application's author. `subject` is the faulty name or value in
 * printable form. Writes at most `capacity` bytes including a NUL. Returns the length of the whole sentence, like
 * snprintf. */
int uw_http_response_error_text(const struct uw_http_response *response, int error, const char *subject, char *text,
                                size_t capacity);

#endif
