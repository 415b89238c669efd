/*
 * incoming.c - reading a message's text, and the elements of a batch apart.
 *
 * The calls of a batch live as long as each of them needs, so each element gets an arena of its own: its
 * text is written once more and read anew. The steps of the whole batch are those of one message: the base
 * is divided among its elements, and each has those of its own bytes.
 */
#include "mcp/core/incoming.h"

#include "mcp/core/batch.h"

/* Escapes may come out longer than they came in. */
#define REWRITTEN 2

static mcp__element element_of(size_t length, size_t among)
{
    return (mcp__element){
        .length = length,
        .steps = MCP__STEPS_BASE / among + MCP__STEPS_A_BYTE * length,
        .steps_on_loop = MCP__STEPS_ON_LOOP / among,
        .message.kind = MCP__INVALID,
        .fault = MCP_ERROR_INIT,
    };
}

static void read_element(mcp__element *out, const mcp_server_options *options,
                         mcp__arena_budget *budget, const mcp_json *value, size_t among)
{
    mcp_arena *arena = mcp__arena_new_within(options->arena_max_bytes, budget);
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, options->message_max_bytes * REWRITTEN);
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
    out->elements = mcp_arena_array(out->whole.arena, count, sizeof(*out->elements));
    if (!out->elements) {
        out->status = mcp_error_set(&out->err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM));
        return;
    }
    out->count = count;
    for (size_t i = 0; i < count; i++)
        read_element(&out->elements[i], options, budget, mcp_json_item(out->whole.value, i), count);
}

void mcp__incoming_read(mcp__incoming *out, const mcp_server_options *options,
                        mcp__arena_budget *budget, const char *text, size_t length)
{
    *out = (mcp__incoming){ .err = MCP_ERROR_INIT, .whole = element_of(length, 1) };
    out->whole.arena = mcp__arena_new_within(options->arena_max_bytes, budget);
    if (!out->whole.arena)
        out->status = mcp_error_set(&out->err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM));
    else
        out->status = mcp__message_read(&out->whole.value, out->whole.arena, text, length,
                                        &out->err);
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

/* ---- on a worker ------------------------------------------------------------------------------ */

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

mcp_status mcp__reading_init(mcp__reading *reading, const mcp_server_options *options,
                             mcp__arena_budget *budget, const char *text, size_t length,
                             mcp_error *err)
{
    reading->options = options;
    reading->budget = budget;
    mcp_buf_init(&reading->text, options->message_max_bytes);
    mcp_status st = mcp_buf_append(&reading->text, text, length);
    if (st == MCP_OK)
        return MCP_OK;
    mcp_buf_clear(&reading->text);
    return mcp_error_set(err, st, "no memory to read a message");
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
