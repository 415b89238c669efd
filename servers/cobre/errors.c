/*
 * errors.c - error records as answers to tool calls.
 *
 * A record is one JSON object in one text block. Arguments that do not match a tool's schema have
 * the kinds of a broken case: the schema keyword at fault decides which.
 */
#include "errors.h"

#include <string.h>

#include "findings/text.h"

#define RECORD_MAX ((size_t)1 << 20)
#define CASE_RECORD_MAX ((size_t)12 << 20) /* the reply holds it as text, within 16 MiB */
#define SHOWN_MAX 1024                     /* of a client's value */

static mcp_status refuse_with(mcp_call *call, mcp_buf *text, mcp_json_writer *writer)
{
    mcp_status st = mcp_json_writer_status(writer);
    if (st == MCP_OK)
        st = mcp_call_tool_error_text(call, text->data, text->length);
    else
        mcp_error_set(mcp_call_error(call), st, "the error record cannot be written");
    mcp_buf_clear(text);
    return st;
}

mcp_status cobre_refuse_record(mcp_call *call, const cobre_record *record)
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

mcp_status cobre_refuse(mcp_call *call, const char *kind, const char *suggestion,
                        const cobre_member *members, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const cobre_record *record = cobre_record_newv(mcp_call_arena(call), kind, suggestion, members,
                                                   format, arguments);
    va_end(arguments);
    return cobre_refuse_record(call, record);
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

/* ---- arguments that do not match ------------------------------------------------------------- */

/* The schema keyword at fault, its kind, and the names of the two values in the context. */
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

/* The value at fault, which may be as long as a message; a long array or object is omitted. */
static cobre_member shown(const char *name, const mcp_json *value, mcp_arena *arena)
{
    cobre_member member = COBRE_JSON(name, value);
    const char *string = mcp_json_string(value, NULL);
    mcp_buf text;
    mcp_json_writer trial;

    if (string)
        return (cobre_member)COBRE_TEXT(name, cobre_text_short(arena, string, SHOWN_MAX));
    mcp_buf_init(&text, SHOWN_MAX);
    mcp_json_writer_init(&trial, &text);
    mcp_write_value(&trial, value);
    if (mcp_json_writer_status(&trial) != MCP_OK)
        member.json = NULL;
    mcp_buf_clear(&text);
    return member;
}

/* A missing or a surplus member has no value: the context has its name alone. */
static mcp_status refuse_arguments(mcp_call *call, const mcp_schema_finding *finding)
{
    const struct rule *rule = rule_find(finding->keyword);
    mcp_arena *arena = mcp_call_arena(call);
    cobre_member members[] = { COBRE_TEXT("field", field_name(arena, finding)), COBRE_MEMBERS_END,
                               COBRE_MEMBERS_END, COBRE_MEMBERS_END };

    if (!finding->property) {
        members[1] = (cobre_member)COBRE_JSON(rule->expected, finding->expected);
        members[2] = shown(rule->actual, finding->actual, arena);
        if (strcmp(rule->actual, "actual_type") == 0)
            members[2] = (cobre_member)COBRE_TEXT(
                rule->actual, mcp_json_type_name(mcp_json_type_of(finding->actual)));
    }
    return cobre_refuse(call, rule->kind, "tools/list shows the input schema of every tool.",
                        members, "%s", finding->message);
}

mcp_status cobre_refuse_use(mcp_call *call, const char *settings, const char *suggestion,
                            const char *message)
{
    return cobre_refuse(call, "IncompatibleSettings", suggestion,
                        COBRE_MEMBERS(COBRE_NULL("file"), COBRE_TEXT("settings", settings),
                                      COBRE_TEXT("detail", message),
                                      COBRE_TEXT("tool", mcp_call_name(call))),
                        "%s", message);
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
