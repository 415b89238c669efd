/*
 * test_generate.c - generated universes against the golden values and counts of the contract's page
 * (universe.md 13.4), their invariants, that they are reproducible, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate/generate.h"

static mcp_status into_buf(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)err;
    return mcp_buf_append(data, bytes, length);
}

static mcp_status try_it(universe_state **out, const char *text, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *config = NULL;
    assert_int_equal(mcp_json_read(&config, arena, text, strlen(text), err), MCP_OK);
    return universe_generate(out, config, NULL, NULL, arena, err);
}

/* A generated universe as JSON, checked against the invariants; the arena's. */
static const mcp_json *generated(const char *text, mcp_arena *arena, universe_summary *summary)
{
    universe_state *state = NULL;
    universe_view *view = NULL;
    const mcp_json *json = NULL;
    const universe_rules strict = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf out;

    if (try_it(&state, text, arena, &err) != MCP_OK)
        fail_msg("%s", err.message);
    assert_int_equal(universe_state_freeze(&view, state, &err), MCP_OK);
    if (universe_view_check(view, &strict, &err) != MCP_OK)
        fail_msg("%s", err.message);
    mcp_buf_init(&out, 1 << 28);
    assert_int_equal(universe_view_write(view, NULL, into_buf, &out, NULL, &err), MCP_OK);
    assert_int_equal(mcp_json_read(&json, arena, out.data, out.length, &err), MCP_OK);
    universe_view_summary(summary, view);
    mcp_buf_clear(&out);
    universe_view_free(view);
    universe_state_free(state);
    return json;
}

static void close_to(const mcp_json *body, const char *member, double expected)
{
    double value = 0;
    assert_true(mcp_json_double(mcp_json_get(body, member), &value));
    if (fabs(value - expected) > 1e-12 * fabs(expected))
        fail_msg("%s is %.17g, not %.17g", member, value, expected);
}

static void the_golden_system_is_grown(void **unused)
{
    (void)unused;
    mcp_arena *arena = mcp_arena_new(0);
    universe_summary summary;
    const mcp_json *state = generated("{\"seed\":\"universe\",\"stylePreset\":\"sparse\"}", arena,
                                      &summary);
    const mcp_json *stars = mcp_json_get(state, "stars");
    const mcp_json *root = mcp_json_get(
        stars, mcp_json_string(mcp_json_item(mcp_json_get(state, "rootIds"), 0), NULL));
    const mcp_json *children = mcp_json_get(root, "children");
    const mcp_json *first = mcp_json_get(stars, mcp_json_string(mcp_json_item(children, 0), NULL));

    assert_string_equal(mcp_json_get_string(root, "name"), "Beta Centauri");
    assert_string_equal(mcp_json_get_string(root, "color"), "#9BB0FF");
    close_to(root, "mass", 663.347342876455);
    close_to(root, "radius", 2.017379747366944);
    assert_int_equal(mcp_json_count(children), 4);
    assert_string_equal(mcp_json_get_string(first, "name"), "Mercury");
    close_to(first, "mass", 16.86085819004113);
    close_to(first, "orbitalDistance", 8.0995117348285);
    close_to(first, "orbitalSpeed", 7.027495499942458);
    close_to(first, "orbitalPhase", 251.1027715157736);
    close_to(first, "orbitRotX", 0.6892707847625088);
    close_to(first, "orbitRotY", -2.3368486134425854);
    close_to(first, "orbitRotZ", 306.90988662332836);
    mcp_arena_free(arena);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Roots and the stars that accompany them. */
static void stars_have_names_of_their_own(void **unused)
{
    static const char *const configs[] = {
        "{\"seed\":\"universe\",\"stylePreset\":\"crowded\"}",
        "{\"seed\":7,\"maxSystems\":900,\"topologyPreset\":\"multiStarHeavy\"}",
    };
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
        universe_summary summary;
        const mcp_json *stars = mcp_json_get(generated(configs[i], arena, &summary), "stars");
        const char **names = mcp_arena_array(arena, mcp_json_count(stars), sizeof *names);
        size_t count = 0;
        for (size_t k = 0; k < mcp_json_count(stars); k++) {
            const mcp_json *star = mcp_json_item(stars, k);
            const char *type = mcp_json_get_string(star, "bodyType");
            if (strcmp(type, "star") == 0 || strcmp(type, "blackHole") == 0)
                names[count++] = mcp_json_get_string(star, "name");
        }
        assert_true(count >= 15);
        qsort(names, count, sizeof *names, by_name);
        for (size_t k = 1; k < count; k++)
            assert_string_not_equal(names[k - 1], names[k]);
        mcp_arena_free(arena);
    }
}

static void each_preset_has_its_counts(void **unused)
{
    static const struct {
        const char *preset;
        size_t stars, planets, moons, roots;
    } presets[] = { { "sparse", 3, 6, 7, 3 },
                    { "solarLike", 6, 3, 3, 5 },
                    { "crowded", 18, 12, 5, 15 },
                    { "superDenseExperimental", 67, 29, 22, 50 } };
    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        mcp_arena *arena = mcp_arena_new((size_t)1 << 28);
        universe_summary summary;
        char text[128];
        snprintf(text, sizeof text, "{\"seed\":\"universe\",\"stylePreset\":\"%s\"}",
                 presets[i].preset);
        generated(text, arena, &summary);
        assert_int_equal(summary.body_types[UNIVERSE_STAR], presets[i].stars);
        assert_int_equal(summary.body_types[UNIVERSE_PLANET] - summary.rogues, presets[i].planets);
        assert_int_equal(summary.body_types[UNIVERSE_MOON], presets[i].moons);
        assert_int_equal(summary.roots, presets[i].roots);
        mcp_arena_free(arena);
    }
}

#define EVERYTHING                                                                                 \
    "\"maxSystems\":40,\"enableBlackHoles\":true,\"blackHoleFrequency\":1,\"enableGroups\":true,"  \
    "\"lagrangePairScope\":\"both\",\"stylePreset\":\"superDenseExperimental\""

static void every_topology_with_everything_enabled_keeps_the_invariants(void **unused)
{
    static const char *const topologies[] = { "classic",  "compact",       "multiStarHeavy",
                                              "moonRich", "sparseOutpost", "deepHierarchy" };
    (void)unused;
    for (size_t i = 0; i < 6; i++) {
        mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
        universe_summary summary;
        char text[512];
        snprintf(text, sizeof text, "{\"seed\":%zu,\"topologyPreset\":\"%s\"," EVERYTHING "}", i,
                 topologies[i]);
        generated(text, arena, &summary);
        assert_true(summary.body_types[UNIVERSE_BLACK_HOLE] > 0);
        assert_true(summary.counts[UNIVERSE_GROUPS] > 0);
        assert_true(summary.counts[UNIVERSE_NEBULAE] > 0);
        mcp_arena_free(arena);
    }
}

static void a_universe_of_one_system_has_no_id_twice(void **unused)
{
    (void)unused;
    for (int seed = 0; seed < 20; seed++) {
        mcp_arena *arena = mcp_arena_new((size_t)1 << 28);
        universe_summary summary;
        char text[160];
        snprintf(text, sizeof text,
                 "{\"seed\":%d,\"stylePreset\":\"superDenseExperimental\",\"maxSystems\":1}", seed);
        generated(text, arena, &summary);
        assert_true(summary.rogues > 0);
        mcp_arena_free(arena);
    }
}

static void one_seed_gives_one_universe(void **unused)
{
    (void)unused;
    const char *text = "{\"seed\":\"again\"," EVERYTHING "}";
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    universe_summary summary;
    const mcp_json *one = generated(text, arena, &summary), *two = generated(text, arena, &summary);
    const mcp_json *other = generated("{\"seed\":\"other\"," EVERYTHING "}", arena, &summary);
    assert_true(mcp_json_equal(one, two));
    assert_false(mcp_json_equal(one, other));
    mcp_arena_free(arena);
}

static void what_cannot_be_is_refused_by_name(void **unused)
{
    static const struct {
        const char *config, *named;
        mcp_status status;
    } refused[] = {
        { "{\"maxSystem\":3}", "maxSystem", MCP_E_PARAMS },
        { "{\"maxSystems\":0}", "maxSystems", MCP_E_PARAMS },
        { "{\"maxSystems\":1.5}", "maxSystems", MCP_E_PARAMS },
        { "{\"maxSystems\":100001}", "100000", MCP_E_PARAMS },
        { "{\"planetDensity\":\"much\"}", "planetDensity", MCP_E_PARAMS },
        { "{\"stylePreset\":\"huge\"}", "sparse", MCP_E_PARAMS },
        { "{\"seed\":1.5}", "seed", MCP_E_PARAMS },
        { "{\"enableComets\":1}", "enableComets", MCP_E_PARAMS },
        { "{\"rogueCurvatureMin\":0.9,\"rogueCurvatureMax\":0.1}", "rogueCurvatureMin",
          MCP_E_PARAMS },
        { "{\"maxSystems\":100000,\"topologyPreset\":\"moonRich\"}", "bodies", MCP_E_LIMIT },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        universe_state *state = NULL;
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(try_it(&state, refused[i].config, arena, &err), refused[i].status);
        if (!strstr(err.message, refused[i].named))
            fail_msg("\"%s\" does not name %s", err.message, refused[i].named);
        assert_null(state);
        mcp_arena_free(arena);
    }
}

static bool stop_at_once(double fraction, void *data)
{
    (void)fraction;
    (void)data;
    return true;
}

static void it_can_be_stopped(void **unused)
{
    (void)unused;
    mcp_arena *arena = mcp_arena_new(0);
    universe_state *state = NULL;
    const mcp_json *config = NULL;
    mcp_error err = MCP_ERROR_INIT;
    assert_int_equal(mcp_json_read(&config, arena, "{}", 2, &err), MCP_OK);
    assert_int_equal(universe_generate(&state, config, stop_at_once, NULL, arena, &err),
                     MCP_E_STOPPED);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_golden_system_is_grown),
        cmocka_unit_test(stars_have_names_of_their_own),
        cmocka_unit_test(each_preset_has_its_counts),
        cmocka_unit_test(every_topology_with_everything_enabled_keeps_the_invariants),
        cmocka_unit_test(a_universe_of_one_system_has_no_id_twice),
        cmocka_unit_test(one_seed_gives_one_universe),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(it_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
