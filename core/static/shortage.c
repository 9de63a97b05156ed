#include "static/shortage.h"

#include <time.h>

#include "base/descriptors.h"
#include "server/server.h"

static void clear(struct uw_shortage *shortage)
{
    shortage->first = NULL;
    shortage->last = &shortage->first;
}

static bool pause_a_while(struct uw_errand *errand)
{
    struct timespec pause = {.tv_nsec = UW_SHORTAGE_PAUSE_NS};

    (void)errand;
    (void)nanosleep(&pause, NULL); /* ended early by a signal, it is only tried earlier */
    return false;
}

/* Who still cannot be answered is held again. */
static void ask_again(struct uw_errand *errand)
{
    struct uw_shortage *shortage = uw_owner(errand, struct uw_shortage, pause);
    struct uw_request *request = shortage->first, *next;

    shortage->pauses = false;
    clear(shortage);
    for (; request; request = next) {
        struct uw_handler *handler = &request->service->handler;

        next = request->next;
        handler->notify(handler->context, request, UW_EVENT_REQUEST);
    }
    if (!shortage->first)
        shortage->end_ns = 0;
}

void uw_shortage_open(struct uw_shortage *shortage, struct uw_errands *errands)
{
    *shortage = (struct uw_shortage){.errands = errands, .pause = {.step = pause_a_while, .done = ask_again}};
    clear(shortage);
}

/* Whether there will be another try. */
static bool begin(struct uw_shortage *shortage, int64_t now_ns)
{
    if (!shortage->end_ns)
        shortage->end_ns = now_ns + UW_SHORTAGE_NS;
    if (!shortage->pauses && now_ns < shortage->end_ns)
        shortage->pauses = uw_errands_add(shortage->errands, &shortage->pause) == 0;
    return shortage->pauses;
}

bool uw_shortage_hold(struct uw_shortage *shortage, struct uw_request *request, int error)
{
    if (!uw_descriptors_ran_out(error) || !begin(shortage, request->service->loop.now_ns))
        return false;
    request->next = NULL;
    *shortage->last = request;
    shortage->last = &request->next;
    return true;
}
