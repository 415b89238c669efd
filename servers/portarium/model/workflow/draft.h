/*
 * draft.h - a definition while it is being read: what the graph and the rules need of it.
 */
#ifndef PORTARIUM_WORKFLOW_DRAFT_H
#define PORTARIUM_WORKFLOW_DRAFT_H

#include "model/workflow.h"

typedef struct portarium_draft {
    mcp_arena *arena;
    portarium_fields *fields;
    portarium_workflow *workflow;
    portarium_action *actions; /* by order, as the arrays below */
    size_t count;
    const mcp_json **sources;
    const char **places; /* "/actions/3": the place in the body */
    uint32_t *by_id;     /* indexes, sorted by id */
    uint64_t *ancestors; /* a row of bits an action: those that precede it */
    size_t words;        /* of a row */
    mcp_error *err;
} portarium_draft;

/* The index of an action, -1 when there is none. */
int portarium_draft_find(const portarium_draft *draft, const char *id, size_t length);

/* True when the action of index `first` has ended before the other one begins. */
bool portarium_draft_precedes(const portarium_draft *draft, size_t first, size_t then);

/* Sort the ids, link predecessors and successors, find circles, note who precedes whom. Breaches
 * go to the fields; with one, the ancestors may be incomplete. MCP_OK; MCP_E_NOMEM */
mcp_status portarium_draft_link(portarium_draft *draft);

/* Judge `when`, templates and forms of every action, and the schema of the parameters. MCP_OK;
 * MCP_E_NOMEM */
mcp_status portarium_draft_judge(portarium_draft *draft);

#endif
