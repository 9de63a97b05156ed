/* The module that gives a server its channels. */
#ifndef UW_PUB_SUB_PUB_SUB_MODULE_H
#define UW_PUB_SUB_PUB_SUB_MODULE_H

#include "server/module.h"

extern const struct uw_module uw_module_pub_sub;

#endif
