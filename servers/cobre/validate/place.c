/*
 * place.c - where a finding is: in a file, or at a record of a registry.
 */
#include "validate/layers.h"

cobre_finding cobre_finding_in(cobre_severity severity, cobre_kind kind, int layer,
                               const char *file, const char *field)
{
    return (cobre_finding){
        .severity = severity, .kind = kind, .layer = layer, .file = file, .field = field,
    };
}

cobre_finding cobre_finding_at(cobre_severity severity, cobre_kind kind, int layer,
                               cobre_registry registry, const cobre_record *record,
                               const char *field)
{
    cobre_finding finding =
        cobre_finding_in(severity, kind, layer, cobre_registry_file(registry), field);

    finding.noun = cobre_registry_noun(registry);
    finding.has_entity_id = true;
    finding.entity_id = record->id;
    finding.entity_name = record->name;
    return finding;
}
