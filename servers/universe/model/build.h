/*
 * build.h - a state put together from entities that come in any order, as a snapshot or an import
 * has them.
 *
 * Entities name others that have not come yet, and say the hierarchy twice (children and parentId).
 * So everything is filed as it comes and judged at the end: in strict universes the first
 * disagreement refuses the whole, in lenient ones parentId decides, the rest is repaired, and each
 * repair is listed.
 */
#ifndef UNIVERSE_BUILD_H
#define UNIVERSE_BUILD_H

#include "model/core.h"

#define UNIVERSE_REPAIRS_MAX 1000 /* that are listed; all are counted */

typedef struct universe_build universe_build;

mcp_status universe_build_new(universe_build **out, const universe_rules *rules, mcp_error *err);
void universe_build_free(universe_build *build);

/*
 * Add one entity, checked against its map's shape.
 * @return MCP_OK; MCP_E_PARAMS (the words say what is wrong); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status universe_build_add(universe_build *build, universe_map map, const mcp_json *entity,
                              mcp_error *err);

/* The next of rootIds (UNIVERSE_STARS) or rootGroupIds (UNIVERSE_GROUPS). */
mcp_status universe_build_root(universe_build *build, universe_map map, const char *id,
                               size_t length, mcp_error *err);

/* There is no list of root groups: they are those without parent. */
void universe_build_derive_root_groups(universe_build *build);

void universe_build_time(universe_build *build, double time);

/* Judge, repair, and hand the state over; its time is 0 unless it was set. @return as
 * universe_build_add */
mcp_status universe_build_end(universe_state **out, universe_build *build, mcp_error *err);

/* Whether the state was refused for something that a repair would mend. */
bool universe_build_is_repairable(const universe_build *build);

/* How much was repaired; the words of the i-th repair, NULL when there are no more. */
size_t universe_build_repairs(const universe_build *build);
const char *universe_build_repair(const universe_build *build, size_t index);

#endif
