/*
 * test_load.c - good directories load, and mean what they say.
 */
#include "base_case.h"

static int setup(void **state)
{
    columns *engine = NULL;

    assert_int_equal(columns_open(&engine, NULL), MCP_OK);
    *state = engine;
    return 0;
}

static int teardown(void **state)
{
    columns_close(*state);
    return 0;
}

static void base_case_loads(void **state)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(*state, &folder);
    loaded result = base_load_at(*state, folder.fd, "/somewhere/base-case/");
    assert_loads(&result);
    assert_string_equal(result.c->name, "base-case");
    loaded_print(&result, COBRE_SEVERITY_WARNING);
    loaded_free(&result);
    scratch_close(&folder);
}

/* ---- the shipped cases ----------------------------------------------------------------- */

static int open_shipped(const char *name)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s/../shared/data/cobre/%s", source ? source : ".", name);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void shipped_cases_load(void **state)
{
    static const char *const names[] = { "1dtoy", "d01-thermal-dispatch", "d02-single-hydro",
                                         "d03-two-hydro-cascade", "d09-multi-deficit" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int fd = open_shipped(names[i]);
        if (fd < 0) {
            print_message("  ../shared/data/cobre/%s is absent: not checked\n", names[i]);
            continue;
        }
        loaded result = base_load_at(*state, fd, names[i]);
        print_message("%s\n", names[i]);
        assert_loads(&result);
        loaded_print(&result, COBRE_SEVERITY_WARNING);
        loaded_free(&result);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_case_loads),
        cmocka_unit_test(shipped_cases_load),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
