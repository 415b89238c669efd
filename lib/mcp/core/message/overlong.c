/*
 * overlong.c - reads the members of an object from both ends, up to the first value that is an
 * object or an array. SDKs put the id in front of `params` or behind it.
 */
#include "mcp/core/message/overlong.h"

#include <stdbool.h>
#include <string.h>

#include "mcp/core/message/message.h"

struct part {
    const char *text;
    size_t length;
};

struct members {
    struct part id;
    bool has_method, has_two_ids;
};

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static bool is_of_scalar(char byte)
{
    return byte == '\0' || !strchr(" \t\r\n,:{}[]\"", byte);
}

static void note(struct members *out, struct part name, struct part value)
{
    if (name.length == 8 && memcmp(name.text, "\"method\"", 8) == 0)
        out->has_method = true;
    if (name.length != 4 || memcmp(name.text, "\"id\"", 4) != 0)
        return;
    out->has_two_ids = out->id.text != NULL;
    out->id = value;
}

/* ---- from the front -------------------------------------------------------------------------- */

static size_t skip_space(struct part in, size_t at)
{
    while (at < in.length && is_space(in.text[at]))
        at++;
    return at;
}

/* The end of the string or scalar at `at`; 0: there is none, or it is cut off. */
static size_t end_of(struct part in, size_t at)
{
    size_t begin = at;

    if (at < in.length && in.text[at] == '"') {
        for (at++; at < in.length && in.text[at] != '"'; at++)
            at += in.text[at] == '\\';
        return at < in.length ? at + 1 : 0;
    }
    while (at < in.length && is_of_scalar(in.text[at]))
        at++;
    return at > begin && at < in.length ? at : 0;
}

static void read_front(struct members *out, struct part in)
{
    size_t at = skip_space(in, 0);

    if (at == in.length || in.text[at] != '{')
        return;
    do {
        size_t name = skip_space(in, at + 1), name_end = end_of(in, name);
        size_t colon = skip_space(in, name_end);
        if (name_end == 0 || colon == in.length || in.text[colon] != ':')
            return;
        size_t value = skip_space(in, colon + 1), value_end = end_of(in, value);
        if (value_end == 0)
            return;
        note(out, (struct part){ in.text + name, name_end - name },
             (struct part){ in.text + value, value_end - value });
        at = skip_space(in, value_end);
    } while (at < in.length && in.text[at] == ',');
}

/* ---- from the back: positions are behind the byte that is meant ------------------------------ */

static size_t skip_space_back(struct part in, size_t at)
{
    while (at > 0 && is_space(in.text[at - 1]))
        at--;
    return at;
}

/* Whether the quote at `at` is escaped, as one within a string is. */
static bool is_escaped(struct part in, size_t at)
{
    size_t slashes = 0;

    while (slashes < at && in.text[at - 1 - slashes] == '\\')
        slashes++;
    return slashes % 2 == 1;
}

/* The beginning of the string or scalar before `at`; `at` itself: there is none, or it is cut
 * off. */
static size_t begin_of(struct part in, size_t at)
{
    size_t end = at;

    if (at > 0 && in.text[at - 1] == '"') {
        for (at--; at > 0; at--)
            if (in.text[at - 1] == '"' && !is_escaped(in, at - 1))
                return at - 1;
        return end;
    }
    while (at > 0 && is_of_scalar(in.text[at - 1]))
        at--;
    return at > 0 ? at : end;
}

static void read_back(struct members *out, struct part in)
{
    size_t at = skip_space_back(in, in.length);

    if (at == 0 || in.text[at - 1] != '}')
        return;
    do {
        size_t value_end = skip_space_back(in, at - 1), value = begin_of(in, value_end);
        size_t colon = skip_space_back(in, value);
        if (value == value_end || colon == 0 || in.text[colon - 1] != ':')
            return;
        size_t name_end = skip_space_back(in, colon - 1), name = begin_of(in, name_end);
        if (name == name_end)
            return;
        note(out, (struct part){ in.text + name, name_end - name },
             (struct part){ in.text + value, value_end - value });
        at = skip_space_back(in, name);
    } while (at > 0 && in.text[at - 1] == ',');
}

const mcp_json *mcp__overlong_id(const mcp__line_ends *ends, mcp_arena *arena)
{
    struct members found = { .has_method = false };
    const mcp_json *id = NULL;

    read_front(&found, (struct part){ ends->head, ends->head_length });
    read_back(&found, (struct part){ ends->tail, ends->tail_length });
    if (!found.has_method || found.has_two_ids || !found.id.text ||
        mcp_json_read(&id, arena, found.id.text, found.id.length, NULL) != MCP_OK)
        return NULL;
    return mcp__message_is_id(id) ? id : NULL;
}
