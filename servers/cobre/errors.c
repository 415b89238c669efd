/*
 * errors.c - error records as answers to tool calls.
 *
 * A record is one JSON object in one text block. Arguments that do not fit a tool's schema are told in
 * the same vocabulary as a broken case: the schema keyword at fault decides the kind.
 */
#include "errors.h"

#include <string.h>

#define RECORD_MAX (1 << 20)

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
    mcp_buf_init(&text, 16 * RECORD_MAX);
    mcp_json_writer_init(&writer, &text);
    cobre_report_write_failure(report, &writer);
    return refuse_with(call, &text, &writer);
}

/* ---- arguments that do not fit ----------------------------------------------------------------- */

/* The schema keyword at fault, the kind it is told as, and what the two values are called there. */
static const struct rule {
    const char *keyword, *kind, *expected, *actual;
} rules[] = {
    { "type", "TypeMismatch", "expected_type", NULL },
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
    return name;
}

static void write_context(mcp_json_writer *writer, const struct rule *rule, const char *field,
                          const mcp_schema_finding *finding)
{
    mcp_write_member_object(writer, "context");
    mcp_write_member_string(writer, "field", field);
    if (!finding->property) {
        mcp_write_member_value(writer, rule->expected, finding->expected);
        if (rule->actual)
            mcp_write_member_value(writer, rule->actual, finding->actual);
        else
            mcp_write_member_string(writer, "actual_type",
                                    mcp_json_type_name(mcp_json_type_of(finding->actual)));
    }
    mcp_write_end(writer);
}

static mcp_status refuse_arguments(mcp_call *call, const mcp_schema_finding *finding)
{
    const struct rule *rule = rule_find(finding->keyword);
    const char *field = field_name(mcp_call_arena(call), finding);
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, RECORD_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "kind", rule->kind);
    mcp_write_member_string(&writer, "message", finding->message);
    write_context(&writer, rule, field, finding);
    mcp_write_member_string(&writer, "suggestion",
                            "tools/list shows the input schema of every tool.");
    mcp_write_end(&writer);
    return refuse_with(call, &text, &writer);
}

mcp_status cobre_refuse_call(mcp_call *call, mcp_refusal reason,
                             const mcp_schema_finding *finding, void *data)
{
    (void)data;
    const char *name = mcp_call_name(call);
    switch (reason) {
    case MCP_REFUSED_ARGUMENTS:
        return refuse_arguments(call, finding);
    case MCP_REFUSED_WRITES:
        return cobre_refuse(call, cobre_record_new(mcp_call_arena(call), "IncompatibleSettings",
                                                   NULL, COBRE_MEMBERS(COBRE_TEXT("tool", name)),
                                                   "%s", COBRE_WRITES_DISABLED));
    case MCP_REFUSED_BUSY:
        break;
    }
    return cobre_refuse(call, cobre_record_new(mcp_call_arena(call), "IncompatibleSettings",
                                               "Wait for the running call to end, or cancel it.",
                                               COBRE_MEMBERS(COBRE_TEXT("tool", name)),
                                               "Too many calls of %s are in progress", name));
}
