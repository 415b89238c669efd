/**
 * generate.h - universes grown from a seed: an L-system gives the topology, draws from one
 * generator of random numbers the rest (universe.md 13).
 *
 * The same configuration, seed and generator version give the same state, byte for byte, on the
 * same mathematical library.
 */
#ifndef UNIVERSE_GENERATE_H
#define UNIVERSE_GENERATE_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/model.h"

/** Gets the progress, 0 to 1, a few times a second. @return true: stop */
typedef bool universe_generating(double fraction, void *data);

/**
 * Generate a state.
 *
 * @param json    an object with the members of universe.md 13.6 (and `compat`); unknown members are
 *                refused by name, left out ones have their defaults; `dryRun` is passed over
 * @param report    may be NULL
 * @param arena   pays for what is needed on the way
 * @return MCP_OK; MCP_E_PARAMS: a member that cannot be, named; MCP_E_LIMIT: more systems or bodies
 *         than the bounds, with the estimate; MCP_E_STOPPED; MCP_E_NOMEM
 */
mcp_status universe_generate(universe_state **out, const mcp_json *json,
                             universe_generating *report, void *data, mcp_arena *arena,
                             mcp_error *err);

#endif
