/* The tests that mean nothing on Windows, and why: of what it has not; and those that Wine is too slow for. A program's
 * name stands for all of its tests. */
#ifndef UW_TEST_SKIPPED_TESTS_H
#define UW_TEST_SKIPPED_TESTS_H

#include <string.h>

#include "posix_stubs.h"

#define NO_PAIRS "Windows has no pairs, and the end of a connection is no hang-up"
#define NO_FORK "Windows has no fork"
#define NO_SIGNALS "Windows has no signals"
#define NO_TERMINALS "Windows has no terminals of POSIX"
#define NO_LINKS "links of Windows are not followed"
#define NO_PIPES "folders of Windows hold neither pipes nor sockets"
#define NO_SHARED_LISTENERS "AcceptEx takes a client before the loop asks, and processes of Windows share no listener"
#define NO_FILE_LIMIT "Windows has no limit of a file's size"

struct lacking_test {
    const char *name, *reason;
};

static const struct lacking_test lacking_tests[] = {
    /* contracts */
    {"a_closed_descriptor_that_a_child_has_open_disturbs_nobody", NO_FORK},
    {"nor_does_it_while_descriptors_are_short", NO_FORK},
    {"a_busy_loop_leaves_clients_of_a_shared_listener_to_others", NO_SHARED_LISTENERS},
    {"who_accepts_from_a_shared_listener_and_cancels_leaves_clients_there", NO_SHARED_LISTENERS},
    {"a_watch_for_writing", NO_PAIRS},
    {"what_came_during_an_interruption_is_told_before_deadlines_pass", NO_SIGNALS},
    {"what_is_wrongly_said_to_be_pollable_is_read", NO_TERMINALS},
    /* base */
    {"a_pair_hangs_up_when_its_other_end_is_closed", NO_PAIRS},
    {"a_pair_hangs_up_when_each_end_has_said_its_last", NO_PAIRS},
    {"who_sends_to_nobody_is_told_so", NO_PAIRS},
    {"a_process_descriptor_tells_of_the_end", NO_FORK},
    {"what_fails_in_a_forked_process_has_failed", NO_FORK},
    {"processor_count_test", "Windows has no control groups"},
    /* io */
    {"another_thread_may_not_use_what_belongs_to_the_loop", NO_FORK},
    {"nor_may_a_child_process", NO_FORK},
    {"another_thread_may_wake_and_post_and_close_in_the_end", NO_FORK},
    {"a_pending_operation_may_not_be_submitted", NO_FORK},
    /* log */
    {"a_terminal_that_nobody_reads_is_given_up", NO_TERMINALS},
    {"a_new_file_does_not_begin_with_the_end_of_another_ones_line", NO_FILE_LIMIT},
    {"nor_does_a_file_that_was_emptied", NO_FILE_LIMIT},
    {"why_lines_are_lost_is_told_once", "Windows has no /dev/full"},
    {"only_lines_that_are_not_whole_in_the_file_are_lost_and_none_is_glued_to_another", NO_FILE_LIMIT},
    {"a_server_that_drains_leaves_the_backlog_of_an_inherited_socket_to_the_next", NO_SHARED_LISTENERS},
    /* metrics and control */
    {"a_successor_continues_the_counters_but_not_the_gauges", NO_FORK},
    {"a_forked_process_disturbs_nothing", NO_FORK},
    /* server */
    {"a_file_has_no_name_and_is_nobody_elses", "each file of Windows has a name"},
    {"what_finds_no_room_leaves_what_was_there", NO_FILE_LIMIT},
    {"a_signal_does_not_end_the_wait_for_handshakes_when_listening_ends", NO_SIGNALS},
    {"every_client_of_a_server_that_ends_is_told_though_a_forked_child_stays", NO_FORK},
    {"reuseport_steering_test", "Windows has no SO_REUSEPORT"},
    /* static */
    {"a_huge_file_has_a_strong_tag_that_costs_no_read", "Windows makes no file sparse unasked"},
    {"a_child_closes_its_copy", NO_FORK},
    {"opens_what_lies_beneath", NO_LINKS},
    {"no_link_leads_outside", NO_LINKS},
    {"errors_are_those_of_open", NO_LINKS},
    {"links_are_listed_that_do_not_lead_outside", NO_LINKS},
    {"only_regular_files_are_found", NO_PIPES},
    {"nothing_else_is_served", NO_PIPES},
    {"no_response_mixes_two_files", "Windows replaces no file that is open"},
    {"a_folder_that_must_not_be_read_is_forbidden", "Windows has no users of POSIX"},
    /* pub_sub */
    {"the_loop_ends_while_a_thread_publishes", NO_SIGNALS},
    /* Wine's slowness: of Windows itself nothing is known */
    {"who_has_sent_in_time_is_served", "hundreds of connections take Wine longer than the deadlines that are tried"},
    {"listing_page_cache_test", "thousands of files take Wine minutes (and links of Windows are not followed)"},
    {"a_steady_client_may_take_longer_than_the_timeout", "half a second is too short for Wine on a busy machine"},
    {NULL, NULL},
};

static inline bool is_named(const char *name, const char *program, const char *test)
{
    size_t length = strcspn(program, "("); /* a backend is named behind it */

    return strcmp(name, test) == 0 || (strlen(name) == length && strncmp(name, program, length) == 0);
}

/* NULL: nothing. */
static inline const char *what_it_lacks(const char *program, const char *test)
{
    const struct lacking_test *lacking = lacking_tests;

    while (lacking->name && !is_named(lacking->name, program, test))
        lacking++;
    return lacking->reason;
}

#endif
