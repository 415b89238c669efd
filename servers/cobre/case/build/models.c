/*
 * models.c - fills the production model of each hydro in each stage.
 *
 * cobre_model_choice has the rules. Source: the case page, section 6.9.
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

static void set_hydro(cobre_builder *b, size_t hydro, cobre_hydro_stage *stages)
{
    const cobre_raw_hydro *raw = (const cobre_raw_hydro *)b->input->registries[COBRE_HYDROS].items +
                                 hydro;
    const cobre_raw_model *model = cobre_input_model(b->input, raw->head.id);
    cobre_fpha_fit *fits = cobre_make(b, model ? model->range_count : 0, sizeof *fits);

    for (size_t i = 0; model && fits && i < model->range_count; i++)
        fits[i] = fit_of(&model->ranges[i]);
    for (size_t i = 0; fits && i < b->built->stage_count; i++) {
        const cobre_stage *stage = &b->built->stages[i];
        cobre_hydro_stage *out = &stages[i * b->built->hydro_count + hydro];
        cobre_raw_choice choice = cobre_model_choice(
            raw, model, stage->id, stage->has_season ? (int64_t)stage->season_id : COBRE_ABSENT);
        out->is_fpha = choice.is_fpha;
        if (choice.is_fpha)
            out->fit = choice.range ? &fits[choice.range - model->ranges] : &no_fit;
        out->productivity = isnan(choice.productivity) ? 0 : choice.productivity;
    }
}

void cobre_build_models_by_stage(cobre_builder *b, cobre_hydro_stage *stages)
{
    for (size_t i = 0; i < b->built->hydro_count; i++)
        set_hydro(b, i, stages);
}
