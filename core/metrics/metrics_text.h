/* The metrics as text, in the format of Prometheus 0.0.4 or OpenMetrics 1.0. */
#ifndef UW_METRICS_METRICS_TEXT_H
#define UW_METRICS_METRICS_TEXT_H

#include <stddef.h>

#include "metrics/metrics.h"

enum uw_metrics_format { UW_METRICS_PROMETHEUS, UW_METRICS_OPENMETRICS };

/* Returns the text, to be freed by the caller, and its length. NULL without memory. */
char *uw_metrics_text(const struct uw_metrics *metrics, enum uw_metrics_format format, size_t *length);

#endif
