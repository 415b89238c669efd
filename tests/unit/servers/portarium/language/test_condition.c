/*
 * The language of conditions: what is true, what is false, what is an error, and its bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "language/condition.h"
#include "oom.h"

static const char context[] =
    "{\"actor\":{\"id\":\"alice\",\"roles\":[\"operator\",\"approver\"]},"
    "\"run\":{\"parameters\":{\"amount\":1500,\"rate\":0.5,\"name\":\"na\\u00efve\","
    "\"big\":9007199254740993,\"ok\":true,\"none\":null,\"list\":[1,2,[3]],\"deep\":{\"0x\":1}}},"
    "\"env\":\"prod\",\"actions\":{\"step-1\":{\"state\":\"Succeeded\",\"output\":{\"n\":3}}}}";

typedef struct world {
    mcp_arena *arena;
    const mcp_json *context;
    mcp_error err;
} world;

static int set_up(void **state)
{
    world *self = calloc(1, sizeof *self);

    assert_non_null(self);
    self->arena = mcp_arena_new(0);
    assert_int_equal(mcp_json_read(&self->context, self->arena, context, strlen(context), NULL),
                     MCP_OK);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    world *self = *state;

    mcp_arena_free(self->arena);
    free(self);
    return 0;
}

static mcp_status judge(bool *out, world *self, const char *text)
{
    const portarium_condition *condition = NULL;
    mcp_status st = portarium_condition_parse(&condition, self->arena, text, strlen(text),
                                              &self->err);

    if (st == MCP_OK)
        st = portarium_condition_judge(out, condition, portarium_condition_get_member,
                                       (void *)self->context, &self->err);
    return st;
}

static void test_true_and_false(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        { "true", true },
        { "false", false },
        { "!false", true },
        { "!!true", true },
        { "1 == 1.0", true },
        { "1 === 1", true },
        { "1 == '1'", false },
        { "1 !== '1'", true },
        { "true == 1", false },
        { "null == false", false },
        { "null == null", true },
        { "'a' != \"a\"", false },
        { "-1.5e1 < 0", true },
        { "2 <= 2", true },
        { "2 >= 3", false },
        { "3 > 2", true },
        { "'a' < 'b'", true },
        { "'ab' > 'a'", true },
        { "'a' >= 'b'", false },
        { "'\\'' == \"'\"", true },
        { "'\\\\' == \"\\\\\"", true },
        { "true || false && false", true },
        { "(true || false) && false", false },
        { "!true || true", true },
        { "1 < 2 == true", true },
        { "true == 1 < 2", true },
        { "actor.id == 'alice'", true },
        { "actor.roles contains 'approver'", true },
        { "'admin' in actor.roles", false },
        { "'op' in actor.roles", false },
        { "'li' in actor.id", true },
        { "actor.id contains ''", true },
        { "run.parameters.amount > 1000 && env == \"prod\"", true },
        { "run.parameters.rate == 0.5", true },
        { "run.parameters.name == 'na\xc3\xafve'", true },
        { "run.parameters.big > 9007199254740992", true },
        { "run.parameters.ok", true },
        { "run.parameters.none == null", true },
        { "run.parameters.missing == null", true },
        { "run.parameters.missing.deeper == null", true },
        { "run.parameters.list contains 2", true },
        { "run.parameters.list contains 3", false },
        { "run.parameters.deep.0x == 1", true },
        { "actions.step-1.state == 'Succeeded' && actions.step-1.output.n >= 3", true },
        { "false && unknown.name", false },
        { "true || 1", true },
        { "\t( ( env ) )== \n'prod'\r", true },
    };
    world *self = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is = !rows[i].is;
        if (judge(&is, self, rows[i].text) != MCP_OK)
            fail_msg("%s: %s", rows[i].text, self->err.message);
        if (is != rows[i].is)
            fail_msg("%s", rows[i].text);
    }
}

/* What must never be taken for false. */
static void test_evaluation_errors(void **state)
{
    static const char *const texts[] = {
        "1",
        "'true'",
        "null",
        "env",
        "!1",
        "!null",
        "true && 1",
        "1 && true",
        "false || 'x'",
        "unknown == 1",
        "unknown.name == 1",
        "true && unknown.name",
        "1 < '2'",
        "null < 1",
        "true < false",
        "run.parameters.missing > 5",
        "actor.roles == actor.roles",
        "actor == 1",
        "actor.roles < 1",
        "1 in 2",
        "'a' in null",
        "1 in 'a1'",
        "actor.roles in actor.roles",
        "'id' in actor",
        "run.parameters.missing contains 'x'",
    };
    world *self = *state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bool is = true;
        if (judge(&is, self, texts[i]) != MCP_E_PARAMS || !is)
            fail_msg("%s", texts[i]);
    }
}

static void test_syntax_errors(void **state)
{
    static const char *const texts[] = {
        "",         "  ",         "(",       ")",          "()",       "true true",
        "1 +",      "a.",         "a..b",    ".a",         "a == ",    "== a",
        "a = b",    "a & b",      "a | b",   "a ! b",      "'abc",     "\"abc'",
        "'a\\n'",   "'a\\",       "01 == 1", "1. == 1",    "0x1 == 1", "--1 == 1",
        "- 1 == 1", "1e999 == 1", "a,b",     "a[0] == 1",  "f(1)",     "a ? b : c",
        "a; b",     "${a}",       "true)",   "(true",      "a inb",    "\xc3\xa4 == 1",
        "a <> b",   "1 ==== 1",   "in",      "a contains",
    };
    world *self = *state;
    const portarium_condition *out = NULL;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t length = strlen(texts[i]);
        mcp_status st = portarium_condition_parse(&out, self->arena, texts[i], length, &self->err);
        if (strcmp(texts[i], "in") == 0) { /* a name, where a value is due */
            assert_int_equal(st, MCP_OK);
            continue;
        }
        if (st != MCP_E_PARSE || self->err.offset < 0 || (size_t)self->err.offset > length)
            fail_msg("%s: %s", texts[i], mcp_status_name(st));
    }
    assert_int_equal(portarium_condition_parse(&out, self->arena, "true\0x", 6, NULL), MCP_E_PARSE);
}

static void test_bounds(void **state)
{
    char text[4 * PORTARIUM_CONDITION_MAX + 8];
    const portarium_condition *out = NULL;
    world *self = *state;
    bool is = false;

    /* 512 characters of two bytes fit, 513 of one do not. */
    memset(text, 0, sizeof text);
    memcpy(text, "'' != '", 7);
    for (size_t i = 0; i < 504; i++)
        memcpy(text + 7 + 2 * i, "\xc3\xa4", 2);
    memcpy(text + 7 + 2 * 504, "'", 2);
    assert_int_equal(judge(&is, self, text), MCP_OK);
    assert_true(is);
    memset(text, ' ', PORTARIUM_CONDITION_MAX + 1);
    memcpy(text, "true", 4);
    text[PORTARIUM_CONDITION_MAX + 1] = '\0';
    assert_int_equal(judge(&is, self, text), MCP_E_LIMIT);
    text[PORTARIUM_CONDITION_MAX] = '\0';
    assert_int_equal(judge(&is, self, text), MCP_OK);

    for (int depth = PORTARIUM_CONDITION_DEPTH_MAX; depth < PORTARIUM_CONDITION_DEPTH_MAX + 2;
         depth++) {
        bool fits = depth <= PORTARIUM_CONDITION_DEPTH_MAX;
        memset(text, 0, sizeof text);
        memset(text, '(', (size_t)depth);
        memcpy(text + depth, "true", 4);
        memset(text + depth + 4, ')', (size_t)depth);
        assert_int_equal(judge(&is, self, text), fits ? MCP_OK : MCP_E_LIMIT);
        memset(text, '!', (size_t)depth);
        text[depth + 4] = '\0';
        assert_int_equal(judge(&is, self, text), fits ? MCP_OK : MCP_E_LIMIT);
    }
    assert_int_equal(portarium_condition_parse(&out, self->arena, text, 0, NULL), MCP_E_PARSE);
}

static const mcp_json *long_array(mcp_arena *arena, size_t count)
{
    char *text = mcp_arena_alloc(arena, 2 * count + 16);
    const mcp_json *out = NULL;
    size_t length = 5;

    memcpy(text, "{\"a\":", 5);
    for (size_t i = 0; i < count; i++) {
        text[length++] = i ? ',' : '[';
        text[length++] = '0';
    }
    memcpy(text + length, "]}", 3);
    assert_int_equal(mcp_json_read(&out, arena, text, length + 2, NULL), MCP_OK);
    return out;
}

static void test_steps(void **state)
{
    world *self = *state;
    bool is = true;

    /* Three nodes and an item each. */
    self->context = long_array(self->arena, PORTARIUM_CONDITION_STEPS_MAX - 3);
    assert_int_equal(judge(&is, self, "a contains 1"), MCP_OK);
    assert_false(is);
    self->context = long_array(self->arena, PORTARIUM_CONDITION_STEPS_MAX - 2);
    assert_int_equal(judge(&is, self, "a contains 1"), MCP_E_LIMIT);
    assert_int_equal(judge(&is, self, "a contains 0"), MCP_OK);
    assert_true(is);
}

static void test_names(void **state)
{
    static const char text[] = "actor.id == 'x.y' && !(true || env in actor.roles)";
    static const char *const names[] = { "actor.id", "env", "actor.roles" };
    const portarium_condition *condition = NULL;
    world *self = *state;

    assert_int_equal(
        portarium_condition_parse(&condition, self->arena, text, strlen(text), &self->err), MCP_OK);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(portarium_condition_name(condition, i), names[i]);
    assert_null(portarium_condition_name(condition, 3));
    assert_null(portarium_condition_name(condition, 4));
}

/* All assignments of three booleans: the grammar's ranks and De Morgan's laws. */
static void test_logic(void **state)
{
    static const char *const pairs[][2] = {
        { "a || b && c", "a || (b && c)" },
        { "a && b || c", "(a && b) || c" },
        { "!(a && b)", "!a || !b" },
        { "!(a || b)", "!a && !b" },
        { "!a && b", "(!a) && b" },
        { "a == b && c", "(a == b) && c" },
        { "a != b", "(a || b) && !(a && b)" },
        { "a || b || c", "a || (b || c)" },
        { "a == b == c", "(a == b) == c" },
    };
    world *self = *state;

    for (int bits = 0; bits < 8; bits++) {
        const char *text = mcp_arena_printf(
            self->arena, "{\"a\":%s,\"b\":%s,\"c\":%s}", bits & 1 ? "true" : "false",
            bits & 2 ? "true" : "false", bits & 4 ? "true" : "false");
        assert_int_equal(mcp_json_read(&self->context, self->arena, text, strlen(text), NULL),
                         MCP_OK);
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            bool left = false;
            bool right = true;
            assert_int_equal(judge(&left, self, pairs[i][0]), MCP_OK);
            assert_int_equal(judge(&right, self, pairs[i][1]), MCP_OK);
            assert_int_equal(left, right);
        }
    }
}

static mcp_status parse_once(void *data)
{
    static const char text[] = "a.b == 'x' || !(1 < 2)";
    mcp_arena *arena = mcp_arena_new(0);
    const portarium_condition *out = NULL;
    (void)data;

    mcp_status st = arena ? portarium_condition_parse(&out, arena, text, strlen(text), NULL)
                          : MCP_E_NOMEM;
    mcp_arena_free(arena);
    return st;
}

static void test_memory(void **state)
{
    (void)state;
    oom_walk(parse_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_true_and_false, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_evaluation_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_syntax_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_logic, set_up, tear_down),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
