/*
 * errors.c - error records as answers to tool calls.
 *
 * A record is one JSON object in one text block. Arguments that do not fit a tool's schema are told
 * in the same vocabulary as a broken case: the schema keyword at fault decides the kind.
 */
#include "errors.h"

#include <string.h>

#include "validate/text.h"

#define RECORD_MAX ((size_t)1 << 20)
#define CASE_RECORD_MAX ((size_t)12 << 20) /* the reply holds it as text, within 16 MiB */
#define SHOWN_MAX 1024                     /* of a value that a client sent */

static mcp_status refuse_with(mcp_call *call, mcp_buf *text, mcp_json_writer *writer)
{
    mcp_status st = mcp_json_writer_status(writer);
    if (st == MCP_OK)
        st = mcp_call_refuse_text(call, text->data, text->length);
    else
        mcp_error_set(mcp_call_error(call), st, "the error record cannot be written");
    mcp_buf_clear(text);
    return st;
}

mcp_status cobre_refuse(mcp_call *call, const cobre_record *record)
{
    if (!record)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the error record");
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, RECORD_MAX);
    mcp_json_writer_init(&writer, &text);
    cobre_record_write(record, &writer);
    return refuse_with(call, &text, &writer);
}

mcp_status cobre_refuse_case(mcp_call *call, const cobre_report *report)
{
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, CASE_RECORD_MAX);
    mcp_json_writer_init(&writer, &text);
    cobre_report_write_failure(report, &writer);
    return refuse_with(call, &text, &writer);
}

/* ---- arguments that do not fit --------------------------------------------------------------- */

/* The schema keyword at fault, the kind it is told as, and what the two values are called there. */
static const struct rule {
    const char *keyword, *kind, *expected, *actual;
} rules[] = {
    { "type", "TypeMismatch", "expected_type", "actual_type" },
    { "minimum", "OutOfRange", "min", "value" },
    { "maximum", "OutOfRange", "max", "value" },
    { "enum", "InvalidEnum", "allowed_values", "value" },
    { "", "SchemaViolation", "expected", "actual" },
};

static const struct rule *rule_find(const char *keyword)
{
    const struct rule *rule = rules;
    while (*rule->keyword && strcmp(rule->keyword, keyword) != 0)
        rule++;
    return rule;
}

/* "/filters/limit" and "x" become "filters.limit.x". */
static const char *field_name(mcp_arena *arena, const mcp_schema_finding *finding)
{
    const char *path = finding->instance_path ? finding->instance_path : "";
    const char *property = finding->property ? finding->property : "";
    char *name = mcp_arena_printf(arena, "%s%s%s", *path ? path + 1 : "",
                                  *path && *property ? "/" : "", property);
    for (char *c = name; c && *c; c++)
        if (*c == '/')
            *c = '.';
    return cobre_text_short(arena, name, SHOWN_MAX);
}

/* The value at fault, which may be as long as a message; a long array or object is left out. */
static void write_shown(mcp_json_writer *writer, const mcp_json *value, mcp_arena *arena)
{
    mcp_buf text;
    mcp_json_writer trial;
    const char *string = mcp_json_string(value, NULL);
    if (string) {
        mcp_write_string(writer, cobre_text_short(arena, string, SHOWN_MAX));
        return;
    }
    mcp_buf_init(&text, SHOWN_MAX);
    mcp_json_writer_init(&trial, &text);
    mcp_write_value(&trial, value);
    if (mcp_json_writer_status(&trial) == MCP_OK)
        mcp_write_value(writer, value);
    else
        mcp_write_null(writer);
    mcp_buf_clear(&text);
}

/* A missing or a surplus member has no value that could be shown: its name is all. */
static void write_context(mcp_json_writer *writer, const struct rule *rule, const char *field,
                          const mcp_schema_finding *finding, mcp_arena *arena)
{
    mcp_write_member_object(writer, "context");
    mcp_write_member_string(writer, "field", field);
    if (!finding->property) {
        mcp_write_member_value(writer, rule->expected, finding->expected);
        mcp_write_name(writer, rule->actual);
        if (strcmp(rule->actual, "actual_type") == 0)
            mcp_write_string(writer, mcp_json_type_name(mcp_json_type_of(finding->actual)));
        else
            write_shown(writer, finding->actual, arena);
    }
    mcp_write_end(writer);
}

static mcp_status refuse_arguments(mcp_call *call, const mcp_schema_finding *finding)
{
    const struct rule *rule = rule_find(finding->keyword);
    mcp_arena *arena = mcp_call_arena(call);
    const char *field = field_name(arena, finding);
    const char *message = cobre_text_clean(arena, finding->message);
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, RECORD_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "kind", rule->kind);
    mcp_write_member_string(&writer, "message", message);
    write_context(&writer, rule, field, finding, arena);
    mcp_write_member_string(&writer, "suggestion",
                            "tools/list shows the input schema of every tool.");
    mcp_write_end(&writer);
    return refuse_with(call, &text, &writer);
}

mcp_status cobre_refuse_use(mcp_call *call, const char *settings, const char *suggestion,
                            const char *message)
{
    return cobre_refuse(
        call, cobre_record_new(mcp_call_arena(call), "IncompatibleSettings", suggestion,
                               COBRE_MEMBERS(COBRE_NULL("file"), COBRE_TEXT("settings", settings),
                                             COBRE_TEXT("detail", message),
                                             COBRE_TEXT("tool", mcp_call_name(call))),
                               "%s", message));
}

mcp_status cobre_refuse_call(mcp_call *call, mcp_refusal reason, const mcp_schema_finding *finding,
                             void *data)
{
    (void)data;
    switch (reason) {
    case MCP_REFUSED_ARGUMENTS:
        return refuse_arguments(call, finding);
    case MCP_REFUSED_WRITES:
        return cobre_refuse_use(call, "--allow-write", NULL, COBRE_WRITES_DISABLED);
    case MCP_REFUSED_BUSY:
        break;
    }
    return cobre_refuse_use(call, mcp_call_name(call),
                            "Wait for the running call to end, or cancel it.",
                            "Too many calls of this tool are in progress");
}
