/*
 * constraints.c - reads generic_constraints.json.
 *
 * Source: the case page, section 8.1.
 */
#include <stdio.h>

#include "case/read/readers.h"

static const char *const senses[] = { ">=", "<=", "==", NULL };

static const cobre_field constraint_fields[] = {
    COBRE_F(cobre_raw_constraint, "id", INT32, COBRE_REQUIRED, head.id),
    COBRE_F(cobre_raw_constraint, "name", TEXT, COBRE_REQUIRED, head.name),
    COBRE_F(cobre_raw_constraint, "expression", TEXT, COBRE_REQUIRED, expression),
    COBRE_C(cobre_raw_constraint, "sense", COBRE_REQUIRED, sense, senses, -1),
    COBRE_P(cobre_raw_constraint, "slack.enabled", BOOL, COBRE_REQUIRED, slack_enabled, 0),
    COBRE_F(cobre_raw_constraint, "slack.penalty", REAL, COBRE_OPTIONAL | COBRE_POSITIVE,
            slack_penalty),
    COBRE_FIELDS_END
};

static void read_expression(cobre_reader *reader, cobre_raw_constraint *constraint)
{
    mcp_error local = MCP_ERROR_INIT;
    mcp_status st = cobre_expression_read(&constraint->terms, &constraint->term_count,
                                          reader->arena, constraint->expression, &local);

    if (st == MCP_E_NOMEM) {
        reader->failed = true;
        reader->status = st;
    } else if (st != MCP_OK) {
        cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_SCHEMA_VIOLATION,
                                                     "expression");
        finding.message = cobre_report_text(reader->report, "expression: %s", local.message);
        finding.suggestion = "Write a sum of terms number * variable(id, block).";
        finding.members = COBRE_MEMBERS(COBRE_TEXT("expected", "a sum of terms"),
                                        COBRE_TEXT("actual", local.message));
        reader->failed = true;
        cobre_report_add(reader->report, &finding);
    }
}

static void read_constraint(cobre_reader *reader, const mcp_json *json, size_t index,
                            cobre_raw_constraint *constraint)
{
    char path[64];

    snprintf(path, sizeof path, "constraints[%zu]", index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    cobre_reader_entity(reader, "constraint", json);
    cobre_read_fields(reader, json, "", constraint_fields, constraint);
    if (!reader->failed && constraint->slack_enabled && isnan(constraint->slack_penalty))
        cobre_reader_missing(reader, "slack.penalty");
    if (!reader->failed)
        read_expression(reader, constraint);
    cobre_reader_entity(reader, NULL, NULL);
}

void cobre_read_constraints(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    const mcp_json *array = cobre_reader_root(reader, root, "constraints");
    size_t count = mcp_json_count(array);
    int64_t twice = 0;

    if (!array)
        return;
    cobre_raw_constraint *list = cobre_reader_array(reader, count, sizeof *list);
    for (size_t i = 0; i < count && !reader->failed; i++)
        read_constraint(reader, mcp_json_item(array, i), i, &list[i]);
    if (!reader->failed && !cobre_registry_sort(list, count, sizeof *list, &twice)) {
        reader->noun = "constraint";
        cobre_reader_duplicate(reader, "id", twice, reader->file);
    }
    if (reader->failed)
        return;
    input->registries[COBRE_CONSTRAINTS] = (cobre_registry_items){ list, count, sizeof *list };
    input->entries[COBRE_FILE_CONSTRAINTS] = count;
}

/* ---- the shape ------------------------------------------------------------------------------- */

static const cobre_shape constraint_shape = { .tables = { constraint_fields } };
const cobre_shape cobre_shape_constraints = { .key = "constraints", .of = &constraint_shape };
