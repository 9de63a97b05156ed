#ifndef UW_WINDOWS_STRINGS_H
#define UW_WINDOWS_STRINGS_H

#include <string.h>

#endif
