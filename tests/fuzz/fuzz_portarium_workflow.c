/*
 * fuzz_portarium_workflow.c - any JSON as the definition of a workflow and as a policy, any text as
 * a cursor and as a time: accepted, or refused with a named field, and what is accepted is whole.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/files.h"
#include "model/identity.h"
#include "model/workflow.h"
#include "policy/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const mcp_file portarium_files[];

static void must(int claim)
{
    if (!claim)
        abort();
}

/* Edges lead both ways, and an action never waits for itself. */
static void must_be_whole(const portarium_workflow *workflow)
{
    size_t forward = 0;
    size_t backward = 0;

    for (size_t i = 0; i < workflow->action_count; i++) {
        const portarium_action *action = &workflow->actions[i];
        must(action->id && action->operation && action->tier >= workflow->tier);
        must(portarium_workflow_action(workflow, action->id) == action);
        forward += action->successor_count;
        backward += action->predecessor_count;
        for (size_t k = 0; k < action->predecessor_count; k++)
            must(action->predecessors[k] < workflow->action_count && action->predecessors[k] != i);
    }
    must(forward == backward);
}

static void read_texts(const char *text, mcp_arena *arena)
{
    portarium_cursor cursor;
    portarium_cursor again;
    char written[MCP_CLOCK_UTC_SIZE];
    const char *encoded = NULL;
    int64_t ms;
    int64_t same;

    if (portarium_cursor_read(&cursor, text, arena, NULL) == MCP_OK && cursor.key) {
        must(portarium_cursor_write(&encoded, &cursor, arena, NULL) == MCP_OK);
        must(portarium_cursor_read(&again, encoded, arena, NULL) == MCP_OK);
        must(strcmp(again.key, cursor.key) == 0 && strcmp(again.id, cursor.id) == 0);
    }
    if (portarium_time_read(&ms, text)) {
        portarium_time_write(written, ms);
        must(portarium_time_read(&same, written) && same == ms);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const portarium_workflow_origin origin = { "wf", "ws", 1 };
    static portarium_shapes *shapes;
    const portarium_workflow *workflow = NULL;
    const portarium_policy *policy = NULL;
    const mcp_json *body = NULL;
    portarium_fields fields;
    mcp_arena *arena = mcp_arena_new(0);

    if (!shapes)
        must(portarium_shapes_new(&shapes, portarium_files, NULL) == MCP_OK);
    must(arena != NULL);
    const char *text = mcp_arena_strndup(arena, size > 0 ? (const char *)data : "", size);
    read_texts(text, arena);
    if (mcp_json_read(&body, arena, text, size, NULL) == MCP_OK) {
        portarium_fields_init(&fields, arena);
        mcp_status st = portarium_workflow_read(&workflow, arena, shapes, body, &origin, &fields,
                                                NULL);
        must(st == MCP_E_LIMIT || (st == MCP_OK) == (fields.count == 0));
        if (st == MCP_OK)
            must_be_whole(workflow);
        portarium_fields_init(&fields, arena);
        st = portarium_policy_read(&policy, arena, shapes, body, "p", 1, &fields, NULL);
        must(st == MCP_E_LIMIT || (st == MCP_OK) == (fields.count == 0));
    }
    mcp_arena_free(arena);
    return 0;
}
