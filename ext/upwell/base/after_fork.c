#include "base/after_fork.h"

#include <pthread.h>
#include <ruby.h>

atomic_uint rb_uw_forks;

static void count_fork(void)
{
    atomic_fetch_add(&rb_uw_forks, 1);
}

void rb_uw_init_forks(void)
{
    if (pthread_atfork(NULL, NULL, count_fork))
        rb_memerror();
}
