/*
 * header_fields.c - Accept, Content-Type, and the fields of an answer in their order.
 */
#include "mcp/transport/http/header_fields.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

/* ---- media types ----------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static size_t trimmed(const char *at, size_t length)
{
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t'))
        length--;
    return length;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(at, word, length) == 0;
}

/* The end of the piece that begins at `at`: a `separator` that is not within quotes. */
static const char *piece_end(const char *at, char separator)
{
    bool is_quoted = false;

    for (; *at && (is_quoted || *at != separator); at++) {
        if (is_quoted && *at == '\\' && at[1])
            at++;
        else if (*at == '"')
            is_quoted = !is_quoted;
    }
    return at;
}

/* Whether the parameters, which begin at a ";" or are none, say q=0. */
static bool is_refused(const char *at, const char *end)
{
    while (at < end) {
        at = skip_blanks(at + 1);
        const char *next = piece_end(at, ';');
        if ((*at == 'q' || *at == 'Q') && at[1] == '=') {
            size_t length = trimmed(at + 2, (size_t)((next < end ? next : end) - at - 2));
            return length > 0 && at[2] == '0' && strspn(at + 2, "0.") >= length;
        }
        at = next;
    }
    return false;
}

void mcp__field_accept(mcp__accepted *accepted, const char *value)
{
    while (*value) {
        const char *at = skip_blanks(value);
        const char *end = piece_end(at, ',');
        const char *parameters = piece_end(at, ';');
        if (parameters > end)
            parameters = end;
        size_t length = trimmed(at, (size_t)(parameters - at));
        if (length > 0 && !is_refused(parameters, end)) {
            bool any = is_word(at, length, "*/*");
            accepted->json |= any || is_word(at, length, "application/*") ||
                              is_word(at, length, "application/json");
            accepted->events |= any || is_word(at, length, "text/*") ||
                                is_word(at, length, "text/event-stream");
        }
        value = *end ? end + 1 : end;
    }
}

bool mcp__field_is_type(const char *value, const char *type)
{
    const char *at = skip_blanks(value ? value : "");

    return is_word(at, trimmed(at, strcspn(at, ";")), type);
}

bool mcp__field_is_json(const char *value)
{
    const char *at = skip_blanks(value ? value : "");
    size_t length = trimmed(at, strcspn(at, ";"));
    const char *slash = memchr(at, '/', length);

    return is_word(at, length, "application/json") ||
           (slash && length > 5 && at + length - 5 > slash + 1 &&
            strncasecmp(at + length - 5, "+json", 5) == 0);
}

/* ---- an answer ------------------------------------------------------------------------------- */

void mcp__head_add(mcp__head *head, const char *name, const char *value)
{
    if (!value)
        return;
    assert(head->count < MCP__HEAD_FIELDS);
    head->fields[head->count++] = (mcp__http_field_out){ .name = name, .value = value };
}

/* Cache-Control keeps caches, X-Accel-Buffering keeps nginx from holding events back. */
void mcp__head_events(mcp__head *head)
{
    mcp__head_add(head, "Content-Type", "text/event-stream");
    mcp__head_add(head, "Cache-Control", "no-cache, no-transform");
    mcp__head_add(head, "X-Accel-Buffering", "no");
}

mcp__http_head_out mcp__head_out(const mcp__head *head, int status)
{
    return (mcp__http_head_out){ .status = status, .fields = head->fields, .count = head->count };
}
