/* Answers a request at the control address. */
#ifndef UW_CONTROL_METRICS_ANSWER_H
#define UW_CONTROL_METRICS_ANSWER_H

struct uw_metrics;
struct uw_request;

/* Answers GET and HEAD of /metrics with the metrics, and any other request with 404 or 405. On the loop's thread. */
void uw_answer_metrics(struct uw_request *request, const struct uw_metrics *metrics);

#endif
