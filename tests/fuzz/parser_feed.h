/*
 * parser_feed.h - any bytes as the input of a native parser of casparian.
 *
 * The parser gets them at once, and again in pieces: it emits the same data, and casparian can read
 * each batch.
 */
#ifndef PARSER_FEED_H
#define PARSER_FEED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/batch.h"
#include "parsers/input/parser.h"

struct emitted {
    uint8_t *bytes;
    size_t length;
    size_t room;
};

static void feed_must(bool claim)
{
    if (!claim)
        abort();
}

static bool feed_collect(int stream, const void *bytes, size_t length, void *data)
{
    struct emitted *emitted = data;

    if (stream != 1)
        return true;
    while (emitted->room - emitted->length < length) {
        emitted->room = emitted->room ? emitted->room * 2 : 4096;
        emitted->bytes = realloc(emitted->bytes, emitted->room);
        feed_must(emitted->bytes != NULL);
    }
    memcpy(emitted->bytes + emitted->length, bytes, length);
    emitted->length += length;
    return true;
}

static struct emitted feed_run(const casparian_parser *parser, const uint8_t *data, size_t size,
                               size_t piece)
{
    casparian_source source = { "input", (int64_t)size, 0 };
    struct emitted emitted = { 0 };
    cf_sink *sink = cf_begin_to(parser->id, parser->version, feed_collect, &emitted);

    feed_must(sink != NULL);
    int result = casparian_parser_run(parser, sink, &source, size ? (const char *)data : "", size,
                                      piece);
    cf_finish(sink, result);
    return emitted;
}

/* One batch, in a block of exactly its size. */
static void feed_decode(const uint8_t *bytes, size_t length)
{
    casparian_batch batch;
    mcp_arena *arena = mcp_arena_new(0);
    void *copy = malloc(length);

    feed_must(arena && copy);
    memcpy(copy, bytes, length);
    feed_must(casparian_batch_decode(&batch, NULL, arena, copy, length, NULL) == MCP_OK);
    feed_must(batch.rows > 0);
    free(copy);
    mcp_arena_free(arena);
}

static void feed_decode_all(const struct emitted *emitted)
{
    size_t at = 0;

    while (at < emitted->length) {
        feed_must(emitted->length - at >= 4);
        const uint8_t *head = emitted->bytes + at;
        size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 |
                        head[3];
        at += 4;
        feed_must(length <= emitted->length - at);
        if (length > 0)
            feed_decode(emitted->bytes + at, length);
        at += length;
    }
}

static void feed_parser(const casparian_parser *parser, const uint8_t *data, size_t size)
{
    struct emitted whole = feed_run(parser, data, size, 0);
    struct emitted pieces = feed_run(parser, data, size, size < 300 ? 1 : size / 7 + 1);

    feed_must(whole.length == pieces.length);
    feed_must(whole.length == 0 || memcmp(whole.bytes, pieces.bytes, whole.length) == 0);
    feed_decode_all(&whole);
    free(whole.bytes);
    free(pieces.bytes);
}

#endif
