/*
 * incoming.h - a message that has come, as far as it can be looked at without knowing whose it is.
 *
 * Reading a text takes time in proportion to its length, and the loop has none to give: what is
 * longer than MCP__INCOMING_SMALL is read on a worker. Both ways end in the same struct, which the
 * dispatch takes.
 *
 * There is one thread for reading, so texts are read in the order in which they were given to it. A
 * transport that promises order gives it every further message, small or not, while one is being
 * read.
 */
#ifndef MCP_CORE_MESSAGE_INCOMING_H
#define MCP_CORE_MESSAGE_INCOMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena_int.h"
#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/core/message/message.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/server.h"
#include "net/pool.h"

/** How many messages a batch may have. */
#define MCP__BATCH_MAX 100

/** One message: alone, or of a batch. */
typedef struct mcp__element {
    mcp_arena *arena; /* pays for `value`; NULL: it could not be read again, memory is out */
    const mcp_json *value;
    size_t length; /* of its text */
    mcp__steps steps;
    mcp__message message; /* sorted, unless `value` is a batch */
    mcp_error fault;      /* why it is MCP__INVALID */
} mcp__element;

/** What has come. */
typedef struct mcp__incoming {
    mcp_status status; /* of reading; unless MCP_OK there is nothing below but whole.message.id */
    mcp_error err;
    mcp__element whole;
    mcp__element
        *elements; /* of a batch that is neither empty nor too long; each has its own arena */
    size_t count;
} mcp__incoming;

/** Any thread. *out is always filled; end it with mcp__incoming_clear. The text is not kept.
 *  @param budget pays for the memory; NULL: nobody counts it */
void mcp__incoming_read(mcp__incoming *out, const mcp_server_options *options,
                        mcp__arena_budget *budget, const char *text, size_t length);

/** Free what was not taken. */
void mcp__incoming_clear(mcp__incoming *incoming);

/** A text that is read on a worker. */
typedef struct mcp__reading mcp__reading;
struct mcp__reading {
    mcp__task task; /* first */
    const mcp_server_options *options;
    mcp__arena_budget *budget;
    mcp_buf text; /* ended before `done` */
    mcp__incoming incoming;
    /** On the loop. Ends `incoming` and frees what the reading is part of. */
    void (*done)(mcp__reading *reading);
};

/** Read `text` on a worker, then call `done`. @return MCP_OK; else `done` will not be called, and
 *  `text` is ended */
mcp_status mcp__reading_start(mcp__reading *reading, mcp__executor *executor, mcp_error *err);

/* ---- a text that cannot be read: its id, and the repair of what people wrote in it ---------- */

/** A message's text, looked at once more. */
typedef struct mcp__message_scan {
    const char *
        /* the text of the top-level member `id`; NULL: none, or it is not one text of an object */
        id;
    size_t id_length;
    size_t repaired; /* escapes that were replaced */
} mcp__message_scan;

/**
 * Walk over a text that is JSON but for single values: escapes of one half of a surrogate pair,
 * numbers beyond a double, any depth. Such escapes become those of U+FFFD where people write: in
 * the values of params.arguments, params.argument and params.inputResponses, and in the result of a
 * response. They stay elsewhere.
 *
 * @param out  *out is always filled; its id is in `text`
 * @param text changed in place, its length stays
 */
void mcp__message_scan_text(mcp__message_scan *out, char *text, size_t length);

#endif
