/*
 * Templates in bodies, URLs and headers; hostile values change nothing around them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "language/template.h"

static const char parameters_text[] =
    "{\"s\":\"x\",\"n\":1.5,\"t\":true,\"z\":null,\"o\":{\"k\":[10,{\"a/b\":\"slash\",\"c~d\":7}]},"
    "\"dot.ted\":\"d\",\"crlf\":\"a\\r\\nb\",\"quote\":\"\\\",\\\"y\\\":1\",\"ref\":\"${run.id}\","
    "\"path\":\"../a?b#c&d=%2f e\",\"up\":\"..\",\"one\":\".\",\"empty\":\"\",\"utf\":\"\xc3\xa4\"}";

typedef struct world {
    mcp_arena *arena;
    const mcp_json *output;
    portarium_scope scope;
    mcp_error err;
    mcp_buf buf;
} world;

static const mcp_json *output_of(const char *action, size_t length, void *data)
{
    world *self = data;

    return length == 6 && memcmp(action, "step-1", 6) == 0 ? self->output : NULL;
}

static const mcp_json *json_of(world *self, const char *text)
{
    const mcp_json *out = NULL;

    assert_int_equal(mcp_json_read(&out, self->arena, text, strlen(text), NULL), MCP_OK);
    return out;
}

static int set_up(void **state)
{
    world *self = calloc(1, sizeof *self);

    assert_non_null(self);
    self->arena = mcp_arena_new(0);
    self->output = json_of(self, "{\"id\":\"o-7\",\"list\":[1,2]}");
    self->scope = (portarium_scope){
        .parameters = json_of(self, parameters_text),
        .run_id = "run-9",
        .output = output_of,
        .data = self,
    };
    mcp_buf_init(&self->buf, 1 << 16);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    world *self = *state;

    mcp_buf_clear(&self->buf);
    mcp_arena_free(self->arena);
    free(self);
    return 0;
}

static mcp_status body(world *self, const char *text)
{
    mcp_json_writer writer;

    mcp_buf_reset(&self->buf);
    mcp_json_writer_init(&writer, &self->buf);
    return portarium_template_body(&writer, json_of(self, text), &self->scope, &self->err);
}

static mcp_status url(world *self, const char *text)
{
    mcp_buf_reset(&self->buf);
    return portarium_template_url(&self->buf, text, &self->scope, &self->err);
}

static mcp_status header(world *self, const char *text)
{
    mcp_buf_reset(&self->buf);
    return portarium_template_header(&self->buf, text, &self->scope, &self->err);
}

#define IS(call, text)                                                                             \
    do {                                                                                           \
        if ((call) != MCP_OK)                                                                      \
            fail_msg("%s", self->err.message);                                                     \
        assert_string_equal(self->buf.data, text);                                                 \
    } while (0)

static void test_bodies(void **state)
{
    world *self = *state;

    IS(body(self, "{\"a\":[1,null,\"plain\",\"\"]}"), "{\"a\":[1,null,\"plain\",\"\"]}");
    IS(body(self, "\"${parameters.s}\""), "\"x\"");
    IS(body(self, "\"${parameters.n}\""), "1.5");
    IS(body(self, "\"${parameters.z}\""), "null");
    IS(body(self, "\"${parameters.o.k.0}\""), "10");
    IS(body(self, "\"${parameters/o/k/1/a~1b}\""), "\"slash\"");
    IS(body(self, "\"${parameters/o/k/1/c~0d}\""), "7");
    IS(body(self, "\"${parameters/dot.ted}\""), "\"d\"");
    IS(body(self, "\"${actions.step-1.output}\""), "{\"id\":\"o-7\",\"list\":[1,2]}");
    IS(body(self, "\"${actions.step-1.output.list.1}\""), "2");
    IS(body(self, "\"${actions.step-1.output/list/0}\""), "1");
    IS(body(self, "\"${run.id}\""), "\"run-9\"");
    IS(body(self, "{\"a\":\"<${parameters.s}-${parameters.n}-${parameters.t}-${run.id}>\"}"),
       "{\"a\":\"<x-1.5-true-run-9>\"}");
    IS(body(self, "{\"a\":\"$5 {x} $\"}"), "{\"a\":\"$5 {x} $\"}");
    /* Values stay values. */
    IS(body(self, "{\"a\":\"${parameters.quote}\"}"), "{\"a\":\"\\\",\\\"y\\\":1\"}");
    IS(body(self, "{\"a\":\"-${parameters.quote}\"}"), "{\"a\":\"-\\\",\\\"y\\\":1\"}");
    IS(body(self, "{\"a\":\"-${parameters.ref}\"}"), "{\"a\":\"-${run.id}\"}");
}

static void test_refused_bodies(void **state)
{
    static const struct {
        const char *body;
        mcp_status st;
    } rows[] = {
        { "\"${parameters.missing}\"", MCP_E_NOT_FOUND },
        { "\"${parameters.s.deeper}\"", MCP_E_NOT_FOUND },
        { "\"${parameters.o.k.2}\"", MCP_E_NOT_FOUND },
        { "\"${parameters.o.k.00}\"", MCP_E_NOT_FOUND },
        { "\"${parameters.o.k.-1}\"", MCP_E_NOT_FOUND },
        { "\"${actions.other.output}\"", MCP_E_NOT_FOUND },
        { "\"a ${parameters.o}\"", MCP_E_PARAMS },
        { "\"a ${parameters.z}\"", MCP_E_PARAMS },
        { "{\"${run.id}\":1}", MCP_E_PARAMS },
        { "\"${credential}\"", MCP_E_DENIED },
        { "\"a ${credential}\"", MCP_E_DENIED },
        { "\"${\"", MCP_E_PARSE },
        { "\"${}\"", MCP_E_PARSE },
        { "\"a${parameters.s\"", MCP_E_PARSE },
        { "\"${ parameters.s }\"", MCP_E_PARSE },
        { "\"${parameters.}\"", MCP_E_PARSE },
        { "\"${parameters..s}\"", MCP_E_PARSE },
        { "\"${parameterss}\"", MCP_E_PARSE },
        { "\"${parameters/a~2}\"", MCP_E_PARSE },
        { "\"${parameters.a/b}\"", MCP_E_PARSE },
        { "\"${actions.output}\"", MCP_E_PARSE },
        { "\"${actions..output}\"", MCP_E_PARSE },
        { "\"${actions.a.state}\"", MCP_E_PARSE },
        { "\"${actions.a.outputs}\"", MCP_E_PARSE },
        { "\"${run.status}\"", MCP_E_PARSE },
        { "\"${env.HOME}\"", MCP_E_PARSE },
        { "\"${${run.id}}\"", MCP_E_PARSE },
    };
    world *self = *state;

    self->scope.credential = "canary";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (body(self, rows[i].body) != rows[i].st)
            fail_msg("%s: %s", rows[i].body, self->err.message);
    assert_int_equal(body(self, "\"${parameters.missing}\""), MCP_E_NOT_FOUND);
    assert_string_equal(self->err.message, "template: ${parameters.missing} has no value");
    assert_int_equal(url(self, "https://h/${credential}"), MCP_E_DENIED);
}

static void test_urls(void **state)
{
    world *self = *state;

    IS(url(self, "https://api.example:8443/v1/a?x=1&y=%20"),
       "https://api.example:8443/v1/a?x=1&y=%20");
    IS(url(self, "http://[::1]"), "http://[::1]");
    IS(url(self, "https://h/a/${parameters.s}/b-${parameters.n}?q=${parameters.t}"),
       "https://h/a/x/b-1.5?q=true");
    /* Nothing of a value is syntax. */
    IS(url(self, "https://h/${parameters.path}/c"), "https://h/..%2Fa%3Fb%23c%26d%3D%252f%20e/c");
    IS(url(self, "https://h/?q=${parameters.path}&r=1"),
       "https://h/?q=..%2Fa%3Fb%23c%26d%3D%252f%20e&r=1");
    IS(url(self, "https://h/${parameters.crlf}"), "https://h/a%0D%0Ab");
    IS(url(self, "https://h/${parameters.utf}"), "https://h/%C3%A4");
    IS(url(self, "https://h/a${parameters.up}"), "https://h/a..");
    IS(url(self, "https://h/?q=${parameters.empty}&up=${parameters.up}"), "https://h/?q=&up=..");
}

static void test_refused_urls(void **state)
{
    static const struct {
        const char *url;
        mcp_status st;
    } rows[] = {
        { "", MCP_E_PARAMS },
        { "/a", MCP_E_PARAMS },
        { "https://", MCP_E_PARAMS },
        { "https:///a", MCP_E_PARAMS },
        { "HTTPS://h/", MCP_E_PARAMS },
        { "ftp://h/", MCP_E_PARAMS },
        { "file:///etc/passwd", MCP_E_PARAMS },
        { "${parameters.s}://h/", MCP_E_PARAMS },
        { "https://${parameters.s}/", MCP_E_PARAMS },
        { "https://h${parameters.s}/", MCP_E_PARAMS },
        { "https://h:${parameters.n}/", MCP_E_PARAMS },
        { "https://user@h/", MCP_E_PARAMS },
        { "https://h%2ex/", MCP_E_PARAMS },
        { "https://h/#f", MCP_E_PARAMS },
        { "https://h#f", MCP_E_PARAMS },
        { "https://h/a b", MCP_E_PARAMS },
        { "https://h/a\\b", MCP_E_PARAMS },
        { "https://h\\@x/", MCP_E_PARAMS },
        { "https://h/\r\nX: y", MCP_E_PARAMS },
        { "https://h/${parameters.up}", MCP_E_PARAMS },
        { "https://h/${parameters.up}/x", MCP_E_PARAMS },
        { "https://h/${parameters.one}?x", MCP_E_PARAMS },
        { "https://h/.${parameters.one}", MCP_E_PARAMS },
        { "https://h/${parameters.empty}", MCP_E_PARAMS },
        { "https://h/${parameters.empty}/x", MCP_E_PARAMS },
        { "https://h/${parameters.o}", MCP_E_PARAMS },
        { "https://h/${parameters.missing}", MCP_E_NOT_FOUND },
        { "https://h/${x}", MCP_E_PARSE },
    };
    world *self = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (url(self, rows[i].url) != rows[i].st)
            fail_msg("%s: %s", rows[i].url, self->err.message);
    mcp_buf_clear(&self->buf);
    mcp_buf_init(&self->buf, 20);
    assert_int_equal(url(self, "https://host/${parameters.path}"), MCP_E_LIMIT);
}

static void test_headers(void **state)
{
    world *self = *state;

    IS(header(self, "run ${run.id}; ${parameters.utf}"), "run run-9; \xc3\xa4");
    IS(header(self, "${parameters.quote}"), "\",\"y\":1");
    assert_int_equal(header(self, "a ${parameters.crlf}"), MCP_E_PARAMS);
    assert_int_equal(header(self, "a\tb"), MCP_E_PARAMS);
    assert_int_equal(header(self, "Bearer ${credential}"), MCP_E_DENIED);
    self->scope.credential = "s3cret";
    IS(header(self, "Bearer ${credential}"), "Bearer s3cret");
    self->scope.credential = "s3cret\r\nX-Evil: 1";
    assert_int_equal(header(self, "Bearer ${credential}"), MCP_E_PARAMS);
}

static mcp_status note(const portarium_reference *reference, void *data, mcp_error *err)
{
    (void)err;
    return mcp_buf_printf(data, "%d:%.*s:%.*s ", (int)reference->kind,
                          (int)reference->action_length, reference->action ? reference->action : "",
                          (int)reference->path_length, reference->path);
}

static void test_scan(void **state)
{
    static const char text[] = "a${run.id}${parameters}b${parameters.x.y}${actions.s.output/q}c"
                               "${credential}";
    world *self = *state;

    assert_int_equal(portarium_template_scan(text, strlen(text), note, &self->buf, &self->err),
                     MCP_OK);
    assert_string_equal(self->buf.data, "2:: 0:: 0::.x.y 1:s:/q 3:: ");
    assert_int_equal(portarium_template_scan("ab${", 4, note, &self->buf, &self->err), MCP_E_PARSE);
    assert_int_equal(self->err.offset, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bodies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_bodies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_urls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_urls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
