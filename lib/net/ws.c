/*
 * ws.c - the handshake, and wslay between the connection's bytes and whole messages.
 *
 * wslay reads and writes bytes by callbacks. It reads from the span that the connection has just
 * handed in, and writes into the connection's queue, so it never blocks. It answers pings, joins
 * fragments up to the limit, checks UTF-8, and on a fault queues the close frame that says so.
 *
 * Once a close frame of ours is out the connection is closed from our side (RFC 6455 section 7.1.1
 * wants the server to go first); the client's own close frame, if one is still to come, is read and
 * dropped.
 */
#include "net/ws.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

#include "base/alloc.h"
#include "mcp/clock.h"

#define DEFAULT_MESSAGE_MAX ((size_t)4 * 1024 * 1024)
#define DEFAULT_PING_MS 30000
#define UNANSWERED_MAX 2
#define FRAGMENTS_MAX 16384 /* of one message: each costs wslay a block, however small it is */
#define KEY_LENGTH 24       /* 16 bytes in base64 */
#define ACCEPT_SIZE 32      /* 20 bytes in base64, and its NUL: 29 */

struct mcp__ws {
    mcp__http_exchange *exchange;
    wslay_event_context_ptr wslay;
    mcp__ws_options options;
    const char *in; /* what wslay reads; NULL between calls */
    size_t in_length;
    int64_t pinged_ms;  /* 0: not yet */
    unsigned fragments; /* of the message that is coming */
    int unanswered;
    bool is_paused;
    bool is_closing;
};

/* ---- wslay's callbacks ----------------------------------------------------------------------- */

static ssize_t on_wslay_reads(wslay_event_context_ptr wslay, uint8_t *room, size_t length,
                              int flags, void *data)
{
    mcp__ws *ws = data;
    size_t count = length < ws->in_length ? length : ws->in_length;

    (void)flags;
    if (count == 0 || ws->is_paused || ws->is_closing) {
        wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(room, ws->in, count);
    ws->in += count;
    ws->in_length -= count;
    return (ssize_t)count;
}

static ssize_t on_wslay_writes(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t length,
                               int flags, void *data)
{
    mcp__ws *ws = data;

    (void)flags;
    if (mcp__http_raw_write(ws->exchange, bytes, length, NULL) != MCP_OK) {
        wslay_event_set_error(wslay, WSLAY_ERR_CALLBACK_FAILURE);
        return -1;
    }
    return (ssize_t)length;
}

static void on_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *arg,
                       void *data)
{
    mcp__ws *ws = data;

    (void)wslay;
    if (ws->is_closing)
        return;
    if (arg->opcode == WSLAY_TEXT_FRAME)
        ws->options.message(ws, arg->msg ? (const char *)arg->msg : "", arg->msg_length,
                            ws->options.data);
    else if (arg->opcode == WSLAY_BINARY_FRAME)
        mcp__ws_close(ws, MCP__WS_UNSUPPORTED);
    else if (arg->opcode == WSLAY_CONNECTION_CLOSE && arg->msg_length == 1) /* half a code */
        mcp__ws_close(ws, MCP__WS_PROTOCOL);
}

static void on_frame(wslay_event_context_ptr wslay,
                     const struct wslay_event_on_frame_recv_start_arg *arg, void *data)
{
    mcp__ws *ws = data;

    (void)wslay;
    if (wslay_is_ctrl_frame(arg->opcode))
        return;
    ws->fragments = arg->opcode == WSLAY_CONTINUATION_FRAME ? ws->fragments + 1 : 1;
    if (ws->fragments > FRAGMENTS_MAX)
        mcp__ws_close(ws, MCP__WS_POLICY);
}

/* Send what wslay has queued; when that was its last frame, close. */
static void go_on(mcp__ws *ws)
{
    if (ws->is_closing)
        return;
    bool has_failed = wslay_event_send(ws->wslay) != 0;
    if (!has_failed && !wslay_event_get_close_sent(ws->wslay))
        return;
    ws->is_closing = true;
    mcp__http_raw_close(ws->exchange);
}

/* ---- the tenant ------------------------------------------------------------------------------ */

static size_t on_input(void *data, const char *bytes, size_t length)
{
    mcp__ws *ws = data;

    ws->unanswered = 0; /* it lives */
    ws->in = bytes;
    ws->in_length = length;
    int code = wslay_event_recv(ws->wslay);
    if (code == WSLAY_ERR_NOMEM)
        mcp__ws_close(ws, MCP__WS_INTERNAL);
    else if (code != 0) /* a frame's head that cannot be: wslay would close without saying why */
        mcp__ws_close(ws, MCP__WS_PROTOCOL);
    size_t used = length - ws->in_length;
    ws->in = NULL;
    ws->in_length = 0;
    go_on(ws);
    return ws->is_closing ? length : used;
}

static void on_closed(void *data)
{
    mcp__ws *ws = data;

    ws->options.closed(ws, ws->options.data);
    wslay_event_context_free(ws->wslay);
    free(ws);
}

static void on_drained(void *data)
{
    mcp__ws *ws = data;

    if (ws->options.drained)
        ws->options.drained(ws, ws->options.data);
}

static void on_tick(void *data, int64_t now_ms)
{
    static const struct wslay_event_msg ping = { .opcode = WSLAY_PING };
    mcp__ws *ws = data;

    if (ws->options.expires_ms != 0 && mcp_clock_wall_ms() >= ws->options.expires_ms) {
        mcp__ws_close(ws, MCP__WS_POLICY);
        return;
    }
    if (ws->pinged_ms == 0)
        ws->pinged_ms = now_ms;
    if (now_ms - ws->pinged_ms < ws->options.ping_ms)
        return;
    if (ws->unanswered == UNANSWERED_MAX) {
        mcp__ws_close(ws, MCP__WS_GOING_AWAY);
        return;
    }
    ws->pinged_ms = now_ms;
    ws->unanswered++;
    (void)wslay_event_queue_msg(ws->wslay, &ping); /* no memory: the next tick tries again */
    go_on(ws);
}

static void on_stopping(void *data)
{
    mcp__ws *ws = data;

    if (ws->options.stopping)
        ws->options.stopping(ws, ws->options.data);
    else
        mcp__ws_close(ws, MCP__WS_GOING_AWAY);
}

static const mcp__http_tenant tenant = {
    .input = on_input,
    .closed = on_closed,
    .drained = on_drained,
    .tick = on_tick,
    .stopping = on_stopping,
};

/* ---- the handshake --------------------------------------------------------------------------- */

bool mcp__ws_is_wanted(const mcp__http_exchange *exchange)
{
    return mcp__http_field_has(exchange, "Connection", "upgrade") &&
           mcp__http_field_has(exchange, "Upgrade", "websocket");
}

/* 16 bytes in base64. */
static bool is_key(const char *key)
{
    unsigned char bytes[KEY_LENGTH];

    return strlen(key) == KEY_LENGTH && strcmp(key + KEY_LENGTH - 2, "==") == 0 &&
           EVP_DecodeBlock(bytes, (const unsigned char *)key, KEY_LENGTH) == 18;
}

/* What is wrong with the handshake; NULL: nothing. */
static const char *handshake_fault(const mcp__http_exchange *exchange, const char *protocol)
{
    const char *key = mcp__http_field(exchange, "Sec-WebSocket-Key");

    if (strcmp(mcp__http_method(exchange), "GET") != 0 || mcp__http_minor(exchange) != 1 ||
        !mcp__ws_is_wanted(exchange))
        return "this is not the opening of a WebSocket";
    if (!key || mcp__http_field_count(exchange, "Sec-WebSocket-Key") != 1 || !is_key(key))
        return "Sec-WebSocket-Key is not one key of 16 bytes in base64";
    if (protocol && !mcp__http_field_has(exchange, "Sec-WebSocket-Protocol", protocol))
        return "the subprotocol that is spoken here is not offered";
    return NULL;
}

static mcp_status refuse(mcp__http_exchange *exchange, int status, const char *words,
                         mcp_error *err)
{
    static const mcp__http_field_out fields[] = {
        { "Content-Type", "text/plain" },
        { "Sec-WebSocket-Version", "13" },
        { "Upgrade", "websocket" }, /* RFC 9110 section 15.5.22: a 426 must have it */
    };
    mcp__http_head_out head = { .status = status,
                                .fields = fields,
                                .count = status == 426 ? 3 : 2 };

    (void)mcp__http_reply(exchange, &head, words, strlen(words), NULL);
    return mcp_error_set(err, MCP_E_PARAMS, "%s", words);
}

/* RFC 6455 section 4.2.2, 5.4. */
static bool accept_value(char out[ACCEPT_SIZE], const char *key)
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char text[KEY_LENGTH + sizeof guid];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;

    memcpy(text, key, KEY_LENGTH);
    memcpy(text + KEY_LENGTH, guid, sizeof guid);
    if (EVP_Digest(text, KEY_LENGTH + sizeof guid - 1, digest, &length, EVP_sha1(), NULL) != 1)
        return false;
    (void)EVP_EncodeBlock((unsigned char *)out, digest, (int)length);
    return true;
}

static mcp_status answer(mcp__ws *ws, mcp_error *err)
{
    char accept[ACCEPT_SIZE];
    const mcp__http_field_out fields[] = {
        { "Upgrade", "websocket" },
        { "Sec-WebSocket-Accept", accept },
        { "Sec-WebSocket-Protocol", ws->options.protocol },
    };
    const mcp__http_head_out head = { .status = 101, .fields = fields, .count = 3 };

    if (!accept_value(accept, mcp__http_field(ws->exchange, "Sec-WebSocket-Key")))
        return mcp_error_set(err, MCP_E_INTERNAL, "there is no SHA-1");
    return mcp__http_take_over(ws->exchange, &head, &tenant, ws, err);
}

static mcp__ws *ws_new(mcp__http_exchange *exchange, const mcp__ws_options *options)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_wslay_reads,
        .send_callback = on_wslay_writes,
        .on_frame_recv_start_callback = on_frame,
        .on_msg_recv_callback = on_message,
    };
    mcp__ws *ws = mcp_alloc_zeroed(1, sizeof *ws);

    if (!ws)
        return NULL;
    if (wslay_event_context_server_init(&ws->wslay, &callbacks, ws) != 0) {
        free(ws);
        return NULL;
    }
    ws->exchange = exchange;
    ws->options = *options;
    if (ws->options.message_max_bytes == 0)
        ws->options.message_max_bytes = DEFAULT_MESSAGE_MAX;
    if (ws->options.ping_ms == 0)
        ws->options.ping_ms = DEFAULT_PING_MS;
    wslay_event_config_set_max_recv_msg_length(ws->wslay, ws->options.message_max_bytes);
    return ws;
}

mcp_status mcp__ws_accept(mcp__ws **out, mcp__http_exchange *exchange,
                          const mcp__ws_options *options, mcp_error *err)
{
    const char *fault = handshake_fault(exchange, options->protocol);
    const char *version = mcp__http_field(exchange, "Sec-WebSocket-Version");

    if (fault)
        return refuse(exchange, 400, fault, err);
    if (!version || strcmp(version, "13") != 0)
        return refuse(exchange, 426, "the version of WebSocket that is spoken here is 13", err);
    mcp__ws *ws = ws_new(exchange, options);
    if (!ws) {
        (void)refuse(exchange, 503, "there is no memory for a WebSocket", NULL);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a WebSocket");
    }
    mcp_status st = answer(ws, err);
    if (st != MCP_OK) {
        wslay_event_context_free(ws->wslay);
        free(ws);
        (void)refuse(exchange, 400, "the opening of a WebSocket has no body", NULL);
        return st;
    }
    *out = ws;
    return MCP_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

mcp_status mcp__ws_send(mcp__ws *ws, const char *text, size_t length, mcp_error *err)
{
    struct wslay_event_msg message = { .opcode = WSLAY_TEXT_FRAME,
                                       .msg = (const uint8_t *)text,
                                       .msg_length = length };

    if (ws->is_closing)
        return mcp_error_set(err, MCP_E_STOPPED, "the WebSocket is closing");
    if (wslay_event_queue_msg(ws->wslay, &message) != 0)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to queue a message for the client");
    go_on(ws);
    return ws->is_closing ? mcp_error_set(err, MCP_E_LIMIT, "the client reads too slowly") : MCP_OK;
}

void mcp__ws_pause(mcp__ws *ws, bool is_paused)
{
    ws->is_paused = is_paused;
    mcp__http_raw_pause(ws->exchange, is_paused);
}

void mcp__ws_close(mcp__ws *ws, mcp__ws_code code)
{
    /* Not by wslay, which cannot once it has found a fault. All it had to send is queued
     * already. */
    const unsigned char frame[] = { 0x88, 2, (unsigned char)(code >> 8), (unsigned char)code };

    if (ws->is_closing)
        return;
    ws->is_closing = true;
    (void)mcp__http_raw_write(ws->exchange, frame, sizeof frame, NULL); /* else it is broken */
    mcp__http_raw_close(ws->exchange);
}

bool mcp__ws_is_full(const mcp__ws *ws)
{
    return mcp__http_is_full(ws->exchange);
}
