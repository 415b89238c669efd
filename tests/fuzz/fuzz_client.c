/*
 * fuzz_client.c - the first byte says what the rest, bytes of a server, is.
 *
 *     'm'  a message or a batch
 *     'e'  a stream of events, fed whole and in pieces of 1 to 7 bytes
 *
 * Beyond surviving: a message is one kind of thing with the parts of that kind, every request has
 * an answer that is JSON under its id, and the pieces that a stream comes in change nothing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/events.h"
#include "client/message.h"

enum { EVENT_MAX = 4096, TOTAL_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

static void check_reply(const struct client_message *message, mcp_arena *arena)
{
    const mcp_json *reply = NULL;
    mcp_buf text;

    mcp_buf_init(&text, TOTAL_MAX);
    client_message_reply(&text, message);
    must(text.status == MCP_OK);
    must(mcp_json_read(&reply, arena, text.data, text.length, NULL) == MCP_OK);
    must(mcp_json_equal(mcp_json_get(reply, "id"), message->id));
    must(!mcp_json_get(reply, "result") == (strcmp(message->method, "ping") != 0));
    mcp_buf_clear(&text);
}

static void check_message(void *data, const struct client_message *message, const mcp_json *value)
{
    must(message->method != NULL);
    must(message->kind == CLIENT_GARBAGE || mcp_json_is_object(value));
    must((message->kind == CLIENT_RESPONSE) == (message->result || message->error));
    must(!message->result || !message->error);
    must((message->kind == CLIENT_REQUEST) == (message->id != NULL));
    must(message->number >= -1 && (message->number < 0 || message->kind == CLIENT_RESPONSE));
    if (message->kind == CLIENT_REQUEST)
        check_reply(message, data);
}

static mcp_status keep_event(void *data, const char *text, size_t length, mcp_error *err)
{
    mcp_buf *all = data;

    (void)err;
    must(length > 0 && length <= EVENT_MAX);
    mcp_buf_append(all, text, length);
    return mcp_buf_putc(all, '\0');
}

static mcp_status feed(mcp_buf *all, char *id, const char *text, size_t length, size_t piece)
{
    struct client_events events;
    mcp_status st = MCP_OK;

    mcp_buf_init(all, TOTAL_MAX);
    client_events_init(&events, EVENT_MAX, keep_event, all);
    for (size_t at = 0; at < length && st == MCP_OK; at += piece)
        st = client_events_feed(&events, text + at, length - at < piece ? length - at : piece,
                                NULL);
    memcpy(id, events.id, sizeof events.id);
    client_events_clear(&events);
    return st;
}

static void run_events(const char *text, size_t length)
{
    char id[CLIENT_EVENT_ID_MAX + 1];
    char other[CLIENT_EVENT_ID_MAX + 1];
    mcp_buf whole;
    mcp_buf pieces;

    mcp_status st = feed(&whole, id, text, length, length ? length : 1);
    for (size_t piece = 1; piece < 8; piece += 2) {
        must(feed(&pieces, other, text, length, piece) == st);
        must(pieces.length == whole.length && strcmp(id, other) == 0);
        must(whole.length == 0 || memcmp(pieces.data, whole.data, whole.length) == 0);
        mcp_buf_clear(&pieces);
    }
    mcp_buf_clear(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data + 1 : "";
    mcp_arena *arena = mcp_arena_new(64 << 20);

    must(arena != NULL);
    if (size > 0 && data[0] == 'm')
        client_message_read(text, size - 1, arena, check_message, arena, NULL);
    if (size > 0 && data[0] == 'e')
        run_events(text, size - 1);
    mcp_arena_free(arena);
    return 0;
}
