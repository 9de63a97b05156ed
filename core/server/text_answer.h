/* Answers that the server itself makes of a text. */
#ifndef UW_SERVER_TEXT_ANSWER_H
#define UW_SERVER_TEXT_ANSWER_H

#include <stddef.h>

struct uw_request;

struct uw_text_answer {
    int status;
    const char *content_type;
    const char *cache_control, *allow; /* values of fields; NULL: none */
    const char *text;
    size_t length;
};

/* Answers the request, on the loop's thread. The text is copied. A request without memory for its answer is aborted. */
void uw_answer_text(struct uw_request *request, const struct uw_text_answer *answer);

#endif
