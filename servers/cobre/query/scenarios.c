/*
 * scenarios.c - see scenarios.h.
 */
#include "query/scenarios.h"

#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "query/entities.h"

#define FOLDER "scenarios/"
#define TABLE_ARENA_MAX ((size_t)1 << 30)

/* ---- the summary ----------------------------------------------------------------------------- */

struct survey {
    columns *engine;
    int case_fd;
    mcp_arena *arena;
    const char *file; /* that is being read */
    query_scenario_summary *out;
};

static bool is_scenario_file(cobre_file_id id)
{
    return strncmp(cobre_files_known[id].path, FOLDER, strlen(FOLDER)) == 0;
}

static bool has_scenario_file(int case_fd)
{
    for (size_t i = 0; i < COBRE_FILE_COUNT; i++)
        if (is_scenario_file((cobre_file_id)i) && guard_exists(case_fd, cobre_files_known[i].path))
            return true;
    return false;
}

/* A JSON file; NULL when it is absent. */
static mcp_status read_json(const mcp_json **root, struct survey *survey, cobre_file_id id,
                            mcp_error *err)
{
    *root = NULL;
    survey->file = cobre_files_known[id].path;
    mcp_status st = query_case_json(root, survey->case_fd, id, survey->arena, err);
    return st == MCP_E_NOT_FOUND ? MCP_OK : st;
}

/* What a Parquet file's column holds; all zero when the file is absent. */
static mcp_status survey_column(columns_survey *out, struct survey *survey, cobre_file_id id,
                                const char *column, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    int fd = -1;

    *out = (columns_survey){ 0 };
    survey->file = cobre_files_known[id].path;
    mcp_status st = guard_open_file(&fd, survey->case_fd, survey->file, &why);
    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;
    if (st == MCP_OK) {
        st = columns_look(out, survey->engine, fd, column, &why);
        close(fd);
    }
    return st == MCP_OK ? st : mcp_error_set(err, st, "%s: %s", survey->file, why.message);
}

static bool is_study_stage(const mcp_json *stage)
{
    int64_t id = -1;

    return mcp_json_int(mcp_json_get(stage, "id"), &id) && id >= 0;
}

/* Whether no earlier study stage has the season. */
static bool is_new_season(const mcp_json *stages, size_t index, int64_t season)
{
    int64_t other = 0;

    for (size_t i = 0; i < index; i++)
        if (is_study_stage(mcp_json_item(stages, i)) &&
            mcp_json_int(mcp_json_get(mcp_json_item(stages, i), "season_id"), &other) &&
            other == season)
            return false;
    return true;
}

static mcp_status count_stages(struct survey *survey, mcp_error *err)
{
    query_scenario_summary *out = survey->out;
    const mcp_json *root = NULL;
    int64_t openings = 0;
    int64_t season = 0;
    mcp_status st = read_json(&root, survey, COBRE_FILE_STAGES, err);
    const mcp_json *stages = mcp_json_get(root, "stages");

    for (size_t i = 0; i < mcp_json_count(stages); i++) {
        const mcp_json *stage = mcp_json_item(stages, i);
        if (!is_study_stage(stage))
            continue;
        out->stages++;
        if (mcp_json_int(mcp_json_get(stage, "num_scenarios"), &openings) && openings > out->count)
            out->count = openings;
        if (mcp_json_int(mcp_json_get(stage, "season_id"), &season))
            out->seasons += is_new_season(stages, i, season);
    }
    return st;
}

/* The groups of the profile "default", or of the only one. */
static mcp_status count_groups(struct survey *survey, mcp_error *err)
{
    const mcp_json *root = NULL;
    mcp_status st = read_json(&root, survey, COBRE_FILE_CORRELATION, err);
    const mcp_json *profiles = mcp_json_get(root, "profiles");
    const mcp_json *profile = mcp_json_get(profiles, "default");

    if (!profile && mcp_json_is_object(profiles) && mcp_json_count(profiles) == 1)
        profile = mcp_json_item(profiles, 0);
    survey->out->groups = (int64_t)mcp_json_count(mcp_json_get(profile, "correlation_groups"));
    return st;
}

static mcp_status read_source(struct survey *survey, mcp_error *err)
{
    const mcp_json *config = NULL;
    mcp_status st = read_json(&config, survey, COBRE_FILE_CONFIG, err);
    const char *scheme = mcp_json_string(
        mcp_json_pointer(config, "/training/scenario_source/inflow/scheme"), NULL);

    survey->out->is_external = scheme && strcmp(scheme, "external") == 0;
    return st;
}

mcp_status query_scenarios_summarize(query_scenario_summary *out, const char **file,
                                     columns *engine, int case_fd, mcp_arena *arena, mcp_error *err)
{
    query_scenario_summary summary = { 0 };
    struct survey survey = { engine, case_fd, arena, "scenarios", &summary };
    columns_survey lags = { 0 };
    columns_survey hydros = { 0 };
    columns_survey external = { 0 };

    *file = survey.file;
    if (!has_scenario_file(case_fd))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the case has no file below scenarios/");
    mcp_status st = read_source(&survey, err);
    if (st == MCP_OK)
        st = count_stages(&survey, err);
    if (st == MCP_OK)
        st = count_groups(&survey, err);
    if (st == MCP_OK)
        st = survey_column(&hydros, &survey, COBRE_FILE_INFLOW_STATS, "hydro_id", err);
    if (st == MCP_OK)
        st = survey_column(&lags, &survey, COBRE_FILE_AR, "lag", err);
    if (st == MCP_OK && summary.is_external)
        st = survey_column(&external, &survey, COBRE_FILE_EXTERNAL_INFLOW, "scenario_id", err);
    *file = survey.file;
    if (st != MCP_OK)
        return st;
    summary.entities = hydros.distinct;
    summary.max_order = lags.most > 0 ? lags.most : 0;
    if (summary.is_external)
        summary.count = external.distinct;
    *out = summary;
    return MCP_OK;
}

/* ---- the rows of an entity ------------------------------------------------------------------- */

mcp_status query_scenarios_find(query_scenario_entity *out, const char **file, int case_fd,
                                const char *text, mcp_arena *arena, mcp_error *err)
{
    static const char *const names[] = { "hydros", "buses", "non_controllable_sources" };
    int64_t id = 0;
    size_t count = query_entity_id(&id, text) ? 1 : sizeof names / sizeof names[0];

    for (size_t i = 0; i < count; i++) {
        const query_registry *registry = query_registry_find(names[i]);
        const mcp_json *root = NULL;
        *file = cobre_files_known[registry->file].path;
        mcp_status st = query_case_json(&root, case_fd, registry->file, arena, err);
        if (st == MCP_E_NOT_FOUND)
            continue;
        if (st != MCP_OK)
            return st;
        out->registry = registry;
        if (query_registry_entity(&out->id, &out->name, registry, root, text))
            return MCP_OK;
    }
    *file = NULL;
    return mcp_error_set(err, MCP_E_NOT_FOUND, "no entity of the case is '%.100s'", text);
}

/* The column of a file that refers to the registry; NULL: none. */
static const char *id_column(cobre_file_id id, const query_registry *registry)
{
    const cobre_table_spec *spec = cobre_files_known[id].table;
    cobre_registry wanted = registry->file == COBRE_FILE_HYDROS  ? COBRE_HYDROS
                            : registry->file == COBRE_FILE_BUSES ? COBRE_BUSES
                                                                 : COBRE_SOURCES;

    for (const cobre_column *column = spec->columns; column->name; column++)
        if (column->refers == wanted)
            return column->name;
    return NULL;
}

/* Every type of the contract has a form in JSON; others are not shown as null. */
static mcp_status check_types(const columns_table *rows, const char *path, mcp_error *err)
{
    for (size_t i = 0; i < rows->column_count; i++)
        if (rows->columns[i].type == COLUMNS_OTHER)
            return mcp_error_set(err, MCP_E_PARSE,
                                 "%s: column %s has a type without a form in JSON", path,
                                 rows->columns[i].name);
    return MCP_OK;
}

static mcp_status read_file(columns *engine, int fd, const char *path, const char *column,
                            int64_t id, uint64_t rows_max, query_scenario_rows *take, void *data,
                            mcp_error *err)
{
    const columns_condition condition = { .column = column, .values = &id, .count = 1 };
    const columns_selection selection = { .fds = &fd,
                                          .fd_count = 1,
                                          .conditions = &condition,
                                          .condition_count = 1,
                                          .rows_max = rows_max };
    mcp_arena *arena = mcp_arena_new(TABLE_ARENA_MAX);
    const columns_table *found = NULL;
    mcp_error why = MCP_ERROR_INIT;
    uint64_t total = 0;

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %s", path);
    mcp_status st = columns_select(&found, &total, engine, &selection, arena, &why);
    if (st != MCP_OK)
        mcp_error_set(err, st, "%s: %s", path, why.message);
    if (st == MCP_OK && total > 0) {
        const columns_table rows = { .rows = found->rows,
                                     .column_count = found->column_count - 1,
                                     .columns = found->columns + 1 };
        st = check_types(&rows, path, err);
        if (st == MCP_OK)
            st = take(path, &rows, total, data, err);
    }
    mcp_arena_free(arena);
    return st;
}

mcp_status query_scenarios_read(const char **file, columns *engine, int case_fd,
                                const query_scenario_entity *entity, uint64_t rows_max,
                                query_scenario_rows *take, void *data, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < COBRE_FILE_COUNT && st == MCP_OK; i++) {
        const cobre_file *known = &cobre_files_known[i];
        int fd = -1;
        if (!known->table || !is_scenario_file((cobre_file_id)i))
            continue;
        const char *column = id_column((cobre_file_id)i, entity->registry);
        if (!column)
            continue;
        *file = known->path;
        st = guard_open_file(&fd, case_fd, known->path, err);
        if (st == MCP_E_NOT_FOUND) {
            st = MCP_OK;
            continue;
        }
        if (st == MCP_OK) {
            st = read_file(engine, fd, known->path, column, entity->id, rows_max, take, data, err);
            close(fd);
        }
    }
    return st;
}
