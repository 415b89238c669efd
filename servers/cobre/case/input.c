/*
 * input.c - finding records by id.
 *
 * Every registry is an array of records sorted by id whose first member is a cobre_record, so one
 * search serves them all. Stages are no registry of a file of their own, but searched in the same
 * way.
 */
#include "case/input.h"

#include <stdlib.h>

static const struct names {
    const char *file, *noun;
} names[COBRE_REGISTRY_COUNT] = {
    [COBRE_BUSES] = { "system/buses.json", "bus" },
    [COBRE_LINES] = { "system/lines.json", "line" },
    [COBRE_HYDROS] = { "system/hydros.json", "hydro" },
    [COBRE_THERMALS] = { "system/thermals.json", "thermal" },
    [COBRE_SOURCES] = { "system/non_controllable_sources.json", "source" },
    [COBRE_STATIONS] = { "system/pumping_stations.json", "pumping station" },
    [COBRE_CONTRACTS] = { "system/energy_contracts.json", "contract" },
    [COBRE_CONSTRAINTS] = { "constraints/generic_constraints.json", "constraint" },
    [COBRE_STUDY_STAGES] = { "stages.json", "stage" },
};

const char *cobre_registry_file(cobre_registry registry)
{
    return names[registry].file;
}

const char *cobre_registry_noun(cobre_registry registry)
{
    return names[registry].noun;
}

static int compare(const void *a, const void *b)
{
    int64_t x = ((const cobre_record *)a)->id, y = ((const cobre_record *)b)->id;

    return x < y ? -1 : x > y;
}

bool cobre_registry_sort(void *items, size_t count, size_t size, int64_t *twice)
{
    if (count > 1)
        qsort(items, count, size, compare);
    for (size_t i = 1; i < count; i++) {
        const cobre_record *record = (const void *)((const char *)items + i * size);
        const cobre_record *before = (const void *)((const char *)items + (i - 1) * size);
        if (record->id == before->id) {
            *twice = record->id;
            return false;
        }
    }
    return true;
}

const cobre_record *cobre_input_find(const cobre_input *input, cobre_registry registry, int64_t id)
{
    cobre_registry_items items = input->registries[registry];
    const cobre_record key = { id, NULL };

    if (registry == COBRE_STUDY_STAGES)
        items = (cobre_registry_items){ input->stages, input->stage_count, sizeof *input->stages };
    if (items.count == 0)
        return NULL;
    const cobre_record *found = bsearch(&key, items.items, items.count, items.size, compare);
    if (found && registry == COBRE_STUDY_STAGES && !((const cobre_raw_stage *)found)->is_study)
        return NULL;
    return found;
}

size_t cobre_input_index(const cobre_input *input, cobre_registry registry, int64_t id)
{
    const cobre_record *found = cobre_input_find(input, registry, id);
    const cobre_registry_items *items = &input->registries[registry];

    if (!found)
        return COBRE_NONE;
    return (size_t)((const char *)found - (const char *)items->items) / items->size;
}
