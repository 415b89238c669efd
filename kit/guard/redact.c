/*
 * redact.c - values without their secrets, by the names of members; and how a token is shown.
 */
#include "guard/redact.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

bool guard_redact_is_secret(const char *name, size_t length)
{
    static const char *const words[] = { "authorization", "token",  "secret",  "password",
                                         "credential",    "apikey", "api-key", "api_key" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i]);
        for (size_t at = 0; at + size <= length; at++)
            if (strncasecmp(name + at, words[i], size) == 0)
                return true;
    }
    return false;
}

static void write_string(mcp_json_writer *writer, const mcp_json *value,
                         const guard_secrets *secrets)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    mcp_buf clean;

    if (!secrets || !guard_secrets_found(secrets, text, length)) {
        mcp_write_value(writer, value);
        return;
    }
    mcp_buf_init(&clean, (length + 1) * sizeof GUARD_REDACTED);
    if (guard_secrets_clean(secrets, &clean, text, length) == MCP_OK)
        mcp_write_string_n(writer, clean.data, clean.length);
    else
        mcp_write_string(writer, GUARD_REDACTED); /* without memory, rather nothing of it */
    mcp_buf_clear(&clean);
}

static void write_members(mcp_json_writer *writer, const mcp_json *object,
                          const guard_secrets *secrets)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(object); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(object, i, &length);
        mcp_write_name(writer, name);
        if (guard_redact_is_secret(name, length))
            mcp_write_string(writer, GUARD_REDACTED);
        else
            guard_redact_write(writer, mcp_json_item(object, i), secrets);
    }
    mcp_write_end(writer);
}

void guard_redact_write(mcp_json_writer *writer, const mcp_json *value,
                        const guard_secrets *secrets)
{
    switch (mcp_json_type_of(value)) {
    case MCP_JSON_STRING:
        write_string(writer, value, secrets);
        break;
    case MCP_JSON_OBJECT:
        write_members(writer, value, secrets);
        break;
    case MCP_JSON_ARRAY:
        mcp_write_array(writer);
        for (size_t i = 0; i < mcp_json_count(value); i++)
            guard_redact_write(writer, mcp_json_item(value, i), secrets);
        mcp_write_end(writer);
        break;
    default:
        mcp_write_value(writer, value);
        break;
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* Pass at most `number` characters. Stray bytes count as part of the character before them, up to
 * four bytes. @return where the next begins; sets *passed */
static size_t pass(const char *text, size_t length, size_t number, size_t *passed)
{
    size_t at = 0;

    for (*passed = 0; at < length && *passed < number; ++*passed) {
        size_t size = 1;
        while (size < 4 && at + size < length && !begins_character(text[at + size]))
            size++;
        at += size;
    }
    return at;
}

void guard_redact_token(char out[GUARD_TOKEN_SIZE], const char *token, size_t length)
{
    enum { SHOWN = 4, STARS_MAX = 20 };
    size_t count, ignored;

    pass(token, length, SIZE_MAX, &count);
    if (count <= 2 * (size_t)SHOWN) {
        memcpy(out, "****", sizeof "****");
        return;
    }
    size_t head = pass(token, length, SHOWN, &ignored);
    size_t tail = pass(token, length, count - SHOWN, &ignored);
    size_t stars = count - 2 * SHOWN;
    if (stars > STARS_MAX)
        stars = STARS_MAX;
    memcpy(out, token, head);
    memset(out + head, '*', stars);
    memcpy(out + head + stars, token + tail, length - tail);
    out[head + stars + length - tail] = '\0';
}
