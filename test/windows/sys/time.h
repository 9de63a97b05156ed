#include_next <sys/time.h>
