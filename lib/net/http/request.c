/*
 * request.c - llhttp, one request at a time.
 *
 * The parser starts from the beginning for each request and is given the head in one piece, after
 * head.c has found its end and agreed to it. So the parser's state between requests, its rules for
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

static const llhttp_settings_t *settings(void)
{
    static const llhttp_settings_t callbacks = {
        .on_headers_complete = on_headers_complete,
        .on_body = on_body,
        .on_message_complete = on_message_complete,
    };

    return &callbacks;
}

/* ---- head ------------------------------------------------------------------------------------ */

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
    llhttp_init(&request->parser, HTTP_REQUEST, settings());
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
    mcp__refusal refusal = mcp__head_cut(&request->head, bytes, length);
    if (refusal.status == 0)
        refusal = check_framing(&request->head);
    if (refusal.status == 0)
        refusal = check_expectation(request);
    if (refusal.status == 0)
        refusal = parse_head(request, bytes, length);
    if (refusal.status == 0)
        mcp__head_terminate(&request->head);
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
    request->head.count = 0;
    request->head.bytes = NULL;
    request->head.path_length = 0;
    request->view = NULL;
    request->view_length = 0;
    request->declared = 0;
    request->dropped = 0;
    request->framing = 0;
    request->is_chunked = false;
    request->keeps_alive = false;
    request->wants_continue = false;
    request->is_complete = false;
    request->is_unwanted = false;
    request->refusal = none;
}
