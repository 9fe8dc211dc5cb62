/* SPDX-License-Identifier: Apache-2.0 */
/** A circular doubly linked list. Nodes are members of the elements, so that insertion and removal cannot fail. */
#ifndef TERN_BASE_LIST_H
#define TERN_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct tern_list {
    struct tern_list *next, *prev;
};

#define TERN_LIST_ENTRY(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))
#define TERN_LIST_EACH(node, list) for (struct tern_list *node = (list)->next; node != (list); node = node->next)

static inline void tern_list_init(struct tern_list *l)
{
    l->next = l->prev = l;
}

static inline bool tern_list_empty(const struct tern_list *l)
{
    return l->next == l;
}

static inline void tern_list_append(struct tern_list *list, struct tern_list *node)
{
    node->prev = list->prev;
    node->next = list;
    list->prev->next = node;
    list->prev = node;
}

/** Removes a node, which is an empty list afterwards: removing it again does nothing. */
static inline void tern_list_remove(struct tern_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    tern_list_init(node);
}

#endif
