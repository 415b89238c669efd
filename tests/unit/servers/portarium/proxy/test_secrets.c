/*
 * test_secrets.c - which arguments of a call are secret, by the tool's schema and by their names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/secrets.h"

static mcp_arena *arena;

static const mcp_json *json(const char *text)
{
    const mcp_json *out = NULL;
    assert_int_equal(mcp_json_read(&out, arena, text, strlen(text), NULL), MCP_OK);
    return out;
}

static void expect(const char *schema, const char *arguments, const char *shown)
{
    portarium_marks marks;
    const mcp_json *out = NULL, *given = json(arguments);
    assert_int_equal(portarium_marks_read(&marks, arena, json(schema), NULL), MCP_OK);
    assert_int_equal(portarium_marks_hide(&out, &marks, given, arena, NULL), MCP_OK);
    assert_true(mcp_json_equal(out, json(shown)));
    if (strcmp(arguments, shown) == 0)
        assert_ptr_equal(out, given);
}

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(1 << 20);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static void a_mark_hides_its_member_at_any_depth(void **state)
{
    const char
        *schema = "{\"properties\":{\"pin\":{\"writeOnly\":true},\"open\":{\"writeOnly\":false},"
                  "\"keys\":{\"type\":\"array\",\"items\":{\"writeOnly\":true}},"
                  "\"either\":{\"anyOf\":[{\"type\":\"null\"},{\"writeOnly\":true}]},"
                  "\"deep\":{\"$ref\":\"#/$defs/Deep\"}},"
                  "\"$defs\":{\"Deep\":{\"properties\":{\"inner\":{\"writeOnly\":true}}}}}";
    (void)state;
    expect(schema, "{\"open\":\"a\",\"deep\":{\"other\":[1]}}",
           "{\"open\":\"a\",\"deep\":{\"other\":[1]}}");
    expect(
        schema,
        "{\"pin\":1234,\"keys\":[\"a\"],\"either\":{\"x\":1},\"list\":[{\"deep\":{\"inner\":[]}}]}",
        "{\"pin\":\"[REDACTED]\",\"keys\":\"[REDACTED]\",\"either\":\"[REDACTED]\","
        "\"list\":[{\"deep\":{\"inner\":\"[REDACTED]\"}}]}");
}

/* A property may be called writeOnly, or be a value that looks like a mark. */
static void what_only_looks_like_a_mark_hides_nothing(void **state)
{
    const char
        *schema = "{\"properties\":{\"writeOnly\":{\"type\":\"boolean\"},"
                  "\"a\":{\"default\":{\"writeOnly\":true},\"enum\":[{\"writeOnly\":true}]}}}";
    (void)state;
    expect(schema, "{\"writeOnly\":true,\"a\":1}", "{\"writeOnly\":true,\"a\":1}");
}

static void a_mark_without_a_name_hides_everything(void **state)
{
    static const char *const schemas[] = {
        "{\"writeOnly\":true}",
        "{\"patternProperties\":{\"^x\":{\"writeOnly\":true}}}",
        "{\"additionalProperties\":{\"writeOnly\":true}}",
        "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/S\"}},\"$defs\":{\"S\":{\"writeOnly\":true}}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        expect(schemas[i], "{\"a\":1,\"b\":{\"c\":2}}",
               "{\"a\":\"[REDACTED]\",\"b\":\"[REDACTED]\"}");
}

static void texts_of_members_with_secret_names_are_hidden(void **state)
{
    (void)state;
    expect("{}", "{\"max_tokens\":100,\"password\":\"abc\",\"x\":{\"apiKey\":\"k\"}}",
           "{\"max_tokens\":100,\"password\":\"[REDACTED]\",\"x\":{\"apiKey\":\"[REDACTED]\"}}");
    /* And all texts within such a member. */
    expect("{}",
           "{\"credentials\":{\"user\":\"u\",\"port\":5,\"more\":[\"a\",[\"b\"],true]},"
           "\"passwords\":[\"p\"],\"tokens\":[1,2],\"after\":[\"shown\"]}",
           "{\"credentials\":{\"user\":\"[REDACTED]\",\"port\":5,\"more\":[\"[REDACTED]\","
           "[\"[REDACTED]\"],true]},\"passwords\":[\"[REDACTED]\"],\"tokens\":[1,2],"
           "\"after\":[\"shown\"]}");
}

static void secret_texts_are_taken_out_of_a_result(void **state)
{
    portarium_marks marks;
    mcp_buf out;
    const char *text = "{\"a\":\"say \\\"sesame\\\" or 1234 by tok-77 to otto, open-me\"}";
    (void)state;
    mcp_buf_init(&out, 1 << 16);
    assert_int_equal(portarium_marks_read(&marks, arena,
                                          json("{\"properties\":{\"pins\":{\"writeOnly\":true}}}"),
                                          NULL),
                     MCP_OK);
    assert_int_equal(
        portarium_marks_clean(&out, &marks,
                              json("{\"pins\":[\"\\\"sesame\\\"\",{\"p\":\"1234\"},\"to\"],"
                                   "\"user\":\"otto\",\"secrets\":{\"door\":\"open-me\"}}"),
                              "tok-77", text, strlen(text), NULL),
        MCP_OK);
    assert_int_equal(mcp_buf_putc(&out, '\0'), MCP_OK);
    assert_string_equal(
        out.data, "{\"a\":\"say [REDACTED] or [REDACTED] by [REDACTED] to otto, [REDACTED]\"}");
    mcp_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_hides_its_member_at_any_depth),
        cmocka_unit_test(what_only_looks_like_a_mark_hides_nothing),
        cmocka_unit_test(a_mark_without_a_name_hides_everything),
        cmocka_unit_test(texts_of_members_with_secret_names_are_hidden),
        cmocka_unit_test(secret_texts_are_taken_out_of_a_result),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
