/*
 * models.c - fills the production model of each hydro in each stage.
 *
 * By stage: the first range that contains the stage, else the entity's constant productivity. By
 * season: the first entry of the stage's season, else the default model. A hydro without an entry
 * has the entity's model. Source: the case page, section 6.9.
 */
#include "case/build/builder.h"

/* The defaults of a model without fpha_config: planes of the file. */
static const cobre_fpha_fit no_fit = {
    .is_computed = false,
    .volume_points = 5,
    .turbine_points = 5,
    .spillage_points = 5,
    .max_planes = 10,
    .volume_min = NAN,
    .volume_max = NAN,
    .percentile_min = NAN,
    .percentile_max = NAN,
};

static cobre_fpha_fit fit_of(const cobre_raw_range *range)
{
    return (cobre_fpha_fit){
        .is_computed = range->source == COBRE_PLANES_COMPUTED,
        .volume_points = (uint32_t)range->volume_points,
        .turbine_points = (uint32_t)range->turbine_points,
        .spillage_points = (uint32_t)range->spillage_points,
        .max_planes = (uint32_t)range->max_planes,
        .volume_min = range->volume_min,
        .volume_max = range->volume_max,
        .percentile_min = range->percentile_min,
        .percentile_max = range->percentile_max,
    };
}

static bool contains(const cobre_raw_model *model, const cobre_raw_range *range,
                     const cobre_stage *stage)
{
    if (model->mode == COBRE_MODEL_BY_SEASON)
        return stage->has_season && range->start == stage->season_id;
    return stage->id >= range->start && (range->end == COBRE_ABSENT || stage->id <= range->end);
}

/* The index of the range for a stage; COBRE_NONE. */
static size_t find_range(const cobre_raw_model *model, const cobre_stage *stage)
{
    for (size_t i = 0; i < model->range_count; i++) {
        if (contains(model, &model->ranges[i], stage))
            return i;
    }
    return COBRE_NONE;
}

/* `fits` belong to the model's ranges. */
static void set_stage(const cobre_raw_model *model, const cobre_fpha_fit *fits,
                      const cobre_stage *stage, cobre_hydro_stage *out)
{
    size_t index = find_range(model, stage);

    out->is_fpha = false;
    out->fit = NULL;
    if (index == COBRE_NONE) {
        out->is_fpha = model->mode == COBRE_MODEL_BY_SEASON &&
                       cobre_model_is_fpha(model->default_model);
        out->fit = out->is_fpha ? &no_fit : NULL;
        return;
    }
    const cobre_raw_range *range = &model->ranges[index];
    out->is_fpha = cobre_model_is_fpha(range->model);
    out->fit = out->is_fpha ? &fits[index] : NULL;
    if (!isnan(range->productivity))
        out->productivity = range->productivity;
}

static void set_model(cobre_builder *b, const cobre_raw_model *model, cobre_hydro_stage *stages)
{
    size_t hydro = cobre_input_index(b->input, COBRE_HYDROS, model->hydro);
    cobre_fpha_fit *fits = cobre_make(b, model->range_count, sizeof *fits);

    if (hydro == COBRE_NONE || !fits)
        return;
    for (size_t i = 0; i < model->range_count; i++)
        fits[i] = fit_of(&model->ranges[i]);
    for (size_t i = 0; i < b->built->stage_count; i++)
        set_stage(model, fits, &b->built->stages[i], &stages[i * b->built->hydro_count + hydro]);
}

void cobre_build_models_by_stage(cobre_builder *b, cobre_hydro_stage *stages)
{
    const cobre_raw_hydro *raw = b->input->registries[COBRE_HYDROS].items;
    size_t count = b->built->hydro_count, cells = b->built->stage_count * count;

    for (size_t i = 0; i < cells; i++) {
        bool is_fpha = raw[i % count].model == COBRE_MODEL_FPHA;
        stages[i].is_fpha = is_fpha;
        stages[i].fit = is_fpha ? &no_fit : NULL;
        stages[i].productivity = b->built->hydros[i % count].productivity;
    }
    for (size_t i = 0; i < b->input->model_count; i++)
        set_model(b, &b->input->models[i], stages);
}
