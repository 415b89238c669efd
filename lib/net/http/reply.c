/*
 * reply.c - answers: the head's lines, whole bodies, streams in chunks, and the server's own
 * refusals.
 *
 * Everything is queued in the connection's outbox and leaves when the connection is settled. What
 * would break the framing cannot be said: names and values are held against the grammar, and the
 * fields that frame a message are written here alone.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "mcp/clock.h"
#include "net/http/connection.h"

#define REFUSAL_MAX ((size_t)32 * 1024)
#define LARGE_ANSWER ((size_t)64 * 1024)

struct reason {
    int status;
    const char *words;
};

static const char *reason_words(int status)
{
    static const struct reason reasons[] = {
        { 100, "Continue" },
        { 101, "Switching Protocols" },
        { 102, "Processing" },
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 206, "Partial Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 303, "See Other" },
        { 304, "Not Modified" },
        { 307, "Temporary Redirect" },
        { 308, "Permanent Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 411, "Length Required" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 422, "Unprocessable Content" },
        { 426, "Upgrade Required" },
        { 428, "Precondition Required" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
    };

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].status == status)
            return reasons[i].words;
    }
    return "";
}

/* ---- queueing -------------------------------------------------------------------------------- */

/* A gap in what is sent cannot be mended: the connection ends. */
static mcp_status after_put(connection *conn, mcp_status st, mcp_error *err)
{
    mcp__connection_due(conn);
    if (st == MCP_OK)
        return st;
    conn->is_broken = true;
    if (st == MCP_E_LIMIT)
        return mcp_error_set(err, st, "the client reads too slowly");
    return mcp_error_set(err, st, "no memory to queue bytes for a client");
}

/* Bytes that may be queued yet. */
static size_t room_left(const connection *conn)
{
    size_t most = conn->http->options.queue_hard_bytes;

    return conn->out.queued < most ? most - conn->out.queued : 0;
}

static mcp_status put(connection *conn, const void *bytes, size_t length, mcp_error *err)
{
    mcp_status st = MCP_E_LIMIT;

    if (length <= room_left(conn))
        st = mcp__outbox_put(&conn->out, &conn->http->pieces, bytes, length);
    return after_put(conn, st, err);
}

/* ---- the head -------------------------------------------------------------------------------- */

/* RFC 9110 section 5.6.7, renewed once a second. */
static const char *date(mcp__http *http)
{
    int64_t now_s = mcp_clock_wall_ms() / 1000;
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)now_s;
    struct tm at;

    if (now_s == http->date_s || !gmtime_r(&seconds, &at))
        return http->date;
    http->date_s = now_s;
    /* Not by strftime: its names follow the locale. */
    (void)snprintf(http->date, sizeof http->date, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
                   days + 3 * at.tm_wday, (unsigned)at.tm_mday % 100, months + 3 * at.tm_mon,
                   ((unsigned)at.tm_year + 1900) % 10000, (unsigned)at.tm_hour % 100,
                   (unsigned)at.tm_min % 100, (unsigned)at.tm_sec % 100);
    return http->date;
}

bool mcp__http_is_token(const char *text, size_t length)
{
    return mcp__is_token(text, length);
}

bool mcp__http_field_is_fit(const char *name, const char *value)
{
    return mcp__is_token(name, strlen(name)) && mcp__is_field_value(value, strlen(value));
}

static bool are_fields_fit(const mcp__http_head_out *head)
{
    for (size_t i = 0; i < head->count; i++) {
        const mcp__http_field_out *field = &head->fields[i];
        if (!mcp__http_field_is_fit(field->name, field->value ? field->value : ""))
            return false;
    }
    return true;
}

static void put_field(mcp_buf *out, const char *name, const char *value)
{
    (void)mcp_buf_puts(out, name);
    (void)mcp_buf_append(out, ": ", 2);
    (void)mcp_buf_puts(out, value);
    (void)mcp_buf_append(out, "\r\n", 2);
}

static void put_size(mcp_buf *out, const char *before, size_t size)
{
    char digits[24];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + size % 10);
        size /= 10;
    } while (size > 0);
    (void)mcp_buf_puts(out, before);
    (void)mcp_buf_append(out, digits + at, sizeof digits - at);
    (void)mcp_buf_append(out, "\r\n", 2);
}

static bool has_field(const mcp__http_head_out *head, const char *name)
{
    for (size_t i = 0; i < head->count; i++)
        if (head->fields[i].value && strcasecmp(head->fields[i].name, name) == 0)
            return true;
    return false;
}

/* Status line, Date and the fields; what frames the body, and the empty line, come after. */
static mcp_buf *put_head(connection *conn, const mcp__http_head_out *head)
{
    const mcp__http_options *options = &conn->http->options;
    mcp_buf *out = &conn->http->head;
    char line[16];

    mcp_buf_reset(out);
    (void)snprintf(line, sizeof(line), "HTTP/1.1 %03u ", (unsigned)head->status % 1000);
    (void)mcp_buf_append(out, line, 13);
    (void)mcp_buf_puts(out, reason_words(head->status));
    (void)mcp_buf_append(out, "\r\nDate: ", 8);
    (void)mcp_buf_puts(out, date(conn->http));
    (void)mcp_buf_append(out, "\r\n", 2);
    for (size_t i = 0; i < head->count; i++) {
        if (head->fields[i].value)
            put_field(out, head->fields[i].name, head->fields[i].value);
    }
    for (size_t i = 0; i < options->field_count; i++)
        if (!has_field(head, options->fields[i].name))
            put_field(out, options->fields[i].name, options->fields[i].value);
    return out;
}

static void put_connection(mcp_buf *out, const connection *conn, bool is_stream)
{
    if (conn->is_last)
        put_field(out, "Connection", "close");
    else if (conn->is_old || is_stream)
        put_field(out, "Connection", "keep-alive");
}

/* Whether an answer of this status has a body, and says how long it is (RFC 9110 section 8.6). */
static bool has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* The head takes its place in the queue. */
static mcp_status send_head(connection *conn, mcp_buf *out, mcp_error *err)
{
    mcp_status st = mcp_buf_append(out, "\r\n", 2);

    if (st == MCP_OK)
        return put(conn, out->data, out->length, err);
    conn->is_broken = true;
    mcp__connection_due(conn);
    return mcp_error_set(err, st, "no memory for an answer's head");
}

/* ---- answers --------------------------------------------------------------------------------- */

static mcp_status over_already(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_STOPPED, "the request is answered already");
}

/* Whether this answer ends the connection. */
static void decide_last(connection *conn, bool is_last)
{
    const mcp__request *request = conn->request;

    conn->is_last = conn->is_last || is_last || conn->http->is_stopping ||
                    (conn->is_half_closed && conn->pending.length == 0);
    /* Answered before the body came: a small one can be passed over, a large one not. */
    if (conn->phase == PHASE_BODY && !request->is_complete &&
        (request->is_chunked || request->wants_continue || request->declared > MCP__DISCARD_SIZE))
        conn->is_last = true;
}

/* A whole answer's head; the body comes behind it. */
static mcp_status begin_reply(connection *conn, const mcp__http_head_out *head, size_t length,
                              mcp_error *err)
{
    decide_last(conn, head->is_last);
    conn->answer = ANSWER_DONE;
    mcp__connection_due(conn);
    mcp_buf *out = put_head(conn, head);
    if (has_body(head->status))
        put_size(out, "Content-Length: ", length);
    put_connection(out, conn, false);
    return send_head(conn, out, err);
}

/* The user's own fault, which the client need not wait for. */
static mcp_status reply_unfit(connection *conn, mcp_error *err)
{
    mcp__http_head_out head = { .status = 500 };

    mcp_status st = begin_reply(conn, &head, 0, err);
    if (st != MCP_OK)
        return st;
    return mcp_error_set(err, MCP_E_PARAMS,
                         "a field of the answer has a byte that no field may have");
}

/* Whether the exchange is still to be answered, and can be with these fields. */
static mcp_status check_answer(connection *conn, const mcp__http_head_out *head, mcp_error *err)
{
    if (conn->answer != ANSWER_DUE)
        return over_already(err);
    return are_fields_fit(head) ? MCP_OK : reply_unfit(conn, err);
}

mcp_status mcp__http_reply(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                           const void *body, size_t length, mcp_error *err)
{
    mcp_status st = check_answer(exchange, head, err);

    if (st == MCP_OK)
        st = begin_reply(exchange, head, length, err);
    if (st != MCP_OK || exchange->has_no_body || !has_body(head->status))
        return st;
    return put(exchange, body, length, err);
}

/* Other answers, which slow readers have not taken yet, fill the memory that answers may have. One
 * alone goes through, however large. */
static bool has_room_for(const connection *conn, const mcp_buf *body)
{
    size_t taken = conn->http->pieces.taken, most = conn->http->bodies.max_bytes;

    return taken == 0 || (taken < most && body->capacity <= most - taken);
}

/* What only reads may be asked again. What has been done must not look undone: that answer is cut
 * off. */
static mcp_status refuse_for_room(connection *conn, mcp_error *err)
{
    static const mcp__refusal refusal = { 503, "too many answers wait to be read; try again" };

    if (conn->is_reading) {
        mcp__reply_refusal(conn, refusal);
    } else {
        conn->answer = ANSWER_DONE;
        conn->is_broken = true;
        mcp__connection_due(conn);
    }
    return mcp_error_set(err, MCP_E_BUSY, "%s", refusal.words);
}

mcp_status mcp__http_reply_buf(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                               mcp_buf *body, mcp_error *err)
{
    mcp__pieces *pieces = &exchange->http->pieces;
    mcp_status st = check_answer(exchange, head, err);

    if (st == MCP_OK && body->length > LARGE_ANSWER && !has_room_for(exchange, body))
        st = refuse_for_room(exchange, err);
    if (st == MCP_OK)
        st = begin_reply(exchange, head, body->length, err);
    if (st == MCP_OK && !exchange->has_no_body && has_body(head->status))
        st = after_put(exchange, mcp__outbox_put_buf(&exchange->out, pieces, body), err);
    mcp_buf_clear(body);
    return st;
}

/* What the user makes of a refusal, or a line of text. Returns its type. */
static const char *write_refusal(mcp_buf *body, connection *conn, mcp__refusal refusal)
{
    const mcp__http_handler *handler = &conn->http->options.handler;
    const char *type = "application/json";

    if (handler->refused &&
        handler->refused(body, &type, conn, refusal.status, refusal.words, handler->data))
        return type;
    mcp_buf_reset(body);
    (void)mcp_buf_printf(body, "%s\n", refusal.words);
    return "text/plain";
}

void mcp__reply_refusal(connection *conn, mcp__refusal refusal)
{
    mcp_buf body;

    mcp_buf_init(&body, REFUSAL_MAX);
    mcp__http_field_out fields[] = { { "Content-Type", write_refusal(&body, conn, refusal) },
                                     { "Retry-After", "1" } };
    mcp__http_head_out head = { .status = refusal.status,
                                .fields = fields,
                                .count = refusal.status == 503 ? 2 : 1,
                                .is_last = true };
    conn->is_last = true;
    if (begin_reply(conn, &head, body.length, NULL) == MCP_OK && !conn->has_no_body)
        (void)put(conn, body.data, body.length, NULL);
    mcp_buf_clear(&body);
}

void mcp__reply_interim(connection *conn, int status)
{
    char line[64];
    int length = snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n\r\n", status,
                          reason_words(status));

    (void)put(conn, line, (size_t)length, NULL);
}

/* ---- streams --------------------------------------------------------------------------------- */

mcp_status mcp__http_begin(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                           mcp_error *err)
{
    mcp_status st = check_answer(exchange, head, err);

    if (st != MCP_OK)
        return st;
    decide_last(exchange, head->is_last || exchange->is_old); /* HTTP/1.0: ended by closing */
    exchange->answer = ANSWER_STREAM;
    exchange->has_no_body = exchange->has_no_body ||
                            !has_body(head->status); /* no piece is sent then */
    exchange->is_chunked = !exchange->is_old && has_body(head->status);
    mcp_buf *out = put_head(exchange, head);
    if (exchange->is_chunked)
        put_field(out, "Transfer-Encoding", "chunked");
    put_connection(out, exchange, true);
    st = send_head(exchange, out, err);
    if (st != MCP_OK)
        exchange->answer = ANSWER_DONE;
    return st;
}

/* The line before a chunk; false when there is nothing to send, or no room for it. */
static bool begins_piece(connection *conn, size_t length, mcp_status *st, mcp_error *err)
{
    char line[24];

    *st = conn->answer == ANSWER_STREAM ? MCP_OK : over_already(err);
    if (*st != MCP_OK || length == 0 || conn->has_no_body)
        return false;
    if (conn->is_chunked) {
        int count = snprintf(line, sizeof line, "%zx\r\n", length);
        *st = put(conn, line, (size_t)count, err);
    }
    if (*st == MCP_OK && length > room_left(conn))
        *st = after_put(conn, MCP_E_LIMIT, err);
    return *st == MCP_OK;
}

static mcp_status end_piece(connection *conn, mcp_status st, mcp_error *err)
{
    st = after_put(conn, st, err);
    return st == MCP_OK && conn->is_chunked ? put(conn, "\r\n", 2, err) : st;
}

mcp_status mcp__http_write(mcp__http_exchange *exchange, const void *bytes, size_t length,
                           mcp_error *err)
{
    mcp__pieces *pieces = &exchange->http->pieces;
    mcp_status st = MCP_OK;

    if (begins_piece(exchange, length, &st, err))
        st = end_piece(exchange, mcp__outbox_put(&exchange->out, pieces, bytes, length), err);
    return st;
}

mcp_status mcp__http_write_buf(mcp__http_exchange *exchange, mcp_buf *piece, mcp_error *err)
{
    mcp__pieces *pieces = &exchange->http->pieces;
    mcp_status st = MCP_OK;

    if (begins_piece(exchange, piece->length, &st, err))
        st = end_piece(exchange, mcp__outbox_put_buf(&exchange->out, pieces, piece), err);
    mcp_buf_clear(piece);
    return st;
}

mcp_status mcp__http_write_shared(mcp__http_exchange *exchange, const mcp__shared *piece,
                                  mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (begins_piece(exchange, piece->length, &st, err))
        return end_piece(exchange, mcp__outbox_put_shared(&exchange->out, piece), err);
    piece->release(piece->owner);
    return st;
}

void mcp__http_end(mcp__http_exchange *exchange)
{
    if (exchange->answer != ANSWER_STREAM)
        return;
    if (exchange->is_chunked && !exchange->has_no_body)
        (void)put(exchange, "0\r\n\r\n", 5, NULL);
    exchange->answer = ANSWER_DONE;
    mcp__connection_due(exchange);
}

void mcp__http_drop(mcp__http_exchange *exchange)
{
    if (exchange->answer != ANSWER_DUE && exchange->answer != ANSWER_STREAM)
        return;
    exchange->answer = ANSWER_DONE;
    exchange->is_last = true;
    mcp__connection_due(exchange);
}

void mcp__http_break(mcp__http_exchange *exchange)
{
    exchange->is_broken = true;
    mcp__connection_due(exchange);
}

/* ---- another protocol ------------------------------------------------------------------------ */

mcp_status mcp__http_take_over(mcp__http_exchange *exchange, const mcp__http_head_out *head,
                               const mcp__http_tenant *tenant, void *data, mcp_error *err)
{
    if (exchange->answer != ANSWER_DUE)
        return over_already(err);
    if (exchange->request && !exchange->request->is_complete)
        return mcp_error_set(err, MCP_E_PARAMS, "a request that switches protocols has no body");
    if (!are_fields_fit(head))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a field of the answer has a byte that no field may have");
    mcp_buf *out = put_head(exchange, head);
    put_field(out, "Connection", "Upgrade");
    mcp_status st = send_head(exchange, out, err);
    if (st != MCP_OK)
        return st;
    exchange->answer = ANSWER_NONE;
    exchange->phase = PHASE_RAW;
    exchange->read_deadline_ms = 0;
    exchange->tenant = tenant;
    exchange->data = data;
    return MCP_OK;
}

mcp_status mcp__http_raw_write(mcp__http_exchange *exchange, const void *bytes, size_t length,
                               mcp_error *err)
{
    if (exchange->phase != PHASE_RAW)
        return mcp_error_set(err, MCP_E_STOPPED, "the connection is being closed");
    return put(exchange, bytes, length, err);
}

void mcp__http_raw_pause(mcp__http_exchange *exchange, bool is_paused)
{
    exchange->is_paused = is_paused;
    mcp__connection_due(exchange);
}

void mcp__http_raw_close(mcp__http_exchange *exchange)
{
    if (exchange->phase != PHASE_RAW)
        return;
    exchange->phase = PHASE_LINGER;
    exchange->scan = (mcp__head_scan){ .looked = 0 };
    mcp__connection_due(exchange);
}
