/* The composition root: the only place that names all protocols and modules. A new one is a directory of its own and
 * one line here. */
#ifndef UW_COMPOSITION_COMPOSITION_H
#define UW_COMPOSITION_COMPOSITION_H

#include "server/module.h"

extern const struct uw_composition uw_composition;

#endif
