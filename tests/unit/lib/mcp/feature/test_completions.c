/*
 * test_completions.c - rows that complete nothing are found when they are loaded. What is answered
 * stands in tests/wire/library/completion.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fixture.h"
#include <cmocka.h>

static mcp_status nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static void rows_must_have_something_to_complete(void **state)
{
    static const struct {
        mcp_completion rows[3];
        const char *words; /* NULL: they fit */
    } cases[] = {
        { { { "fix/greet", "who", nothing }, { "fix/greet", "tone", nothing } }, NULL },
        { { { "fix://case/{case_dir}/config", "case_dir", nothing } }, NULL },
        { { { "fix://find{?q,limit}", "limit", nothing } }, NULL },
        { { { "fix/greet", "whom", nothing } }, "whom" },
        { { { "fix_greet", "who", nothing } }, "fix_greet" },
        { { { "fix/none", "who", nothing } }, "fix/none" },
        { { { "fix://text", "text", nothing } }, "fix://text" },
        { { { "fix/greet", NULL, nothing } }, "nothing to complete" },
        { { { "fix/greet", "who", NULL } }, "no function" },
        { { { "fix/greet", "who", nothing }, { "fix/greet", "who", nothing } }, "two rows" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mcp_server_options options = { .name = "n", .version = "1" };
        mcp_features features = fixture_features;
        mcp_error err = MCP_ERROR_INIT;
        mcp_server *server = NULL;
        features.completions = cases[i].rows;
        assert_int_equal(mcp_server_new(&server, &options, &err), MCP_OK);
        mcp_status st = mcp_server_add(server, &features, &err);
        assert_int_equal(st, cases[i].words ? MCP_E_PARAMS : MCP_OK);
        if (cases[i].words)
            assert_non_null(strstr(err.message, cases[i].words));
        mcp_server_free(server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows_must_have_something_to_complete) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
