#include "posix_stubs.h"
