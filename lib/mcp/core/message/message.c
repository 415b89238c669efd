/*
 * message.c - from a text to JSON-RPC 2.0: request, notification, response, batch, or an error.
 *
 * Strict where a second reader (a proxy, a log) could understand something else than we do: members
 * that occur twice in the envelope, in params or in _meta are refused, and so is an id that is no
 * string and no integer. Lenient where it costs nothing: members we do not know are passed over. An
 * id is kept as the value it was, so that 1 and "1" stay different and come back as they were.
 *
 * The calls of a batch live as long as each of them needs, so each element gets an arena of its
 * own: its text is written once more and parsed again. The steps of the whole batch are those of
 * one message: the base is divided among its elements, and each has those of its own bytes.
 *
 * A text that mcp_json_read refuses is looked at once more. JavaScript sends one half of a
 * surrogate pair as an escape when it cuts a text inside of it, and a client that gets no answer
 * with its id waits for its own time limit. So the id is found by the structure alone: strings,
 * brackets, and the names of the two upper levels. Nothing recurses, so any depth is fine.
 */
#include "mcp/core/message/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "json/json_int.h"

/* Escapes may come out longer than they came in. */
#define REWRITTEN 2

#define ID_ARENA_MAX (MCP__ID_MAX * 16)

/* ---- a value's kind -------------------------------------------------------------------------- */

mcp_status mcp__message_read(const mcp_json **out, mcp_arena *arena, const char *text,
                             size_t length, mcp_error *err)
{
    mcp_error reason = MCP_ERROR_INIT;
    mcp_status st = mcp_json_read(out, arena, text, length, &reason);

    if (st == MCP_OK || st == MCP_E_NOMEM || st == MCP_E_PARSE) {
        if (err && st != MCP_OK)
            *err = reason;
        return st;
    }
    if (st == MCP_E_BUSY)
        return mcp_error_set(err, st, "%s", mcp_status_words(st));
    /* Nested too deep, or larger in memory than a message may be: no JSON to us. */
    return mcp_error_set(err, MCP_E_PARSE, "%s", reason.message);
}

const mcp_json *mcp__message_copy(mcp_arena *arena, const mcp_json *value, size_t max_bytes,
                                  size_t *length)
{
    const mcp_json *copy = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, max_bytes);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, value);
    if (arena && mcp_json_writer_status(&writer) == MCP_OK)
        (void)mcp_json_read(&copy, arena, text.data, text.length, NULL);
    if (length)
        *length = text.length;
    mcp_buf_clear(&text);
    return copy;
}

/* Whether a value is NULL, or an object that has each member once. */
static mcp_status check_object(const mcp_json *value, const char *where, mcp_status status,
                               mcp_error *err)
{
    if (value && !mcp_json_is_object(value))
        return mcp_error_set(err, status, "%s must be an object", where);
    if (mcp_json_duplicate(value))
        return mcp_error_set(err, MCP_E_REQUEST, "a member occurs twice in %s", where);
    return MCP_OK;
}

bool mcp__message_is_id(const mcp_json *value)
{
    mcp_json_type type = mcp_json_type_of(value);
    size_t length = 0;

    if (mcp_json_string(value, &length))
        return length <= MCP__ID_MAX;
    return type == MCP_JSON_INT || type == MCP_JSON_UINT;
}

/* Why a value is no id. An integer that was read as a double cannot come back as it was. */
static mcp_status refuse_id(const mcp_json *value, mcp_status status, const char *name,
                            mcp_error *err)
{
    double number = 0;

    if (mcp_json_is_string(value))
        return mcp_error_set(err, status, "%s may have %zu bytes at most", name, MCP__ID_MAX);
    if (mcp_json_type_of(value) == MCP_JSON_DOUBLE && mcp_json_double(value, &number) &&
        fabs(number) >= 0x1p63)
        return mcp_error_set(err, MCP_E_PARSE, "%s is beyond 64 bits", name);
    return mcp_error_set(err, status, "%s must be a string or an integer", name);
}

static mcp_status sort_params(mcp__message *out, const mcp_json *value, mcp_error *err)
{
    const mcp_json *params = mcp_json_get(value, "params");
    const mcp_json *meta = mcp_json_get(params, "_meta");
    const mcp_json *token = mcp_json_get(meta, "progressToken");
    mcp_status st = check_object(params, "params", MCP_E_REQUEST, err);

    if (st == MCP_OK)
        st = check_object(meta, "params._meta", MCP_E_ENVELOPE, err);
    if (st != MCP_OK)
        return st;
    out->params = params;
    out->meta = meta;
    if (token && !mcp__message_is_id(token))
        return refuse_id(token, MCP_E_ENVELOPE, "_meta.progressToken", err);
    return MCP_OK;
}

static mcp_status sort_call(mcp__message *out, const mcp_json *value, mcp_error *err)
{
    const mcp_json *method = mcp_json_get(value, "method");
    size_t length = 0;
    const char *name = mcp_json_string(method, &length);

    if (!name || strlen(name) != length)
        return mcp_error_set(err, MCP_E_REQUEST, "method must be a string");
    out->method = name;
    mcp_status st = sort_params(out, value, err);
    if (st == MCP_OK)
        out->kind = mcp_json_get(value, "id") ? MCP__REQUEST : MCP__NOTIFICATION;
    return st;
}

mcp_status mcp__message_sort(mcp__message *out, const mcp_json *value, mcp_error *err)
{
    const mcp_json *id = mcp_json_get(value, "id");
    size_t length = 0;
    const char *version = mcp_json_string(mcp_json_get(value, "jsonrpc"), &length);

    *out = (mcp__message){ .kind = MCP__INVALID };
    if (!mcp_json_is_object(value))
        return mcp_error_set(err, MCP_E_REQUEST, "a message must be an object");
    mcp_status st = check_object(value, "the message", MCP_E_REQUEST, err);
    if (st != MCP_OK)
        return st;
    if (mcp__message_is_id(id))
        out->id = id;
    if (!version || length != 3 || memcmp(version, "2.0", 3) != 0)
        return mcp_error_set(err, MCP_E_REQUEST, "jsonrpc must be \"2.0\"");
    if (!mcp_json_get(value, "method") &&
        (mcp_json_get(value, "result") || mcp_json_get(value, "error"))) {
        out->kind = MCP__RESPONSE;
        return MCP_OK;
    }
    if (id && !out->id)
        return refuse_id(id, MCP_E_REQUEST, "id", err);
    if (!mcp_json_get(value, "method"))
        return mcp_error_set(err, MCP_E_REQUEST, "a message needs a method");
    return sort_call(out, value, err);
}

/* ---- a text that is no JSON to us ------------------------------------------------------------ */

/* One of the two upper levels. */
struct level {
    bool is_object;
    bool expects_name;
    size_t name, name_length; /* the member that is being read; where in the text */
};

struct scan {
    mcp__message_scan *out;
    char *text;
    size_t length;
    size_t at;
    size_t depth;
    bool is_over;           /* the value of the message has ended */
    struct level levels[3]; /* [0]: unused */
};

/* The level that is being read; NULL below the upper two. */
static struct level *level_of(struct scan *in)
{
    return in->depth == 1 || in->depth == 2 ? &in->levels[in->depth] : NULL;
}

static bool is_name(const struct scan *in, const struct level *level, const char *name)
{
    return level->is_object && !level->expects_name && level->name_length == strlen(name) &&
           memcmp(in->text + level->name, name, level->name_length) == 0;
}

/* Whether a person wrote the string that is being read. */
static bool is_written(const struct scan *in)
{
    static const char *const members[] = { "arguments", "argument", "inputResponses" };

    if (in->depth < 2)
        return false;
    if (is_name(in, &in->levels[1], "result"))
        return true;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (is_name(in, &in->levels[1], "params") && is_name(in, &in->levels[2], members[i]))
            return true;
    return false;
}

/* The unit of an escape \uXXXX at `at`; 0: there is none. */
static unsigned unit_at(const struct scan *in, size_t at)
{
    unsigned unit = 0;

    if (at + 6 > in->length || in->text[at] != '\\' || in->text[at + 1] != 'u')
        return 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        unsigned char digit = (unsigned char)in->text[i];
        unsigned char letter = digit | 0x20;
        if (digit >= '0' && digit <= '9')
            unit = unit * 16 + (digit - '0');
        else if (letter >= 'a' && letter <= 'f')
            unit = unit * 16 + (letter - 'a' + 10u);
        else
            return 0;
    }
    return unit;
}

/* At a backslash in a string. */
static void scan_escape(struct scan *in)
{
    unsigned unit = unit_at(in, in->at);
    unsigned next = unit >= 0xD800 && unit <= 0xDBFF ? unit_at(in, in->at + 6) : 0;

    if (next >= 0xDC00 && next <= 0xDFFF) {
        in->at += 12;
        return;
    }
    if (unit >= 0xD800 && unit <= 0xDFFF && is_written(in)) {
        memcpy(in->text + in->at + 2, "FFFD", 4);
        in->out->repaired++;
    }
    in->at += unit != 0 ? 6 : 2;
}

static void scan_string(struct scan *in)
{
    size_t begin = ++in->at;

    while (in->at < in->length && in->text[in->at] != '"') {
        if (in->text[in->at] == '\\')
            scan_escape(in);
        else
            in->at++;
    }
    struct level *level = level_of(in);
    if (level && level->is_object && level->expects_name) {
        level->name = begin;
        level->name_length = in->at < in->length ? in->at - begin : 0;
    }
    in->at++;
}

/* The first byte of a value at the top, which may be that of the id. */
static void scan_scalar(struct scan *in)
{
    size_t begin = in->at;
    bool is_id = in->depth == 1 && is_name(in, &in->levels[1], "id");

    if (in->text[in->at] == '"')
        scan_string(in);
    else
        while (++in->at < in->length && !strchr(" \t\r\n,:]}[{\"", in->text[in->at])) {
        }
    if (is_id && !in->out->id && in->at <= in->length) {
        in->out->id = in->text + begin;
        in->out->id_length = in->at - begin;
    }
}

static void scan_byte(struct scan *in)
{
    char byte = in->text[in->at];
    struct level *level = level_of(in);

    if (byte == '\0' || !strchr(" \t\r\n,:]}[{", byte)) {
        scan_scalar(in);
        return;
    }
    in->at++;
    if (byte == '{' || byte == '[') {
        in->depth++;
        if (in->depth <= 2)
            in->levels[in->depth] = (struct level){ byte == '{', byte == '{', 0, 0 };
    } else if (byte == '}' || byte == ']') {
        in->depth--;
        in->is_over = in->depth == 0;
    } else if (level && (byte == ':' || byte == ',')) {
        level->expects_name = byte == ',' && level->is_object;
    }
}

void mcp__message_scan_text(mcp__message_scan *out, char *text, size_t length)
{
    struct scan in = { .out = out, .text = text, .length = length };

    *out = (mcp__message_scan){ .id = NULL };
    while (in.at < length && text[in.at] != '{' && strchr(" \t\r\n", text[in.at]))
        in.at++;
    if (in.at == length || text[in.at] != '{')
        return;
    while (in.at < length && !in.is_over)
        scan_byte(&in);
    if (!in.is_over)
        out->id = NULL; /* a message that has no end has no id */
}

/* ---- reading --------------------------------------------------------------------------------- */

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
    size_t length = 0;
    const mcp_json *copy = mcp__message_copy(
        arena, value, options->limits.message_max_bytes * REWRITTEN, &length);

    *out = element_of(length, among);
    if (!copy) {
        mcp_arena_free(arena);
        return;
    }
    out->arena = arena;
    out->value = copy;
    (void)mcp__message_sort(&out->message, copy, &out->fault);
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
