/* The contracts that cannot be tried on a system for want of something, and of what. */
#ifndef UW_TEST_LACKING_CONTRACTS_H
#define UW_TEST_LACKING_CONTRACTS_H

#include <string.h>

#ifdef _WIN32
#include "lacking.h"
#endif

struct lacking_contract {
    const char *name, *reason;
};

static const struct lacking_contract lacking_contracts[] = {
#ifdef _WIN32
    {"a_closed_descriptor_that_a_child_has_open_disturbs_nobody", "Windows has no fork"},
    {"nor_does_it_while_descriptors_are_short", "Windows has no fork"},
    {"a_watch_for_writing", "Windows has no pairs, and the end of a connection is no hang-up"},
    {"what_came_during_an_interruption_is_told_before_deadlines_pass", "Windows has no signals that interrupt"},
    {"what_is_wrongly_said_to_be_pollable_is_read", "Windows has no terminals of POSIX"},
#endif
    {NULL, NULL},
};

/* NULL: nothing. */
static inline const char *what_it_lacks(const char *name)
{
    const struct lacking_contract *contract = lacking_contracts;

    while (contract->name && strcmp(contract->name, name) != 0)
        contract++;
    return contract->reason;
}

#endif
