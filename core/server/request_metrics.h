/* The metrics of a request, from the record that the access log gets, too. */
#ifndef UW_SERVER_REQUEST_METRICS_H
#define UW_SERVER_REQUEST_METRICS_H

struct uw_access_record;
struct uw_metrics_block;
struct uw_request;

/* Add a request that has its response, or a refused request, to server_context->metrics. On the loop's thread. */
void uw_request_metrics_add(const struct uw_request *request, const struct uw_access_record *record);
void uw_request_metrics_add_refusal(struct uw_metrics_block *block, const struct uw_access_record *refusal);

#endif
