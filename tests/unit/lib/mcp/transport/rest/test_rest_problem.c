/*
 * test_rest_problem.c - answers that no handler wrote: their status, and their form, ours or the
 * program's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/transport/rest/rest.h"

/* What mcp/http.h names for a handler's status, and no other. */
static void each_status_has_one_of_http(void **state)
{
    static const int known[] = { 400, 403, 404, 405, 409, 413, 500, 501, 503, 504, 507 };
    static const mcp_status all[] = {
#define X(name, code, words) MCP_##name,
        MCP_STATUS_MAP(X)
#undef X
    };

    (void)state;
    assert_int_equal(mcp__problem_http(MCP_OK), 200);
    for (size_t i = 1; i < sizeof all / sizeof all[0]; i++) {
        int status = mcp__problem_http(all[i]);
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            is_known |= status == known[k];
        if (!is_known)
            fail_msg("%s: %d", mcp_status_name(all[i]), status);
    }
    assert_int_equal(mcp__problem_http(MCP_E_DENIED), 403);
    assert_int_equal(mcp__problem_http(MCP_E_NOT_FOUND), 404);
    assert_int_equal(mcp__problem_http(MCP_E_TIMEOUT), 504);
    assert_int_equal(mcp__problem_http(MCP_E_INTERNAL), 500);
}

/* There and back says the same, where there is a way back. */
static void http_refusals_have_a_status(void **state)
{
    static const int refusals[] = { 403, 404, 405, 413, 501, 504 };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        assert_int_equal(mcp__problem_http(mcp__problem_status(refusals[i])), refusals[i]);
    assert_int_equal(mcp__problem_status(401), MCP_E_DENIED);
    assert_int_equal(mcp__problem_status(400), MCP_E_REQUEST);
    assert_int_equal(mcp__problem_status(599), MCP_E_INTERNAL);
}

static void expect(const mcp_http_options *http, const mcp_problem *problem,
                   const char *wanted_type, const char *wanted)
{
    const mcp__problem of = { .shown = *problem };
    mcp_buf body;
    const char *type = mcp__problem_write(&body, http, &of);

    assert_string_equal(type, wanted_type);
    mcp_buf_putc(&body, '\0');
    assert_string_equal(body.data, wanted);
    mcp_buf_clear(&body);
}

static void ours_is_an_object(void **state)
{
    const mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    const mcp_problem problem = { .status = MCP_E_NOT_FOUND, .message = "no \"such\" thing" };

    (void)state;
    expect(&http, &problem, "application/json",
           "{\"error\":{\"status\":\"E_NOT_FOUND\",\"message\":\"no \\\"such\\\" thing\"}}");
}

static mcp_status write_plain(mcp_buf *body, const char **mime_type, const mcp_problem *problem,
                              void *data)
{
    *mime_type = "text/plain";
    if (data)
        return MCP_E_INTERNAL;
    return mcp_buf_puts(body, problem->message);
}

/* Where the program's writer fails, what it began is not sent. */
static void the_program_has_its_own_form(void **state)
{
    mcp_http_options http = { .problem = write_plain };
    const mcp_problem problem = { .status = MCP_E_BUSY, .message = "later" };

    (void)state;
    expect(&http, &problem, "text/plain", "later");
    http.routes_data = &http;
    expect(&http, &problem, "application/json",
           "{\"error\":{\"status\":\"E_BUSY\",\"message\":\"later\"}}");
}

static mcp_status write_endlessly(mcp_buf *body, const char **mime_type, const mcp_problem *problem,
                                  void *data)
{
    (void)problem;
    (void)data;
    *mime_type = "text/plain";
    while (mcp_buf_puts(body, "more and ") == MCP_OK)
        continue;
    return MCP_OK;
}

static void the_programs_form_has_a_bound(void **state)
{
    const mcp_http_options http = { .problem = write_endlessly };
    const mcp_problem problem = { .status = MCP_E_BUSY, .message = "later" };

    (void)state;
    expect(&http, &problem, "application/json",
           "{\"error\":{\"status\":\"E_BUSY\",\"message\":\"later\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_status_has_one_of_http),
        cmocka_unit_test(http_refusals_have_a_status),
        cmocka_unit_test(ours_is_an_object),
        cmocka_unit_test(the_program_has_its_own_form),
        cmocka_unit_test(the_programs_form_has_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
