/*
 * fuzz_json.c - JSON text of any kind: reading, scanning, writing and comparing must agree.
 *
 * The scanner refuses exactly what reading refuses. What was read is written; that is read again
 * and must be equal; writing it once more gives the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/json.h"
#include "json/json_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static void write_into(mcp_buf *buf, const mcp_json *value)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, buf);
    mcp_write_value(&writer, value);
    must(mcp_json_writer_status(&writer) == MCP_OK);
}

static void must_survive_round_trip(const mcp_json *value, mcp_arena *arena)
{
    const mcp_json *again = NULL;
    mcp_buf once;
    mcp_buf twice;

    mcp_buf_init(&once, 16 << 20);
    mcp_buf_init(&twice, 16 << 20);
    write_into(&once, value);
    must(mcp_json_read(&again, arena, once.data, once.length, NULL) == MCP_OK);
    must(mcp_json_equal(value, again) && mcp_json_equal(again, value));
    write_into(&twice, again);
    must(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    mcp_buf_clear(&once);
    mcp_buf_clear(&twice);
}

/* Members are found under their names, the last of each name. */
static void must_find_members(const mcp_json *value)
{
    const char *duplicate = mcp_json_duplicate(value);

    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        const mcp_json *found = name ? mcp_json_get_n(value, name, length) : NULL;
        must(!name || (found && (duplicate || found == mcp_json_item(value, i))));
        must_find_members(mcp_json_item(value, i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    mcp_arena *arena = mcp_arena_new(64 << 20);
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp__json_fault fault = { .status = MCP_OK };

    must(arena != NULL);
    mcp_status st = mcp_json_read(&value, arena, text, size, &err);
    bool is_json = mcp__json_scan(text, size, &fault);
    must(is_json == (st == MCP_OK) && fault.status == st);
    if (st == MCP_OK) {
        must_find_members(value);
        must_survive_round_trip(value, arena);
    } else {
        must(err.offset == (int64_t)fault.offset && fault.offset <= size);
    }
    mcp_arena_free(arena);
    return 0;
}
