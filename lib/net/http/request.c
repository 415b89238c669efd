/*
 * request.c - a request's head, which is cut here, and its body, which llhttp finds.
 *
 * The parser accepts more of a head than we do: a space before the colon, folded lines, any byte in
 * the target, heads without end. Two parsers that read one head differently are how requests are
 * smuggled, so the lines are cut here, strictly, and what passes both is understood by both in the
 * same way.
 *
 * A head may come byte by byte. The scan remembers how far it got, so a slow sender costs no more
 * than a quick one. Nothing is copied: a field is four offsets into the bytes as they came.
 *
 * The parser starts from the beginning for each request and is given the head in one piece, after
 * its end was found and it was agreed to. So the parser's state between requests, its rules for
 * pipelining and its pausing for upgrades never matter: a request that offers an upgrade (Java's
 * client offers h2c with its first POST) ends like any other, and what follows it is the next
 * request or, after a handshake that we accept, no HTTP at all.
 *
 * The parser bounds neither chunk extensions nor trailers. What comes between two runs of the
 * body's bytes is counted here, and may not pass FRAMING_MAX.
 */
#include "net/http/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define FRAMING_MAX 4096
#define KEPT_SIZE ((size_t)64 * 1024) /* a body larger than this gives its memory back */

static const mcp__refusal none = { 0, NULL };

static mcp__refusal refuse(int status, const char *words)
{
    return (mcp__refusal){ status, words };
}

static mcp__refusal bad(const char *words)
{
    return refuse(400, words);
}

static bool is_token_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-' ||
           (byte >= '0' && byte <= '9') ||
           (byte > ' ' && byte < 0x7f && memchr("!#$%&'*+.^_`|~", byte, 14) != NULL);
}

/* How many bytes from the first on are token bytes. */
static size_t token_length(const char *text, size_t length)
{
    size_t at = 0;

    while (at < length && is_token_byte(text[at]))
        at++;
    return at;
}

bool mcp__is_token(const char *text, size_t length)
{
    return length > 0 && token_length(text, length) == length;
}

bool mcp__is_field_value(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' ? text[i] != '\t' : text[i] == 0x7f)
            return false;
    }
    return true;
}

/* ---- the head's end -------------------------------------------------------------------------- */

/* The limits, for the bytes up to `length`; the line that is not whole yet counts as one. */
static mcp__refusal check_limits(const mcp__head_scan *scan, size_t length,
                                 const mcp__head_limits *limits)
{
    if (scan->lines == 0 && length > limits->line_max + 2) /* + 2: its CR LF */
        return refuse(414, "the request line is too long");
    if (length > limits->block_max)
        return refuse(431, "the header fields are too large");
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
        return refuse(431, "there are too many header fields");
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
    if (length > 0 && bytes[0] != '\r' && !is_token_byte(bytes[0]))
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
        return refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    head->minor = version[7] - '0';
    return none;
}

static mcp__refusal cut_request_line(mcp__request_head *head, size_t end)
{
    const char *bytes = head->bytes;
    size_t at = token_length(bytes, end);

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

static mcp__refusal cut_field(mcp__request_head *head, size_t at, size_t end)
{
    const char *bytes = head->bytes;
    mcp__head_field *field = &head->fields[head->count];
    size_t length = token_length(bytes + at, end - at);

    if (is_blank(bytes[at]))
        return bad("a header field is folded over two lines");
    if (length == 0 || at + length == end || bytes[at + length] != ':')
        return bad("a header field's name has a byte that it must not have");
    /* The parser lets a lone CR pass at a value's front. */
    if (!mcp__is_field_value(bytes + at + length + 1, end - at - length - 1))
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
            return refuse(431, "there are too many header fields");
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

/* Changes no byte of the head. */
static mcp__refusal cut_head(mcp__request_head *head, char *bytes, size_t length)
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

/* Put a NUL behind each text; the head cannot be parsed afterwards. */
static void terminate_head(mcp__request_head *head)
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

/* ---- the parser's callbacks ------------------------------------------------------------------ */

static int on_headers_complete(llhttp_t *parser)
{
    mcp__request *request = parser->data;

    request->is_chunked = (parser->flags & F_CHUNKED) != 0;
    request->declared = request->is_chunked ? 0 : parser->content_length;
    request->keeps_alive = llhttp_should_keep_alive(parser) != 0;
    return 0;
}

/* Stops the parser, and parsing: HPE_USER, with the refusal to say why. */
static int stop(mcp__request *request, int status, const char *words)
{
    request->refusal = refuse(status, words);
    return HPE_USER;
}

/* Of what all bodies may take together. */
static void count_body(mcp__request *request)
{
    if (!request->bodies)
        return;
    request->bodies->used += request->gathered.capacity - request->counted;
    request->counted = request->gathered.capacity;
}

static bool has_room(const mcp__request *request, size_t length)
{
    const mcp__bodies *bodies = request->bodies;

    return !bodies || length <= request->gathered.capacity - request->gathered.length ||
           bodies->used < bodies->max_bytes;
}

static mcp_status gather(mcp__request *request, const char *bytes, size_t length)
{
    mcp_status st = MCP_OK;

    if (request->view_length > 0)
        st = mcp_buf_append(&request->gathered, request->view, request->view_length);
    request->view_length = 0;
    if (st == MCP_OK)
        st = mcp_buf_append(&request->gathered, bytes, length);
    count_body(request);
    return st;
}

/* Count what was fed up to `end` as framing; false when that is too much. */
static bool count_framing(mcp__request *request, const char *end)
{
    request->framing += (size_t)(end - request->cursor);
    request->cursor = end;
    return request->framing <= FRAMING_MAX;
}

static int on_body(llhttp_t *parser, const char *at, size_t length)
{
    mcp__request *request = parser->data;
    size_t so_far = request->dropped + request->view_length + request->gathered.length;

    if (!count_framing(request, at))
        return stop(request, 400, "the chunked body is mostly framing");
    request->framing = 0;
    request->cursor = at + length;
    if (length > request->body_max - so_far)
        return stop(request, 413, "the body is too large");
    if (request->is_unwanted) {
        request->dropped += length;
    } else if (so_far == 0) {
        request->view = at;
        request->view_length = length;
    } else if (!has_room(request, request->view_length + length)) {
        return stop(request, 503, "too much is being read at once; try again");
    } else if (gather(request, at, length) != MCP_OK) {
        return stop(request, 503, "there is no memory for the body");
    }
    return 0;
}

static int on_message_complete(llhttp_t *parser)
{
    mcp__request *request = parser->data;

    request->is_complete = true;
    return HPE_PAUSED; /* so that not a byte of the next request is looked at */
}

static const llhttp_settings_t settings = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* ---- the beginning of a request -------------------------------------------------------------- */

/* Stricter than the parser: the end of the body is given in exactly one known way. */
static mcp__refusal check_framing(const mcp__request_head *head)
{
    size_t length = 0;
    const char *coding = mcp__head_value(head, "Transfer-Encoding", &length);

    if (!coding)
        return none;
    if (head->minor == 0)
        return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    if (mcp__head_count(head, "Content-Length") > 0)
        return refuse(400, "both Content-Length and Transfer-Encoding are given");
    if (mcp__head_count(head, "Transfer-Encoding") > 1)
        return refuse(400, "there is more than one Transfer-Encoding field");
    if (length != 7 || strncasecmp(coding, "chunked", 7) != 0)
        return refuse(501, "the only transfer coding known here is chunked");
    return none;
}

static mcp__refusal check_expectation(mcp__request *request)
{
    size_t length = 0;
    const char *expected = mcp__head_value(&request->head, "Expect", &length);

    request->wants_continue = false;
    if (!expected || request->head.minor == 0)
        return none;
    if (length != 12 || strncasecmp(expected, "100-continue", 12) != 0)
        return refuse(417, "the only expectation known here is 100-continue");
    request->wants_continue = true;
    return none;
}

static mcp__refusal parser_refusal(const mcp__request *request, llhttp_errno_t code)
{
    if (request->refusal.status != 0)
        return request->refusal;
    if (code == HPE_INVALID_METHOD)
        return refuse(501, "no such method");
    return refuse(400, "the request is not HTTP/1.1");
}

static bool is_pause(llhttp_errno_t code)
{
    return code == HPE_PAUSED || code == HPE_PAUSED_UPGRADE;
}

static mcp__refusal parse_head(mcp__request *request, const char *bytes, size_t length)
{
    llhttp_init(&request->parser, HTTP_REQUEST, &settings);
    request->parser.data = request;
    llhttp_errno_t code = llhttp_execute(&request->parser, bytes, length);
    if (code != HPE_OK && !is_pause(code))
        return parser_refusal(request, code);
    if (request->declared > request->body_max)
        return refuse(413, "the body is too large");
    return none;
}

mcp__refusal mcp__request_begin(mcp__request *request, char *bytes, size_t length, size_t body_max)
{
    request->body_max = body_max;
    request->gathered.max_bytes = body_max > 0 ? body_max : 1;
    mcp__refusal refusal = cut_head(&request->head, bytes, length);
    if (refusal.status == 0)
        refusal = check_framing(&request->head);
    if (refusal.status == 0)
        refusal = check_expectation(request);
    if (refusal.status == 0)
        refusal = parse_head(request, bytes, length);
    if (refusal.status == 0)
        terminate_head(&request->head);
    return refusal;
}

/* ---- body ------------------------------------------------------------------------------------ */

mcp__refusal mcp__request_feed(mcp__request *request, size_t *used, const char *bytes,
                               size_t length)
{
    request->cursor = bytes;
    llhttp_errno_t code = llhttp_execute(&request->parser, bytes, length);
    if (code != HPE_OK && !is_pause(code))
        return parser_refusal(request, code);
    const char *end = is_pause(code) ? llhttp_get_error_pos(&request->parser) : bytes + length;
    if (!count_framing(request, end))
        return refuse(400, "the chunked body is mostly framing");
    *used = (size_t)(end - bytes);
    return none;
}

const char *mcp__request_body(const mcp__request *request, size_t *length)
{
    bool is_view = request->view_length > 0;

    *length = is_view ? request->view_length : request->gathered.length;
    if (*length == 0)
        return "";
    return is_view ? request->view : request->gathered.data;
}

static mcp_status keep_head(mcp__request *request)
{
    const mcp__request_head *head = &request->head;

    if (head->bytes == request->kept)
        return MCP_OK;
    size_t end = head->target + head->target_length;
    if (head->count > 0)
        end = head->fields[head->count - 1].value + head->fields[head->count - 1].value_length;
    if (request->kept_size < end + 1) {
        char *larger = mcp_realloc(request->kept, end + 1);
        if (!larger)
            return MCP_E_NOMEM;
        request->kept = larger;
        request->kept_size = end + 1;
    }
    memcpy(request->kept, head->bytes, end + 1); /* + 1: the last text's NUL */
    request->head.bytes = request->kept;
    return MCP_OK;
}

mcp_status mcp__request_keep(mcp__request *request)
{
    mcp_status st = keep_head(request);

    return st == MCP_OK ? gather(request, NULL, 0) : st;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

mcp__request *mcp__request_new(size_t fields_max)
{
    mcp__request *request = mcp_alloc_zeroed(1, sizeof *request +
                                                    fields_max * sizeof request->fields[0]);

    if (!request)
        return NULL;
    request->head.fields = request->fields;
    request->head.room = fields_max;
    mcp_buf_init(&request->gathered, 1);
    return request;
}

void mcp__request_free(mcp__request *request)
{
    if (!request)
        return;
    mcp_buf_clear(&request->gathered);
    count_body(request);
    free(request->kept);
    free(request);
}

void mcp__request_reset(mcp__request *request)
{
    if (request->gathered.capacity > KEPT_SIZE)
        mcp_buf_clear(&request->gathered);
    else
        mcp_buf_reset(&request->gathered);
    count_body(request);
    *request = (mcp__request){ .head = { .fields = request->fields, .room = request->head.room },
                               .gathered = request->gathered,
                               .bodies = request->bodies,
                               .counted = request->counted,
                               .kept = request->kept,
                               .kept_size = request->kept_size };
}
