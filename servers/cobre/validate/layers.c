/*
 * layers.c - runs the layers that compare files; the start of their findings.
 */
#include "validate/layers.h"

#include <stdio.h>
#include <string.h>

enum { DETAIL_MAX = 400 };

void cobre_check_layers(const cobre_input *input)
{
    cobre_check_references(input);
    cobre_check_coverage(input);
    cobre_check_plants(input);
    cobre_check_stages(input);
    cobre_check_models(input);
    cobre_check_scenarios(input);
    cobre_check_series(input);
    cobre_check_constraints(input);
    cobre_check_penalties(input);
    cobre_check_unsupported(input);
}

cobre_finding cobre_finding_in(cobre_severity severity, cobre_kind kind, int layer,
                               const char *file, const char *field)
{
    return (cobre_finding){
        .severity = severity,
        .kind = kind,
        .layer = layer,
        .file = file,
        .field = field,
    };
}

cobre_finding cobre_finding_at(cobre_severity severity, cobre_kind kind, int layer,
                               cobre_registry registry, const cobre_entity *record,
                               const char *field)
{
    cobre_finding finding = cobre_finding_in(severity, kind, layer, cobre_registry_file(registry),
                                             field);

    finding.noun = cobre_registry_noun(registry);
    finding.has_entity_id = true;
    finding.entity_id = record->id;
    finding.entity_name = record->name;
    return finding;
}

cobre_finding cobre_finding_row(cobre_severity severity, cobre_kind kind, int layer,
                                const cobre_input *input, cobre_file_id file, size_t column,
                                size_t row)
{
    const cobre_table *table = &input->tables[file];
    cobre_finding finding = cobre_finding_in(severity, kind, layer, cobre_files_known[file].path,
                                             table->spec->columns[column].name);

    size_t entity = cobre_table_entity(table->spec);

    finding.row = (int64_t)row + 1;
    if (entity == COBRE_COLUMNS_MAX)
        return finding;
    finding.noun = cobre_registry_noun(table->spec->columns[entity].refers);
    finding.has_entity_id = true;
    finding.entity_id = cobre_table_int(table, entity, row);
    return finding;
}

/* ---- the rest of a finding ------------------------------------------------------------------- */

void cobre_report_rule(const cobre_input *input, cobre_finding *finding, const char *rule,
                       const char *suggestion, const char *format, ...)
{
    char detail[DETAIL_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    finding->message = detail;
    finding->suggestion = suggestion;
    finding->members = COBRE_MEMBERS(COBRE_TEXT("rule", rule), COBRE_TEXT("detail", detail));
    cobre_report_add(input->report, finding);
}

void cobre_report_setting(const cobre_input *input, cobre_finding *finding, const char *suggestion,
                          const char *format, ...)
{
    char detail[DETAIL_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    finding->message = detail;
    finding->suggestion = suggestion;
    finding->members = COBRE_MEMBERS(COBRE_TEXT("settings", finding->field),
                                     COBRE_TEXT("detail", detail));
    cobre_report_add(input->report, finding);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

void cobre_report_reference(const cobre_input *input, cobre_finding *finding, const char *field,
                            int64_t id, cobre_registry registry)
{
    const char *file = cobre_registry_file(registry), *short_name = base_name(file);
    const char *value = cobre_report_text(input->report, "%lld", (long long)id);
    const bool is_error = finding->severity == COBRE_SEVERITY_ERROR;

    finding->message = cobre_report_text(input->report, "%s '%s' not found in %s%s", field, value,
                                         file, is_error ? "" : "; the entry is ignored");
    finding->suggestion = cobre_report_text(input->report, "Check that %s '%s' exists in %s.",
                                            field, value, file);
    finding->members = COBRE_MEMBERS(COBRE_TEXT("referenced_value", value),
                                     COBRE_TEXT("referenced_registry", short_name));
    cobre_report_add(input->report, finding);
}
