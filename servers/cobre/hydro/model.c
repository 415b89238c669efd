/*
 * model.c - the production and evaporation of every plant at every stage.
 */
#include "hydro/model.h"

#include "hydro/evaporation.h"
#include "hydro/fpha.h"

/* The planes of one plant, kappa applied: computed ones serve all stages, precomputed ones are in
 * the order of the case. */
typedef struct plant_planes {
    hydro_plane *computed, *precomputed;
    size_t computed_count;
} plant_planes;

static const cobre_fpha_fit *first_computed(const cobre_case *input, size_t h)
{
    for (size_t t = 0; t < input->stage_count; t++) {
        const cobre_hydro_stage *at = &input->hydro_stages[t * input->hydro_count + h];
        if (at->is_fpha && at->fit && at->fit->is_computed)
            return at->fit;
    }
    return NULL;
}

static hydro_plane *scale_planes(mcp_arena *arena, const cobre_hyperplane *planes, size_t count)
{
    hydro_plane *scaled = mcp_arena_array(arena, count, sizeof *scaled);

    for (size_t p = 0; scaled && p < count; p++)
        scaled[p] = (hydro_plane){
            .intercept = planes[p].gamma_0 * planes[p].kappa,
            .volume = planes[p].gamma_v,
            .turbined = planes[p].gamma_q,
            .spilled = planes[p].gamma_s,
        };
    return scaled;
}

/* ---- computed planes ------------------------------------------------------------------------- */

static mcp_status fit_plants(hydro_models *made, plant_planes *plants, mcp_arena *arena,
                             const cobre_case *input, mcp_error *err)
{
    production_fit *fits = mcp_arena_array(arena, input->hydro_count, sizeof *fits);
    const char **warnings = mcp_arena_array(arena, input->hydro_count, sizeof *warnings);

    if (!fits || !warnings)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the production functions");
    for (size_t h = 0; h < input->hydro_count; h++) {
        const cobre_fpha_fit *options = first_computed(input, h);
        if (!options)
            continue;
        production_fit *fit = &fits[made->fit_count];
        mcp_status st = fpha_fit(fit, arena, input, h, options, err);
        if (st != MCP_OK)
            return st;
        plants[h].computed = scale_planes(arena, fit->planes, fit->plane_count);
        plants[h].computed_count = fit->plane_count;
        if (!plants[h].computed)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the production functions");
        made->fit_count++;
        if (fit->planes[0].kappa < HYDRO_KAPPA_LOW) {
            warnings[made->warning_count++] = mcp_arena_printf(
                arena,
                "hydro %d (%s): its fitted production function has kappa %.4f, below %.2f: the "
                "planes approximate it badly; narrow the fitting window",
                input->hydros[h].id, input->hydros[h].name, fit->planes[0].kappa, HYDRO_KAPPA_LOW);
            if (!warnings[made->warning_count - 1])
                return mcp_error_set(err, MCP_E_NOMEM, "no memory for the production functions");
        }
    }
    made->fits = fits;
    made->warnings = warnings;
    return MCP_OK;
}

/* ---- precomputed planes ---------------------------------------------------------------------- */

static mcp_status check_precomputed(const cobre_hydro *hydro, mcp_error *err)
{
    for (size_t p = 0; p < hydro->plane_count; p++) {
        const cobre_hyperplane *plane = &hydro->planes[p];
        if (!(plane->gamma_q > 0.0))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "system/fpha_hyperplanes.parquet: plane %d of hydro %d has "
                                 "gamma_q %.6g, which must be above 0",
                                 plane->plane_id, hydro->id, plane->gamma_q);
        if (!(plane->kappa > 0.0 && plane->kappa <= 1.0))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "system/fpha_hyperplanes.parquet: plane %d of hydro %d has kappa "
                                 "%.6g, which must be above 0 and at most 1",
                                 plane->plane_id, hydro->id, plane->kappa);
    }
    return MCP_OK;
}

static mcp_status copy_precomputed(plant_planes *plants, mcp_arena *arena, const cobre_case *input,
                                   mcp_error *err)
{
    for (size_t h = 0; h < input->hydro_count; h++) {
        const cobre_hydro *hydro = &input->hydros[h];
        mcp_status st = check_precomputed(hydro, err);
        if (st != MCP_OK)
            return st;
        plants[h].precomputed = scale_planes(arena, hydro->planes, hydro->plane_count);
        if (!plants[h].precomputed)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the production functions");
    }
    return MCP_OK;
}

/* The planes of a stage, else those of all stages. */
static void choose_planes(hydro_model *model, const plant_planes *plant, const cobre_hydro *hydro,
                          size_t stage)
{
    size_t wanted = COBRE_NONE;

    for (size_t p = 0; p < hydro->plane_count; p++) {
        if (hydro->planes[p].stage == stage)
            wanted = stage;
    }
    for (size_t p = 0; p < hydro->plane_count; p++) {
        if (hydro->planes[p].stage != wanted)
            continue;
        if (model->plane_count == 0)
            model->planes = plant->precomputed + p;
        model->plane_count++;
    }
}

/* ---- the models ------------------------------------------------------------------------------ */

static mcp_status set_production(hydro_model *model, const plant_planes *plant,
                                 const cobre_case *input, size_t t, size_t h, mcp_error *err)
{
    const cobre_hydro_stage *at = &input->hydro_stages[t * input->hydro_count + h];
    const cobre_hydro *hydro = &input->hydros[h];

    model->is_fpha = at->is_fpha;
    if (!at->is_fpha) {
        model->productivity = at->productivity;
        return MCP_OK;
    }
    if (!at->fit)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "hydro %d has the model fpha at stage %d, but no entry in "
                             "system/hydro_production_models.json says where its planes come from",
                             hydro->id, input->stages[t].id);
    if (at->fit->is_computed) {
        model->planes = plant->computed;
        model->plane_count = plant->computed_count;
        return MCP_OK;
    }
    choose_planes(model, plant, hydro, t);
    if (model->plane_count == 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "system/fpha_hyperplanes.parquet has no planes of hydro %d for stage "
                             "%d: add them, or rows without stage_id",
                             hydro->id, input->stages[t].id);
    return MCP_OK;
}

static mcp_status set_models(hydro_model *models, const plant_planes *plants,
                             const cobre_case *input, mcp_error *err)
{
    for (size_t t = 0; t < input->stage_count; t++) {
        for (size_t h = 0; h < input->hydro_count; h++) {
            hydro_model *model = &models[t * input->hydro_count + h];
            mcp_status st = set_production(model, &plants[h], input, t, h, err);
            if (st != MCP_OK)
                return st;
            if (!input->hydros[h].evaporates)
                continue;
            model->evaporates = true;
            st = evaporation_line(&model->evaporation_base, &model->evaporation_slope,
                                  &input->hydros[h], &input->stages[t], err);
            if (st != MCP_OK)
                return st;
        }
    }
    return MCP_OK;
}

mcp_status hydro_models_build(hydro_models *out, mcp_arena *arena, const cobre_case *input,
                              mcp_error *err)
{
    size_t hydros = input->hydro_count;
    hydro_models made = { 0 };
    hydro_model *models = mcp_arena_array(arena, input->stage_count * hydros, sizeof *models);
    plant_planes *plants = mcp_arena_array(arena, hydros, sizeof *plants);

    if (!models || !plants)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the models of the hydros");
    mcp_status st = fit_plants(&made, plants, arena, input, err);
    if (st == MCP_OK)
        st = copy_precomputed(plants, arena, input, err);
    if (st == MCP_OK)
        st = set_models(models, plants, input, err);
    if (st != MCP_OK)
        return st;
    made.at = models;
    *out = made;
    return MCP_OK;
}
