/*
 * graph.c - which action waits for which.
 *
 * Edges are kept twice, as predecessors and as successors. Kahn's order finds circles, and on its
 * way carries the bits of all ancestors from an action to its successors.
 */
#include <stdlib.h>
#include <string.h>

#include "model/workflow/draft.h"

enum { BITS = 64 };

static mcp_status no_memory(const portarium_draft *draft)
{
    return mcp_error_set(draft->err, MCP_E_NOMEM, "out of memory for a workflow");
}

static int compare_ids(const void *a, const void *b, void *data)
{
    const portarium_action *actions = data;

    return strcmp(actions[*(const uint32_t *)a].id, actions[*(const uint32_t *)b].id);
}

int portarium_draft_find(const portarium_draft *draft, const char *id, size_t length)
{
    size_t low = 0;
    size_t high = draft->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = draft->actions[draft->by_id[middle]].id;
        int order = strncmp(id, other, length);
        if (order == 0 && other[length] == '\0')
            return (int)draft->by_id[middle];
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

bool portarium_draft_precedes(const portarium_draft *draft, size_t first, size_t then)
{
    return (draft->ancestors[then * draft->words + first / BITS] >> first % BITS & 1) != 0;
}

static mcp_status sort_ids(portarium_draft *draft)
{
    draft->by_id = mcp_arena_array(draft->arena, draft->count, sizeof *draft->by_id);
    if (!draft->by_id)
        return no_memory(draft);
    for (size_t i = 0; i < draft->count; i++)
        draft->by_id[i] = (uint32_t)i;
    qsort_r(draft->by_id, draft->count, sizeof *draft->by_id, compare_ids, draft->actions);
    for (size_t i = 1; i < draft->count; i++) {
        const portarium_action *action = &draft->actions[draft->by_id[i]];
        if (strcmp(action->id, draft->actions[draft->by_id[i - 1]].id) == 0)
            portarium_fields_add(
                draft->fields,
                portarium_fields_at(draft->fields, draft->places[draft->by_id[i]], "actionId"),
                "another action has this id");
    }
    return MCP_OK;
}

/* The predecessors that an action names, each once; unknown names are breaches. */
static mcp_status read_predecessors(portarium_draft *draft, size_t index)
{
    const mcp_json *names = mcp_json_get(draft->sources[index], "dependsOn");
    portarium_action *action = &draft->actions[index];
    uint32_t *list = mcp_arena_array(draft->arena, mcp_json_count(names) + 1, sizeof *list);
    const char *place = portarium_fields_at(draft->fields, draft->places[index], "dependsOn");

    if (!list)
        return no_memory(draft);
    for (size_t i = 0; i < mcp_json_count(names); i++) {
        size_t length;
        const char *name = mcp_json_string(mcp_json_item(names, i), &length);
        int found = portarium_draft_find(draft, name, length);
        if (found < 0)
            portarium_fields_add(draft->fields, portarium_fields_index(draft->fields, place, i),
                                 "there is no action '%s'", name);
        else
            list[action->predecessor_count++] = (uint32_t)found;
    }
    action->predecessors = list;
    return MCP_OK;
}

/* Without any dependsOn: each action after the one before it. */
static mcp_status chain(portarium_draft *draft)
{
    uint32_t *list = mcp_arena_array(draft->arena, draft->count, sizeof *list);

    if (!list)
        return no_memory(draft);
    for (size_t i = 1; i < draft->count; i++) {
        list[i] = (uint32_t)i - 1;
        draft->actions[i].predecessors = &list[i];
        draft->actions[i].predecessor_count = 1;
    }
    return MCP_OK;
}

static mcp_status link_successors(portarium_draft *draft)
{
    size_t total = 0;

    for (size_t i = 0; i < draft->count; i++)
        total += draft->actions[i].predecessor_count;
    uint32_t *pool = mcp_arena_array(draft->arena, total + 1, sizeof *pool);
    uint32_t **lists = mcp_arena_array(draft->arena, draft->count, sizeof *lists);
    if (!pool || !lists)
        return no_memory(draft);
    for (size_t i = 0; i < draft->count; i++)
        for (size_t k = 0; k < draft->actions[i].predecessor_count; k++)
            draft->actions[draft->actions[i].predecessors[k]].successor_count++;
    for (size_t i = 0; i < draft->count; i++) {
        lists[i] = pool;
        draft->actions[i].successors = pool;
        pool += draft->actions[i].successor_count;
    }
    for (size_t i = 0; i < draft->count; i++)
        for (size_t k = 0; k < draft->actions[i].predecessor_count; k++)
            *lists[draft->actions[i].predecessors[k]]++ = (uint32_t)i;
    return MCP_OK;
}

/* The ancestors of an action and itself become ancestors of a successor. */
static void hand_down(portarium_draft *draft, size_t from, size_t to)
{
    const uint64_t *source = &draft->ancestors[from * draft->words];
    uint64_t *target = &draft->ancestors[to * draft->words];

    for (size_t word = 0; word < draft->words; word++)
        target[word] |= source[word];
    target[from / BITS] |= (uint64_t)1 << from % BITS;
}

static mcp_status walk(portarium_draft *draft)
{
    uint32_t *queue = mcp_arena_array(draft->arena, draft->count, sizeof *queue);
    size_t *missing = mcp_arena_array(draft->arena, draft->count, sizeof *missing);
    size_t end = 0;

    draft->words = (draft->count + BITS - 1) / BITS;
    draft->ancestors = mcp_arena_array(draft->arena, draft->count * draft->words,
                                       sizeof *draft->ancestors);
    if (!queue || !missing || !draft->ancestors)
        return no_memory(draft);
    for (size_t i = 0; i < draft->count; i++) {
        missing[i] = draft->actions[i].predecessor_count;
        if (missing[i] == 0)
            queue[end++] = (uint32_t)i;
    }
    for (size_t at = 0; at < end; at++) {
        const portarium_action *action = &draft->actions[queue[at]];
        for (size_t k = 0; k < action->successor_count; k++) {
            uint32_t next = action->successors[k];
            hand_down(draft, queue[at], next);
            if (--missing[next] == 0)
                queue[end++] = next;
        }
    }
    for (size_t i = 0; i < draft->count && end < draft->count; i++)
        if (missing[i] > 0) {
            portarium_fields_add(draft->fields,
                                 portarium_fields_at(draft->fields, draft->places[i], "dependsOn"),
                                 "the action is in, or waits for, a circle of dependencies");
            break;
        }
    return MCP_OK;
}

mcp_status portarium_draft_link(portarium_draft *draft)
{
    bool is_graph = false;
    mcp_status st = sort_ids(draft);

    for (size_t i = 0; i < draft->count; i++)
        is_graph = is_graph || mcp_json_get(draft->sources[i], "dependsOn");
    if (st == MCP_OK && !is_graph)
        st = chain(draft);
    for (size_t i = 0; is_graph && st == MCP_OK && i < draft->count; i++)
        st = read_predecessors(draft, i);
    if (st == MCP_OK)
        st = link_successors(draft);
    return st == MCP_OK ? walk(draft) : st;
}
