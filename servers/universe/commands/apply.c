/*
 * apply.c - one command: checked, reduced, and put back where it is refused.
 *
 * The state's core is held before the reducer runs, which costs no more than a freeze. So a reducer
 * may find out late that it has to reject, memory may run out anywhere, and either way the state is
 * what it was.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "commands/catalogue.h"
#include "commands/reduce.h"

#define EVENTS_MAX ((size_t)512 << 20)
#define ECHO_MAX 4096 /* bytes of an unknown command that are sent back */

static const struct {
    const char *type;
    universe_reducer *run;
} reducers[UNIVERSE_COMMANDS] = {
    { "tick", universe_tick },
    { "addStar", universe_add_star },
    { "updateStar", universe_update_star },
    { "removeStar", universe_remove_star },
    { "attachStar", universe_attach_star },
    { "detachStar", universe_detach_star },
    { "addGroup", universe_add_group },
    { "updateGroup", universe_update_group },
    { "removeGroup", universe_remove_group },
    { "addToGroup", universe_add_to_group },
    { "removeFromGroup", universe_remove_from_group },
    { "moveToGroup", universe_move_to_group },
    { "setSmallBodyFields", universe_set_fields },
    { "updateSmallBodyField", universe_update_field },
    { "removeSmallBodyField", universe_remove_field },
    { "setProtoplanetaryDisks", universe_set_disks },
    { "addProtoplanetaryDisk", universe_add_disk },
    { "updateProtoplanetaryDisk", universe_update_disk },
    { "removeProtoplanetaryDisk", universe_remove_disk },
    { "setNebulae", universe_set_nebulae },
    { "updateNebula", universe_update_nebula },
    { "removeNebula", universe_remove_nebula },
    { "updateRing", universe_update_ring },
    { "removeRing", universe_remove_ring },
    { "replaceSnapshot", universe_replace_snapshot },
};

/* ---- events ---------------------------------------------------------------------------------- */

void universe_give_up(universe_reduction *r, mcp_status status)
{
    if (r->status == MCP_OK)
        r->status = status;
}

void universe_event_begin(universe_reduction *r, const char *type)
{
    mcp_write_object(&r->events);
    mcp_write_member_string(&r->events, "type", type);
}

void universe_event_end(universe_reduction *r)
{
    mcp_write_end(&r->events);
}

static void write_event(universe_reduction *r, const char *type, const char *reason, va_list pairs)
{
    universe_event_begin(r, type);
    if (reason)
        mcp_write_member_string(&r->events, "reason", reason);
    for (const char *name = va_arg(pairs, const char *); name; name = va_arg(pairs, const char *))
        mcp_write_member_value(&r->events, name, va_arg(pairs, const mcp_json *));
    universe_event_end(r);
}

void universe_event(universe_reduction *r, const char *type, const char *reason, ...)
{
    va_list pairs;

    va_start(pairs, reason);
    write_event(r, type, reason, pairs);
    va_end(pairs);
}

void universe_reject(universe_reduction *r, const char *type, const char *reason, ...)
{
    va_list pairs;

    r->out->verdict = UNIVERSE_REJECTED;
    r->out->reason = type;
    va_start(pairs, reason);
    write_event(r, type, reason, pairs);
    va_end(pairs);
}

void universe_invalid(universe_reduction *r, const char *reason, const char *path)
{
    r->out->verdict = UNIVERSE_REJECTED;
    r->out->reason = "invalidCommand";
    universe_event_begin(r, "invalidCommand");
    mcp_write_member_string(&r->events, "reason", reason);
    mcp_write_member_string(&r->events, "path", path);
    universe_event_end(r);
}

void universe_reject_patch(universe_reduction *r, const mcp_json *id, const char *field)
{
    universe_event_begin(r, "invalidPatch");
    mcp_write_member_value(&r->events, "id", id);
    mcp_write_member_string(&r->events, "field", field);
    universe_event_end(r);
    r->out->verdict = UNIVERSE_REJECTED;
    r->out->reason = "invalidPatch";
}

/* ---- touches --------------------------------------------------------------------------------- */

static bool touches_grow(universe_reduction *r)
{
    size_t capacity = r->touch_capacity ? 2 * r->touch_capacity : 8;
    universe_touch *larger = mcp_arena_array(r->arena, capacity, sizeof *larger);

    if (!larger) {
        universe_give_up(r, MCP_E_NOMEM);
        return false;
    }
    if (r->out->touch_count > 0)
        memcpy(larger, r->touches, r->out->touch_count * sizeof *larger);
    r->touches = larger;
    r->touch_capacity = capacity;
    return true;
}

void universe_touched(universe_reduction *r, universe_map map, universe_handle handle, bool removed)
{
    universe_outcome *out = r->out;
    char id[UNIVERSE_ID_MAX + 1];

    if (out->everything || r->status != MCP_OK || r->state->failed)
        return;
    if (out->touch_count == UNIVERSE_TOUCHES_MAX) {
        out->everything = true;
        out->touch_count = 0;
        return;
    }
    if (out->touch_count == r->touch_capacity && !touches_grow(r))
        return;
    size_t length = universe_row_id(&r->state->core, map, handle, id);
    const char *copy = mcp_arena_strndup(r->arena, id, length);
    if (!copy)
        universe_give_up(r, MCP_E_NOMEM);
    r->touches[out->touch_count++] = (universe_touch){ map, copy, length, removed };
}

/* ---- arguments ------------------------------------------------------------------------------- */

const mcp_json *universe_argument(const universe_reduction *r, const char *name)
{
    return mcp_json_get(r->command, name);
}

universe_handle universe_named_by(const universe_reduction *r, universe_map map, const mcp_json *id)
{
    size_t length = 0;
    const char *bytes = mcp_json_string(id, &length);

    return bytes ? universe_find(&r->state->core, map, bytes, length) : 0;
}

universe_handle universe_named(const universe_reduction *r, universe_map map, const char *name)
{
    return universe_named_by(r, map, universe_argument(r, name));
}

/* ---- tick ------------------------------------------------------------------------------------ */

/* The command as it is stored: `dt` put before the last brace. */
static void fill_in(universe_reduction *r, double dt)
{
    universe_outcome *out = r->out;
    size_t end = out->command_length;
    mcp_json_writer writer;
    mcp_buf number;

    while (end > 0 && out->command[end - 1] != '}')
        end--;
    mcp_buf_init(&number, 64);
    mcp_json_writer_init(&writer, &number);
    mcp_write_double(&writer, dt);
    char *text = NULL;
    if (end > 0 && mcp_json_writer_status(&writer) == MCP_OK)
        text = mcp_arena_printf(r->arena, "%.*s,\"dt\":%s}", (int)(end - 1), out->command,
                                number.data);
    mcp_buf_clear(&number);
    if (!text) {
        universe_give_up(r, MCP_E_NOMEM);
        return;
    }
    out->command = text;
    out->command_length = strlen(text);
}

void universe_tick(universe_reduction *r)
{
    universe_core *core = &r->state->core;
    const mcp_json *given = universe_argument(r, "dt");
    double dt = r->rules->default_dt != 0 ? r->rules->default_dt : 1.0;
    bool is_number = !given || mcp_json_double(given, &dt);

    if (!given)
        fill_in(r, dt);
    if (!is_number) /* null too, which is how JavaScript writes NaN */
        universe_invalid(r, "dt must be a number", "/dt");
    else if (dt < 0 && r->rules->refuse_negative_dt)
        universe_invalid(r, "dt must not be negative here", "/dt");
    else if (fabs(core->time + dt) > UNIVERSE_TIME_MAX)
        universe_invalid(r, "time would pass 1e15", "/dt");
    else if (dt == 0)
        r->out->verdict = UNIVERSE_UNCHANGED;
    else
        core->time = core->time + dt + 0.0;
    r->out->dt = dt;
}

/* ---- the way of a command -------------------------------------------------------------------- */

static void reject_unknown(universe_reduction *r, size_t text_length)
{
    const mcp_json *type = universe_argument(r, "type");

    r->out->verdict = UNIVERSE_REJECTED;
    r->out->reason = "unknownCommand";
    universe_event_begin(r, "unknownCommand");
    mcp_write_name(&r->events, "command");
    if (text_length <= ECHO_MAX) {
        mcp_write_value(&r->events, r->command);
    } else {
        size_t length = 0;
        mcp_json_string(type, &length);
        mcp_write_object(&r->events);
        mcp_write_member_value(&r->events, "type", length <= ECHO_MAX ? type : NULL);
        mcp_write_end(&r->events);
    }
    universe_event_end(r);
}

/* "'payload' is missing; addStar takes id, payload" */
static const char *missing_hint(universe_reduction *r, const universe_command_type *type,
                                const char *name)
{
    const universe_shape *shape = type->shape;
    const char *text = mcp_arena_printf(r->arena, "'%s' is missing; %s takes", name, type->type);

    for (size_t i = 0; text && i < shape->count; i++)
        text = mcp_arena_printf(r->arena, "%s%s %s", text, i ? "," : "", shape->members[i].name);
    return text ? text : "a member is missing";
}

static bool is_checked(universe_reduction *r, const universe_command_type *type)
{
    universe_fault fault;

    for (size_t i = 0; i < type->shape->count; i++) {
        const universe_member *member = &type->shape->members[i];
        if (!(member->flags & UNIVERSE_M_REQUIRED) || universe_argument(r, member->name))
            continue;
        universe_invalid(r, missing_hint(r, type, member->name),
                         mcp_arena_printf(r->arena, "/%s", member->name));
        return false;
    }
    if (universe_shape_check(&fault, type->shape, r->command, "", false, r->rules, r->arena))
        return true;
    if (fault.reason)
        universe_invalid(r, fault.reason, fault.path);
    else
        universe_give_up(r, MCP_E_NOMEM);
    return false;
}

static void reduce(universe_reduction *r, size_t text_length)
{
    size_t length = 0;
    const char *name = mcp_json_string(universe_argument(r, "type"), &length);
    const char *why = universe_value_refused(r->command, 0);
    const universe_command_type *type = name ? universe_command_find(name, length) : NULL;

    if (!mcp_json_is_object(r->command))
        universe_invalid(r, "a command is an object", "");
    else if (why)
        universe_invalid(r, why, "");
    else if (!name)
        universe_invalid(r, "'type' must be a string", "/type");
    else if (!type)
        reject_unknown(r, text_length);
    else if (is_checked(r, type))
        reducers[type - universe_command_types].run(r);
}

/* The events as a text of the arena's. */
static void finish_events(universe_reduction *r)
{
    mcp_buf *buf = r->events.buf;

    mcp_write_end(&r->events);
    mcp_status st = mcp_json_writer_status(&r->events);
    if (st != MCP_OK)
        universe_give_up(r, st);
    if (r->status != MCP_OK)
        return;
    r->out->events_length = buf->length;
    r->out->events = mcp_arena_strndup(r->arena, buf->data, buf->length);
    if (!r->out->events)
        universe_give_up(r, MCP_E_NOMEM);
}

static void finish(universe_reduction *r, const universe_core *before)
{
    universe_outcome *out = r->out;

    finish_events(r);
    if (r->state->failed)
        universe_give_up(r, MCP_E_NOMEM);
    if (r->status != MCP_OK || out->verdict == UNIVERSE_REJECTED)
        universe_state_return(r->state, before);
    if (out->verdict == UNIVERSE_APPLIED) {
        out->touches = r->touches;
        return;
    }
    out->touch_count = 0;
    out->everything = out->roots = out->root_groups = false;
}

mcp_status universe_apply(universe_outcome *out, universe_state *state, const mcp_json *command,
                          const char *text, size_t text_length, const universe_rules *rules,
                          mcp_arena *arena, mcp_error *err)
{
    static const universe_rules strict;
    universe_outcome outcome = { .command = text, .command_length = text_length };
    universe_reduction r = {
        .state = state,
        .command = command,
        .rules = rules ? rules : &strict,
        .arena = arena,
        .out = &outcome,
        .err = err,
    };
    universe_core before = state->core;
    mcp_buf events;

    mcp_buf_init(&events, EVENTS_MAX);
    mcp_json_writer_init(&r.events, &events);
    mcp_write_array(&r.events);
    universe_core_hold(&state->core);
    reduce(&r, text_length);
    finish(&r, &before);
    universe_core_drop(&before);
    mcp_buf_clear(&events);
    if (r.status != MCP_OK)
        return mcp_error_set(err, r.status, "a command could not be applied: %s",
                             mcp_status_words(r.status));
    *out = outcome;
    return MCP_OK;
}
