/*
 * snapshot.c - replaceSnapshot: a new state is built while the old one stays, and takes its place;
 * the time is kept.
 */
#include "commands/reduce.h"
#include "model/build.h"

static mcp_status add_all(universe_build *build, const mcp_json *snapshot, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (int map = 0; map < UNIVERSE_MAPS; map++) {
        const mcp_json *entities = mcp_json_get(snapshot, universe_map_names[map]);
        for (size_t i = 0; i < mcp_json_count(entities) && st == MCP_OK; i++)
            st = universe_build_add(build, map, mcp_json_item(entities, i), err);
    }
    return st;
}

static mcp_status add_roots(universe_build *build, universe_map map, const mcp_json *ids,
                            mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < mcp_json_count(ids) && st == MCP_OK; i++) {
        size_t length = 0;
        const char *id = mcp_json_string(mcp_json_item(ids, i), &length);
        st = universe_build_root(build, map, id, length, err);
    }
    return st;
}

static void write_event(universe_reduction *r, const universe_build *build)
{
    size_t count = universe_build_repairs(build);
    const char *words = universe_build_repair(build, 0);

    universe_event_begin(r, "snapshotReplaced");
    if (count > 0)
        mcp_write_member_array(&r->events, "repairs");
    for (size_t i = 1; words; words = universe_build_repair(build, i++))
        mcp_write_string(&r->events, words);
    if (count > 0)
        mcp_write_end(&r->events);
    universe_event_end(r);
}

static mcp_status build_all(universe_state **out, universe_build *build, const mcp_json *snapshot,
                            mcp_error *err)
{
    mcp_status st = add_all(build, snapshot, err);

    if (st == MCP_OK)
        st = add_roots(build, UNIVERSE_STARS, mcp_json_get(snapshot, "rootIds"), err);
    if (st == MCP_OK)
        st = add_roots(build, UNIVERSE_GROUPS, mcp_json_get(snapshot, "rootGroupIds"), err);
    if (!mcp_json_get(snapshot, "rootGroupIds"))
        universe_build_derive_root_groups(build);
    return st == MCP_OK ? universe_build_end(out, build, err) : st;
}

/* The new state's clock: that of the old one, unless the command says otherwise, as a PUT does. */
static double time_after(const universe_reduction *r)
{
    double time = r->state->core.time;

    mcp_json_double(universe_argument(r, "time"), &time);
    return time + 0.0;
}

void universe_replace_snapshot(universe_reduction *r)
{
    universe_build *build = NULL;
    universe_state *built = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = universe_build_new(&build, r->rules, &err);

    if (st == MCP_OK)
        st = build_all(&built, build, universe_argument(r, "snapshot"), &err);
    if (st == MCP_E_PARAMS || st == MCP_E_LIMIT) {
        const char *words = mcp_arena_strdup(r->arena, err.message);
        universe_invalid(r, words ? words : "does not hold together", "/snapshot");
    } else if (st != MCP_OK) {
        universe_give_up(r, st);
    } else {
        built->core.time = time_after(r);
        universe_state_return(r->state, &built->core);
        r->out->everything = r->out->roots = r->out->root_groups = true;
        write_event(r, build);
    }
    universe_state_free(built);
    universe_build_free(build);
}
