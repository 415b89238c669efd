/*
 * test_shared.c - the cases of the shared data set load without an error, where they are found.
 */
#include "broken.h"
#include "case/build/assemble.h"

static int open_shared(const char *name)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s/../shared/data/cobre/%s", source ? source : ".", name);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void shared_cases_load(void **state)
{
    static const char *const names[] = {
        "1dtoy",
        "d01-thermal-dispatch",
        "d02-single-hydro",
        "d03-two-hydro-cascade",
        "d05-fpha-constant-head",
        "d09-multi-deficit",
        "d13-generic-constraint",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int fd = open_shared(names[i]);
        if (fd < 0) {
            print_message("  %s is absent: not checked\n", names[i]);
            continue;
        }
        loaded result = base_load_at(*state, fd, names[i]);
        if (result.status != MCP_OK)
            fail_msg("%s: %s", names[i], result.err.message);
        if (broken_count(&result, COBRE_SEVERITY_ERROR) > 0) {
            loaded_print(&result, COBRE_SEVERITY_ERROR);
            fail_msg("%s has errors", names[i]);
        }
        if (cobre_report_count(result.report, COBRE_SEVERITY_ERROR) == 0)
            assert_non_null(result.c);
        loaded_free(&result);
        close(fd);
    }
}

/* The case without the layers that refuse what the solver does not model yet. */
static loaded assembled(columns *engine, int fd)
{
    loaded result = { .arena = mcp_arena_new((size_t)64 << 20), .err = MCP_ERROR_INIT };
    cobre_input *input = NULL;
    cobre_case *built = NULL;

    result.report = cobre_report_new(result.arena);
    assert_int_equal(cobre_input_load(&input, fd, engine, result.report, result.arena, NULL),
                     MCP_OK);
    assert_int_equal(cobre_report_count(result.report, COBRE_SEVERITY_ERROR), 0);
    assert_int_equal(cobre_assemble(&built, input, "shared", NULL), MCP_OK);
    result.c = built;
    return result;
}

/* The values of the next two are those of the data set's README. */
static void d05_has_a_plane_a_stage(void **state)
{
    int fd = open_shared("d05-fpha-constant-head");

    if (fd < 0)
        skip();
    loaded result = assembled(*state, fd);
    const cobre_hydro *hydro = result.c->hydros;
    assert_int_equal(result.c->stage_count, 2);
    assert_int_equal(result.c->hydro_count, 1);
    assert_int_equal(hydro->plane_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const cobre_hyperplane *plane = &hydro->planes[i];
        assert_true(result.c->hydro_stages[i].is_fpha);
        assert_false(result.c->hydro_stages[i].fit->is_computed);
        assert_int_equal(plane->stage, i);
        assert_true(plane->gamma_0 == 0 && plane->gamma_v == 0 && plane->gamma_q == 1);
        assert_true(plane->gamma_s == 0 && plane->kappa == 1);
    }
    loaded_free(&result);
    close(fd);
}

static void d13_has_a_constraint_of_two_rows(void **state)
{
    int fd = open_shared("d13-generic-constraint");

    if (fd < 0)
        skip();
    loaded result = assembled(*state, fd);
    assert_int_equal(result.c->constraint_count, 1);
    assert_int_equal(result.c->constraints[0].id, 1);
    assert_true(result.c->constraints[0].has_slack);
    assert_int_equal(result.c->constraints[0].term_count, 1);
    assert_int_equal(result.c->constraint_row_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(result.c->constraint_rows[i].stage, i);
        assert_int_equal(result.c->constraint_rows[i].block, 0);
        assert_true(result.c->constraint_rows[i].bound == 10);
    }
    loaded_free(&result);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_cases_load),
        cmocka_unit_test(d05_has_a_plane_a_stage),
        cmocka_unit_test(d13_has_a_constraint_of_two_rows),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
