#include_next <sched.h>

#include "posix_stubs.h"
