/*
 * compare.c - cobre compare: two runs, by their output directories.
 *
 * Differences are those of the second run from the first, and shares are of the first. Runs of
 * studies with other dimensions or entities are not compared. Source: the errors page, sections 1.2
 * and 2.2.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/table.h"
#include "query/entities.h"
#include "report/console.h"
#include "report/output.h"
#include "shell/work.h"

/* The metadata that must be equal. */
static const char *const dimensions[] = { "num_stages", "num_hydros", "num_thermals", "num_buses",
                                          "num_lines" };

struct side {
    const char *dir;
    report_output output;
    sddp_training training;
    sddp_simulation simulation;
    query_entities entities; /* of the dictionary */
    bool has_entities;
};

struct comparison {
    struct side a, b;
};

static double last_of(const struct side *side, double (*number)(const sddp_iteration *row))
{
    size_t count = side->training.iterations;
    return count ? number(&side->training.rows[count - 1]) : (double)NAN;
}

static double lower_bound(const sddp_iteration *row)
{
    return row->lower_bound;
}

static double upper_bound(const sddp_iteration *row)
{
    return row->upper_bound;
}

static double gap(const sddp_iteration *row)
{
    return row->gap;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_number(mcp_json_writer *writer, const char *name, double number)
{
    mcp_write_name(writer, name);
    mcp_write_double_or_null(writer, number);
}

static double share(double a, double b)
{
    return (b - a) / fabs(a);
}

static void write_training(const struct comparison *of, mcp_json_writer *writer)
{
    double lb_a = last_of(&of->a, lower_bound), lb_b = last_of(&of->b, lower_bound);
    double ub_a = last_of(&of->a, upper_bound), ub_b = last_of(&of->b, upper_bound);
    mcp_write_member_object(writer, "training");
    mcp_write_member_int(writer, "iterations_a", (int64_t)of->a.training.iterations);
    mcp_write_member_int(writer, "iterations_b", (int64_t)of->b.training.iterations);
    write_number(writer, "final_lb_a", lb_a);
    write_number(writer, "final_lb_b", lb_b);
    write_number(writer, "final_lb_delta", lb_b - lb_a);
    write_number(writer, "final_lb_delta_pct", share(lb_a, lb_b));
    write_number(writer, "final_ub_a", ub_a);
    write_number(writer, "final_ub_b", ub_b);
    write_number(writer, "final_ub_delta", ub_b - ub_a);
    write_number(writer, "final_ub_delta_pct", share(ub_a, ub_b));
    write_number(writer, "final_gap_a", last_of(&of->a, gap));
    write_number(writer, "final_gap_b", last_of(&of->b, gap));
    mcp_write_end(writer);
}

static void write_members(const void *data, mcp_json_writer *writer)
{
    const struct comparison *of = data;
    mcp_write_member_string(writer, "run_a", of->a.dir);
    mcp_write_member_string(writer, "run_b", of->b.dir);
    mcp_write_member_bool(writer, "compatible", true);
    write_training(of, writer);
    if (!of->a.output.simulation || !of->b.output.simulation) {
        mcp_write_member_null(writer, "simulation");
        return;
    }
    double mean_a = of->a.simulation.mean, mean_b = of->b.simulation.mean;
    mcp_write_member_object(writer, "simulation");
    write_number(writer, "mean_cost_a", mean_a);
    write_number(writer, "mean_cost_b", mean_b);
    write_number(writer, "mean_cost_delta", mean_b - mean_a);
    write_number(writer, "mean_cost_delta_pct", share(mean_a, mean_b));
    write_number(writer, "std_a", of->a.simulation.std);
    write_number(writer, "std_b", of->b.simulation.std);
    mcp_write_end(writer);
}

/* ---- words ----------------------------------------------------------------------------------- */

#define CELLS 5 /* in a row: label, a, b, difference, share */

typedef void format_number(char out[CLI_FORMAT_SIZE], double value);

struct words {
    char text[8][CELLS][CLI_FORMAT_SIZE];
    const char *cells[8 * CELLS];
    size_t rows;
};

static void format_count(char out[CLI_FORMAT_SIZE], double value)
{
    snprintf(out, CLI_FORMAT_SIZE, "%.0f", value);
}

static void add_row(struct words *words, const char *label, format_number *format, double a,
                    double b)
{
    char(*text)[CLI_FORMAT_SIZE] = words->text[words->rows];
    snprintf(text[0], CLI_FORMAT_SIZE, "%s", label);
    format(text[1], a);
    format(text[2], b);
    format(text[3], b - a);
    snprintf(text[4], CLI_FORMAT_SIZE, "%+.3f%%", 100 * share(a, b));
    for (size_t i = 0; i < CELLS; i++)
        words->cells[words->rows * CELLS + i] = text[i];
    words->rows++;
}

static void print_words(const shell_work *work, const struct comparison *of)
{
    static const cli_table_column heads[CELLS] = {
        { "", false }, { "A", true }, { "B", true }, { "B - A", true }, { "share", true }
    };
    struct words words = { 0 };
    FILE *out = cli_out(work->line);
    fputs("A: ", out);
    console_put(out, of->a.dir);
    fputs("\nB: ", out);
    console_put(out, of->b.dir);
    fputs("\n\n", out);
    add_row(&words, "Iterations", format_count, (double)of->a.training.iterations,
            (double)of->b.training.iterations);
    add_row(&words, "Lower bound, $", cli_format_number, last_of(&of->a, lower_bound),
            last_of(&of->b, lower_bound));
    add_row(&words, "Upper bound, $", cli_format_number, last_of(&of->a, upper_bound),
            last_of(&of->b, upper_bound));
    if (of->a.output.simulation && of->b.output.simulation) {
        add_row(&words, "Expected cost, $", cli_format_number, of->a.simulation.mean,
                of->b.simulation.mean);
        add_row(&words, "Deviation, $", cli_format_number, of->a.simulation.std,
                of->b.simulation.std);
    }
    cli_table_print(out, heads, CELLS, words.cells, words.rows, shell_use_color(work, out));
}

/* ---- the command ----------------------------------------------------------------------------- */

/* "hydro 0 'Serra Azul'"; the dictionary has its entities in one order. */
static const char *entity_at(const shell_work *work, const query_entities *entities, size_t i)
{
    static const char *const types[] = { "hydro",   "thermal",         "bus",
                                         "line",    "pumping station", "contract",
                                         "battery", "non-controllable" };
    if (i >= entities->count)
        return "nothing";
    const query_entity *one = &entities->items[i];
    bool is_known = one->code >= 0 && (size_t)one->code < sizeof types / sizeof *types;
    return mcp_arena_printf(work->arena, "%s %lld '%.200s'", is_known ? types[one->code] : "entity",
                            (long long)one->id, one->name);
}

/* Runs of another program may have no dictionary; then the dimensions decide. */
static const cobre_record *other_entity(const shell_work *work, const struct comparison *of)
{
    const query_entities *a = &of->a.entities, *b = &of->b.entities;
    size_t i = 0;
    if (!of->a.has_entities || !of->b.has_entities)
        return NULL;
    while (i < a->count && i < b->count && a->items[i].code == b->items[i].code &&
           a->items[i].id == b->items[i].id && strcmp(a->items[i].name, b->items[i].name) == 0)
        i++;
    if (i == a->count && i == b->count)
        return NULL;
    const char *one = entity_at(work, a, i), *other = entity_at(work, b, i);
    return cobre_record_new(
        work->arena, "IncompatibleRuns", "Compare runs of the same study.",
        COBRE_MEMBERS(COBRE_TEXT("field", QUERY_ENTITIES), COBRE_TEXT("run_a_value", one),
                      COBRE_TEXT("run_b_value", other), COBRE_TEXT("detail", "the studies differ")),
        "The runs cannot be compared: where one has %s, the other has %s", one, other);
}

static const cobre_record *incompatibility(const shell_work *work, const struct comparison *of)
{
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        const char *pointer = mcp_arena_printf(work->arena, "/problem_dimensions/%s",
                                               dimensions[i]);
        if (!pointer)
            return NULL;
        double a = report_number(of->a.output.training, pointer, -1);
        double b = report_number(of->b.output.training, pointer, -1);
        if (a != b)
            return cobre_record_new(
                work->arena, "IncompatibleRuns", "Compare runs of the same study.",
                COBRE_MEMBERS(COBRE_TEXT("field", dimensions[i]), COBRE_REAL("run_a_value", a),
                              COBRE_REAL("run_b_value", b),
                              COBRE_TEXT("detail", "the studies differ")),
                "The runs cannot be compared: %s is %g and %g", dimensions[i], a, b);
    }
    return other_entity(work, of);
}

static mcp_status read_side(struct side *side, shell_work *work, int fd, const char *dir)
{
    side->dir = dir;
    mcp_status st = report_output_read(&side->output, work->engine, fd, work->arena, &work->error);
    if (st != MCP_OK)
        return st;
    if (!side->output.training)
        return mcp_error_set(&work->error, MCP_E_NOT_FOUND, "there is no " REPORT_TRAINING);
    st = query_entities_read(&side->entities, fd, work->arena, &work->error);
    if (st != MCP_OK && st != MCP_E_NOT_FOUND)
        return st;
    side->has_entities = st == MCP_OK;
    side->training = report_output_training(&side->output);
    side->simulation = report_output_simulation(&side->output);
    return MCP_OK;
}

static int compare(shell_work *work)
{
    struct comparison of = { 0 };
    const shell_answer answer = { .members = write_members, .of = &of };
    const char *other = NULL;
    int fd = -1;
    mcp_status st = read_side(&of.a, work, work->dir_fd, work->dir);
    if (st != MCP_OK)
        return shell_refuse_output(work, work->dir, st);
    int exit_status = shell_open_output(&fd, &other, work, cli_argument(work->line, 1));
    if (exit_status != COBRE_EXIT_DONE)
        return exit_status;
    st = read_side(&of.b, work, fd, other);
    close(fd);
    if (st != MCP_OK)
        return shell_refuse_output(work, other, st);
    const cobre_record *record = incompatibility(work, &of);
    if (record)
        return shell_refuse(work, COBRE_EXIT_INVALID, record);
    if (work->format == SHELL_WORDS)
        print_words(work, &of);
    return shell_print(work, &answer);
}

int cobre_command_compare(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "compare", SHELL_OUTPUT);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = compare(&work);
    shell_end(&work);
    return exit_status;
}
