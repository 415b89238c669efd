/*
 * span.c - from the end of a call to a span of OTLP, in its JSON form: ids in hexadecimal digits,
 * times as decimal strings, enumerations as numbers.
 */
#include "trace/span.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mcp/alloc.h"
#include "mcp/json.h"

#define KIND_SERVER 2
#define STATUS_ERROR 2
/* The flags of a span: its trace is sampled; whether its parent is remote is known, and it is. */
#define FLAGS 0x301

/* ---- a span ---------------------------------------------------------------------------------- */

/* As much as fits, cut between characters. */
static void copy(char *room, size_t size, const char *text)
{
    size_t length = text ? strnlen(text, size) : 0;

    if (length == size)
        for (length--; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    if (length > 0)
        memcpy(room, text, length);
    room[length] = '\0';
}

static void copy_id(trace_span *span, const mcp_json *id)
{
    int64_t number = 0;

    if (mcp_json_int(id, &number))
        (void)snprintf(span->request_id, sizeof span->request_id, "%" PRId64, number);
    else
        copy(span->request_id, sizeof span->request_id, mcp_json_string(id, NULL));
}

static int64_t wall_ns(void)
{
    struct timespec now = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

trace_span *trace_span_new(const mcp_call *call, const mcp_ended *ended)
{
    const mcp_trace *trace = mcp_call_trace(call);
    const char *state = trace->tracestate ? trace->tracestate : "";
    size_t length = strlen(state);
    trace_span *span = mcp_alloc(sizeof *span + length + 1);

    if (!span)
        return NULL;
    memcpy(span->trace_id, trace->trace_id, sizeof span->trace_id);
    memcpy(span->span_id, trace->span_id, sizeof span->span_id);
    memcpy(span->parent_id, trace->parent_id, sizeof span->parent_id);
    memcpy(span->tracestate, state, length + 1);
    span->ended_ns = wall_ns();
    span->began_ns = span->ended_ns - ended->duration_ns;
    span->is_route = ended->is_route;
    span->revision = ended->is_route ? NULL : mcp_revision_name(mcp_call_revision(call));
    span->transport = ended->transport;
    copy(span->method, sizeof span->method, ended->method);
    copy(span->target, sizeof span->target, ended->name);
    copy(span->error_type, sizeof span->error_type, ended->error_type);
    copy(span->session_id, sizeof span->session_id, ended->session_id);
    copy_id(span, ended->is_route || ended->is_task ? NULL : mcp_call_id(call));
    return span;
}

/* ---- OTLP ------------------------------------------------------------------------------------ */

static void put_attribute(mcp_json_writer *json, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    mcp_write_object(json);
    mcp_write_member_string(json, "key", key);
    mcp_write_member_object(json, "value");
    mcp_write_member_string(json, "stringValue", text);
    mcp_write_end(json);
    mcp_write_end(json);
}

/* 64 bits are a decimal string in the JSON form; a time after 1970 has no sign. */
static void put_time(mcp_json_writer *json, const char *name, int64_t ns)
{
    char digits[24];
    size_t at = sizeof digits;

    for (uint64_t left = ns > 0 ? (uint64_t)ns : 0; left > 0 || at == sizeof digits; left /= 10)
        digits[--at] = (char)('0' + left % 10);
    mcp_write_name(json, name);
    mcp_write_string_n(json, digits + at, sizeof digits - at);
}

static void put_attributes(mcp_json_writer *json, const trace_span *span)
{
    bool is_tool = !span->is_route && span->target[0];

    mcp_write_member_array(json, "attributes");
    put_attribute(json, span->is_route ? "http.request.method" : "mcp.method.name", span->method);
    if (span->is_route)
        put_attribute(json, "http.route", span->target);
    if (is_tool)
        put_attribute(json, "gen_ai.tool.name", span->target);
    if (is_tool)
        put_attribute(json, "gen_ai.operation.name", "execute_tool");
    put_attribute(json, "mcp.protocol.version", span->revision);
    put_attribute(json, "mcp.session.id", span->session_id);
    put_attribute(json, "jsonrpc.request.id", span->request_id);
    put_attribute(json, "network.transport", span->transport);
    put_attribute(json, "error.type", span->error_type);
    mcp_write_end(json);
}

/* A client's own mistake is no error of a route (the conventions for HTTP). */
static bool is_error(const trace_span *span)
{
    return span->error_type[0] && (!span->is_route || span->error_type[0] == '5');
}

static void put_span(mcp_json_writer *json, const trace_span *span)
{
    char name[sizeof span->method + sizeof span->target];

    (void)snprintf(name, sizeof name, "%s%s%s", span->method, span->target[0] ? " " : "",
                   span->target);
    mcp_write_object(json);
    mcp_write_member_string(json, "traceId", span->trace_id);
    mcp_write_member_string(json, "spanId", span->span_id);
    mcp_write_member_string(json, "parentSpanId", span->parent_id);
    if (span->tracestate[0])
        mcp_write_member_string(json, "traceState", span->tracestate);
    mcp_write_member_int(json, "flags", FLAGS);
    mcp_write_member_string(json, "name", name);
    mcp_write_member_int(json, "kind", KIND_SERVER);
    put_time(json, "startTimeUnixNano", span->began_ns);
    put_time(json, "endTimeUnixNano", span->ended_ns);
    put_attributes(json, span);
    mcp_write_member_object(json, "status");
    if (is_error(span))
        mcp_write_member_int(json, "code", STATUS_ERROR);
    mcp_write_end(json);
    mcp_write_end(json);
}

mcp_status trace_spans_write(mcp_buf *out, const trace_spans *spans, const char *service,
                             const char *version)
{
    const trace_span *span;
    mcp_json_writer json;

    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_array(&json, "resourceSpans");
    mcp_write_object(&json);
    mcp_write_member_object(&json, "resource");
    mcp_write_member_array(&json, "attributes");
    put_attribute(&json, "service.name", service);
    put_attribute(&json, "service.version", version);
    mcp_write_end(&json);
    mcp_write_end(&json);
    mcp_write_member_array(&json, "scopeSpans");
    mcp_write_object(&json);
    mcp_write_member_object(&json, "scope");
    mcp_write_member_string(&json, "name", "libmcp");
    mcp_write_member_string(&json, "version", mcp_version());
    mcp_write_end(&json);
    mcp_write_member_array(&json, "spans");
    STAILQ_FOREACH(span, spans, link)
    put_span(&json, span);
    while (json.depth > 0 && json.status == MCP_OK)
        mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}
