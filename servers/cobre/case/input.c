/*
 * input.c - finds the records of registries by id, and the production model of a stage.
 *
 * Every registry is an array sorted by id whose records begin with a cobre_entity, so one search
 * serves them all. Stages have no registry of their own but are searched in the same way.
 */
#include "case/input.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    int64_t x = ((const cobre_entity *)a)->id, y = ((const cobre_entity *)b)->id;

    return x < y ? -1 : x > y;
}

bool cobre_registry_sort(void *items, size_t count, size_t size, int64_t *duplicate)
{
    if (count > 1)
        qsort(items, count, size, compare);
    for (size_t i = 1; i < count; i++) {
        const cobre_entity *entity = (const void *)((const char *)items + i * size);
        const cobre_entity *before = (const void *)((const char *)items + (i - 1) * size);
        if (entity->id == before->id) {
            *duplicate = entity->id;
            return false;
        }
    }
    return true;
}

bool cobre_model_is_fpha(const char *word)
{
    return strcmp(word, "fpha") == 0;
}

static bool contains(const cobre_raw_model *model, const cobre_raw_range *range, int64_t stage,
                     int64_t season)
{
    if (model->mode == COBRE_MODEL_BY_SEASON)
        return season != COBRE_ABSENT && range->start == season;
    return stage >= range->start && (range->end == COBRE_ABSENT || stage <= range->end);
}

cobre_raw_choice cobre_model_choice(const cobre_raw_hydro *hydro, const cobre_raw_model *model,
                                    int64_t stage, int64_t season)
{
    cobre_raw_choice choice = { .productivity = hydro->productivity };

    for (size_t i = 0; model && i < model->range_count && !choice.range; i++) {
        if (contains(model, &model->ranges[i], stage, season))
            choice.range = &model->ranges[i];
    }
    if (choice.range) {
        choice.is_fpha = cobre_model_is_fpha(choice.range->model);
        choice.is_computed = choice.is_fpha && choice.range->source == COBRE_PLANES_COMPUTED;
        if (!isnan(choice.range->productivity))
            choice.productivity = choice.range->productivity;
    } else if (!model) {
        choice.is_fpha = hydro->model == COBRE_MODEL_FPHA;
    } else if (model->mode == COBRE_MODEL_BY_SEASON) {
        choice.is_fpha = cobre_model_is_fpha(model->default_model);
    }
    return choice;
}

static int compare_models(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_model *)a)->hydro, y = ((const cobre_raw_model *)b)->hydro;

    return x < y ? -1 : x > y;
}

const cobre_raw_model *cobre_input_model(const cobre_input *input, int64_t hydro)
{
    const cobre_raw_model key = { .hydro = hydro };

    if (input->model_count == 0)
        return NULL;
    return bsearch(&key, input->models, input->model_count, sizeof key, compare_models);
}

bool cobre_input_asks_for_lags(const cobre_input *input)
{
    for (size_t i = 0; i < input->stage_count && input->tables[COBRE_FILE_AR].rows > 0; i++) {
        if (input->stages[i].is_study && input->stages[i].lag_state)
            return true;
    }
    return false;
}

const cobre_entity *cobre_registry_at(const cobre_registry_items *items, size_t index)
{
    return (const void *)((const char *)items->items + index * items->size);
}

const cobre_entity *cobre_input_find(const cobre_input *input, cobre_registry registry, int64_t id)
{
    cobre_registry_items items = input->registries[registry];
    const cobre_entity key = { id, NULL };

    if (registry == COBRE_STUDY_STAGES)
        items = (cobre_registry_items){ input->stages, input->stage_count, sizeof *input->stages };
    if (items.count == 0)
        return NULL;
    const cobre_entity *found = bsearch(&key, items.items, items.count, items.size, compare);
    if (found && registry == COBRE_STUDY_STAGES && !((const cobre_raw_stage *)found)->is_study)
        return NULL;
    return found;
}

size_t cobre_input_index(const cobre_input *input, cobre_registry registry, int64_t id)
{
    const cobre_entity *found = cobre_input_find(input, registry, id);
    const cobre_registry_items *items = &input->registries[registry];

    if (!found)
        return COBRE_NONE;
    return (size_t)((const char *)found - (const char *)items->items) / items->size;
}
