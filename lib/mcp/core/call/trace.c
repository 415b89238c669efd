/*
 * trace.c - traceparent, tracestate and baggage: bytes of a client's, read by the grammars of W3C
 * Trace Context (level 2) and W3C Baggage.
 *
 * A trace is there to observe a call, so it never fails one: what is invalid is ignored. Without a
 * valid traceparent there is no trace, and nothing is begun in its place. tracestate and baggage
 * are of the same source as the traceparent that they belong to.
 */
#include "mcp/core/call/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mcp/random.h"
#include "net/http.h"

/* "00-<32>-<16>-<2>" */
#define VERSION_00_LENGTH ((size_t)55)
#define TRACE_AT 3
#define PARENT_AT 36
#define FLAGS_AT 53

#define FLAG_SAMPLED 0x01U
#define FLAG_RANDOM 0x02U

#define STATES_MAX 32
#define STATE_PART_MAX 256
#define LINE_MAX_BYTES 900 /* of a line, so that the ids behind it are never cut */

/* ---- traceparent ----------------------------------------------------------------------------- */

/* Upper case is invalid. */
static bool is_hex(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    return true;
}

/* An id of zeros alone is invalid. */
static bool is_id(const char *text, size_t length)
{
    size_t zeros = 0;

    while (zeros < length && text[zeros] == '0')
        zeros++;
    return zeros < length && is_hex(text, length);
}

static unsigned digit(char hex)
{
    return (unsigned)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

bool mcp__traceparent_read(mcp_trace *out, const char *text, size_t length)
{
    if (length < VERSION_00_LENGTH || !is_hex(text, 2) || memcmp(text, "ff", 2) == 0 ||
        text[TRACE_AT - 1] != '-' || !is_id(text + TRACE_AT, MCP_TRACE_ID_SIZE - 1) ||
        text[PARENT_AT - 1] != '-' || !is_id(text + PARENT_AT, MCP_SPAN_ID_SIZE - 1) ||
        text[FLAGS_AT - 1] != '-' || !is_hex(text + FLAGS_AT, 2))
        return false;
    bool is_00 = memcmp(text, "00", 2) == 0;
    if (length > VERSION_00_LENGTH && (is_00 || text[VERSION_00_LENGTH] != '-'))
        return false;
    unsigned flags = digit(text[FLAGS_AT]) << 4U | digit(text[FLAGS_AT + 1]);
    flags &= is_00 ? FLAG_SAMPLED | FLAG_RANDOM : FLAG_SAMPLED;
    memcpy(out->trace_id, text + TRACE_AT, MCP_TRACE_ID_SIZE - 1);
    out->trace_id[MCP_TRACE_ID_SIZE - 1] = '\0';
    memcpy(out->parent_id, text + PARENT_AT, MCP_SPAN_ID_SIZE - 1);
    out->parent_id[MCP_SPAN_ID_SIZE - 1] = '\0';
    out->is_sampled = (flags & FLAG_SAMPLED) != 0;
    memcpy(out->traceparent, text, VERSION_00_LENGTH);
    memcpy(out->traceparent, "00", 2);
    out->traceparent[FLAGS_AT] = '0';
    out->traceparent[FLAGS_AT + 1] = (char)('0' + flags);
    out->traceparent[VERSION_00_LENGTH] = '\0';
    return true;
}

/* One call of the kernel is for many ids. @return 0: it gives none */
static uint64_t next_id(mcp__span_ids *ids)
{
    uint64_t id = 0;

    while (id == 0) {
        if (ids->count == 0 && mcp_random_bytes(ids->next, sizeof ids->next, NULL) != MCP_OK)
            return 0;
        if (ids->count == 0)
            ids->count = MCP__SPAN_IDS;
        id = ids->next[--ids->count];
    }
    return id;
}

/* The span of the call takes the place of its parent. */
static bool begin_span(mcp_trace *trace, mcp__span_ids *ids)
{
    uint64_t id = next_id(ids);

    for (size_t i = MCP_SPAN_ID_SIZE - 1; i > 0; i--, id >>= 4U)
        trace->span_id[i - 1] = "0123456789abcdef"[id & 15U];
    trace->span_id[MCP_SPAN_ID_SIZE - 1] = '\0';
    memcpy(trace->traceparent + PARENT_AT, trace->span_id, MCP_SPAN_ID_SIZE - 1);
    return is_id(trace->span_id, MCP_SPAN_ID_SIZE - 1);
}

/* ---- lists of tracestate and baggage --------------------------------------------------------- */

/* A piece of a text. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static piece trim(piece text)
{
    while (text.length > 0 && is_blank(text.at[0]))
        text = (piece){ text.at + 1, text.length - 1 };
    while (text.length > 0 && is_blank(text.at[text.length - 1]))
        text.length--;
    return text;
}

/* Cut off what is before the next separator, or all. @return false: there is nothing left */
static bool next_piece(piece *out, piece *rest, char separator)
{
    if (!rest->at)
        return false;
    const char *end = memchr(rest->at, separator, rest->length);
    size_t length = end ? (size_t)(end - rest->at) : rest->length;
    *out = trim((piece){ rest->at, length });
    *rest = end ? (piece){ end + 1, rest->length - length - 1 } : (piece){ NULL, 0 };
    return true;
}

static bool is_state_key(piece key)
{
    if (key.length == 0 || key.length > STATE_PART_MAX)
        return false;
    for (size_t i = 0; i < key.length; i++) {
        char c = key.at[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!is_plain && (i == 0 || c == '\0' || !strchr("_-*/@", c)))
            return false;
    }
    return true;
}

static bool is_state_value(piece value)
{
    if (value.length == 0 || value.length > STATE_PART_MAX)
        return false;
    for (size_t i = 0; i < value.length; i++)
        if (value.at[i] < 0x20 || value.at[i] > 0x7e || value.at[i] == '=')
            return false;
    return true;
}

bool mcp__tracestate_is_valid(const char *text, size_t length)
{
    piece rest = { text, length }, member;
    size_t count = 0;

    if (!text || length > MCP__TRACESTATE_MAX)
        return false;
    while (next_piece(&member, &rest, ',')) {
        const char *equals = memchr(member.at, '=', member.length);
        if (member.length == 0)
            continue; /* may be empty */
        size_t key = equals ? (size_t)(equals - member.at) : 0;
        if (++count > STATES_MAX || !equals || !is_state_key((piece){ member.at, key }) ||
            !is_state_value((piece){ equals + 1, member.length - key - 1 }))
            return false;
    }
    return count > 0;
}

/* "key = value"; a property may be a key alone. */
static bool is_pair(piece pair, bool needs_value)
{
    const char *equals = memchr(pair.at, '=', pair.length);
    size_t key_length = equals ? (size_t)(equals - pair.at) : pair.length;
    piece key = trim((piece){ pair.at, key_length }), value = { NULL, 0 };

    if (equals)
        value = trim((piece){ equals + 1, pair.length - key_length - 1 });
    if (!mcp__http_is_token(key.at, key.length) || (needs_value && !equals))
        return false;
    for (size_t i = 0; i < value.length; i++) {
        char c = value.at[i];
        if (c <= 0x20 || c > 0x7e || c == '"' || c == ',' || c == ';' || c == '\\')
            return false;
    }
    return true;
}

bool mcp__baggage_is_valid(const char *text, size_t length)
{
    piece rest = { text, length }, member, pair;

    if (!text || length > MCP__BAGGAGE_MAX)
        return false;
    while (next_piece(&member, &rest, ',')) {
        bool is_first = true;
        while (next_piece(&pair, &member, ';')) {
            if (!is_pair(pair, is_first))
                return false;
            is_first = false;
        }
    }
    return true;
}

/* ---- the trace of a call --------------------------------------------------------------------- */

/* What one source says. A text that is absent is NULL. */
struct given {
    piece parent, state, baggage;
};

static piece string_of(const mcp_json *meta, const char *name)
{
    piece text = { NULL, 0 };

    text.at = mcp_json_string(mcp_json_get(meta, name), &text.length);
    return text;
}

static piece text_of(const char *text)
{
    return (piece){ text, text ? strlen(text) : 0 };
}

static struct given of_meta(const mcp_json *meta)
{
    return (struct given){ string_of(meta, "traceparent"), string_of(meta, "tracestate"),
                           string_of(meta, "baggage") };
}

/* A traceparent that comes twice is invalid; the others are lists and may come in parts. */
static struct given of_headers(const mcp__headers *headers, mcp_arena *arena)
{
    struct given given = { .parent = { NULL, 0 } };
    size_t count = 0;
    const char *parent = headers->field(headers, "traceparent", &count);

    if (count != 1 || !parent)
        return given;
    given.parent = text_of(parent);
    if (!headers->list)
        return given;
    given.state = text_of(headers->list(headers, "tracestate", arena));
    given.baggage = text_of(headers->list(headers, "baggage", arena));
    return given;
}

static bool read_trace(mcp_trace *out, const struct given *given, mcp__span_ids *ids)
{
    if (!given->parent.at || !mcp__traceparent_read(out, given->parent.at, given->parent.length) ||
        !begin_span(out, ids))
        return false;
    if (mcp__tracestate_is_valid(given->state.at, given->state.length))
        out->tracestate = given->state.at;
    if (mcp__baggage_is_valid(given->baggage.at, given->baggage.length))
        out->baggage = given->baggage.at;
    return true;
}

void mcp__trace_open(mcp_call *call, const mcp__headers *headers)
{
    struct given given = of_meta(call->request.meta);
    mcp_trace trace = { .tracestate = NULL };

    bool is_found = read_trace(&trace, &given, call->context->span_ids);
    if (!is_found && headers) {
        given = of_headers(headers, call->arena);
        is_found = read_trace(&trace, &given, call->context->span_ids);
    }
    mcp_trace *kept = is_found ? mcp_arena_alloc(call->arena, sizeof *kept) : NULL;
    if (kept)
        *kept = trace;
    call->request.trace = kept;
}

const mcp_trace *mcp_call_trace(const mcp_call *call)
{
    return call->request.trace;
}

void mcp__trace_write(const mcp_call *call, const mcp_json *meta, mcp_json_writer *writer)
{
    const mcp_trace *trace = call->request.trace;

    if (!trace || mcp_json_get(meta, "traceparent"))
        return;
    mcp_write_member_string(writer, "traceparent", trace->traceparent);
    if (trace->tracestate && !mcp_json_get(meta, "tracestate"))
        mcp_write_member_string(writer, "tracestate", trace->tracestate);
    if (trace->baggage && !mcp_json_get(meta, "baggage"))
        mcp_write_member_string(writer, "baggage", trace->baggage);
}

/* ---- log lines ------------------------------------------------------------------------------- */

void mcp_call_log_line(const mcp_call *call, mcp_log_level level, const char *format, ...)
{
    const mcp_log *log = &call->context->options->log;
    const mcp_trace *trace = call->request.trace;
    char line[LINE_MAX_BYTES];
    va_list arguments;

    if (!log->sink || level > log->level)
        return;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if (trace)
        mcp_log_write(log, level, "%s trace_id=%s span_id=%s", line, trace->trace_id,
                      trace->span_id);
    else
        mcp_log_write(log, level, "%s", line);
}
