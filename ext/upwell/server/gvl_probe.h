/* Reports whether a worker has the interpreter's lock. */
#ifndef RB_UPWELL_GVL_PROBE_H
#define RB_UPWELL_GVL_PROBE_H

struct uw_worker;

/* `worker` learns from now on whether the calling thread has or wants the interpreter's lock; NULL ends this. */
void rb_uw_watch_worker(struct uw_worker *worker);

#endif
