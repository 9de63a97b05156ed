#include_next <sched.h>

#include "lacking.h"
