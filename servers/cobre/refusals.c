/*
 * refusals.c - the error records of calls that the library refuses.
 *
 * Arguments that do not match a tool's schema have the kinds of a broken case: the schema keyword
 * at fault decides which.
 */
#include "refusals.h"

#include <string.h>

#include "findings/text.h"
#include "gateway/errors.h"

#define SHOWN_MAX 1024 /* of a client's value */

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
