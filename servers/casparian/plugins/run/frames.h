/**
 * frames.h - the frames that a Python guest sends, cut out of a stream of bytes.
 *
 * A frame begins with a u32, big-endian: a signal, or the length of a payload (plugins, 2.4). The
 * reader knows the form of the frames, not their order. EXIT is casparian's own: it ends a file on
 * the socket of the guest, `{"exit_code": n, "signal": n}`.
 *
 *     size_t space;
 *     char *at = casparian_frames_space(&reader, &space);
 *     casparian_frames_filled(&reader, read(fd, at, space));
 *     while ((st = casparian_frames_next(&frame, &reader, err)) == MCP_OK &&
 *            frame.kind != CASPARIAN_FRAME_NONE)
 *         use(&frame);
 *
 * One thread at a time uses a reader.
 */
#ifndef CASPARIAN_PLUGINS_RUN_FRAMES_H
#define CASPARIAN_PLUGINS_RUN_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

/** Most bytes of a payload, of a line of the log, and of the JSON of other frames. */
#define CASPARIAN_PAYLOAD_MAX UINT32_C(0x06400000)
#define CASPARIAN_LOG_LINE_MAX UINT32_C(65536)
#define CASPARIAN_FRAME_JSON_MAX UINT32_C(0x100000)

/** One row: name, value on the wire, what follows it. */
#define CASPARIAN_FRAME_MAP(X)                                                                     \
    X(ERROR, 0xFFFFFFFF, JSON)                                                                     \
    X(LOG, 0xFFFFFFFE, LEVEL)                                                                      \
    X(OUTPUT_START, 0xFFFFFFFD, INDEX)                                                             \
    X(OUTPUT_END, 0xFFFFFFFC, INDEX)                                                               \
    X(METRICS, 0xFFFFFFFB, JSON)                                                                   \
    X(OUTPUT_META, 0xFFFFFFFA, JSON)                                                               \
    X(READY, 0xFFFFFFF9, JSON)                                                                     \
    X(EXIT, 0xFFFFFFF8, JSON)

typedef enum casparian_frame_kind {
    CASPARIAN_FRAME_NONE, /* more bytes are needed */
    CASPARIAN_FRAME_END,
    CASPARIAN_FRAME_DATA,
#define CASPARIAN_FRAME_VALUE(name, signal, form) CASPARIAN_FRAME_##name,
    CASPARIAN_FRAME_MAP(CASPARIAN_FRAME_VALUE)
#undef CASPARIAN_FRAME_VALUE
} casparian_frame_kind;

/** A frame. Its bytes are borrowed until the next call of the reader. */
typedef struct casparian_frame {
    casparian_frame_kind kind;
    uint32_t number; /* OUTPUT_START, OUTPUT_END: the index; LOG: the level */
    const char *bytes;
    size_t length;
} casparian_frame;

/** A reader. Its fields are its own. */
typedef struct casparian_frames {
    mcp_buf held;
    size_t begin;  /* of the next frame in `held` */
    size_t wanted; /* its whole length, where it is known */
} casparian_frames;

/** Make a reader without bytes. */
void casparian_frames_init(casparian_frames *self);

/** Free its memory; it is then as after casparian_frames_init. */
void casparian_frames_clear(casparian_frames *self);

/** Room for the next bytes of the stream; NULL: no memory. */
char *casparian_frames_space(casparian_frames *self, size_t *size);

/** Add bytes that were written there. */
void casparian_frames_filled(casparian_frames *self, size_t length);

/** Bytes of a frame that is not complete. */
size_t casparian_frames_rest(const casparian_frames *self);

/** The word of a kind for messages, as in "OUTPUT_START". */
const char *casparian_frame_text(casparian_frame_kind kind);

/**
 * Take the next frame.
 *
 * @return MCP_OK, also where more bytes are needed; MCP_E_PARSE: an unknown signal, a level that
 *         there is not; MCP_E_LIMIT: a length above its maximum
 */
mcp_status casparian_frames_next(casparian_frame *out, casparian_frames *self, mcp_error *err);

/**
 * Take the next block of a stream that has lengths and no signals: DATA, or END for the length 0.
 *
 * @return MCP_OK, also where more bytes are needed; MCP_E_LIMIT: a length above `most`
 */
mcp_status casparian_frames_next_block(casparian_frame *out, casparian_frames *self, uint32_t most,
                                       mcp_error *err);

#endif
