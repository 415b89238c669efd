/*
 * kept.c - what of a result the control plane gets.
 */
#include "proxy/kept.h"

#include "keys/canonical.h"
#include "model/shapes.h"

/* Whether a value that nests at most so deep fits a request to the plane, with its texts. */
static bool fits(const mcp_json *value, int levels)
{
    size_t length = 0;
    if (mcp_json_string(value, &length))
        return length <= PORTARIUM_TEXT_MAX;
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (levels == 0 || !fits(mcp_json_item(value, i), levels - 1))
            return false;
    }
    return true;
}

/* Whether evidence can have a value: its canonical form may be longer than its text, and only
 * I-JSON has one. */
static bool has_canonical(const mcp_json *value)
{
    mcp_buf text;
    mcp_buf_init(&text, PORTARIUM_KEPT_MAX);
    mcp_status st = keys_canonical(&text, value, NULL);
    mcp_buf_clear(&text);
    return st == MCP_OK;
}

/* The hash of a result that is not kept. */
static mcp_status write_omitted(const mcp_json **out, const mcp_buf *result, mcp_arena *arena,
                                mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    char hex[KEYS_HEX_SIZE];
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_status st = mcp_sha256(digest, result->data, result->length, err);
    if (st != MCP_OK)
        return st;
    keys_hex(hex, digest);
    mcp_buf_init(&text, PORTARIUM_KEPT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "omitted",
                            "the result is too large or too deep to be kept, or is not I-JSON");
    mcp_write_member_string(&json, "sha256", hex);
    mcp_write_member_int(&json, "bytes", (int64_t)result->length);
    mcp_write_end(&json);
    st = mcp_json_writer_status(&json);
    st = st == MCP_OK ? mcp_json_read(out, arena, text.data, text.length, err)
                      : mcp_error_set(err, st, "a result: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

mcp_status portarium_kept_result(const mcp_json **out, const portarium_marks *marks,
                                 const mcp_json *arguments, const char *credential,
                                 const mcp_json *result, mcp_arena *arena, mcp_error *err)
{
    mcp_buf text, clean;
    mcp_json_writer json;
    *out = NULL;
    mcp_buf_init(&text, PORTARIUM_RESULT_MAX);
    mcp_buf_init(&clean, PORTARIUM_RESULT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, result);
    mcp_status st = mcp_json_writer_status(&json);
    if (st != MCP_OK)
        mcp_error_set(err, st, "a result: %s", mcp_status_words(st));
    if (st == MCP_OK)
        st = portarium_marks_clean(&clean, marks, arguments, credential, text.data, text.length,
                                   err);
    if (st == MCP_OK && clean.length <= PORTARIUM_KEPT_MAX && fits(result, PORTARIUM_DEPTH_MAX - 1))
        st = mcp_json_read(out, arena, clean.data, clean.length, err);
    if (st == MCP_OK && (!*out || !has_canonical(*out)))
        st = write_omitted(out, &clean, arena, err);
    mcp_buf_clear(&text);
    mcp_buf_clear(&clean);
    return st;
}
