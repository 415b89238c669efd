/*
 * fuzz_cursor.c - cursors that clients send back, or make up.
 *
 * The input is a cursor as it is, and what a cursor of ours decodes to. One that is taken leads to
 * the end of the list in as many pages as there are entries, each entry at most once; every other
 * is MCP_E_PARAMS.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "mcp/core/call/call_int.h"
#include "mcp/feature/list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE 2

static const char *const keys[] = { "a", "b:c", "", "tools:a", "\xc3\xa9", "a/b/c", "z" };

#define KEYS (sizeof keys / sizeof keys[0])

static mcp_server_options options = { .limits.reply_max_bytes = 1 << 20 };
static mcp__context context = { .options = &options };
static mcp__list list;

static void must(bool claim)
{
    if (!claim)
        abort();
}

static void render(mcp_json_writer *writer, const mcp__feature *feature, mcp_revision revision)
{
    (void)revision;
    mcp_write_object(writer);
    mcp_write_member_string(writer, "name", feature->name);
    mcp_write_end(writer);
}

static void make_list(void)
{
    static mcp__feature features[KEYS];
    static mcp_arena *arena; /* lives as long as the program */

    if (arena)
        return;
    arena = mcp_arena_new(0);
    must(arena != NULL);
    mcp__list_init(&list, arena, "tools", MCP_FEATURE_TOOL);
    list.page = PAGE;
    for (size_t i = 0; i < KEYS; i++) {
        features[i].name = keys[i];
        must(mcp__list_add(&list, &features[i], render, NULL) == MCP_OK);
    }
}

/* {"cursor": ...}; NULL: no JSON has such a string. */
static const mcp_json *params_with(mcp_arena *arena, const char *cursor, size_t length)
{
    const mcp_json *params = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 1 << 24);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_name(&writer, "cursor");
    mcp_write_string_n(&writer, cursor, length);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        (void)mcp_json_read(&params, arena, text.data, text.length, NULL);
    mcp_buf_clear(&text);
    return params;
}

/* One page. Returns how many entries it has; the next cursor is copied to `next`, "" at the end. */
static size_t page(const char *cursor, size_t length, char next[256], bool *is_taken)
{
    const mcp_json *result = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_call *call = NULL;
    size_t count = 0;

    next[0] = '\0';
    *is_taken = false;
    must(arena && mcp__call_new(&call, arena, &context, NULL) == MCP_OK);
    call->request.revision = MCP_2025_06_18;
    call->request.params = params_with(arena, cursor, length);
    if (call->request.params) {
        mcp_status st = mcp__list_answer(&list, call);
        must(st == MCP_OK || st == MCP_E_PARAMS);
        *is_taken = st == MCP_OK;
    }
    if (*is_taken) {
        mcp_write_end(mcp_call_result(call));
        must(mcp_json_read(&result, arena, call->answer.result.text.data,
                           call->answer.result.text.length, NULL) == MCP_OK);
        count = mcp_json_count(mcp_json_get(result, "tools"));
        const char *more = mcp_json_get_string(result, "nextCursor");
        must(!more || strlen(more) < 256);
        if (more)
            memcpy(next, more, strlen(more) + 1);
    }
    mcp__call_free(call);
    return count;
}

static void follow(const char *cursor, size_t length)
{
    char next[256], at[256];
    bool is_taken = false;
    size_t seen = page(cursor, length, next, &is_taken);

    must(seen < KEYS); /* a cursor points after some entry */
    for (size_t pages = 1; next[0] != '\0'; pages++) {
        must(pages <= KEYS);
        memcpy(at, next, sizeof at);
        seen += page(at, strlen(at), next, &is_taken);
        must(is_taken); /* it was ours */
    }
    must(seen < KEYS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_arena *arena = mcp_arena_new(0);
    const char *encoded = arena ? mcp__base64url_encode(arena, (const char *)data, size) : NULL;

    make_list();
    if (size > 0)
        follow((const char *)data, size);
    if (encoded)
        follow(encoded, strlen(encoded));
    mcp_arena_free(arena);
    return 0;
}
