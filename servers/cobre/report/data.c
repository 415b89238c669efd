/*
 * data.c - the object of the report, section by section.
 */
#include "report/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/clock.h"
#include "report/files.h"
#include "report/sections.h"
#include "run/run.h"

#define SECTION_ARENA_MAX ((size_t)1 << 30)

static const struct section {
    const char *name;
    report_section *write;
} sections[] = {
    { "convergence", report_convergence },
    { "costs", report_costs },
    { "storage", report_storage },
    { "marginal_cost", report_marginal_cost },
    { "generation", report_generation },
    { "deficit", report_deficit },
    { "cuts", report_cuts },
    { "solver", report_solver },
};

#define SECTION_COUNT (sizeof sections / sizeof *sections)

const char *const report_section_names[] = { "convergence",   "costs",      "storage",
                                             "marginal_cost", "generation", "deficit",
                                             "cuts",          "solver",     NULL };

/* ---- reading --------------------------------------------------------------------------------- */

const char *report_format(const report_context *context, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *copy = mcp_arena_strdup(context->arena, text);
    return copy ? copy : "";
}

/* What cannot be read makes a section absent; only what is no fault of the files is a failure. */
static mcp_status excuse(const report_context *context, const char *path, mcp_status st,
                         const mcp_error *cause, const char **absent, mcp_error *err)
{
    if (st == MCP_E_NOMEM || st == MCP_E_UNSUPPORTED || st == MCP_E_INTERNAL)
        return mcp_error_set(err, st, "%s: %s", path, cause->message);
    *absent = report_format(context, "%s cannot be read: %s.", path, cause->message);
    return MCP_OK;
}

static const char *reason_of_absence(const report_context *context, const char *folder)
{
    if (!context->output->simulation)
        return "This output directory holds no finished simulation. Enable simulation in "
               "config.json and run the case.";
    return report_format(context, "The simulation has written no %s: the study has none.", folder);
}

mcp_status report_query(report_rows *out, const report_context *context, const char *folder,
                        size_t fd_max, const char *sql, const char **absent, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    report_files files = { 0 };
    const char *path = report_format(context, "simulation/%s", folder);
    mcp_status st = report_files_open(&files, context->out_fd, folder, fd_max, context->arena,
                                      &cause);
    if (st == MCP_E_NOT_FOUND) {
        *absent = reason_of_absence(context, folder);
        return MCP_OK;
    }
    if (st == MCP_OK)
        st = columns_query(&out->table, context->engine, files.fds, files.count, sql, NULL,
                           context->arena, &cause);
    out->scenarios = files.count;
    out->left_out = files.left_out;
    report_files_close(&files);
    return st == MCP_OK ? MCP_OK : excuse(context, path, st, &cause, absent, err);
}

mcp_status report_query_file(const columns_table **out, const report_context *context,
                             const char *path, const char *sql, const char **absent, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    int fd = -1;
    mcp_status st = guard_open_file(&fd, context->out_fd, path, &cause);
    *out = NULL;
    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;
    if (st == MCP_OK) {
        st = columns_query(out, context->engine, &fd, 1, sql, NULL, context->arena, &cause);
        close(fd);
    }
    return st == MCP_OK ? MCP_OK : excuse(context, path, st, &cause, absent, err);
}

double report_value(const columns_table *table, size_t column, size_t row)
{
    const columns_column *of = &table->columns[column];
    return of->type == COLUMNS_F64 && columns_is_valid(of, row) ? ((const double *)of->values)[row]
                                                                : (double)NAN;
}

const char *report_name(const report_context *context, int64_t code, int64_t id)
{
    for (size_t i = 0; i < context->names.count; i++)
        if (context->names.items[i].code == code && context->names.items[i].id == id)
            return context->names.items[i].name;
    return report_format(context, "%" PRId64, id);
}

/* ---- writing --------------------------------------------------------------------------------- */

void report_write_number(mcp_json_writer *writer, double number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.7g", number);
    if (isfinite(number))
        mcp_write_raw(writer, text, (size_t)length);
    else
        mcp_write_null(writer);
}

void report_write_column(const report_context *context, const char *name,
                         const columns_table *table, size_t column)
{
    mcp_write_member_array(context->writer, name);
    for (size_t row = 0; row < table->rows; row++)
        report_write_number(context->writer, report_value(table, column, row));
    mcp_write_end(context->writer);
}

void report_write_note(const report_context *context, const char *note)
{
    if (note)
        mcp_write_member_string(context->writer, "note", note);
    else
        mcp_write_member_null(context->writer, "note");
}

const char *report_scenarios_note(const report_context *context, const report_rows *rows)
{
    if (rows->left_out == 0)
        return NULL;
    return report_format(context,
                         "The first %zu of %zu scenarios are shown: this process may not open more "
                         "files (ulimit -n).",
                         rows->scenarios, rows->scenarios + rows->left_out);
}

/* ---- the object ------------------------------------------------------------------------------ */

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

bool report_sections_exist(const char *list, const char **wrong, mcp_arena *arena)
{
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        size_t length = strcspn(at, ",");
        const char *name = mcp_arena_strndup(arena, at, length);
        bool is_known = false;
        for (size_t i = 0; name && i < SECTION_COUNT; i++)
            is_known = is_known || strcmp(sections[i].name, name) == 0;
        if (!is_known) {
            *wrong = name ? name : "";
            return false;
        }
    }
    return true;
}

static mcp_status write_section(report_context *context, const struct section *section,
                                mcp_error *err)
{
    const char *absent = NULL;
    context->arena = mcp_arena_new(SECTION_ARENA_MAX);
    if (!context->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a section of the report");
    mcp_write_member_object(context->writer, section->name);
    mcp_status st = section->write(context, &absent, err);
    if (st == MCP_OK && absent)
        mcp_write_member_string(context->writer, "absent", absent);
    mcp_write_end(context->writer);
    mcp_arena_free(context->arena);
    return st;
}

mcp_status report_sections_write(mcp_json_writer *writer, columns *engine,
                                 const report_order *order, mcp_arena *arena, mcp_error *err)
{
    report_context context = {
        .output = order->output,
        .engine = engine,
        .out_fd = order->out_fd,
        .entities_max = order->entities_max,
        .writer = writer,
    };
    /* Without the dictionary entities go by their ids. */
    mcp_error no_names = MCP_ERROR_INIT;
    mcp_status st = query_entities_read(&context.names, order->out_fd, arena, &no_names);
    if (st == MCP_E_NOMEM)
        return mcp_error_set(err, st, "%s", no_names.message);
    if (st != MCP_OK)
        context.names = (query_entities){ 0 };
    st = MCP_OK;
    mcp_write_member_object(writer, "sections");
    for (size_t i = 0; i < SECTION_COUNT && st == MCP_OK; i++)
        if (!order->sections || is_listed(order->sections, sections[i].name))
            st = write_section(&context, &sections[i], err);
    mcp_write_end(writer);
    return st;
}

const char *report_case_name(const char *output_dir, mcp_arena *arena)
{
    const char *end = output_dir + strlen(output_dir);
    const char *name = strrchr(output_dir, '/');
    if (name && strcmp(name, "/output") == 0) {
        end = name;
        while (name > output_dir && name[-1] != '/')
            name--;
    } else {
        name = name ? name + 1 : output_dir;
    }
    return name == end ? "study" : mcp_arena_strndup(arena, name, (size_t)(end - name));
}

static void write_last_bounds(const report_output *output, mcp_json_writer *writer)
{
    const results_convergence *record = &output->convergence;
    mcp_write_member_object(writer, "summary");
    if (record->count > 0) {
        const sddp_iteration *last = &record->rows[record->count - 1];
        mcp_write_member_double(writer, "lower_bound", last->lower_bound);
        mcp_write_member_double(writer, "upper_bound", last->upper_bound);
        mcp_write_member_double(writer, "ci_95", last->ci_95);
        mcp_write_member_double(writer, "gap", last->gap);
    }
    mcp_write_member_string(writer, "termination_reason", output->reason);
    mcp_write_end(writer);
}

mcp_status report_data_write(mcp_json_writer *writer, columns *engine, const report_order *order,
                             mcp_arena *arena, mcp_error *err)
{
    char now[MCP_CLOCK_UTC_SIZE];
    const report_output *output = order->output;
    const char *name = report_case_name(order->output_dir, arena);
    if (!name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the report");
    mcp_clock_utc(now, mcp_clock_wall_ms(), 0);
    mcp_write_object(writer);
    mcp_write_member_string(writer, "case_name", name);
    mcp_write_member_string(writer, "output_directory", order->output_dir);
    mcp_write_member_string(writer, "status", report_output_status(output));
    mcp_write_member_string(writer, "cobre_version", COBRE_VERSION);
    mcp_write_member_string(writer, "generated_at", now);
    report_output_write(writer, "training", output->training);
    report_output_write(writer, "simulation", output->simulation);
    write_last_bounds(output, writer);
    mcp_status st = report_sections_write(writer, engine, order, arena, err);
    mcp_write_end(writer);
    return st;
}
