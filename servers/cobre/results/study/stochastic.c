/*
 * stochastic.c - the stochastic model as files of the input format: openings, statistics,
 * coefficients and correlation.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/buf.h"
#include "results/study/study_files.h"
#include "results/study/study_files_int.h"
#include "stochastic/history/estimate.h"

#define FOLDER "stochastic"

/* ---- noise_openings.parquet ------------------------------------------------------------------ */

static void fill_openings(sheet *to, const noise_tree *tree, size_t stage)
{
    sheet_clear(to);
    for (uint32_t w = 0; w < tree->openings[stage]; w++) {
        const double *noise = tree_noise(tree, stage, w);
        for (size_t i = 0; i < tree->dimension; i++) {
            sheet_row(to);
            sheet_i32(to, (int32_t)stage);
            sheet_u32(to, w);
            sheet_u32(to, (uint32_t)i);
            sheet_f64(to, noise[i]);
        }
    }
}

/* Stage by stage: the tree can be large. */
static mcp_status append_openings(const noise_tree *tree, sheet *batch, int fd, mcp_error *err)
{
    parquet_writer *file = NULL;
    mcp_status st = sheet_file_open(&file, RESULTS_NOISE_OPENINGS, fd, "noise_openings.parquet",
                                    err);

    if (st != MCP_OK)
        return st;
    for (size_t t = 0; t < tree->stage_count && st == MCP_OK; t++) {
        fill_openings(batch, tree, t);
        st = sheet_append(batch, file, err);
    }
    if (st == MCP_OK)
        return parquet_writer_close(file, err);
    parquet_writer_abort(file);
    return st;
}

static mcp_status write_openings(const study_files *files, int out_fd, mcp_error *err)
{
    const noise_tree *tree = files->tree;
    struct study_table table;
    size_t most = 0;
    int fd = -1;

    for (size_t t = 0; t < tree->stage_count; t++)
        if (tree->openings[t] > most)
            most = tree->openings[t];
    mcp_status st = study_table_begin(&table, RESULTS_NOISE_OPENINGS, most * tree->dimension, err);
    if (st != MCP_OK)
        return st;
    st = guard_make_dir(&fd, out_fd, FOLDER, err);
    if (st == MCP_OK) {
        st = append_openings(tree, table.rows, fd, err);
        close(fd);
    }
    mcp_arena_free(table.arena);
    return st;
}

/* ---- statistics ------------------------------------------------------------------------------ */

static mcp_status write_stats(const study_files *files, const inflow_tables *tables, int out_fd,
                              mcp_error *err)
{
    struct study_table table;
    mcp_status st = study_table_begin(&table, RESULTS_INFLOW_STATS, tables->stats_count, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < tables->stats_count; i++) {
        const cobre_inflow_stats *row = &tables->stats[i];
        sheet_row(table.rows);
        sheet_i32(table.rows, files->input->hydros[row->hydro].id);
        sheet_i32(table.rows, row->stage_id);
        sheet_f64(table.rows, row->mean);
        sheet_f64(table.rows, row->std);
    }
    return study_table_write(&table, out_fd, FOLDER, "inflow_seasonal_stats.parquet", err);
}

static mcp_status write_coefficients(const study_files *files, const inflow_tables *tables,
                                     int out_fd, mcp_error *err)
{
    struct study_table table;
    mcp_status st = study_table_begin(&table, RESULTS_INFLOW_AR, tables->ar_count, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < tables->ar_count; i++) {
        const cobre_ar_row *row = &tables->ar[i];
        sheet_row(table.rows);
        sheet_i32(table.rows, files->input->hydros[row->hydro].id);
        sheet_i32(table.rows, row->stage_id);
        sheet_i32(table.rows, (int32_t)row->lag);
        sheet_f64(table.rows, row->coefficient);
        sheet_f64(table.rows, row->residual_ratio);
    }
    return study_table_write(&table, out_fd, FOLDER, "inflow_ar_coefficients.parquet", err);
}

static mcp_status write_annual(const study_files *files, const inflow_tables *tables, int out_fd,
                               mcp_error *err)
{
    struct study_table table;
    mcp_status st = study_table_begin(&table, RESULTS_INFLOW_ANNUAL, tables->annual_count, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < tables->annual_count; i++) {
        const cobre_annual_row *row = &tables->annual[i];
        sheet_row(table.rows);
        sheet_i32(table.rows, files->input->hydros[row->hydro].id);
        sheet_i32(table.rows, row->stage_id);
        sheet_f64(table.rows, row->coefficient);
        sheet_f64(table.rows, row->mean);
        sheet_f64(table.rows, row->std);
    }
    return study_table_write(&table, out_fd, FOLDER, "inflow_annual_component.parquet", err);
}

/* Only where a load is stochastic. */
static mcp_status write_loads(const study_files *files, int out_fd, mcp_error *err)
{
    const cobre_case *in = files->input;
    struct study_table table;
    bool is_stochastic = false;

    for (size_t b = 0; b < in->bus_count; b++)
        is_stochastic = is_stochastic || in->bus_is_stochastic[b];
    if (!is_stochastic)
        return MCP_OK;
    mcp_status st = study_table_begin(&table, RESULTS_LOAD_STATS, in->bus_count * in->stage_count,
                                      err);
    if (st != MCP_OK)
        return st;
    for (size_t b = 0; b < in->bus_count; b++)
        for (size_t t = 0; t < in->stage_count; t++) {
            const cobre_bus_stage *at = &in->bus_stages[t * in->bus_count + b];
            sheet_row(table.rows);
            sheet_i32(table.rows, in->buses[b].id);
            sheet_i32(table.rows, in->stages[t].id);
            sheet_f64(table.rows, at->load_mean);
            sheet_f64(table.rows, at->load_std);
        }
    return study_table_write(&table, out_fd, FOLDER, "load_seasonal_stats.parquet", err);
}

/* ---- correlation.json ------------------------------------------------------------------------ */

static void describe_member(mcp_json_writer *writer, const cobre_case *in, cobre_noise_class type,
                            size_t index)
{
    static const char *const types[] = { "inflow", "load", "ncs" };
    int32_t id = in->hydro_count > index ? in->hydros[index].id : 0;

    if (type == COBRE_CLASS_LOAD)
        id = in->buses[index].id;
    else if (type == COBRE_CLASS_NCS)
        id = in->sources[index].id;
    mcp_write_object(writer);
    mcp_write_member_string(writer, "type", types[type]);
    mcp_write_member_int(writer, "id", id);
    mcp_write_end(writer);
}

static void describe_group(mcp_json_writer *writer, const cobre_case *in,
                           const cobre_correlation_group *group)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "name", group->name);
    mcp_write_member_array(writer, "entities");
    for (size_t i = 0; i < group->count; i++)
        describe_member(writer, in, group->type, group->members[i]);
    mcp_write_end(writer);
    mcp_write_member_array(writer, "matrix");
    for (size_t i = 0; i < group->count; i++) {
        mcp_write_array(writer);
        for (size_t j = 0; j < group->count; j++)
            mcp_write_double(writer, group->matrix[i * group->count + j]);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
    mcp_write_end(writer);
}

static void describe_profile(mcp_json_writer *writer, const cobre_case *in,
                             const cobre_correlation_profile *profile)
{
    mcp_write_member_object(writer, profile->name);
    mcp_write_member_array(writer, "correlation_groups");
    for (size_t g = 0; g < profile->group_count; g++)
        describe_group(writer, in, &profile->groups[g]);
    mcp_write_end(writer);
    mcp_write_end(writer);
}

/* The profile of stages that the schedule does not name: "default", else the only one. */
static size_t default_profile(const inflow_tables *tables)
{
    for (size_t p = 0; p < tables->profile_count; p++)
        if (strcmp(tables->profiles[p].name, "default") == 0)
            return p;
    return tables->profile_count == 1 ? 0 : SIZE_MAX;
}

static void describe_schedule(mcp_json_writer *writer, const cobre_case *in,
                              const inflow_tables *tables)
{
    size_t usual = default_profile(tables);

    mcp_write_member_array(writer, "schedule");
    for (size_t t = 0; tables->profile_of_stage && t < in->stage_count; t++) {
        size_t profile = tables->profile_of_stage[t];
        if (profile == usual)
            continue;
        mcp_write_object(writer);
        mcp_write_member_int(writer, "stage_id", in->stages[t].id);
        mcp_write_member_string(writer, "profile_name", tables->profiles[profile].name);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
}

/* Without correlation: a profile without groups. */
static mcp_status write_correlation(const study_files *files, const inflow_tables *tables,
                                    int out_fd, mcp_error *err)
{
    static const cobre_correlation_profile none = { .name = "default" };
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, STUDY_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "method", "spectral");
    mcp_write_member_object(&writer, "profiles");
    if (tables->profile_count == 0)
        describe_profile(&writer, files->input, &none);
    for (size_t p = 0; p < tables->profile_count; p++)
        describe_profile(&writer, files->input, &tables->profiles[p]);
    mcp_write_end(&writer);
    describe_schedule(&writer, files->input, tables);
    mcp_write_end(&writer);
    return study_write_json(out_fd, FOLDER "/correlation.json", &writer, err);
}

/* ---- fitting_report.json --------------------------------------------------------------------- */

static void describe_reductions(mcp_json_writer *writer, const hydro_fit *fit)
{
    mcp_write_member_array(writer, "contribution_reductions");
    for (size_t i = 0; i < fit->reduction_count; i++) {
        const fit_reduction *reduction = &fit->reductions[i];
        mcp_write_object(writer);
        mcp_write_member_int(writer, "season_id", reduction->season);
        mcp_write_member_int(writer, "original_order", reduction->original_order);
        mcp_write_member_int(writer, "reduced_order", reduction->reduced_order);
        mcp_write_member_array(writer, "contributions");
        for (size_t l = 0; reduction->contributions && l < reduction->contribution_count; l++)
            mcp_write_double(writer, reduction->contributions[l]);
        mcp_write_end(writer);
        mcp_write_member_string(writer, "reason", reduction->reason);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
}

static void describe_fit(mcp_json_writer *writer, const hydro_fit *fit)
{
    uint32_t order = 0;

    for (uint32_t m = 0; m < fit->seasons; m++)
        if (fit->of_season[m].order > order)
            order = fit->of_season[m].order;
    mcp_write_member_int(writer, "selected_order", order);
    mcp_write_member_array(writer, "coefficients");
    for (uint32_t m = 0; m < fit->seasons; m++) {
        mcp_write_array(writer);
        for (uint32_t l = 0; l < fit->of_season[m].order; l++)
            mcp_write_double(writer, fit->of_season[m].coefficients[l]);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
    if (fit->reduction_count > 0)
        describe_reductions(writer, fit);
}

/* Only when coefficients were estimated. */
static mcp_status write_fitting(const study_files *files, const inflow_tables *tables, int out_fd,
                                mcp_error *err)
{
    const inflow_estimate *estimate = tables->estimate;
    mcp_json_writer writer;
    mcp_buf buf;
    char id[16];

    if (!estimate || !estimate->fits)
        return MCP_OK;
    mcp_buf_init(&buf, STUDY_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_object(&writer, "hydros");
    for (size_t h = 0; h < files->input->hydro_count; h++) {
        snprintf(id, sizeof id, "%d", (int)files->input->hydros[h].id);
        mcp_write_member_object(&writer, id);
        describe_fit(&writer, &estimate->fits[h]);
        mcp_write_end(&writer);
    }
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return study_write_json(out_fd, FOLDER "/fitting_report.json", &writer, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

mcp_status study_remove_stochastic(int out_fd, mcp_error *err)
{
    return guard_remove_tree(out_fd, FOLDER, err);
}

/* What the case itself gives. */
static inflow_tables given_tables(const cobre_case *in)
{
    const cobre_scenarios *given = &in->scenarios;

    return (inflow_tables){
        .stats = given->inflow_stats,
        .stats_count = given->inflow_stats_count,
        .ar = given->ar,
        .ar_count = given->ar_count,
        .annual = given->annual,
        .annual_count = given->annual_count,
        .profiles = given->profiles,
        .profile_count = given->profile_count,
        .profile_of_stage = given->profile_of_stage,
    };
}

mcp_status study_write_stochastic(const study_files *files, int out_fd, mcp_error *err)
{
    inflow_tables tables = files->inflow ? files->inflow->tables : given_tables(files->input);
    mcp_status st = study_remove_stochastic(out_fd, err);

    if (st == MCP_OK)
        st = write_openings(files, out_fd, err);
    if (st == MCP_OK)
        st = write_stats(files, &tables, out_fd, err);
    if (st == MCP_OK)
        st = write_coefficients(files, &tables, out_fd, err);
    if (st == MCP_OK)
        st = write_annual(files, &tables, out_fd, err);
    if (st == MCP_OK)
        st = write_loads(files, out_fd, err);
    if (st == MCP_OK)
        st = write_correlation(files, &tables, out_fd, err);
    return st == MCP_OK ? write_fitting(files, &tables, out_fd, err) : st;
}
