/*
 * head.c - what we want of a request's head before the parser sees it, and the table of its fields.
 *
 * The parser accepts more than we do: a space before the colon, folded lines, any byte in the
 * target, heads without end. Two parsers that read one head differently are how requests are
 * smuggled, so the lines are cut here, strictly, and what passes both is understood by both in the
 * same way.
 *
 * A head may come byte by byte. The scan remembers how far it got, so a slow sender costs no more
 * than a quick one. Nothing is copied: a field is four offsets into the bytes as they came.
 */
#include "net/http/head.h"

#include <string.h>
#include <strings.h>

static const mcp__refusal none = { 0, NULL };

static mcp__refusal bad(const char *words)
{
    return (mcp__refusal){ 400, words };
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

bool mcp__is_token_byte(char byte)
{
    return is_letter(byte) || byte == '-' || (byte >= '0' && byte <= '9') ||
           (byte > ' ' && byte < 0x7f && memchr("!#$%&'*+.^_`|~", byte, 14) != NULL);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The limits, for the bytes up to `length`; the line that is not whole yet counts as one. */
static mcp__refusal check_limits(const mcp__head_scan *scan, size_t length,
                                 const mcp__head_limits *limits)
{
    if (scan->lines == 0 && length > limits->line_max + 2) /* + 2: its CR LF */
        return (mcp__refusal){ 414, "the request line is too long" };
    if (length > limits->block_max)
        return (mcp__refusal){ 431, "the header fields are too large" };
    return none;
}

/* One whole line, its LF at `newline`. Sets *end when it is the empty one. */
static mcp__refusal note_line(size_t *end, mcp__head_scan *scan, const char *bytes, size_t newline,
                              const mcp__head_limits *limits)
{
    if (newline == scan->line || bytes[newline - 1] != '\r')
        return bad("a line does not end in CR LF");
    mcp__refusal refusal = check_limits(scan, newline + 1, limits);
    if (refusal.status != 0)
        return refusal;
    if (newline - scan->line == 1) {
        if (scan->lines == 0)
            return bad("the request line is empty");
        *end = newline + 1;
        return none;
    }
    if (scan->lines > limits->fields_max)
        return (mcp__refusal){ 431, "there are too many header fields" };
    scan->lines++;
    scan->line = (uint32_t)newline + 1;
    return none;
}

mcp__refusal mcp__head_find_end(size_t *end, mcp__head_scan *scan, const char *bytes, size_t length,
                                const mcp__head_limits *limits)
{
    size_t found = 0;
    mcp__refusal refusal = none;

    /* A client that speaks TLS, or nonsense, need not wait for a line end that never comes. */
    if (length > 0 && bytes[0] != '\r' && !mcp__is_token_byte(bytes[0]))
        return bad("this is not HTTP");
    /* Beyond the limit nothing need be looked at. */
    size_t most = length <= limits->block_max ? length : limits->block_max + 1;
    while (refusal.status == 0 && found == 0) {
        const char *newline = memchr(bytes + scan->looked, '\n', most - scan->looked);
        if (!newline) {
            scan->looked = (uint32_t)most;
            refusal = check_limits(scan, most, limits);
            break;
        }
        scan->looked = (uint32_t)(newline - bytes) + 1;
        refusal = note_line(&found, scan, bytes, (size_t)(newline - bytes), limits);
    }
    if (refusal.status == 0)
        *end = found;
    return refusal;
}

/* ---- the request line ------------------------------------------------------------------------ */

/* How many bytes from `at` on are token bytes. */
static size_t token_length(const char *bytes, size_t at, size_t end)
{
    size_t from = at;

    while (at < end && mcp__is_token_byte(bytes[at]))
        at++;
    return at - from;
}

/* Visible ASCII without the fragment's sign, which no request target has. */
static bool is_target_byte(char byte)
{
    return byte > ' ' && byte < 0x7f && byte != '#';
}

/* "HTTP/1.0" or "HTTP/1.1" from `at` to `end`. */
static mcp__refusal cut_version(mcp__request_head *head, size_t at, size_t end)
{
    const char *version = head->bytes + at;

    if (end - at != 8 || memcmp(version, "HTTP/", 5) != 0 || version[6] != '.')
        return bad("the request line is not \"METHOD target HTTP/1.1\"");
    if (memcmp(version + 5, "1.0", 3) != 0 && memcmp(version + 5, "1.1", 3) != 0)
        return (mcp__refusal){ 505, "only HTTP/1.0 and HTTP/1.1 are spoken here" };
    head->minor = version[7] - '0';
    return none;
}

static mcp__refusal cut_request_line(mcp__request_head *head, size_t end)
{
    const char *bytes = head->bytes;
    size_t at = token_length(bytes, 0, end);

    if (at == 0 || at == end || bytes[at] != ' ')
        return bad("the request line is not \"METHOD target HTTP/1.1\"");
    head->method_length = (uint32_t)at++;
    head->target = (uint32_t)at;
    while (at < end && is_target_byte(bytes[at]))
        at++;
    if (at == head->target || at == end || bytes[at] != ' ')
        return bad("the request target has a byte that it must not have");
    head->target_length = (uint32_t)at - head->target;
    return cut_version(head, at + 1, end);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* No control byte but the tab. The parser lets a lone CR pass at a value's front; others end a line
 * there. */
static bool is_value(const char *bytes, size_t at, size_t end)
{
    for (; at < end; at++) {
        if ((unsigned char)bytes[at] < ' ' ? bytes[at] != '\t' : bytes[at] == 0x7f)
            return false;
    }
    return true;
}

static mcp__refusal cut_field(mcp__request_head *head, size_t at, size_t end)
{
    const char *bytes = head->bytes;
    mcp__head_field *field = &head->fields[head->count];
    size_t length = token_length(bytes, at, end);

    if (is_blank(bytes[at]))
        return bad("a header field is folded over two lines");
    if (length == 0 || at + length == end || bytes[at + length] != ':')
        return bad("a header field's name has a byte that it must not have");
    if (!is_value(bytes, at + length + 1, end))
        return bad("a header field's value has a byte that it must not have");
    field->name = (uint32_t)at;
    field->name_length = (uint32_t)length;
    at += length + 1;
    while (at < end && is_blank(bytes[at]))
        at++;
    while (end > at && is_blank(bytes[end - 1]))
        end--;
    field->value = (uint32_t)at;
    field->value_length = (uint32_t)(end - at);
    head->count++;
    return none;
}

static mcp__refusal cut_fields(mcp__request_head *head, size_t at, size_t length)
{
    mcp__refusal refusal = none;

    while (refusal.status == 0 && length - at > 2) { /* 2: the empty line */
        const char *newline = memchr(head->bytes + at, '\n', length - at);
        size_t next = (size_t)(newline - head->bytes) + 1;
        if (head->count == head->room)
            return (mcp__refusal){ 431, "there are too many header fields" };
        refusal = cut_field(head, at, next - 2);
        at = next;
    }
    return refusal;
}

/* ---- host and path --------------------------------------------------------------------------- */

/* Where a target of the form http://authority/path has its authority; 0 for another form. */
static uint32_t authority_begin(const mcp__request_head *head)
{
    const char *target = head->bytes + head->target;

    if (head->target_length > 7 && strncasecmp(target, "http://", 7) == 0)
        return 7;
    if (head->target_length > 8 && strncasecmp(target, "https://", 8) == 0)
        return 8;
    return 0;
}

/*
 * The absolute form, which RFC 9112 section 3.2.2 wants accepted. It may not name another host than
 * the Host field does: what is checked must be what is meant.
 */
static mcp__refusal cut_absolute(mcp__request_head *head)
{
    const char *target = head->bytes + head->target;
    uint32_t begin = authority_begin(head);
    size_t host_length = 0;
    const char *host = mcp__head_value(head, "Host", &host_length);

    if (begin == 0)
        return bad("the request target is not a path");
    uint32_t at = begin;
    while (at < head->target_length && target[at] != '/' && target[at] != '?')
        at++;
    if (!host || host_length != at - begin || strncasecmp(host, target + begin, host_length) != 0)
        return bad("the request target names another host than the Host field");
    if (at == head->target_length || target[at] != '/')
        return bad("the request target has no path");
    head->path = head->target + at;
    return none;
}

static mcp__refusal cut_path(mcp__request_head *head)
{
    const char *target = head->bytes + head->target;
    bool is_star = head->target_length == 1 && target[0] == '*';
    mcp__refusal refusal = none;

    head->path = head->target;
    head->query = 0;
    if (is_star && (head->method_length != 7 || memcmp(head->bytes, "OPTIONS", 7) != 0))
        return bad("the request target is not a path");
    if (!is_star && target[0] != '/')
        refusal = cut_absolute(head);
    uint32_t end = head->target + head->target_length;
    const char *mark = memchr(head->bytes + head->path, '?', end - head->path);
    if (mark)
        head->query = (uint32_t)(mark - head->bytes) + 1;
    head->path_length = (mark ? head->query - 1 : end) - head->path;
    return refusal;
}

static mcp__refusal check_host(const mcp__request_head *head)
{
    size_t hosts = mcp__head_count(head, "Host");

    if (hosts > 1)
        return bad("there is more than one Host field");
    if (hosts == 0 && head->minor == 1)
        return bad("there is no Host field");
    return none;
}

mcp__refusal mcp__head_cut(mcp__request_head *head, char *bytes, size_t length)
{
    const char *newline = memchr(bytes, '\n', length);
    size_t line = (size_t)(newline - bytes);

    head->bytes = bytes;
    head->count = 0;
    mcp__refusal refusal = cut_request_line(head, line - 1);
    if (refusal.status == 0)
        refusal = cut_fields(head, line + 1, length);
    if (refusal.status == 0)
        refusal = check_host(head);
    if (refusal.status == 0)
        refusal = cut_path(head);
    return refusal;
}

void mcp__head_terminate(mcp__request_head *head)
{
    head->bytes[head->method_length] = '\0';
    head->bytes[head->target + head->target_length] = '\0';
    for (size_t i = 0; i < head->count; i++) {
        const mcp__head_field *field = &head->fields[i];
        head->bytes[field->name + field->name_length] = '\0';
        head->bytes[field->value + field->value_length] = '\0';
    }
}

/* ---- looking up ------------------------------------------------------------------------------ */

static bool is_named(const mcp__request_head *head, size_t index, const char *name, size_t length)
{
    const mcp__head_field *field = &head->fields[index];

    return field->name_length == length &&
           strncasecmp(head->bytes + field->name, name, length) == 0;
}

const char *mcp__head_value(const mcp__request_head *head, const char *name, size_t *length)
{
    size_t name_length = strlen(name);

    for (size_t i = 0; i < head->count; i++) {
        if (is_named(head, i, name, name_length)) {
            *length = head->fields[i].value_length;
            return head->bytes + head->fields[i].value;
        }
    }
    return NULL;
}

size_t mcp__head_count(const mcp__request_head *head, const char *name)
{
    size_t name_length = strlen(name);
    size_t count = 0;

    for (size_t i = 0; i < head->count; i++)
        count += is_named(head, i, name, name_length);
    return count;
}

/* Whether a comma-separated list has the token. */
static bool list_has(const char *list, size_t length, const char *token, size_t wanted)
{
    size_t at = 0;

    while (at < length) {
        const char *comma = memchr(list + at, ',', length - at);
        size_t end = comma ? (size_t)(comma - list) : length;
        size_t next = end + 1;
        while (at < end && is_blank(list[at]))
            at++;
        while (end > at && is_blank(list[end - 1]))
            end--;
        if (end - at == wanted && strncasecmp(list + at, token, wanted) == 0)
            return true;
        at = next;
    }
    return false;
}

bool mcp__head_has_token(const mcp__request_head *head, const char *name, const char *token)
{
    size_t name_length = strlen(name);
    size_t wanted = strlen(token);

    for (size_t i = 0; i < head->count; i++) {
        const mcp__head_field *field = &head->fields[i];
        if (is_named(head, i, name, name_length) &&
            list_has(head->bytes + field->value, field->value_length, token, wanted))
            return true;
    }
    return false;
}
