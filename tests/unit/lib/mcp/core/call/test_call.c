/*
 * test_call.c - what a handler may ask its call: arguments, defaults, the stop flag.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/core/call/call_int.h"
#include <cmocka.h>

static mcp_server_options options = { .limits.reply_max_bytes = 4096 };
static mcp__context context = { .options = &options };
static mcp_call *call;

static const mcp_json *read(const char *text)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, call->arena, text, strlen(text), NULL), MCP_OK);
    return value;
}

static int set_up(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    assert_int_equal(mcp__call_new(&call, arena, &context, NULL), MCP_OK);
    context.no_arguments = read("{}");
    call->request.arguments = context.no_arguments;
    call->request.method = "tools/call";
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__call_free(call);
    return 0;
}

static void arguments_are_read_by_type(void **state)
{
    (void)state;
    call->request.arguments = read(
        "{\"s\":\"x\",\"i\":-3,\"d\":0.5,\"whole\":4.0,\"b\":true,\"a\":[1],\"n\":null,\"big\":18446744073709551615}");
    assert_string_equal(mcp_arg_string(call, "s"), "x");
    assert_int_equal(mcp_arg_int(call, "i", 9), -3);
    assert_int_equal(mcp_arg_int(call, "whole", 9), 4);
    assert_int_equal(mcp_arg_int(call, "d", 9), 9);
    assert_int_equal(mcp_arg_int(call, "big", 9), 9);
    assert_true(mcp_arg_double(call, "d", 9) == 0.5);
    assert_true(mcp_arg_double(call, "i", 9) == -3.0);
    assert_true(mcp_arg_bool(call, "b", false));
    assert_int_equal(mcp_json_count(mcp_arg_json(call, "a")), 1);
    assert_int_equal(mcp_json_count(mcp_call_arguments(call)), 8);
}

static void what_is_absent_gives_the_fallback(void **state)
{
    (void)state;
    call->request.arguments = read("{\"n\":null,\"s\":5,\"nul\":\"a\\u0000b\"}");
    assert_null(mcp_arg_string(call, "none"));
    assert_null(mcp_arg_string(call, "s"));
    assert_null(mcp_arg_string(call, "nul"));
    assert_int_equal(mcp_arg_int(call, "n", 9), 9);
    assert_true(mcp_arg_double(call, "none", 1.5) == 1.5);
    assert_true(mcp_arg_bool(call, "none", true));
    assert_null(mcp_arg_json(call, "n"));
}

static void defaults_of_the_schema_stand_in(void **state)
{
    (void)state;
    call->plan.schema = read(
        "{\"properties\":{\"i\":{\"default\":5},\"s\":{\"default\":\"d\"},\"r\":{\"$ref\":\"#/$defs/R\"},"
        "\"n\":{\"default\":null}},\"$defs\":{\"R\":{\"default\":[1,2]}}}");
    assert_int_equal(mcp_arg_int(call, "i", 9), 5);
    assert_string_equal(mcp_arg_string(call, "s"), "d");
    assert_int_equal(mcp_json_count(mcp_arg_json(call, "r")), 2);
    assert_null(mcp_arg_json(call, "n"));
    call->request.arguments = read("{\"i\":6,\"s\":null}");
    assert_int_equal(mcp_arg_int(call, "i", 9), 6);
    assert_string_equal(mcp_arg_string(call, "s"), "d");
}

static void a_call_is_called_by_its_name_or_method(void **state)
{
    (void)state;
    assert_string_equal(mcp_call_name(call), "tools/call");
    call->request.name = "t";
    assert_string_equal(mcp_call_name(call), "t");
    assert_null(mcp_call_meta(call));
}

static void once_set_a_stop_stays(void **state)
{
    (void)state;
    assert_int_equal(mcp_call_stop(call), MCP_STOP_NONE);
    mcp__call_set_stop(call, MCP_STOP_SHUTDOWN);
    mcp__call_set_stop(call, MCP_STOP_CLIENT_GONE);
    assert_int_equal(mcp_call_stop(call), MCP_STOP_SHUTDOWN);
    mcp__call_set_stop(call, MCP_STOP_CANCELLED);
    assert_int_equal(mcp_call_stop(call), MCP_STOP_CANCELLED);
    mcp__call_set_stop(call, MCP_STOP_SHUTDOWN);
    assert_int_equal(mcp_call_stop(call), MCP_STOP_CANCELLED);
}

static void a_deadline_is_not_lifted_by_a_cancellation(void **state)
{
    (void)state;
    mcp__call_set_stop(call, MCP_STOP_DEADLINE);
    mcp__call_set_stop(call, MCP_STOP_CANCELLED);
    assert_int_equal(mcp_call_stop(call), MCP_STOP_DEADLINE);
}

static void a_refusal_may_be_long_and_is_utf8(void **state)
{
    char text[9000];

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(mcp_call_tool_error(call, "<%s>", text), MCP_OK);
    assert_int_equal(call->answer.error_text_length, sizeof(text) + 1);
    assert_int_equal(mcp_call_tool_error(call, "no file %s", "\xfe\xff"), MCP_OK);
    assert_string_equal(call->answer.error_text, "no file ?"
                                                 "?");
    assert_int_equal(mcp_call_tool_error_text(call, "two\nlines", 9), MCP_OK);
    assert_string_equal(call->answer.error_text, "two\nlines");
}

static void places_keep_their_order(void **state)
{
    (void)state;
    assert_int_equal(mcp_call_set_placeholder(call, "a", "1"), MCP_OK);
    assert_int_equal(mcp_call_set_placeholder(call, "b", NULL), MCP_OK);
    assert_string_equal(call->answer.placeholders->name, "a");
    assert_string_equal(call->answer.placeholders->next->name, "b");
    assert_string_equal(call->answer.placeholders->next->text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arguments_are_read_by_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_absent_gives_the_fallback, set_up, tear_down),
        cmocka_unit_test_setup_teardown(defaults_of_the_schema_stand_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_is_called_by_its_name_or_method, set_up, tear_down),
        cmocka_unit_test_setup_teardown(once_set_a_stop_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_deadline_is_not_lifted_by_a_cancellation, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_may_be_long_and_is_utf8, set_up, tear_down),
        cmocka_unit_test_setup_teardown(places_keep_their_order, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
