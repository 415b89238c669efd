/*
 * portable.c - numbers and texts that are not read alike everywhere.
 */
#include "language/portable.h"

#include <stdint.h>
#include <string.h>

#include "keys/canonical.h"

enum { SCALAR_MAX = 1 << 20, VALUE_MAX = 8 << 20, EXACT_BITS = 53 };

static const char replacement[] = "\xef\xbf\xbd";

/* Noncharacters begin with one of these bytes, and few texts have any. */
static bool may_have_noncharacter(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0xef)
            return true;
    return false;
}

/* The bytes of the noncharacter that begins here; 0: there is none. */
static size_t noncharacter(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t point = 0;

    if (length >= 3 && at[0] == 0xef)
        point = 0xf000u | (at[1] & 63u) << 6 | (at[2] & 63u);
    else if (length >= 4 && at[0] >= 0xf0)
        point = (at[0] & 7u) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
    bool is_one = (point & 0xfffe) == 0xfffe || (point >= 0xfdd0 && point <= 0xfdef);
    return !is_one ? 0 : at[0] == 0xef ? 3 : 4;
}

static bool has_noncharacter(const char *text, size_t length)
{
    if (!may_have_noncharacter(text, length))
        return false;
    for (size_t i = 0; i < length; i++)
        if (noncharacter(text + i, length - i) > 0)
            return true;
    return false;
}

static bool is_large(const mcp_json *value)
{
    int64_t integer = 0;
    uint64_t natural = 0;

    if (mcp_json_int(value, &integer))
        return integer >= INT64_C(1) << EXACT_BITS || integer <= -(INT64_C(1) << EXACT_BITS);
    return mcp_json_uint(value, &natural);
}

/* Whether a scalar has a canonical form. */
static mcp_status check_scalar(const mcp_json *value, mcp_error *err)
{
    mcp_buf form;
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (text ? !has_noncharacter(text, length) : !is_large(value))
        return MCP_OK;
    mcp_buf_init(&form, SCALAR_MAX);
    mcp_status st = keys_canonical(&form, value, err);
    mcp_buf_clear(&form);
    return st == MCP_E_LIMIT ? MCP_OK : st;
}

static const char *name_of(const mcp_json *value, size_t i, size_t *length)
{
    return mcp_json_is_object(value) ? mcp_json_name(value, i, length) : NULL;
}

mcp_status portarium_portable_check(const mcp_json *value, mcp_error *err)
{
    bool has_items = mcp_json_is_object(value) || mcp_json_is_array(value);
    mcp_status st = has_items ? MCP_OK : check_scalar(value, err);

    for (size_t i = 0; i < mcp_json_count(value) && st == MCP_OK; i++) {
        size_t length = 0;
        const char *name = name_of(value, i, &length);
        st = name && has_noncharacter(name, length)
                 ? mcp_error_set(err, MCP_E_PARAMS, "a member's name has a noncharacter of Unicode")
                 : portarium_portable_check(mcp_json_item(value, i), err);
    }
    return st;
}

/* ---- replacing ------------------------------------------------------------------------------- */

static const char *replace(size_t *length, const char *text, mcp_arena *arena)
{
    char *out = mcp_arena_alloc(arena, *length + 1);
    size_t used = 0;

    for (size_t i = 0; out && i < *length;) {
        size_t bytes = noncharacter(text + i, *length - i);
        memcpy(out + used, bytes > 0 ? replacement : text + i, bytes > 0 ? 3 : 1);
        used += bytes > 0 ? 3 : 1;
        i += bytes > 0 ? bytes : 1;
    }
    if (out)
        out[used] = '\0';
    *length = used;
    return out;
}

static void write_scalar(mcp_json_writer *json, const mcp_json *value, mcp_arena *arena)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    mcp_buf digits;
    mcp_json_writer number;

    if (check_scalar(value, NULL) == MCP_OK) {
        mcp_write_value(json, value);
        return;
    }
    if (text) {
        text = replace(&length, text, arena);
        mcp_write_string_n(json, text ? text : "", text ? length : 0);
        return;
    }
    mcp_buf_init(&digits, SCALAR_MAX);
    mcp_json_writer_init(&number, &digits);
    mcp_write_value(&number, value);
    mcp_write_string_n(json, digits.data ? digits.data : "", digits.length);
    mcp_buf_clear(&digits);
}

static void write_any(mcp_json_writer *json, const mcp_json *value, mcp_arena *arena)
{
    bool is_object = mcp_json_is_object(value);

    if (!is_object && !mcp_json_is_array(value)) {
        write_scalar(json, value, arena);
        return;
    }
    if (is_object)
        mcp_write_object(json);
    else
        mcp_write_array(json);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = name_of(value, i, &length);
        if (name && has_noncharacter(name, length))
            name = replace(&length, name, arena);
        if (is_object)
            mcp_write_name(json, name ? name : "");
        write_any(json, mcp_json_item(value, i), arena);
    }
    mcp_write_end(json);
}

mcp_status portarium_portable(const mcp_json **out, const mcp_json *value, mcp_arena *arena,
                              mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;

    mcp_status st = portarium_portable_check(value, err);

    *out = value;
    if (st != MCP_E_PARAMS)
        return st;
    mcp_buf_init(&text, VALUE_MAX);
    mcp_json_writer_init(&json, &text);
    write_any(&json, value, arena);
    st = mcp_json_writer_status(&json);
    st = st == MCP_OK ? mcp_json_read(out, arena, text.data, text.length, err)
                      : mcp_error_set(err, st, "a value: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}
