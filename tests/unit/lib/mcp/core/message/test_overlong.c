/*
 * test_overlong.c - the id of a request, from the first and last bytes of its text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/arena.h"
#include "mcp/core/message/overlong.h"

/* The id as JSON, in `text`; "" when there is none. */
static void find(char *text, size_t size, const char *head, const char *tail)
{
    static mcp__line_ends ends;
    mcp_arena *arena = mcp_arena_new(0);
    int64_t number;

    ends.head_length = strlen(head);
    ends.tail_length = strlen(tail);
    memcpy(ends.head, head, ends.head_length);
    memcpy(ends.tail, tail, ends.tail_length);
    const mcp_json *id = mcp__overlong_id(&ends, arena);
    text[0] = '\0';
    if (mcp_json_int(id, &number))
        (void)snprintf(text, size, "%lld", (long long)number);
    else if (id)
        (void)snprintf(text, size, "'%s'", mcp_json_string(id, NULL));
    mcp_arena_free(arena);
}

static void ids(void **state)
{
    static const struct {
        const char *head, *tail, *id;
    } rows[] = {
        { "{\"id\":1,\"method\":\"m\",\"params\":{", "x\"}}", "1" },
        { " { \"id\" : \"a\\\"b\" ,\t\"method\":\"m\",\"params\":[", "]} ", "'a\"b'" },
        { "{\"method\":\"m\",\"params\":{", "\"}},\"jsonrpc\":\"2.0\",\"id\":-7}", "-7" },
        { "{\"params\":{", "},\"method\":\"m\" , \"id\": \"x\\\\\" } ", "'x\\'" },
        { "{\"id\":3,\"params\":{", "},\"method\":\"m\"}", "3" },
        /* no request, or none that can be told */
        { "{\"id\":1,\"result\":{", "}}", "" },
        { "{\"method\":\"m\",\"params\":{", "}}", "" },
        { "{\"method\":\"m\",\"params\":{\"id\":1,", "\"id\":2}}", "" },
        { "{\"id\":1,\"method\":\"m\",\"params\":{", "},\"id\":2}", "" },
        { "[{\"id\":1,\"method\":\"m\"},", "{\"id\":2,\"method\":\"m\"}]", "" },
        { "{\"id\":null,\"method\":\"m\",\"params\":{", "}}", "" },
        { "{\"id\":1.5,\"method\":\"m\",\"params\":{", "}}", "" },
        /* cut off, or no JSON */
        { "{\"method\":\"m\",\"id\":12", "", "" },
        { "{\"method\":\"m\",\"id\":\"ab", "", "" },
        { "", "45,\"method\":\"m\"}", "" },
        { "", "\"id\":45,\"method\":\"m\"}", "45" },
        { "", "a\",\"method\":\"m\",\"id\":\"}", "" },
        { "{\"id\":1 2,\"method\":\"m\",\"p\":{", "", "" },
        { "{", "}", "" },
        { "", "", "" },
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        find(text, sizeof text, rows[i].head, rows[i].tail);
        if (strcmp(text, rows[i].id) != 0)
            fail_msg("%s ... %s: \"%s\" instead of \"%s\"", rows[i].head, rows[i].tail, text,
                     rows[i].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
