/* Work on files that would keep the loop's thread for too long: done on a thread of its own, a step of each errand in
 * turn, and told on the loop's thread. One for each loop; the thread begins with the first errand. */
#ifndef UW_STATIC_ERRANDS_H
#define UW_STATIC_ERRANDS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/list.h"
#include "io/loop.h"

/* Lives in its owner, who leaves it alone until `done` is called, or the errands are stopped. */
struct uw_errand {
    bool (*step)(struct uw_errand *errand); /* on the other thread; returns whether there is more to do */
    void (*done)(struct uw_errand *errand); /* on the loop's */
    struct uw_message message;
    struct uw_list link;
};

struct uw_errands {
    struct uw_loop *loop; /* the owner's to set once, before the first errand */
    pid_t process;        /* in which the thread is; 0: there is none */
    pthread_t thread;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    struct uw_list waiting;
    bool stops;
};

/* Returns 0 or -errno. */
int uw_errands_open(struct uw_errands *errands);

/* On the loop's thread. Returns 0; or an -errno, and nothing will be done: there can be no thread, or the errands are
 * stopped. */
int uw_errands_add(struct uw_errands *errands, struct uw_errand *errand);

/* Before the loop is closed: waits for the step under way. What is done by then is still told by the loop, the rest
 * never. May be called again. */
void uw_errands_stop(struct uw_errands *errands);

void uw_errands_close(struct uw_errands *errands);

#endif
