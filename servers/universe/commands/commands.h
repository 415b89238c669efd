/*
 * commands.h - the pure reducer: a state and a command give the next state, events and what was
 * touched.
 *
 * No clock, no randomness, no input or output: the same state and the same command give the same
 * outcome, so a log of commands replays exactly.
 */
#ifndef UNIVERSE_COMMANDS_H
#define UNIVERSE_COMMANDS_H

#include "model/model.h"

typedef enum universe_verdict {
    UNIVERSE_APPLIED,
    UNIVERSE_UNCHANGED, /* success, and nothing to store or to broadcast: no new version */
    UNIVERSE_REJECTED   /* the state is as it was */
} universe_verdict;

/* What a command came to. All of it is the arena's, or borrowed from the command. */
typedef struct universe_outcome {
    universe_verdict verdict;
    const char *reason; /* of a rejection: the type of its event, "starNotFound"; else NULL */
    const char *events; /* a JSON array */
    size_t events_length;
    const char *command; /* as it is stored and broadcast: as sent, `dt` filled in */
    size_t command_length;
    double dt; /* of a tick: by how much time went on; else 0 */
    const universe_touch *touches;
    size_t touch_count;
    bool everything;  /* more changed than touches could say: fetch the state */
    bool roots;       /* rootIds changed */
    bool root_groups; /* rootGroupIds changed */
} universe_outcome;

/*
 * Apply one command.
 *
 * @param command the command, read from `text`
 * @param text    as it was sent; kept by pointer in `out`
 * @param rules   NULL: strict
 * @return MCP_OK with any verdict; MCP_E_NOMEM, MCP_E_LIMIT (the arena's bound), MCP_E_INTERNAL:
 *         the state is as it was
 */
mcp_status universe_apply(universe_outcome *out, universe_state *state, const mcp_json *command,
                          const char *text, size_t text_length, const universe_rules *rules,
                          mcp_arena *arena, mcp_error *err);

/* Gets one repair in words. */
typedef void universe_repaired(const char *words, void *data);

/*
 * Repair references to bodies that are not there (I7) as if these had just been removed: disks,
 * fields, belts and markers that refer to one go, Trojans lose their host.
 *
 * @return MCP_OK; MCP_E_NOMEM, MCP_E_LIMIT: the state is as it was
 */
mcp_status universe_repair(universe_state *state, universe_repaired *each, void *data,
                           mcp_arena *arena, mcp_error *err);

#endif
