/*
 * world.h - a universe under test, spoken to in JSON whose quotes are written as ' to be readable
 * in C.
 */
#ifndef TESTS_UNIVERSE_WORLD_H
#define TESTS_UNIVERSE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/commands.h"
#include "model/model.h"

typedef struct world {
    universe_state *state;
    mcp_arena *arena;
    universe_rules rules;
    universe_outcome outcome;
} world;

static inline world world_new(void)
{
    world w = { 0 };

    assert_int_equal(universe_state_new(&w.state, NULL), MCP_OK);
    w.arena = mcp_arena_new((size_t)1 << 30);
    assert_non_null(w.arena);
    return w;
}

static inline void world_free(world *w)
{
    universe_state_free(w->state);
    mcp_arena_free(w->arena);
}

/* The text with ' turned into ". */
static inline char *quoted(mcp_arena *arena, const char *text)
{
    char *copy = mcp_arena_strdup(arena, text);

    assert_non_null(copy);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

static inline const mcp_json *json_of(mcp_arena *arena, const char *text, size_t length)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_json_read(&value, arena, text, length, &err) != MCP_OK)
        fail_msg("%s in: %.200s", err.message, text);
    return value;
}

static inline const mcp_json *json(world *w, const char *text)
{
    const char *copy = quoted(w->arena, text);

    return json_of(w->arena, copy, strlen(copy));
}

static inline mcp_status collect(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)err;
    assert_true(length > 0 && length <= UNIVERSE_PIECE_MAX);
    return mcp_buf_append(data, bytes, length);
}

/* The whole state, or a part, as text in `out`. */
static inline void state_text(mcp_buf *out, universe_state *state, const universe_projection *part)
{
    universe_view *view = NULL;

    mcp_buf_init(out, (size_t)1 << 30);
    assert_int_equal(universe_state_freeze(&view, state, NULL), MCP_OK);
    assert_int_equal(universe_view_write(view, part, collect, out, NULL, NULL), MCP_OK);
    universe_view_free(view);
}

static inline const mcp_json *state_json(world *w)
{
    mcp_buf text;

    state_text(&text, w->state, NULL);
    const mcp_json *value = json_of(w->arena, text.data, text.length);
    mcp_buf_clear(&text);
    return value;
}

static inline void assert_json(world *w, const mcp_json *value, const char *expected)
{
    mcp_json_writer writer;
    mcp_buf buf;

    if (mcp_json_equal(value, json(w, expected)))
        return;
    mcp_buf_init(&buf, 1 << 24);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_value(&writer, value);
    fail_msg("it is\n  %s\nand not\n  %s", buf.data ? buf.data : "", expected);
}

/* What stands in the state at a JSON Pointer; "absent" for nothing. */
static inline void assert_at(world *w, const char *pointer, const char *expected)
{
    const mcp_json *found = mcp_json_pointer(state_json(w), pointer);

    if (strcmp(expected, "absent") == 0)
        assert_null(found);
    else
        assert_json(w, found, expected);
}

static inline void assert_sound(world *w)
{
    universe_view *view = NULL;
    mcp_error err = MCP_ERROR_INIT;

    assert_int_equal(universe_state_freeze(&view, w->state, NULL), MCP_OK);
    if (universe_view_check(view, &w->rules, &err) != MCP_OK)
        fail_msg("%s", err.message);
    universe_view_free(view);
}

/* Send a command; the outcome is w->outcome. */
static inline void send_text(world *w, const char *text, size_t length)
{
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *command = json_of(w->arena, text, length);

    if (universe_apply(&w->outcome, w->state, command, text, length, &w->rules, w->arena, &err) !=
        MCP_OK)
        fail_msg("%s", err.message);
    assert_sound(w);
}

static inline void send(world *w, const char *command)
{
    const char *text = quoted(w->arena, command);

    send_text(w, text, strlen(text));
}

static inline const mcp_json *events(world *w)
{
    return json_of(w->arena, w->outcome.events, w->outcome.events_length);
}

/* A command that is applied, and its events. */
static inline void accept(world *w, const char *command, const char *expected)
{
    send(w, command);
    if (w->outcome.verdict != UNIVERSE_APPLIED)
        fail_msg("not applied: %s\n%s", command, w->outcome.events);
    if (expected)
        assert_json(w, events(w), expected);
}

/* A command that succeeds without effect. */
static inline void ignore(world *w, const char *command, const char *expected)
{
    const mcp_json *before = state_json(w);

    send(w, command);
    assert_int_equal(w->outcome.verdict, UNIVERSE_UNCHANGED);
    assert_json(w, events(w), expected);
    assert_true(mcp_json_equal(before, state_json(w)));
}

/* A command that is rejected with one event of this type, the state being as it was. */
static inline void refuse(world *w, const char *command, const char *reason, const char *expected)
{
    const mcp_json *before = state_json(w);

    send(w, command);
    if (w->outcome.verdict != UNIVERSE_REJECTED)
        fail_msg("not rejected: %s\n%s", command, w->outcome.events);
    assert_string_equal(w->outcome.reason, reason);
    assert_string_equal(mcp_json_get_string(mcp_json_item(events(w), 0), "type"), reason);
    if (expected)
        assert_json(w, events(w), expected);
    assert_true(mcp_json_equal(before, state_json(w)));
    assert_int_equal(w->outcome.touch_count, 0);
}

/* A command that the catalogue refuses, at that path. */
static inline void refuse_at(world *w, const char *command, const char *path)
{
    refuse(w, command, "invalidCommand", NULL);
    const char *where = mcp_json_get_string(mcp_json_item(events(w), 0), "path");
    if (strcmp(where, path) != 0)
        fail_msg("refused at '%s' and not '%s': %s", where, path, w->outcome.events);
}

/* A body with the least members; `more` is put before the last brace and begins with a comma. */
static inline void add_star(world *w, const char *id, const char *parent, const char *more)
{
    const char *quote = parent ? "'" : "";

    accept(w,
           mcp_arena_printf(
               w->arena,
               "{'type':'addStar','id':'%s','payload':{'name':'n %s','mass':1,'radius':2,"
               "'color':'#FFFFFF','parentId':%s%s%s,'orbitalDistance':10,'orbitalSpeed':5%s}}",
               id, id, quote, parent ? parent : "null", quote, more),
           NULL);
}

static inline void add_group(world *w, const char *id, const char *parent, const char *children)
{
    const char *quote = parent ? "'" : "";

    accept(w,
           mcp_arena_printf(w->arena,
                            "{'type':'addGroup','id':'%s','payload':{'name':'g','children':[%s],"
                            "'parentGroupId':%s%s%s}}",
                            id, children, quote, parent ? parent : "null", quote),
           NULL);
}

#define FIELD(id, host)                                                                            \
    "{'id':'" id "','systemId':'s','hostStarId':'" host "','innerRadius':1,'outerRadius':2,"       \
    "'thickness':0.5,'particleCount':300,'baseColor':'#AAAAAA','highlightColor':'#BBBBBB',"        \
    "'opacity':0.5,'brightness':0.5,'clumpiness':0.3,'rotationSpeedMultiplier':1,"                 \
    "'beltType':'main','regionLabel':'Main','isIcy':false,'seed':7,'style':'thin'}"
#define DISK(id, host)                                                                             \
    "{'id':'" id "','systemId':'s','centralStarId':'" host "','innerRadius':1,'outerRadius':5,"    \
    "'thickness':0.3,'particleCount':5000,'baseColor':'#D4A574','highlightColor':'#FFD700',"       \
    "'opacity':0.5,'brightness':0.5,'clumpiness':0.3,'rotationSpeedMultiplier':0.3,"               \
    "'seed':'s','style':'moderate'}"
#define NEBULA(id)                                                                                 \
    "{'id':'" id "','name':'N','position':{'x':1,'y':2,'z':3},'radius':50,'density':0.5,"          \
    "'brightness':0.5,'baseColor':'#112233','accentColor':'#445566','noiseScale':1,"               \
    "'noiseDetail':2,'seed':1}"
#define BELT(id, parent)                                                                           \
    "{'id':'" id "','name':'B','parentId':'" parent "','innerRadius':1,'outerRadius':2,"           \
    "'thickness':1,'eccentricity':0,'inclination':0,'asteroidCount':3,'asteroidIds':['x']}"
#define RING                                                                                       \
    "{'innerRadiusMultiplier':1.5,'outerRadiusMultiplier':2.5,'thickness':0.2,'opacity':0.6,"      \
    "'albedo':0.8,'color':'#C0B090','density':0.7}"
#define MARKER(primary, secondary)                                                                 \
    ",'bodyType':'lagrangePoint','lagrangePoint':{'primaryId':'" primary                           \
    "','secondaryId':'" secondary "','pointIndex':4,'stable':true,'pairType':'starPlanet'}"

#endif
