/*
 * test_model.c - which production model and which planes a plant has at each stage.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../sddp/cases.h"
#include "near.h"

#include "hydro/model.h"

static const cobre_fpha_fit precomputed = { .is_computed = false };

static case_kit kit;
static mcp_arena *arena;
static hydro_models models;
static mcp_error err;

static int begin(void **state)
{
    (void)state;
    memset(&models, 0, sizeof models);
    kit_begin(&kit, 3, 2, 0, 1, 0);
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static void use_fpha(size_t t, size_t h, const cobre_fpha_fit *fit)
{
    kit_hydro(&kit, t, h)->is_fpha = true;
    kit_hydro(&kit, t, h)->fit = fit;
}

static const hydro_model *built(size_t t, size_t h)
{
    if (!models.at && hydro_models_build(&models, arena, &kit.c, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return &models.at[t * kit.c.hydro_count + h];
}

static void a_productivity_is_that_of_the_stage(void **state)
{
    (void)state;
    kit_hydro(&kit, 0, 1)->productivity = 0.5;
    kit_hydro(&kit, 2, 1)->productivity = 0.25;
    assert_false(built(0, 1)->is_fpha);
    assert_near(built(0, 1)->productivity, 0.5, 0);
    assert_near(built(2, 1)->productivity, 0.25, 0);
    assert_false(built(0, 1)->evaporates);
    assert_int_equal(models.fit_count, 0);
    assert_int_equal(models.warning_count, 0);
}

/* d05: each stage has the one plane G <= q. */
static void planes_of_a_stage(void **state)
{
    static const cobre_hyperplane planes[] = { { 0, 0, 0, 0, 1, 0, 1 }, { 1, 0, 0, 0, 1, 0, 1 } };

    (void)state;
    kit.hydros[0].planes = planes;
    kit.hydros[0].plane_count = 2;
    use_fpha(0, 0, &precomputed);
    use_fpha(1, 0, &precomputed);
    assert_true(built(1, 0)->is_fpha);
    assert_int_equal(built(1, 0)->plane_count, 1);
    assert_near(built(1, 0)->planes[0].turbined, 1, 0);
    assert_near(built(1, 0)->planes[0].intercept, 0, 0);
    assert_false(built(2, 0)->is_fpha);
}

/* d06 has planes without a stage; those of a stage come before them. Kappa scales the intercept
 * alone. */
static void planes_of_all_stages(void **state)
{
    static const cobre_hyperplane planes[] = {
        { 1, 4, 30, 0, 0.5, 0, 1 },
        { COBRE_NONE, 0, 10, 0.02, 0.75, -0.01, 0.5 },
        { COBRE_NONE, 1, 20, 0.01, 0.25, 0, 0.5 },
    };

    (void)state;
    kit.hydros[1].planes = planes;
    kit.hydros[1].plane_count = 3;
    for (size_t t = 0; t < 3; t++)
        use_fpha(t, 1, &precomputed);
    assert_int_equal(built(0, 1)->plane_count, 2);
    assert_int_equal(built(1, 1)->plane_count, 1);
    assert_int_equal(built(2, 1)->plane_count, 2);
    assert_near(built(0, 1)->planes[0].intercept, 5, 0);
    assert_near(built(0, 1)->planes[0].volume, 0.02, 0);
    assert_near(built(0, 1)->planes[0].turbined, 0.75, 0);
    assert_near(built(0, 1)->planes[0].spilled, -0.01, 0);
    assert_near(built(0, 1)->planes[1].intercept, 10, 0);
    assert_near(built(1, 1)->planes[0].intercept, 30, 0);
}

/* A constant head of 100 m and efficiency 1: 0.981 MW per m3/s at every stage that asks for it. */
static void computed_planes_serve_every_stage(void **state)
{
    static const cobre_geometry flat[] = { { 0, 100, 1 }, { 10, 100, 1 } };
    static const double level[] = { 0 };
    static const cobre_fpha_fit computed = { true, 2, 2, 2, 10, NAN, NAN, NAN, NAN };

    (void)state;
    kit.hydros[1].geometry = flat;
    kit.hydros[1].geometry_count = 2;
    kit.hydros[1].tailrace = COBRE_TAILRACE_POLYNOMIAL;
    kit.hydros[1].tailrace_coefficients = level;
    kit.hydros[1].tailrace_count = 1;
    kit.hydros[1].efficiency = 1;
    kit.hydros[1].max_turbined = 50;
    use_fpha(1, 1, &computed);
    use_fpha(2, 1, &computed);
    assert_false(built(0, 1)->is_fpha);
    assert_int_equal(models.fit_count, 1);
    assert_int_equal(models.fits[0].hydro, 1);
    assert_int_equal(models.warning_count, 0);
    for (size_t t = 1; t < 3; t++) {
        assert_int_equal(built(t, 1)->plane_count, 1);
        assert_near(built(t, 1)->planes[0].turbined, 0.981, 1e-12);
    }
}

/* Head proportional to volume from 0 on: the fit of test_fpha has a kappa far below 0.95. */
static void a_low_kappa_is_a_warning(void **state)
{
    static const cobre_geometry steep[] = { { 64, 64, 1 }, { 128, 128, 1 } };
    static const double level[] = { 0 };
    static const cobre_fpha_fit computed = { true, 2, 2, 2, 10, NAN, NAN, NAN, NAN };

    (void)state;
    kit.hydros[0].geometry = steep;
    kit.hydros[0].geometry_count = 2;
    kit.hydros[0].tailrace = COBRE_TAILRACE_POLYNOMIAL;
    kit.hydros[0].tailrace_coefficients = level;
    kit.hydros[0].tailrace_count = 1;
    kit.hydros[0].efficiency = 1;
    kit.hydros[0].max_turbined = 64;
    use_fpha(0, 0, &computed);
    built(0, 0);
    assert_int_equal(models.warning_count, 1);
    assert_non_null(strstr(models.warnings[0], "hydro 0"));
    assert_non_null(strstr(models.warnings[0], "kappa 0.0308"));
}

static void missing_and_wrong_planes_are_refused(void **state)
{
    static const cobre_hyperplane later[] = { { 2, 0, 0, 0, 1, 0, 1 } };
    static const cobre_hyperplane flat[] = { { COBRE_NONE, 6, 9, 0, 0, 0, 1 } };
    static const cobre_hyperplane lifted[] = { { COBRE_NONE, 6, 9, 0, 1, 0, 1.5 } };

    (void)state;
    use_fpha(0, 1, NULL);
    assert_int_equal(hydro_models_build(&models, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro_production_models.json"));
    use_fpha(0, 1, &precomputed);
    kit.hydros[1].planes = later;
    kit.hydros[1].plane_count = 1;
    assert_int_equal(hydro_models_build(&models, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro 1 for stage 0"));
    kit.hydros[1].planes = flat;
    assert_int_equal(hydro_models_build(&models, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "plane 6 of hydro 1 has gamma_q"));
    kit.hydros[1].planes = lifted;
    assert_int_equal(hydro_models_build(&models, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "kappa"));
    assert_null(models.at);
}

/* 36 mm over 730 h on an area of 1 km2 that does not change: 36 / (3.6 * 730) m3/s. */
static void evaporation_is_that_of_the_season(void **state)
{
    static const cobre_geometry pond[] = { { 0, 0, 1 }, { 1000, 0, 1 } };

    (void)state;
    kit.hydros[0].evaporates = true;
    kit.hydros[0].geometry = pond;
    kit.hydros[0].geometry_count = 2;
    for (uint32_t t = 0; t < 3; t++) {
        kit.stages[t].has_season = true;
        kit.stages[t].season_id = t;
        kit.hydros[0].evaporation_reference[t] = NAN;
    }
    kit.hydros[0].evaporation_mm[1] = 36;
    assert_true(built(0, 0)->evaporates);
    assert_false(built(0, 1)->evaporates);
    assert_near(built(0, 0)->evaporation_base, 0, 0);
    assert_near(built(1, 0)->evaporation_base, 10.0 / 730.0, 1e-15);
    assert_near(built(1, 0)->evaporation_slope, 0, 0);
}

#define MODEL_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(a_productivity_is_that_of_the_stage),
        MODEL_TEST(planes_of_a_stage),
        MODEL_TEST(planes_of_all_stages),
        MODEL_TEST(computed_planes_serve_every_stage),
        MODEL_TEST(a_low_kappa_is_a_warning),
        MODEL_TEST(missing_and_wrong_planes_are_refused),
        MODEL_TEST(evaporation_is_that_of_the_season),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
