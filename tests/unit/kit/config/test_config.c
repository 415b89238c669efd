/*
 * test_config.c - files in TOML 1.0 (https://toml.io/en/v1.0.0) held against the keys of a program:
 * values, wrong types, unknown keys and the places that errors name; and files that are no TOML,
 * too large, too deep, open to others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "config/config.h"
#include "oom.h"
#include "scratch.h"

static const char *const modes[] = { "off", "audit", "enforce", NULL };

static const config_key keys[] = {
    { .name = "name", .type = CONFIG_STRING },
    { .name = "mode", .type = CONFIG_CHOICE, .choices = modes },
    { .name = "server.port", .type = CONFIG_INT, .min = 0, .max = 65535 },
    { .name = "server.depth", .type = CONFIG_INT },
    { .name = "server.ratio", .type = CONFIG_NUMBER },
    { .name = "server.is_open", .type = CONFIG_BOOL },
    { .name = "mcp.allowed_tools", .type = CONFIG_STRINGS },
    { .name = "executors.*.command", .type = CONFIG_STRINGS },
    { .name = "executors.*.env.*", .type = CONFIG_STRING },
    { .name = "sinks[].topic", .type = CONFIG_STRING },
    { .name = "policy", .type = CONFIG_ANY },
    { 0 },
};

static config *self;
static mcp_error err;

static mcp_status parse(const char *text)
{
    config_free(self);
    self = NULL;
    err = (mcp_error)MCP_ERROR_INIT;
    return config_parse(&self, text, strlen(text), "a.toml", keys, &err);
}

static int clear(void **state)
{
    (void)state;
    config_free(self);
    self = NULL;
    return 0;
}

static void assert_refused(const char *text, mcp_status status, const char *message)
{
    assert_int_equal(parse(text), status);
    assert_null(self);
    if (strcmp(err.message, message) != 0)
        fail_msg("%s\n   said of: %s", err.message, text);
}

static void values_have_their_types(void **state)
{
    (void)state;
    assert_int_equal(parse("name = \"\\u00e9t\\u00e9\"\nmode = 'audit'\n[server]\nport = 0x1f90\n"
                           "depth = -9223372036854775808\nratio = 3\nis_open = true\n"
                           "[mcp]\nallowed_tools = [\n 'a', # one\n \"b\",\n]\n"),
                     MCP_OK);
    assert_string_equal(config_string(self, "name"), "\xc3\xa9t\xc3\xa9");
    assert_string_equal(config_string(self, "mode"), "audit");
    assert_int_equal(config_int(self, "server.port", 7), 8080);
    assert_true(config_int(self, "server.depth", 7) == INT64_MIN);
    assert_true(config_number(self, "server.ratio", 0.5) == 3.0);
    assert_true(config_bool(self, "server.is_open", false));
    const mcp_json *tools = config_value(self, "mcp.allowed_tools");
    assert_int_equal(mcp_json_count(tools), 2);
    assert_string_equal(mcp_json_string(mcp_json_item(tools, 1), NULL), "b");
}

static void absent_keys_have_fallbacks(void **state)
{
    (void)state;
    assert_int_equal(parse(""), MCP_OK);
    assert_null(config_string(self, "name"));
    assert_int_equal(config_int(self, "server.port", 7), 7);
    assert_true(config_number(self, "server.ratio", 0.5) == 0.5);
    assert_true(config_bool(self, "server.is_open", true));
    assert_null(config_value(self, "mcp"));
    assert_int_equal(mcp_json_count(config_value(self, "")), 0);
}

static void names_of_the_user_are_found(void **state)
{
    (void)state;
    assert_int_equal(parse("[executors.mail]\ncommand = ['/usr/bin/mail']\n"
                           "[executors.\"a.b\"]\ncommand = []\nenv = { LANG = 'C' }\n"
                           "[[sinks]]\ntopic = 'one'\n[[sinks]]\ntopic = 'two'\n"),
                     MCP_OK);
    assert_int_equal(mcp_json_count(config_value(self, "executors.mail.command")), 1);
    assert_string_equal(config_string(self, "executors.\"a.b\".env.LANG"), "C");
    assert_null(config_value(self, "executors.a.b"));
    const mcp_json *sinks = config_value(self, "sinks");
    assert_int_equal(mcp_json_count(sinks), 2);
    assert_string_equal(mcp_json_get_string(mcp_json_item(sinks, 1), "topic"), "two");
    assert_int_equal(parse("sinks = []\n[executors]\n"), MCP_OK);
}

static void what_is_any_may_be_anything(void **state)
{
    (void)state;
    assert_int_equal(parse("[policy]\nrules = [{ when = 'a', at = 1979-05-27T07:32:00Z }, 7]\n"
                           "deep.er.x = [[1, 2.5], [true]]\n"),
                     MCP_OK);
    const mcp_json *rules = config_value(self, "policy.rules");
    assert_string_equal(mcp_json_get_string(mcp_json_item(rules, 0), "at"), "1979-05-27T07:32:00Z");
    assert_int_equal(mcp_json_count(config_value(self, "policy.deep.er.x")), 2);
    assert_int_equal(parse("policy = 7\n"), MCP_OK);
    assert_int_equal(config_int(self, "policy", 0), 7);
}

static void unknown_keys_are_refused_with_the_nearest(void **state)
{
    (void)state;
    assert_refused("\n[mcp]\nallowed_tols = []\n", MCP_E_PARAMS,
                   "a.toml:3:1: mcp.allowed_tols: unknown key; did you mean mcp.allowed_tools?");
    assert_refused("  nme = 'a'\n", MCP_E_PARAMS,
                   "a.toml:1:3: nme: unknown key; did you mean name?");
    assert_refused("[elsewhere]\n", MCP_E_PARAMS, "a.toml:1:2: elsewhere: unknown key");
    assert_refused("[server.port]\nx = 1\n", MCP_E_PARAMS,
                   "a.toml:1:9: server.port: wants a whole number from 0 to 65535");
    assert_refused("server = 7\n", MCP_E_PARAMS, "a.toml:1:1: server: unknown key");
    assert_refused("[[sinks]]\ntopik = 'a'\n", MCP_E_PARAMS,
                   "a.toml:2:1: sinks[].topik: unknown key; did you mean sinks[].topic?");
    assert_refused("[executors.mail]\nuser = 'a'\n", MCP_E_PARAMS,
                   "a.toml:2:1: executors.mail.user: unknown key");
    assert_refused("[server]\nis_open = 1\nname = 2\n", MCP_E_PARAMS, /* the first is named */
                   "a.toml:2:1: server.is_open: wants true or false");
}

static void other_types_are_refused(void **state)
{
    (void)state;
    assert_refused("name = 7\n", MCP_E_PARAMS, "a.toml:1:1: name: wants a string");
    assert_refused("name = 1979-05-27\n", MCP_E_PARAMS, "a.toml:1:1: name: wants a string");
    assert_refused("mode = 'Audit'\n", MCP_E_PARAMS,
                   "a.toml:1:1: mode: wants off, audit or enforce");
    assert_refused("server.port = 65536\n", MCP_E_PARAMS,
                   "a.toml:1:8: server.port: wants a whole number from 0 to 65535");
    assert_refused("server.port = '80'\n", MCP_E_PARAMS,
                   "a.toml:1:8: server.port: wants a whole number from 0 to 65535");
    assert_refused("server.depth = 1.5\n", MCP_E_PARAMS,
                   "a.toml:1:8: server.depth: wants a whole number");
    assert_refused("server.ratio = '1'\n", MCP_E_PARAMS,
                   "a.toml:1:8: server.ratio: wants a number");
    assert_refused("mcp.allowed_tools = ['a', 1]\n", MCP_E_PARAMS,
                   "a.toml:1:5: mcp.allowed_tools: wants a list of strings");
    assert_refused("mcp.allowed_tools = 'a'\n", MCP_E_PARAMS,
                   "a.toml:1:5: mcp.allowed_tools: wants a list of strings");
}

static void assert_broken(const char *text, mcp_status status, const char *place)
{
    assert_int_equal(parse(text), status);
    assert_null(self);
    if (strncmp(err.message, place, strlen(place)) != 0)
        fail_msg("%s is not at %s", err.message, place);
}

static void what_is_no_toml_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_broken("name = 'a'\nname = 'b'\n", MCP_E_PARSE, "a.toml:2:");
    assert_broken("name = \"a\n", MCP_E_PARSE, "a.toml:1:");
    assert_broken("\n\nname\n", MCP_E_PARSE, "a.toml:");
    assert_broken("server.port = 9223372036854775808\n", MCP_E_PARSE, "a.toml:1:");
    assert_broken("name = \"\xff\"\n", MCP_E_PARSE, "a.toml:1:");
    assert_broken("server.ratio = inf\n", MCP_E_PARSE, "a.toml:1:8: ");
    assert_broken("server.ratio = nan\n", MCP_E_PARSE, "a.toml:1:8: ");
    assert_broken("name = \"a\\u0000b\"\n", MCP_E_PARSE, "a.toml:1:1: ");
    assert_broken("\"a\\u0000\" = 1\n", MCP_E_PARSE, "a.toml:1:1: ");
    assert_broken("'a\"b' = 1\n", MCP_E_PARSE, "a.toml:1:1: ");
    assert_broken("policy = [{ 'a\"b' = 1 }, 2]\n", MCP_E_PARSE, "a.toml:1:");
}

/* A thousand names or brackets would need a stack to match. */
static void depth_and_size_are_bounded(void **state)
{
    enum { MANY = 200000 };
    char *text = malloc(2 * MANY + 64);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < MANY; i++)
        memcpy(text + 2 * i, "a.", 2);
    memcpy(text + (size_t)2 * MANY, "a = 1\n", 7);
    assert_broken(text, MCP_E_LIMIT, "a.toml:1:");
    memset(text, '[', MANY);
    memcpy(text + MANY, "\n", 2);
    assert_broken(text, MCP_E_PARSE, "a.toml: a table, key or value is malformed");
    (void)snprintf(text, 64, "policy = %.50s",
                   "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[");
    assert_broken(text, MCP_E_PARSE, "a.toml:1:");
    free(text);
    assert_broken(
        "# a.a.a.a.a.a.a.a.a.a.a\nname = 'a.a.a.a.a.a.a.a.a.a.a.a'\n[policy.a.a.a.a.a.a.a]\n"
        "b = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]\nc.d.e.f.g.h.i.j = 1\n"
        "a.b.c.d.e.f.g.h.i = 1\n",
        MCP_E_LIMIT, "a.toml:6:");
    assert_broken(
        "policy = \"\"\"\na.a.a.a.a.a.a.a.a.a\\\"\"\"\"\"\"\nname = 1\na.a.a.a.a.a.a.a.a = 1",
        MCP_E_LIMIT, "a.toml:4:");
    char *large = malloc(CONFIG_SIZE_MAX + 2);
    assert_non_null(large);
    memset(large, '\n', CONFIG_SIZE_MAX + 1);
    large[CONFIG_SIZE_MAX + 1] = '\0';
    assert_int_equal(parse(large + 1), MCP_OK);
    assert_int_equal(parse(large), MCP_E_LIMIT);
    free(large);
}

static void keys_are_counted(void **state)
{
    char *text = malloc((size_t)20000 * 20);
    size_t length = 0;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < 10001; i++)
        length += (size_t)sprintf(text + length, "policy.k%d = 1\n", i);
    assert_int_equal(parse(text), MCP_E_LIMIT);
    free(text);
}

static void a_value_may_be_refused_later(void **state)
{
    (void)state;
    assert_int_equal(parse("\nname = 'a b'\n[[sinks]]\ntopic = ''\n"), MCP_OK);
    assert_int_equal(config_refuse(self, "name", &err, "a name has no %s", "blank"), MCP_E_PARAMS);
    assert_string_equal(err.message, "a.toml:2:1: name: a name has no blank");
    assert_int_equal(config_refuse(self, "sinks[].topic", &err, "empty"), MCP_E_PARAMS);
    assert_string_equal(err.message, "a.toml:4:1: sinks[].topic: empty");
    assert_int_equal(config_refuse(self, "mode", &err, "must be given"), MCP_E_PARAMS);
    assert_string_equal(err.message, "a.toml: mode: must be given");
}

static void files_are_read(void **state)
{
    config *out = NULL;
    scratch folder;
    char path[SCRATCH_PATH_MAX + 8];

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "a.toml", "name = 'x'\n", 11);
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "a.toml"));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(config_read(&out, path, keys, 0, &err), MCP_OK);
    assert_string_equal(config_string(out, "name"), "x");
    config_free(out);
    out = NULL;
    assert_int_equal(config_read(&out, path, keys, CONFIG_PRIVATE, &err), MCP_E_DENIED);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(config_read(&out, path, keys, CONFIG_PRIVATE, &err), MCP_OK);
    config_free(out);
    out = NULL;
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "b.toml"));
    assert_int_equal(config_read(&out, path, keys, 0, &err), MCP_E_NOT_FOUND);
    assert_int_equal(config_read(&out, path, keys, CONFIG_OPTIONAL, &err), MCP_OK);
    assert_null(config_string(out, "name"));
    config_free(out);
    out = NULL;
    snprintf(path, sizeof path, "%s", scratch_path(&folder, ""));
    assert_int_equal(config_read(&out, path, keys, 0, &err), MCP_E_IO);
    scratch_close(&folder);
}

static mcp_status read_once(void *data)
{
    static const char text[] = "name = 'a long enough string to need memory of its own'\n"
                               "[executors.mail]\ncommand = ['a', 'b']\n[[sinks]]\ntopic = 't'\n";
    config *out = NULL;
    mcp_status st = config_parse(&out, text, sizeof text - 1, "a.toml", keys, NULL);

    (void)data;
    config_free(out);
    return st;
}

static void want_of_memory_is_reported(void **state)
{
    (void)state;
    assert_true(oom_has_new);
    oom_walk(read_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_types),
        cmocka_unit_test(absent_keys_have_fallbacks),
        cmocka_unit_test(names_of_the_user_are_found),
        cmocka_unit_test(what_is_any_may_be_anything),
        cmocka_unit_test(unknown_keys_are_refused_with_the_nearest),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(what_is_no_toml_is_refused_at_its_place),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(keys_are_counted),
        cmocka_unit_test(a_value_may_be_refused_later),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(want_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, clear);
}
