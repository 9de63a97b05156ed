/* An intrusive, circular, doubly linked list. A node is a member of its owner, so lists need no memory of their own. */
#ifndef UW_BASE_LIST_H
#define UW_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct uw_list {
    struct uw_list *next, *previous;
};

/* Returns the structure of `type` that contains `pointer` as its member `member`. */
#define uw_container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

static inline void uw_list_init(struct uw_list *list)
{
    list->next = list->previous = list;
}

static inline bool uw_list_empty(const struct uw_list *list)
{
    return list->next == list;
}

static inline void uw_list_append(struct uw_list *list, struct uw_list *node)
{
    node->previous = list->previous;
    node->next = list;
    list->previous->next = node;
    list->previous = node;
}

/* Leaves `node` as an empty list, so a second removal is harmless. */
static inline void uw_list_remove(struct uw_list *node)
{
    node->previous->next = node->next;
    node->next->previous = node->previous;
    uw_list_init(node);
}

/* Moves every node of `from` to the end of `to`. */
static inline void uw_list_move(struct uw_list *to, struct uw_list *from)
{
    if (uw_list_empty(from))
        return;
    from->next->previous = to->previous;
    to->previous->next = from->next;
    from->previous->next = to;
    to->previous = from->previous;
    uw_list_init(from);
}

#endif
