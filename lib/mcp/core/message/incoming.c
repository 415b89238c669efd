/*
 * incoming.c - reading a message's text, and the elements of a batch apart.
 *
 * The calls of a batch live as long as each of them needs, so each element gets an arena of its
 * own: its text is written once more and parsed again. The steps of the whole batch are those of
 * one message: the base is divided among its elements, and each has those of its own bytes.
 */
#include "mcp/core/message/incoming.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/message/batch.h"
#include "mcp/core/message/message_scan.h"
#include "json/json_int.h"

/* Escapes may come out longer than they came in. */
#define REWRITTEN 2

#define ID_ARENA_MAX (MCP__ID_MAX * 16)

static mcp__element element_of(size_t length, size_t among)
{
    return (mcp__element){
        .length = length,
        .steps = mcp__steps_for(length, among),
        .message.kind = MCP__INVALID,
        .fault = MCP_ERROR_INIT,
    };
}

static void read_element(mcp__element *out, const mcp_server_options *options,
                         mcp__arena_budget *budget, const mcp_json *value, size_t among)
{
    mcp_arena *arena = mcp__arena_new_within(options->limits.arena_max_bytes, budget);
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, options->limits.message_max_bytes * REWRITTEN);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, value);
    *out = element_of(text.length, among);
    if (arena && mcp_json_writer_status(&writer) == MCP_OK)
        (void)mcp_json_read(&out->value, arena, text.data, text.length, NULL);
    mcp_buf_clear(&text);
    if (!out->value) {
        mcp_arena_free(arena);
        return;
    }
    out->arena = arena;
    (void)mcp__message_sort(&out->message, out->value, &out->fault);
}

static void read_batch(mcp__incoming *out, const mcp_server_options *options,
                       mcp__arena_budget *budget)
{
    size_t count = mcp_json_count(out->whole.value);

    if (count == 0 || count > MCP__BATCH_MAX)
        return;
    out->elements = mcp_arena_array(out->whole.arena, count, sizeof *out->elements);
    if (!out->elements) {
        out->status = mcp_error_set(&out->err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM));
        return;
    }
    out->count = count;
    for (size_t i = 0; i < count; i++)
        read_element(&out->elements[i], options, budget, mcp_json_item(out->whole.value, i), count);
}

/* Whether the structure of a refused text is right: then its id can be found. */
static bool has_structure(mcp_status st, const char *text, size_t length)
{
    mcp__json_fault fault;

    return st != MCP_E_PARSE || mcp__json_scan(text, length, &fault) || fault.is_of_value;
}

/* In an arena of its own: that of the message may be full. */
static void keep_id(mcp__incoming *out, const mcp__message_scan *scan)
{
    mcp_arena *arena = mcp_arena_new(ID_ARENA_MAX);
    const mcp_json *id = NULL;

    if (!arena || mcp_json_read(&id, arena, scan->id, scan->id_length, NULL) != MCP_OK ||
        !mcp__message_is_id(id)) {
        mcp_arena_free(arena);
        return;
    }
    mcp_arena_free(out->whole.arena);
    out->whole.arena = arena;
    out->whole.message.id = id;
}

/* A text was refused: read it again with its escapes repaired, or else find the id for the
 * error. */
static void read_again(mcp__incoming *out, const mcp_server_options *options,
                       mcp__arena_budget *budget, const char *text, size_t length)
{
    mcp__message_scan scan;
    char *copy = has_structure(out->status, text, length) ? mcp_alloc(length + 1) : NULL;

    if (!copy)
        return;
    memcpy(copy, text, length);
    mcp__message_scan_text(&scan, copy, length);
    mcp_arena *arena = scan.repaired > 0
                           ? mcp__arena_new_within(options->limits.arena_max_bytes, budget)
                           : NULL;
    if (arena) {
        mcp_arena_free(out->whole.arena);
        out->whole.arena = arena;
        out->err = (mcp_error)MCP_ERROR_INIT;
        out->status = mcp__message_read(&out->whole.value, arena, copy, length, &out->err);
    }
    if (out->status != MCP_OK && scan.id && has_structure(out->status, copy, length))
        keep_id(out, &scan);
    free(copy);
}

void mcp__incoming_read(mcp__incoming *out, const mcp_server_options *options,
                        mcp__arena_budget *budget, const char *text, size_t length)
{
    *out = (mcp__incoming){ .err = MCP_ERROR_INIT, .whole = element_of(length, 1) };
    out->whole.arena = mcp__arena_new_within(options->limits.arena_max_bytes, budget);
    if (!out->whole.arena)
        out->status = mcp_error_set(&out->err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM));
    else
        out->status = mcp__message_read(&out->whole.value, out->whole.arena, text, length,
                                        &out->err);
    if (out->status != MCP_OK)
        read_again(out, options, budget, text, length);
    if (out->status != MCP_OK)
        return;
    if (mcp_json_is_array(out->whole.value))
        read_batch(out, options, budget);
    else
        (void)mcp__message_sort(&out->whole.message, out->whole.value, &out->whole.fault);
}

void mcp__incoming_clear(mcp__incoming *incoming)
{
    for (size_t i = 0; i < incoming->count; i++)
        mcp_arena_free(incoming->elements[i].arena);
    mcp_arena_free(incoming->whole.arena);
    incoming->whole.arena = NULL;
    incoming->elements = NULL;
    incoming->count = 0;
}

/* ---- on a worker ----------------------------------------------------------------------------- */

static bool work(mcp__task *task)
{
    mcp__reading *reading = (mcp__reading *)task;

    mcp__incoming_read(&reading->incoming, reading->options, reading->budget, reading->text.data,
                       reading->text.length);
    mcp_buf_clear(&reading->text);
    return true;
}

static void done(mcp__task *task)
{
    mcp__reading *reading = (mcp__reading *)task;

    reading->done(reading);
}

mcp_status mcp__reading_start(mcp__reading *reading, mcp__executor *executor, mcp_error *err)
{
    reading->task.work = work;
    reading->task.done = done;
    mcp_status st = executor->submit(executor, &reading->task, MCP__LANE_READ, err);
    if (st != MCP_OK)
        mcp_buf_clear(&reading->text);
    return st;
}
