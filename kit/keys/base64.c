/*
 * base64.c - base64 with padding, read strictly.
 */
#include "keys/base64.h"

#include <stdbool.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

mcp_status keys_base64(mcp_buf *out, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    char *text = mcp_buf_reserve(out, KEYS_BASE64_LENGTH(length));

    if (!text)
        return out->status;
    for (size_t left = length; left > 0; text += 4) {
        size_t size = left < 3 ? left : 3;
        uint32_t word = (uint32_t)at[0] << 16 | (size > 1 ? (uint32_t)at[1] << 8 : 0) |
                        (size > 2 ? at[2] : 0);
        text[0] = digits[word >> 18];
        text[1] = digits[word >> 12 & 63];
        text[2] = size > 1 ? digits[word >> 6 & 63] : '=';
        text[3] = size > 2 ? digits[word & 63] : '=';
        at += size;
        left -= size;
    }
    mcp_buf_commit(out, KEYS_BASE64_LENGTH(length));
    return MCP_OK;
}

/* 0 to 63, or -1. */
static int value_of(char digit)
{
    const char *found = digit ? strchr(digits, digit) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* Four characters. @return how many bytes they are; 0: they are none */
static size_t read_four(uint8_t out[3], const char *text, bool is_last)
{
    size_t size = 3;
    uint32_t word = 0;

    if (is_last && text[3] == '=')
        size = text[2] == '=' ? 1 : 2;
    for (size_t i = 0; i < 4; i++) {
        int value = i <= size ? value_of(text[i]) : 0;
        if (value < 0)
            return 0;
        word = word << 6 | (uint32_t)value;
    }
    if ((size < 3 && (word & 0xff)) || (size < 2 && (word & 0xff00)))
        return 0;
    out[0] = (uint8_t)(word >> 16);
    out[1] = (uint8_t)(word >> 8);
    out[2] = (uint8_t)word;
    return size;
}

mcp_status keys_unbase64(mcp_buf *out, const char *text, size_t length, mcp_error *err)
{
    size_t made = 0;
    uint8_t *room = (uint8_t *)mcp_buf_reserve(out, length / 4 * 3 + 1);

    if (!room)
        return mcp_error_set(err, out->status, "base64: %s", mcp_status_words(out->status));
    if (length % 4 != 0)
        return mcp_error_set(err, MCP_E_PARSE, "this is not base64");
    for (size_t at = 0; at < length; at += 4) {
        uint8_t bytes[3];
        size_t size = read_four(bytes, text + at, at + 4 == length);
        if (size == 0)
            return mcp_error_set(err, MCP_E_PARSE, "this is not base64");
        memcpy(room + made, bytes, size);
        made += size;
    }
    mcp_buf_commit(out, made);
    return MCP_OK;
}

bool keys_unbase64_exact(void *out, size_t size, const char *text, size_t length)
{
    uint8_t *room = out, bytes[3];
    size_t made = 0;

    if (!text || length != KEYS_BASE64_LENGTH(size))
        return false;
    for (size_t at = 0; at < length; at += 4) {
        size_t got = read_four(bytes, text + at, at + 4 == length);
        if (got == 0 || made + got > size)
            return false;
        memcpy(room + made, bytes, got);
        made += got;
    }
    return made == size;
}
