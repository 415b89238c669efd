/*
 * field.c - Accept, Content-Type, Host and Origin.
 *
 * Host and Origin are what stands between a web page on some name that resolves to this machine and the
 * server (DNS rebinding): so a name is only taken when it stands in full, byte for byte but for case, with
 * nothing behind it but a port.
 */
#include "mcp/transport/web/field.h"

#include <string.h>
#include <strings.h>

/* ---- media types ------------------------------------------------------------------------------ */

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

/* Where the piece that begins here ends: at `separator`, but not at one within quotes. */
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
    const char *at = skip_blanks(value);

    return is_word(at, trimmed(at, strcspn(at, ";")), type);
}

/* ---- names ------------------------------------------------------------------------------------ */

/* The length of the name before the port; 0 where the port is none, or there is no name. */
static size_t name_length(const char *value)
{
    const char *bracket = value[0] == '[' ? strchr(value, ']') : NULL;
    size_t length = bracket ? (size_t)(bracket - value) + 1 : strcspn(value, ":");
    const char *port = value + length;

    if (*port == '\0')
        return length;
    if (*port != ':' || port[1] == '\0' || strspn(port + 1, "0123456789") != strlen(port + 1) ||
        strlen(port + 1) > 5)
        return 0;
    return length;
}

static bool is_local(const char *name, size_t length)
{
    return is_word(name, length, "localhost") || is_word(name, length, "127.0.0.1") ||
           is_word(name, length, "[::1]");
}

bool mcp__field_host_is_known(const char *value, const char *const *hosts)
{
    size_t length = name_length(value);

    if (length == 0)
        return false;
    if (is_local(value, length))
        return true;
    for (; hosts && *hosts; hosts++)
        if (is_word(value, length, *hosts))
            return true;
    return false;
}

bool mcp__field_origin_is_known(const char *value, const char *const *hosts)
{
    if (strncasecmp(value, "http://", 7) == 0)
        return mcp__field_host_is_known(value + 7, hosts);
    if (strncasecmp(value, "https://", 8) == 0)
        return mcp__field_host_is_known(value + 8, hosts);
    return false;
}
