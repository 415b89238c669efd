/*
 * Long random sequences of commands, good and bad, from a fixed seed. The state stays sound after
 * each; it equals its own log replayed, its snapshot loaded and its JSON imported; a view does not
 * change, and restoring one undoes everything.
 *
 * CAUSEWAY_RANDOM_STEPS says how many steps (100000 without it).
 */
#include "../world.h"
#include "model/pages/memory.h"

enum { BODIES = 14, MANY_BODIES = 150, GROUPS = 7, THINGS = 4, LOG_MAX = 1000, VIEWS = 3 };

typedef struct dice {
    uint64_t state;
    unsigned bodies; /* whose ids come up */
} dice;

static unsigned roll(dice *dice, unsigned sides)
{
    dice->state ^= dice->state << 13;
    dice->state ^= dice->state >> 7;
    dice->state ^= dice->state << 17;
    return (unsigned)((dice->state >> 11) % sides);
}

/* Some ids are UUIDs, some are not; one more than there can be is never there. */
static const char *body_id(mcp_arena *arena, unsigned number)
{
    return number % 3 ? mcp_arena_printf(arena, "body-%u", number)
                      : mcp_arena_printf(arena, "0f8fad5b-d9cb-469f-a165-7086772895%02x", number);
}

static const char *any_body(dice *dice, mcp_arena *arena)
{
    return body_id(arena, roll(dice, dice->bodies));
}

static const char *any_group(dice *dice, mcp_arena *arena)
{
    return mcp_arena_printf(arena, "group-%u", roll(dice, GROUPS));
}

static const char *or_null(dice *dice, mcp_arena *arena, const char *id)
{
    return roll(dice, 4) ? mcp_arena_printf(arena, "'%s'", id) : "null";
}

/* What a body may have besides the least. */
static const char *body_extra(dice *dice, mcp_arena *arena)
{
    switch (roll(dice, 8)) {
    case 0:
        return ",'bodyType':'planet','eccentricity':0.5,'orbitRotX':1.25,'orbitOffsetZ':-3e-7";
    case 1:
        return mcp_arena_printf(
            arena,
            ",'lagrangePoint':{'primaryId':'%s','secondaryId':'%s','pointIndex':4,"
            "'stable':true,'pairType':'starPlanet'}",
            any_body(dice, arena), any_body(dice, arena));
    case 2:
        return mcp_arena_printf(arena, ",'lagrangeHostId':'%s','x':[1,2.5,{'y':null}]",
                                any_body(dice, arena));
    case 3:
        return ",'isRoguePlanet':true";
    case 4:
        return ",'isRoguePlanet':false,'ring':" RING;
    case 5:
        return ",'orbitRotX':null,'lagrangeHostId':null,'lagrangePoint':null,'ring':null,'isRoguePlanet':null";
    case 6:
        return mcp_arena_printf(arena, ",'parentBeltId':'b','mass-of-text':'%0*d'",
                                1 + (int)roll(dice, 300), 7);
    default:
        return "";
    }
}

static const char *star_command(dice *dice, mcp_arena *arena)
{
    const char *id = any_body(dice, arena);
    const char *other = any_body(dice, arena);

    switch (roll(dice, 10)) {
    case 0:
    case 1:
    case 2:
        return mcp_arena_printf(
            arena,
            "{'type':'addStar','id':'%s','payload':{'name':'n%u','mass':%u.5,'radius':2,"
            "'color':'%s','parentId':%s,'orbitalDistance':10,'orbitalSpeed':5%s}}",
            id, roll(dice, 4), roll(dice, 9), roll(dice, 2) ? "#ABCDEF" : "teal",
            or_null(dice, arena, other), body_extra(dice, arena));
    case 3:
    case 4:
        return mcp_arena_printf(arena, "{'type':'updateStar','id':'%s','payload':{'name':'u%u'%s}}",
                                id, roll(dice, 4), body_extra(dice, arena));
    case 5:
        return mcp_arena_printf(arena, "{'type':'removeStar','id':'%s'}", id);
    case 6:
    case 7:
        return mcp_arena_printf(arena, "{'type':'attachStar','childId':'%s','parentId':'%s'}", id,
                                other);
    case 8:
        return mcp_arena_printf(arena, "{'type':'detachStar','childId':'%s'}", id);
    default:
        return mcp_arena_printf(arena, "{'type':'%s','planetId':'%s','patch':{'opacity':0.%u}}",
                                roll(dice, 2) ? "updateRing" : "removeRing", id, roll(dice, 9));
    }
}

static const char *child(dice *dice, mcp_arena *arena)
{
    bool is_group = roll(dice, 2);

    return mcp_arena_printf(arena, "{'id':'%s','type':'%s'}",
                            is_group ? any_group(dice, arena) : any_body(dice, arena),
                            is_group ? "group" : "system");
}

static const char *group_command(dice *dice, mcp_arena *arena)
{
    const char *id = any_group(dice, arena);
    const char *other = any_group(dice, arena);
    bool is_group = roll(dice, 2);
    const char *member = is_group ? other : any_body(dice, arena);

    switch (roll(dice, 7)) {
    case 0:
    case 1:
        return mcp_arena_printf(
            arena,
            "{'type':'addGroup','id':'%s','payload':{'name':'g','children':[%s],"
            "'parentGroupId':%s}}",
            id, roll(dice, 2) ? child(dice, arena) : "", or_null(dice, arena, other));
    case 2:
        return mcp_arena_printf(arena,
                                "{'type':'updateGroup','id':'%s','payload':{'icon':'i%u','u':%u}}",
                                id, roll(dice, 9), roll(dice, 9));
    case 3:
        return mcp_arena_printf(arena, "{'type':'removeGroup','id':'%s'}", id);
    case 4:
        return mcp_arena_printf(arena, "{'type':'addToGroup','groupId':'%s','child':%s}", id,
                                child(dice, arena));
    case 5:
        return mcp_arena_printf(arena, "{'type':'removeFromGroup','groupId':'%s','childId':'%s'}",
                                id, member);
    default:
        return mcp_arena_printf(
            arena, "{'type':'moveToGroup','childId':'%s','childType':'%s','targetGroupId':%s}",
            member, is_group ? "group" : "system", or_null(dice, arena, id));
    }
}

static const char *field(dice *dice, mcp_arena *arena, unsigned number)
{
    return mcp_arena_printf(
        arena,
        "{'id':'f%u','systemId':'s','hostStarId':'%s','innerRadius':1,'outerRadius':%u,"
        "'thickness':0.5,'particleCount':300,'baseColor':'a','highlightColor':'b',"
        "'opacity':0.5,'brightness':0.5,'clumpiness':0.3,'rotationSpeedMultiplier':1,"
        "'beltType':'main','regionLabel':'Main','isIcy':false,'seed':7,'style':'thin'}",
        number, any_body(dice, arena), 2 + roll(dice, 3));
}

static const char *thing_command(dice *dice, mcp_arena *arena)
{
    unsigned number = roll(dice, THINGS);

    switch (roll(dice, 8)) {
    case 0:
        return mcp_arena_printf(arena, "{'type':'setSmallBodyFields','fields':{'f%u':%s}}", number,
                                field(dice, arena, number));
    case 1:
        return mcp_arena_printf(
            arena, "{'type':'updateSmallBodyField','id':'f%u','patch':{'hostStarId':'%s'}}", number,
            any_body(dice, arena));
    case 2:
        return mcp_arena_printf(arena, "{'type':'removeSmallBodyField','id':'f%u'}", number);
    case 3:
        return mcp_arena_printf(
            arena,
            "{'type':'addProtoplanetaryDisk','disk':{'id':'d%u','systemId':'s',"
            "'centralStarId':'%s','innerRadius':1,'outerRadius':5,'thickness':0.3,"
            "'particleCount':5000,'baseColor':'a','highlightColor':'b','opacity':0.5,"
            "'brightness':0.5,'clumpiness':0.3,'rotationSpeedMultiplier':0.3,'seed':'s',"
            "'style':'moderate'}}",
            number, any_body(dice, arena));
    case 4:
        return mcp_arena_printf(arena, "{'type':'removeProtoplanetaryDisk','id':'d%u'}", number);
    case 5:
        return mcp_arena_printf(
            arena, "{'type':'updateProtoplanetaryDisk','id':'d%u','patch':{'innerRadius':%u}}",
            number, roll(dice, 7));
    case 6:
        return "{'type':'setNebulae','nebulae':{'n':" NEBULA("n") "}}";
    default:
        return mcp_arena_printf(arena, "{'type':'tick','dt':%u.125}", roll(dice, 3));
    }
}

static const char *any_command(dice *dice, mcp_arena *arena)
{
    switch (roll(dice, 12)) {
    case 0:
        return "{'type':'tick'}";
    case 1:
        return thing_command(dice, arena);
    case 2:
    case 3:
    case 4:
        return group_command(dice, arena);
    default:
        return star_command(dice, arena);
    }
}

/* ---- what a reader of the JSON sees ---------------------------------------------------------- */

static void must(bool is_so, const char *rule, const char *id)
{
    if (!is_so)
        fail_msg("%s is broken at %s", rule, id);
}

static size_t times_in(const mcp_json *ids, const char *id)
{
    size_t times = 0;

    for (size_t i = 0; i < mcp_json_count(ids); i++)
        times += strcmp(mcp_json_string(mcp_json_item(ids, i), NULL), id) == 0;
    return times;
}

static void check_star(const mcp_json *state, const char *key, const mcp_json *star)
{
    const mcp_json *stars = mcp_json_get(state, "stars");
    const char *parent = mcp_json_get_string(star, "parentId");
    const mcp_json *children = mcp_json_get(star, "children");
    bool is_rogue = false;

    must(strcmp(mcp_json_get_string(star, "id"), key) == 0, "I1", key);
    mcp_json_bool(mcp_json_get(star, "isRoguePlanet"), &is_rogue);
    if (parent)
        must(times_in(mcp_json_get(mcp_json_get(stars, parent), "children"), key) == 1, "I2", key);
    for (size_t i = 0; i < mcp_json_count(children); i++) {
        const mcp_json *item = mcp_json_get(stars,
                                            mcp_json_string(mcp_json_item(children, i), NULL));
        const char *its_parent = mcp_json_get_string(item, "parentId");
        must(its_parent && strcmp(its_parent, key) == 0, "I2", key);
    }
    size_t steps = 0;
    for (const char *at = parent; at; at = mcp_json_get_string(mcp_json_get(stars, at), "parentId"))
        must(++steps <= BODIES, "I3", key);
    must(times_in(mcp_json_get(state, "rootIds"), key) == (!parent && !is_rogue), "I4", key);
    const mcp_json *marker = mcp_json_get(star, "lagrangePoint");
    const char *const named[] = { mcp_json_get_string(star, "lagrangeHostId"),
                                  mcp_json_get_string(marker, "primaryId"),
                                  mcp_json_get_string(marker, "secondaryId") };
    for (int i = 0; i < 3; i++)
        must(!named[i] || mcp_json_get(stars, named[i]), "I7", key);
}

/* How often a child of that kind stands in any group; `where` is the last of them. */
static size_t held(const mcp_json *groups, const char *id, const char *kind, const char **where)
{
    size_t times = 0;

    for (size_t g = 0; g < mcp_json_count(groups); g++) {
        const mcp_json *children = mcp_json_get(mcp_json_item(groups, g), "children");
        for (size_t i = 0; i < mcp_json_count(children); i++) {
            const mcp_json *item = mcp_json_item(children, i);
            if (strcmp(mcp_json_get_string(item, "id"), id) != 0 ||
                strcmp(mcp_json_get_string(item, "type"), kind) != 0)
                continue;
            times++;
            *where = mcp_json_name(groups, g, NULL);
        }
    }
    return times;
}

static void check_group(const mcp_json *state, const char *key, const mcp_json *group)
{
    const mcp_json *groups = mcp_json_get(state, "groups");
    const char *parent = mcp_json_get_string(group, "parentGroupId");
    const mcp_json *children = mcp_json_get(group, "children");
    const char *where = NULL;
    size_t steps = 0;

    must(strcmp(mcp_json_get_string(group, "id"), key) == 0, "I1", key);
    must(held(groups, key, "group", &where) == (parent != NULL), "I6", key);
    must(!parent || strcmp(where, parent) == 0, "I5", key);
    must(times_in(mcp_json_get(state, "rootGroupIds"), key) == !parent, "I5", key);
    for (const char *at = parent; at;
         at = mcp_json_get_string(mcp_json_get(groups, at), "parentGroupId"))
        must(++steps <= GROUPS, "I3", key);
    for (size_t i = 0; i < mcp_json_count(children); i++) {
        const mcp_json *item = mcp_json_item(children, i);
        const char *id = mcp_json_get_string(item, "id");
        if (strcmp(mcp_json_get_string(item, "type"), "group") == 0)
            continue;
        must(times_in(mcp_json_get(state, "rootIds"), id) == 1, "I6", id);
        must(held(groups, id, "system", &where) == 1, "I6", id);
    }
}

static void check_hosts(const mcp_json *state, const char *map, const char *member)
{
    const mcp_json *all = mcp_json_get(state, map);

    for (size_t i = 0; i < mcp_json_count(all); i++) {
        const char *host = mcp_json_get_string(mcp_json_item(all, i), member);
        double inner = 0;
        double outer = 0;
        must(mcp_json_get(mcp_json_get(state, "stars"), host) != NULL, "I7",
             mcp_json_name(all, i, NULL));
        mcp_json_double(mcp_json_get(mcp_json_item(all, i), "innerRadius"), &inner);
        mcp_json_double(mcp_json_get(mcp_json_item(all, i), "outerRadius"), &outer);
        must(inner < outer, "I8", mcp_json_name(all, i, NULL));
    }
}

static void check_json(const mcp_json *state)
{
    const mcp_json *stars = mcp_json_get(state, "stars");
    const mcp_json *groups = mcp_json_get(state, "groups");

    assert_int_equal(mcp_json_count(state), 9);
    for (size_t i = 0; i < mcp_json_count(stars); i++)
        check_star(state, mcp_json_name(stars, i, NULL), mcp_json_item(stars, i));
    for (size_t i = 0; i < mcp_json_count(groups); i++)
        check_group(state, mcp_json_name(groups, i, NULL), mcp_json_item(groups, i));
    check_hosts(state, "smallBodyFields", "hostStarId");
    check_hosts(state, "protoplanetaryDisks", "centralStarId");
    size_t roots = mcp_json_count(mcp_json_get(state, "rootIds"));
    must(roots <= mcp_json_count(stars), "I4", "rootIds");
}

/* ---- the same state by other ways ------------------------------------------------------------ */

static mcp_status feed_load(const char *bytes, size_t length, void *data, mcp_error *err)
{
    return universe_load_feed(data, bytes, length, err);
}

static mcp_status feed_import(const char *bytes, size_t length, void *data, mcp_error *err)
{
    return universe_import_feed(data, bytes, length, err);
}

static void assert_equal_state(const mcp_json *expected, universe_state *state, mcp_arena *arena)
{
    mcp_buf text;

    state_text(&text, state, NULL);
    assert_true(mcp_json_equal(expected, json_of(arena, text.data, text.length)));
    mcp_buf_clear(&text);
}

static void check_copies(universe_state *state, const mcp_json *expected, mcp_arena *arena)
{
    universe_view *view = NULL;
    universe_load *load = NULL;
    universe_import *import = NULL;
    universe_state *copy = NULL;

    assert_int_equal(universe_state_freeze(&view, state, NULL), MCP_OK);
    assert_int_equal(universe_load_begin(&load, NULL), MCP_OK);
    assert_int_equal(universe_view_save(view, feed_load, load, NULL), MCP_OK);
    assert_int_equal(universe_load_end(&copy, load, NULL), MCP_OK);
    assert_equal_state(expected, copy, arena);
    universe_state_free(copy);
    universe_load_free(load);
    assert_int_equal(universe_import_new(&import, NULL, NULL), MCP_OK);
    assert_int_equal(universe_view_write(view, NULL, feed_import, import, NULL, NULL), MCP_OK);
    assert_int_equal(universe_import_end(&copy, import, NULL), MCP_OK);
    assert_equal_state(expected, copy, arena);
    universe_state_free(copy);
    universe_import_free(import);
    universe_view_free(view);
}

/* A command as the log has it, applied without another look. */
static universe_outcome apply(universe_state *state, const char *text, size_t length,
                              mcp_arena *arena)
{
    universe_outcome outcome;

    assert_int_equal(universe_apply(&outcome, state, json_of(arena, text, length), text, length,
                                    NULL, arena, NULL),
                     MCP_OK);
    return outcome;
}

typedef struct journal {
    char *texts[LOG_MAX];
    size_t count;
} journal;

static void journal_clear(journal *log)
{
    for (size_t i = 0; i < log->count; i++)
        free(log->texts[i]);
    log->count = 0;
}

static void check_replay(universe_state *from, const journal *log, const mcp_json *expected,
                         mcp_arena *arena)
{
    for (size_t i = 0; i < log->count; i++)
        assert_int_equal(apply(from, log->texts[i], strlen(log->texts[i]), arena).verdict,
                         UNIVERSE_APPLIED);
    assert_equal_state(expected, from, arena);
}

/* A few commands, and back: nothing of them is left. */
static void check_restore(universe_state *state, dice *dice, const mcp_json *expected,
                          mcp_arena *arena)
{
    universe_view *view = NULL;

    assert_int_equal(universe_state_freeze(&view, state, NULL), MCP_OK);
    for (int i = 0; i < 20; i++) {
        const char *text = quoted(arena, any_command(dice, arena));
        apply(state, text, strlen(text), arena);
    }
    mcp_buf text;
    mcp_buf_init(&text, 1 << 24);
    assert_int_equal(universe_view_write(view, NULL, collect, &text, NULL, NULL), MCP_OK);
    assert_true(mcp_json_equal(expected, json_of(arena, text.data, text.length)));
    mcp_buf_clear(&text);
    universe_state_restore(state, view);
    assert_equal_state(expected, state, arena);
    universe_view_free(view);
}

static void check_sound(universe_state *state)
{
    universe_view *view = NULL;
    mcp_error err = MCP_ERROR_INIT;

    assert_int_equal(universe_state_freeze(&view, state, NULL), MCP_OK);
    if (universe_view_check(view, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    universe_view_free(view);
}

/* One stretch of the sequence, from a state of its own to its replay. */
static size_t run_stretch(universe_state *state, universe_state *twin, dice *dice, size_t steps)
{
    journal log = { .count = 0 };
    size_t applied = 0;

    for (size_t step = 0; step < steps; step++) {
        mcp_arena *arena = mcp_arena_new(0);
        const char *text = quoted(arena, any_command(dice, arena));
        universe_outcome outcome = apply(state, text, strlen(text), arena);
        if (outcome.verdict == UNIVERSE_APPLIED)
            log.texts[log.count++] = strndup(outcome.command, outcome.command_length);
        check_sound(state);
        if (step % 8 == 0) {
            mcp_buf json_text;
            state_text(&json_text, state, NULL);
            check_json(json_of(arena, json_text.data, json_text.length));
            mcp_buf_clear(&json_text);
        }
        mcp_arena_free(arena);
    }
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    mcp_buf json_text;
    state_text(&json_text, state, NULL);
    const mcp_json *expected = json_of(arena, json_text.data, json_text.length);
    check_replay(twin, &log, expected, arena);
    check_copies(state, expected, arena);
    check_restore(state, dice, expected, arena);
    applied = log.count;
    journal_clear(&log);
    mcp_buf_clear(&json_text);
    mcp_arena_free(arena);
    return applied;
}

static void test_random_sequences(void **unused)
{
    const char *asked = getenv("CAUSEWAY_RANDOM_STEPS");
    size_t steps = asked ? strtoul(asked, NULL, 10) : 100000;
    universe_state *state = NULL;
    universe_state *twin = NULL;
    dice dice = { UINT64_C(0x9e3779b97f4a7c15), BODIES };
    size_t applied = 0;
    (void)unused;

    assert_int_equal(universe_state_new(&state, NULL), MCP_OK);
    assert_int_equal(universe_state_new(&twin, NULL), MCP_OK);
    for (size_t done = 0; done < steps; done += LOG_MAX)
        applied += run_stretch(state, twin, &dice, LOG_MAX);
    assert_true(applied > steps / 5); /* the commands are not mostly refused */
    universe_state_free(state);
    universe_state_free(twin);
    assert_int_equal(universe_memory_used(), 0);
}

/* ---- texts that are kept --------------------------------------------------------------------- */

static void write_view(mcp_buf *out, const universe_view *view, universe_form form, bool fresh)
{
    const universe_projection how = { .form = form, .is_fresh = fresh };

    mcp_buf_init(out, (size_t)1 << 30);
    assert_int_equal(universe_view_write(view, &how, collect, out, NULL, NULL), MCP_OK);
}

/* Byte for byte what a writing that knows nothing of kept texts says. */
static void check_kept(const universe_view *view, universe_form form)
{
    mcp_buf kept;
    mcp_buf fresh;

    write_view(&kept, view, form, false);
    write_view(&fresh, view, form, true);
    assert_int_equal(kept.length, fresh.length);
    assert_memory_equal(kept.data, fresh.data, fresh.length);
    mcp_buf_clear(&kept);
    mcp_buf_clear(&fresh);
}

/*
 * Bodies lie in several leaves, so that parents, children and whatever else names them stand in
 * different ones. A few old views live on for a while: what is edited is a copy now, and the
 * writer's own then.
 */
static void test_kept_texts(void **unused)
{
    const char *asked = getenv("CAUSEWAY_RANDOM_STEPS");
    size_t steps = asked ? strtoul(asked, NULL, 10) / 10 : 10000;
    dice dice = { UINT64_C(0x2545f4914f6cdd1d), MANY_BODIES };
    universe_state *state = NULL;
    universe_view *views[VIEWS] = { NULL };
    (void)unused;

    assert_int_equal(universe_state_new(&state, NULL), MCP_OK);
    for (size_t step = 0; step < steps; step++) {
        mcp_arena *arena = mcp_arena_new(0);
        const char *text = quoted(arena, any_command(&dice, arena));
        apply(state, text, strlen(text), arena);
        mcp_arena_free(arena);
        universe_view **old = &views[roll(&dice, VIEWS)];
        universe_view_free(*old);
        *old = NULL;
        assert_int_equal(universe_state_freeze(old, state, NULL), MCP_OK);
        check_kept(*old, roll(&dice, 2) ? UNIVERSE_PLAIN : UNIVERSE_IN_STRING);
        if (roll(&dice, 50) == 0 && views[0])
            universe_state_restore(state, views[0]);
    }
    for (int i = 0; i < VIEWS; i++)
        universe_view_free(views[i]);
    universe_state_free(state);
    assert_int_equal(universe_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_sequences),
                                        cmocka_unit_test(test_kept_texts) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
