/*
 * reports.c - scaling_report.json, model_provenance.json and the fitted production functions.
 */
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/buf.h"
#include "mcp/json.h"
#include "results/sheet.h"
#include "results/study/study_files.h"
#include "results/study/study_files_int.h"

#define COST_SCALE_FACTOR 1000
#define PLANES_FOLDER "hydro_models"
#define PLANES_NAME "fpha_hyperplanes.parquet"

/* ---- scaling_report.json --------------------------------------------------------------------- */

/* JSON has no infinity. */
static double representable(double value)
{
    return fmin(value, DBL_MAX);
}

static double ratio_of(const scaling_range *range)
{
    return range->least > 0.0 ? representable(range->most / range->least) : 1.0;
}

static void describe_range(mcp_json_writer *writer, const char *name, const char *ratio,
                           const scaling_range *range)
{
    mcp_write_member_array(writer, name);
    mcp_write_double(writer, representable(range->least));
    mcp_write_double(writer, representable(range->most));
    mcp_write_end(writer);
    mcp_write_member_double(writer, ratio, ratio_of(range));
}

static void describe_ranges(mcp_json_writer *writer, const char *name, const scaling_range *matrix,
                            const scaling_range *costs)
{
    mcp_write_member_object(writer, name);
    describe_range(writer, "matrix_coeff_range", "matrix_coeff_ratio", matrix);
    describe_range(writer, "objective_range", "objective_ratio", costs);
    mcp_write_end(writer);
}

static void describe_factors(mcp_json_writer *writer, const char *name,
                             const scaling_factors *factors)
{
    mcp_write_member_object(writer, name);
    mcp_write_member_double(writer, "min", factors->least);
    mcp_write_member_double(writer, "max", factors->most);
    mcp_write_member_double(writer, "median", factors->median);
    mcp_write_member_int(writer, "count", (int64_t)factors->count);
    mcp_write_end(writer);
}

static void describe_scaling(mcp_json_writer *writer, int32_t id, const program_scaling *stage)
{
    mcp_write_object(writer);
    mcp_write_member_int(writer, "stage_id", id);
    mcp_write_member_object(writer, "dimensions");
    mcp_write_member_int(writer, "num_cols", (int64_t)stage->columns);
    mcp_write_member_int(writer, "num_rows", (int64_t)stage->rows);
    mcp_write_member_int(writer, "num_nz", (int64_t)stage->elements);
    mcp_write_end(writer);
    describe_ranges(writer, "pre_scaling", &stage->matrix_before, &stage->costs_before);
    describe_ranges(writer, "post_scaling", &stage->matrix_after, &stage->costs_after);
    describe_factors(writer, "col_scale", &stage->column);
    describe_factors(writer, "row_scale", &stage->row);
    mcp_write_end(writer);
}

static mcp_status write_scaling(const study_files *files, int out_fd, mcp_error *err)
{
    double before = 1.0, after = 1.0;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, STUDY_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_int(&writer, "cost_scale_factor", COST_SCALE_FACTOR);
    mcp_write_member_array(&writer, "stages");
    for (size_t t = 0; t < files->input->stage_count; t++) {
        const program_scaling *stage = &files->scaling[t];
        describe_scaling(&writer, files->input->stages[t].id, stage);
        before = fmax(before, ratio_of(&stage->matrix_before));
        after = fmax(after, ratio_of(&stage->matrix_after));
    }
    mcp_write_end(&writer);
    mcp_write_member_object(&writer, "summary");
    mcp_write_member_double(&writer, "worst_pre_scaling_matrix_ratio", before);
    mcp_write_member_double(&writer, "worst_post_scaling_matrix_ratio", after);
    mcp_write_member_double(&writer, "improvement_factor", representable(before / after));
    mcp_write_member_int(&writer, "num_stages", (int64_t)files->input->stage_count);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return study_write_json(out_fd, "training/scaling_report.json", &writer, err);
}

/* ---- model_provenance.json ------------------------------------------------------------------- */

/* By which of history, statistics and coefficients the case has. */
static const char *estimation_path(const cobre_scenarios *given)
{
    bool has_stats = given->inflow_stats_count > 0, has_ar = given->ar_count > 0;

    if (given->history_count > 0) {
        if (has_stats)
            return has_ar ? "user_provided_all" : "partial_estimation";
        return has_ar ? "user_ar_history_stats" : "full_estimation";
    }
    if (!has_stats)
        return "deterministic";
    return has_ar ? "user_provided_no_history" : "user_stats_white_noise";
}

static const char *source_of(bool is_estimated, bool is_given)
{
    if (is_estimated)
        return "estimated";
    return is_given ? "user_file" : "n/a";
}

static bool is_white_noise(const inflow_model *model, size_t hydro)
{
    for (size_t t = 0; t < model->stages; t++)
        if (model->order[t * model->hydros + hydro] > 0)
            return false;
    return true;
}

static void describe_ar(mcp_json_writer *writer, const study_files *files)
{
    const inflow_model *model = files->inflow;
    const cobre_case *in = files->input;
    bool is_estimated = model && model->tables.ar_estimated;

    if (is_estimated)
        mcp_write_member_string(
            writer, "ar_method",
            in->config.estimation.order == COBRE_ORDER_PACF_ANNUAL ? "pacf_annual" : "pacf");
    else
        mcp_write_member_null(writer, "ar_method");
    if (model && model->lags > 0)
        mcp_write_member_int(writer, "ar_max_order", (int64_t)model->lags);
    else
        mcp_write_member_null(writer, "ar_max_order");
    mcp_write_member_array(writer, "white_noise_fallbacks");
    for (size_t h = 0; is_estimated && h < in->hydro_count; h++)
        if (is_white_noise(model, h))
            mcp_write_int(writer, in->hydros[h].id);
    mcp_write_end(writer);
}

study_provenance study_provenance_of(const cobre_case *input, const inflow_model *inflow)
{
    static const inflow_tables nothing;
    const cobre_scenarios *given = &input->scenarios;
    const inflow_tables *tables = inflow ? &inflow->tables : &nothing;

    return (study_provenance){
        .estimation_path = estimation_path(given),
        .seasonal_stats = source_of(tables->stats_estimated, given->inflow_stats_count > 0),
        .ar_coefficients = source_of(tables->ar_estimated, given->ar_count > 0),
        .correlation = source_of(tables->correlation_estimated, given->has_correlation),
        .opening_tree = source_of(!given->openings, given->openings != NULL),
    };
}

static mcp_status write_provenance(const study_files *files, int out_fd, mcp_error *err)
{
    const study_provenance from = study_provenance_of(files->input, files->inflow);
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, STUDY_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "estimation_path", from.estimation_path);
    mcp_write_member_string(&writer, "seasonal_stats_source", from.seasonal_stats);
    mcp_write_member_string(&writer, "ar_coefficients_source", from.ar_coefficients);
    mcp_write_member_string(&writer, "correlation_source", from.correlation);
    mcp_write_member_string(&writer, "opening_tree_source", from.opening_tree);
    mcp_write_member_int(&writer, "n_hydros", (int64_t)files->input->hydro_count);
    describe_ar(&writer, files);
    mcp_write_end(&writer);
    return study_write_json(out_fd, "training/model_provenance.json", &writer, err);
}

/* ---- fpha_hyperplanes.parquet ---------------------------------------------------------------- */

static void fill_planes(sheet *to, const cobre_case *in, const production_fit *fit)
{
    for (size_t p = 0; p < fit->plane_count; p++) {
        const cobre_hyperplane *plane = &fit->planes[p];
        sheet_row(to);
        sheet_i32(to, in->hydros[fit->hydro].id);
        sheet_null(to); /* stage_id: for all stages */
        sheet_i32(to, plane->plane_id);
        sheet_f64(to, plane->gamma_0);
        sheet_f64(to, plane->gamma_v);
        sheet_f64(to, plane->gamma_q);
        sheet_f64(to, plane->gamma_s);
        sheet_f64(to, plane->kappa);
        sheet_f64(to, fit->volume_min);
        sheet_f64(to, fit->volume_max);
        sheet_f64(to, fit->turbined_max);
    }
}

static mcp_status write_planes(const study_files *files, int out_fd, mcp_error *err)
{
    const hydro_models *models = files->hydros;
    size_t rows = 0;

    mcp_status st = guard_remove_tree(out_fd, PLANES_FOLDER "/" PLANES_NAME, err);
    if (st != MCP_OK || !models || models->fit_count == 0)
        return st;
    for (size_t i = 0; i < models->fit_count; i++)
        rows += models->fits[i].plane_count;
    struct study_table table;
    st = study_table_begin(&table, RESULTS_FPHA_PLANES, rows, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < models->fit_count; i++)
        fill_planes(table.rows, files->input, &models->fits[i]);
    return study_table_write(&table, out_fd, PLANES_FOLDER, PLANES_NAME, err);
}

mcp_status study_write_reports(const study_files *files, int out_fd, mcp_error *err)
{
    mcp_status st = write_scaling(files, out_fd, err);

    if (st == MCP_OK)
        st = write_provenance(files, out_fd, err);
    return st == MCP_OK ? write_planes(files, out_fd, err) : st;
}
