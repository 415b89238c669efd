/*
 * layers.c - runs the layers that compare files; the start of their findings.
 */
#include "validate/layers.h"

void cobre_check_layers(const cobre_input *input)
{
    cobre_check_references(input);
    cobre_check_coverage(input);
    cobre_check_plants(input);
    cobre_check_stages(input);
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
