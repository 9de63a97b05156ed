/* Upwell::Metrics: the metrics of a server's processes, and the thread that answers them. */
#ifndef RB_UPWELL_METRICS_CLASS_H
#define RB_UPWELL_METRICS_CLASS_H

#include <ruby.h>

#include "metrics/metrics.h"

void rb_uw_init_metrics(void);

/* Valid as long as the object. Raises TypeError. */
struct uw_metrics *rb_uw_metrics(VALUE self);

#endif
