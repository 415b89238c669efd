/*
 * test_trace.c - the grammars of W3C Trace Context and W3C Baggage, row by row, and the trace of a
 * call: where it comes from and where it goes. The rows are of the two specifications.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "fixture.h"
#include "fixture_more.h"
#include "mcp/core/call/trace.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"
#define VALID "00-" TRACE "-" PARENT "-01"

static bool reads(mcp_trace *out, const char *text)
{
    return mcp__traceparent_read(out, text, strlen(text));
}

/* ---- traceparent ----------------------------------------------------------------------------- */

static void valid_parents_are_read(void **state)
{
    static const struct {
        const char *text, *sent;
        bool is_sampled;
    } rows[] = {
        { VALID, VALID, true },
        { "00-" TRACE "-" PARENT "-00", "00-" TRACE "-" PARENT "-00", false },
        /* level 2: the random flag is passed on, flags without a meaning are not */
        { "00-" TRACE "-" PARENT "-03", "00-" TRACE "-" PARENT "-03", true },
        { "00-" TRACE "-" PARENT "-fe", "00-" TRACE "-" PARENT "-02", false },
        { "00-" TRACE "-" PARENT "-ff", "00-" TRACE "-" PARENT "-03", true },
        /* later versions: the first 55 bytes, and of the flags the sampled one */
        { "cc-" TRACE "-" PARENT "-01", VALID, true },
        { "cc-" TRACE "-" PARENT "-03", VALID, true },
        { "01-" TRACE "-" PARENT "-01-what-will-be", VALID, true },
        { "fe-" TRACE "-" PARENT "-01-", VALID, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_trace trace = { .tracestate = NULL };
        if (!reads(&trace, rows[i].text) || trace.is_sampled != rows[i].is_sampled)
            fail_msg("%s", rows[i].text);
        assert_string_equal(trace.trace_id, TRACE);
        assert_string_equal(trace.parent_id, PARENT);
        assert_string_equal(trace.traceparent, rows[i].sent);
    }
}

static void invalid_parents_are_not(void **state)
{
    static const char *const rows[] = {
        "",
        "00",
        VALID "-what-the-future-will-be-like", /* version 00 has 55 bytes */
        VALID ".",
        VALID "-",
        "cc-" TRACE "-" PARENT "-01.what-the-future-will-not-be-like",
        "cc-" TRACE "-" PARENT "-010",
        "ff-" TRACE "-" PARENT "-01",
        "FF-" TRACE "-" PARENT "-01",
        "0-" TRACE "-" PARENT "-01x",
        "000" TRACE "-" PARENT "-01",
        ".0-" TRACE "-" PARENT "-01",
        "0A-" TRACE "-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00-" TRACE "-B7AD6B7169203331-01",
        "00-.af7651916cd43dd8448eb211c80319c-" PARENT "-01",
        "00-" TRACE "-.7ad6b7169203331-01",
        "00-" TRACE "-" PARENT "-0A",
        "00-" TRACE "-" PARENT "-.0",
        "00-" TRACE "-" PARENT "-1",
        "00-" TRACE "_" PARENT "-01",
        "00_" TRACE "-" PARENT "-01",
        "00-" TRACE "-" PARENT "_01",
        " " VALID,
        VALID " ",
        VALID ", " VALID,
    };
    mcp_trace trace = { .trace_id = "untouched" };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (reads(&trace, rows[i]))
            fail_msg("%s", rows[i]);
    assert_false(mcp__traceparent_read(&trace, "00-" TRACE "-" PARENT "-0\0", 55));
    assert_string_equal(trace.trace_id, "untouched");
}

/* ---- tracestate and baggage ------------------------------------------------------------------ */

/* Write `count` members. Returns their length. */
static size_t members(char *room, size_t size, int count)
{
    size_t length = 0;

    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(room + length, size - length, "%sk%d=v", i > 0 ? "," : "", i);
    return length;
}

static void states_have_a_grammar(void **state)
{
    static const struct {
        const char *text;
        bool is_valid;
    } rows[] = {
        { "foo=1", true },
        { "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", true },
        { "foo=1 \t , \t bar=2", true },
        { "foo=1,,bar=2", true }, /* a member may be empty */
        { "foo=1,", true },
        { "fw529a3039@dt=FfZ,0tenant@sys=a b", true },
        { "a_-*/@0=!#$%&'()*+-./:;<>?@[\\]^_`{|}~", true },
        { "foo= 1", true }, /* blanks are part of a value, but for the last ones */
        { "", false },
        { " ", false },
        { ",", false },
        { "foo", false },
        { "foo=", false },
        { "=1", false },
        { "foo =1", false },
        { "FOO=1", false },
        { "_foo=1", false },
        { "foo.bar=1", false },
        { "foo=1=2", false },
        { "foo=a\tb", false },
        { "foo=\x7f", false },
        { "foo=\xc3\xa9", false },
        { "foo=1;bar=2", false }, /* ';' is a byte of the value, the second '=' is none */
    };
    char room[1024], text[600];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (mcp__tracestate_is_valid(rows[i].text, strlen(rows[i].text)) != rows[i].is_valid)
            fail_msg("%s", rows[i].text);
    assert_true(mcp__tracestate_is_valid(room, members(room, sizeof room, 32)));
    assert_false(mcp__tracestate_is_valid(room, members(room, sizeof room, 33)));
    memset(text, 'z', sizeof text);
    text[256] = '=';
    assert_true(mcp__tracestate_is_valid(text, 256 + 1 + 255));
    assert_false(mcp__tracestate_is_valid(text, 256 + 1 + 256)); /* 513 bytes */
    text[256] = 'z';
    text[257] = '=';
    assert_false(mcp__tracestate_is_valid(text, 260)); /* a key of 257 */
    assert_false(mcp__tracestate_is_valid("a=\0", 3));
    assert_false(mcp__tracestate_is_valid("a\0=b", 4));
    assert_false(mcp__tracestate_is_valid(NULL, 0));
}

static void baggage_has_a_grammar(void **state)
{
    static const struct {
        const char *text;
        bool is_valid;
    } rows[] = {
        { "key1=value1", true },
        { "key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=value", true },
        { "userId=Am%C3%A9lie,serverNode=DF%2028,isProduction=false", true },
        { "key=", true },
        { "key=a=b", true },
        { "", false },
        { "key", false },
        { "=value", false },
        { "key=value,", false },
        { "key=value;", false },
        { "k(y=value", false },
        { "key=two words", false },
        { "key=\"quoted\"", false },
        { "key=back\\slash", false },
        { "key=value\r\nX: y", false },
        { "key=\xc3\xa9", false },
    };
    static char text[8200];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (mcp__baggage_is_valid(rows[i].text, strlen(rows[i].text)) != rows[i].is_valid)
            fail_msg("%s", rows[i].text);
    memset(text, 'z', sizeof text);
    text[1] = '=';
    assert_true(mcp__baggage_is_valid(text, 8192));
    assert_false(mcp__baggage_is_valid(text, 8193));
    assert_false(mcp__baggage_is_valid("a=\0", 3));
    assert_false(mcp__baggage_is_valid(NULL, 0));
}

/* ---- where it comes from --------------------------------------------------------------------- */

struct fake {
    mcp__headers face; /* first */
    const char *parent, *state, *baggage;
    size_t parents;
};

static const char *field(const mcp__headers *self, const char *name, size_t *count)
{
    const struct fake *fake = (const struct fake *)self;
    const char *value = strcmp(name, "traceparent") == 0 ? fake->parent : NULL;

    *count = value ? fake->parents : 0;
    return value;
}

static const char *list(const mcp__headers *self, const char *name, mcp_arena *arena)
{
    const struct fake *fake = (const struct fake *)self;

    (void)arena;
    return strcmp(name, "tracestate") == 0 ? fake->state : fake->baggage;
}

struct heard {
    mcp_trace trace;
    bool has_trace;
    int count;
    char state[64], baggage[64];
};

static void hear(const mcp_call *call, const mcp_ended *ended, void *data)
{
    struct heard *heard = data;
    const mcp_trace *trace = mcp_call_trace(call);

    (void)ended;
    heard->count++;
    heard->has_trace = trace != NULL;
    if (!trace)
        return;
    heard->trace = *trace;
    (void)snprintf(heard->state, sizeof heard->state, "%s",
                   trace->tracestate ? trace->tracestate : "-");
    (void)snprintf(heard->baggage, sizeof heard->baggage, "%s",
                   trace->baggage ? trace->baggage : "-");
}

#define PING(meta)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{" meta "}}}"

#define OTHER "00-11111111111111111111111111111111-2222222222222222-00"

static void meta_comes_before_the_header(void **state)
{
    static const struct {
        const char *text;
        struct fake headers;
        const char *trace, *state, *baggage; /* NULL: none */
    } rows[] = {
        { PING(""), { .parents = 1 }, NULL, "", "" },
        { PING("\"traceparent\":\"" VALID "\",\"tracestate\":\"a=b\",\"baggage\":\"c=d\""),
          { .parent = OTHER, .state = "x=y", .baggage = "z=z", .parents = 1 },
          TRACE,
          "a=b",
          "c=d" },
        /* of one source alone */
        { PING("\"traceparent\":\"" VALID "\""),
          { .parent = OTHER, .state = "x=y", .baggage = "z=z", .parents = 1 },
          TRACE,
          "-",
          "-" },
        { PING("\"tracestate\":\"a=b\",\"baggage\":\"c=d\""),
          { .parent = OTHER, .state = "x=y", .baggage = "z=z", .parents = 1 },
          "11111111111111111111111111111111",
          "x=y",
          "z=z" },
        /* what is invalid is ignored */
        { PING("\"traceparent\":\"nonsense\",\"tracestate\":\"a=b\""),
          { .parent = OTHER, .parents = 1 },
          "11111111111111111111111111111111",
          "-",
          "-" },
        { PING("\"traceparent\":7,\"tracestate\":[]"), { .parents = 1 }, NULL, "", "" },
        { PING("\"traceparent\":\"" VALID "\",\"tracestate\":\"A\",\"baggage\":{}"),
          { .parents = 1 },
          TRACE,
          "-",
          "-" },
        { PING("\"traceparent\":\"" VALID "\\u0000\""), { .parents = 1 }, NULL, "", "" },
        { PING(""), { .parent = OTHER, .parents = 2 }, NULL, "", "" },
        { PING(""), { .parent = "x", .parents = 1 }, NULL, "", "" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
          { .parent = VALID, .parents = 1 },
          TRACE,
          "-",
          "-" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct heard heard = { .count = 0 };
        mcp_server_options options = {
            .name = "t", .version = "1", .ended = hear, .ended_data = &heard
        };
        struct fake headers = rows[i].headers;
        conversation c;
        headers.face = (mcp__headers){ field, list };
        conversation_open(&c, &options, &fixture_features);
        c.peer.peer.headers = &headers.face;
        conversation_ask(&c, rows[i].text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
        assert_int_equal(heard.count, 1);
        if (heard.has_trace != (rows[i].trace != NULL))
            fail_msg("%s", rows[i].text);
        if (rows[i].trace) {
            assert_string_equal(heard.trace.trace_id, rows[i].trace);
            assert_string_equal(heard.state, rows[i].state);
            assert_string_equal(heard.baggage, rows[i].baggage);
        }
        conversation_close(&c);
    }
}

static void each_call_has_a_span_of_its_own(void **state)
{
    struct heard heard = { .count = 0 };
    mcp_server_options options = {
        .name = "t", .version = "1", .ended = hear, .ended_data = &heard
    };
    char first[MCP_SPAN_ID_SIZE], sent[MCP_TRACEPARENT_SIZE];
    conversation c;

    (void)state;
    conversation_open(&c, &options, &fixture_features);
    conversation_say(&c, PING("\"traceparent\":\"" VALID "\""));
    memcpy(first, heard.trace.span_id, sizeof first);
    assert_int_equal(strspn(first, "0123456789abcdef"), 16);
    assert_string_not_equal(first, PARENT);
    assert_string_equal(heard.trace.parent_id, PARENT);
    (void)snprintf(sent, sizeof sent, "00-%s-%s-01", TRACE, first);
    assert_string_equal(heard.trace.traceparent, sent);
    conversation_say(&c, PING("\"traceparent\":\"" VALID "\""));
    assert_string_not_equal(heard.trace.span_id, first);
    conversation_close(&c);
}

/* ---- where it goes --------------------------------------------------------------------------- */

static void keep_line(mcp_log_level level, const char *message, void *data)
{
    (void)level;
    (void)snprintf(data, 2048, "%s", message);
}

static void lines_about_the_call_name_it(void **state)
{
    struct heard heard = { .count = 0 };
    char line[2048] = "", end[128];
    mcp_server_options options = { .name = "t",
                                   .version = "1",
                                   .ended = hear,
                                   .ended_data = &heard,
                                   .log = { keep_line, line, MCP_LOG_DEBUG } };
    conversation c;

    (void)state;
    conversation_open(&c, &options, &fixture_features);
    conversation_initialize(&c, "2025-06-18");
    conversation_say(&c,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                     "\"fix/fail\",\"arguments\":{\"status\":\"E_INTERNAL\"},\"_meta\":{"
                     "\"traceparent\":\"" VALID "\"}}}");
    (void)snprintf(end, sizeof end, " trace_id=" TRACE " span_id=%s", heard.trace.span_id);
    assert_non_null(strstr(line, "fix/fail: E_INTERNAL: "));
    assert_string_equal(line + strlen(line) - strlen(end), end);
    conversation_say(&c,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                     "\"fix/fail\",\"arguments\":{\"status\":\"E_INTERNAL\"}}}");
    assert_non_null(strstr(line, "fix/fail: E_INTERNAL: "));
    assert_null(strstr(line, "trace_id"));
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_parents_are_read),
        cmocka_unit_test(invalid_parents_are_not),
        cmocka_unit_test(states_have_a_grammar),
        cmocka_unit_test(baggage_has_a_grammar),
        cmocka_unit_test(meta_comes_before_the_header),
        cmocka_unit_test(each_call_has_a_span_of_its_own),
        cmocka_unit_test(lines_about_the_call_name_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
