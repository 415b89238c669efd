/*
 * fuzz_ws.c - whatever a client may send after a WebSocket's opening.
 *
 * A message that is handed out is UTF-8 and within the limit; the same messages come however the
 * bytes are cut; and what comes back are whole frames that are not masked, a close frame the last
 * of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "feeder.h"
#include "net/ws.h"

#define MESSAGE_MAX 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seen;

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static void on_message(mcp__ws *ws, const char *text, size_t length, void *data)
{
    (void)data;
    must(length <= MESSAGE_MAX && mcp__utf8_valid(text, length, NULL));
    for (size_t i = 0; i < length; i++)
        seen = (seen ^ (uint8_t)text[i]) * 1099511628211u;
    seen = seen * 31 + length;
    (void)mcp__ws_send(ws, text, length, NULL);
}

static void on_closed(mcp__ws *ws, void *data)
{
    (void)ws;
    (void)data;
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    static const mcp__ws_options options = { .message_max_bytes = MESSAGE_MAX,
                                             .message = on_message,
                                             .closed = on_closed };
    mcp__ws *ws = NULL;

    (void)data;
    must(mcp__ws_accept(&ws, exchange, &options, NULL) == MCP_OK);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    (void)exchange;
    (void)data;
    abort(); /* it was taken over */
}

/* Whole frames; the length of a frame that the server may send, 0: it is not one. */
static size_t frame_length(const unsigned char *at, size_t left)
{
    size_t head = 2;

    if (left < 2 || !(at[0] & 0x80) || (at[1] & 0x80))
        return 0;
    size_t length = at[1];
    if (length == 126 && left >= 4) {
        length = (size_t)at[2] << 8 | at[3];
        head = 4;
    }
    return length < 126 || head == 4 ? head + length : 0;
}

static void must_be_frames(const mcp_buf *answer)
{
    const char *end = answer->data ? strstr(answer->data, "\r\n\r\n") : NULL;

    must(end != NULL);
    size_t at = (size_t)(end + 4 - answer->data);
    while (at < answer->length) {
        const unsigned char *frame = (const unsigned char *)answer->data + at;
        size_t length = frame_length(frame, answer->length - at);
        must(length > 0 && length <= answer->length - at);
        must(frame[0] != 0x88 || at + length == answer->length);
        at += length;
    }
}

static uint64_t run(feeder *self, const uint8_t *bytes, size_t length, size_t step)
{
    static const char opening[] =
        "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    mcp_buf answer;

    seen = 14695981039346656037u;
    mcp_buf_init(&answer, 64 << 20);
    feeder_feed(self, opening, bytes, length, step, &answer);
    must_be_frames(&answer);
    mcp_buf_clear(&answer);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static feeder self;

    if (!self.http) {
        mcp__http_options options = { .handler = { .request = on_request, .hung_up = on_hung_up } };
        feeder_start(&self, &options);
    }
    if (size < 2 || size > 65536)
        return 0;
    uint64_t whole = run(&self, data + 1, size - 1, size);
    must(run(&self, data + 1, size - 1, data[0] % 32 + size / 64 + 1u) == whole);
    return 0;
}
