/*
 * console.c - prints progress and summaries.
 */
#include "report/console.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lp/lp.h"

#define LABEL_WIDTH 16
#define WIDE 150 /* columns of a full line of progress */

void console_put(FILE *stream, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool is_c1 = at[0] == 0xC2 && at[1] < 0xA0;
        if (is_c1 && at[1])
            at++;
        fputc(is_c1 || *at < 0x20 || *at == 0x7F ? '?' : *at, stream);
    }
}

void console_complain(FILE *stream, const char *word, const char *message, const char *suggestion)
{
    fprintf(stream, "%s: ", word);
    console_put(stream, message ? message : "out of memory");
    if (suggestion) {
        fputs("\n  -> ", stream);
        console_put(stream, suggestion);
    }
    fputc('\n', stream);
}

static void say_label(const console *self, const char *label)
{
    fprintf(self->stream, "  %s%-*s%s", cli_paint(self->use_color, CLI_DIM), LABEL_WIDTH, label,
            cli_paint(self->use_color, CLI_PLAIN));
}

static void say_title(const console *self, const char *title)
{
    fprintf(self->stream, "%s%s%s", cli_paint(self->use_color, CLI_BOLD), title,
            cli_paint(self->use_color, CLI_PLAIN));
}

void console_begin(console *self, FILE *stream, bool is_quiet, bool use_color, unsigned threads,
                   const char *case_dir)
{
    char host[256] = "";
    memset(self, 0, sizeof *self);
    self->stream = stream;
    self->is_quiet = is_quiet;
    self->use_color = use_color;
    self->threads = threads;
    if (is_quiet)
        return;
    gethostname(host, sizeof host - 1);
    say_title(self, "cobre " COBRE_VERSION);
    fprintf(stream, "  hydrothermal dispatch by SDDP\n\n");
    say_title(self, "Execution");
    fputc('\n', stream);
    say_label(self, "Solver:");
    fprintf(stream, "own dual simplex, %s %s\n", lp_solver_name(), lp_solver_version());
    say_label(self, "Host:");
    fprintf(stream, "%s\n", host);
    say_label(self, "Threads:");
    fprintf(stream, "%u\n\n", threads);
    fputs("Loading case: ", stream);
    console_put(stream, case_dir);
    fputc('\n', stream);
}

static void say_words(const console *self, const char *label, const char *words)
{
    say_label(self, label);
    fprintf(self->stream, "%s\n", words);
}

void console_describe(const console *self, const cobre_run_models *models)
{
    const study_provenance *from = &models->provenance;
    if (self->is_quiet)
        return;
    say_title(self, "Hydro models");
    fputc('\n', self->stream);
    say_label(self, "Production:");
    fprintf(self->stream, "%zu constant, %zu by planes (FPHA)\n",
            models->hydros - models->with_planes, models->with_planes);
    say_label(self, "Evaporation:");
    fprintf(self->stream, "%zu of %zu plants\n\n", models->evaporating, models->hydros);
    say_title(self, "Model provenance");
    fputc('\n', self->stream);
    say_words(self, "Estimation:", from->estimation_path);
    say_words(self, "Statistics:", from->seasonal_stats);
    say_words(self, "Coefficients:", from->ar_coefficients);
    say_words(self, "Correlation:", from->correlation);
    say_words(self, "Opening tree:", from->opening_tree);
    fputc('\n', self->stream);
}

void console_started(console *self, const cobre_case *input)
{
    self->input = input;
    if (!self->is_quiet)
        fprintf(self->stream, "  %zu stages, %zu buses, %zu hydros, %zu thermals, %zu lines\n\n",
                input->stage_count, input->bus_count, input->hydro_count, input->thermal_count,
                input->line_count);
    cli_progress_begin(&self->progress, self->stream, "Training", "iter",
                       input->config.max_iterations,
                       self->is_quiet ? CLI_PROGRESS_NONE : CLI_PROGRESS_LINES);
    if (!self->is_quiet && !self->progress.is_terminal)
        fprintf(self->stream, "Training   starting... (max %u iterations)\n",
                (unsigned)input->config.max_iterations);
}

void console_iteration(console *self, const sddp_iteration *row)
{
    char lower[CLI_FORMAT_SIZE], upper[CLI_FORMAT_SIZE], detail[200];
    bool is_narrow = self->progress.is_terminal && self->progress.width < WIDE;
    cli_format_number(lower, row->lower_bound);
    cli_format_number(upper, row->upper_bound);
    int length = snprintf(detail, sizeof detail, "LB: %s  UB: %s  gap: %.1f%%", lower, upper,
                          100 * row->gap);
    if (!is_narrow && length > 0)
        snprintf(detail + length, sizeof detail - (size_t)length, "  fwd: %lldms / bwd: %lldms",
                 (long long)row->time_forward_ms, (long long)row->time_backward_ms);
    cli_progress_step(&self->progress, (uint64_t)row->iteration, detail);
}

static void say_number(const console *self, const char *label, double value, const char *tail)
{
    char number[CLI_FORMAT_SIZE];
    cli_format_number(number, value);
    say_label(self, label);
    fprintf(self->stream, "$ %s%s\n", number, tail);
}

static void say_bounds(const console *self, const sddp_training *training)
{
    char deviation[CLI_FORMAT_SIZE], tail[CLI_FORMAT_SIZE + 8];
    const sddp_iteration *last = &training->rows[training->iterations - 1];
    cli_format_number(deviation, last->upper_bound_std);
    snprintf(tail, sizeof tail, " +/- %s", deviation);
    say_number(self, "Lower bound:", last->lower_bound, "");
    say_number(self, "Upper bound:", last->upper_bound, tail);
    if (!isnan(sddp_training_inner_bound(training)))
        say_number(self, "Inner bound:", sddp_training_inner_bound(training), "");
    say_label(self, "Gap:");
    fprintf(self->stream, "%.1f%% (started at %.1f%%)\n", 100 * last->gap,
            100 * training->rows[0].gap);
}

static void say_solves(const console *self, int64_t solves)
{
    say_label(self, "LP solves:");
    fprintf(self->stream, "%lld\n", (long long)solves);
}

/* What solved the stage programs, as training.solver.backend names it. */
static void say_backend(const console *self, const char *solver, int64_t fallbacks)
{
    if (!solver)
        return;
    say_label(self, "Backend:");
    fputs(solver, self->stream);
    if (fallbacks > 0)
        fprintf(self->stream, " (%lld solves left to Clp)", (long long)fallbacks);
    fputc('\n', self->stream);
}

static void say_times(const console *self, const sddp_training *training)
{
    char average[CLI_FORMAT_SIZE];
    double total = 0, forward = 0, backward = 0;
    for (size_t i = 0; i < training->iterations; i++) {
        total += (double)training->rows[i].time_total_ms;
        forward += (double)training->rows[i].time_forward_ms;
        backward += (double)training->rows[i].time_backward_ms;
    }
    if (total < forward + backward)
        total = forward + backward;
    snprintf(average, sizeof average, "%.1f ms", total / (double)training->iterations);
    say_label(self, "Avg iter:");
    fprintf(self->stream, "%s\n", average);
    if (total <= 0)
        return;
    say_label(self, "Time split:");
    fprintf(self->stream, "forward %.0f%%, backward %.0f%%, other %.0f%%\n", 100 * forward / total,
            100 * backward / total, 100 * (total - forward - backward) / total);
}

void console_say_training(const console *self, const sddp_training *training, const char *reason)
{
    char duration[CLI_FORMAT_SIZE];
    bool is_stopped = strcmp(reason, sddp_reason_name(SDDP_SHUTDOWN)) == 0;
    cli_format_duration(duration, training->wall_time_ms);
    say_title(self, is_stopped ? "Training stopped" : "Training complete");
    fprintf(self->stream, " in %s (%zu iterations, %s)\n", duration, training->iterations, reason);
    if (training->iterations)
        say_bounds(self, training);
    say_label(self, "Policy rows:");
    fprintf(self->stream, "%lld active / %lld generated\n", (long long)training->active_cuts,
            (long long)training->total_cuts);
    say_solves(self, training->lp_solves);
    say_backend(self, training->solver, training->fallbacks);
    if (training->iterations)
        say_times(self, training);
    fputc('\n', self->stream);
}

void console_trained(console *self, const sddp_training *training)
{
    cli_progress_end(&self->progress);
    if (self->is_quiet)
        return;
    fputc('\n', self->stream);
    console_say_training(self, training, sddp_reason_name(training->reason));
}

void console_scenario(console *self, uint32_t done, uint32_t total)
{
    if (!self->is_simulating)
        cli_progress_begin(&self->progress, self->stream, "Simulation", "scenarios", total,
                           self->is_quiet ? CLI_PROGRESS_NONE : CLI_PROGRESS_LINES);
    self->is_simulating = true;
    cli_progress_step(&self->progress, done, NULL);
}

void console_say_simulation(const console *self, const sddp_simulation *simulation)
{
    char duration[CLI_FORMAT_SIZE], width[CLI_FORMAT_SIZE], deviation[CLI_FORMAT_SIZE];
    char tail[3 * CLI_FORMAT_SIZE];
    cli_format_duration(duration, simulation->wall_time_ms);
    cli_format_number(width, simulation->ci_95);
    cli_format_number(deviation, simulation->std);
    snprintf(tail, sizeof tail, " +/- %s (std: %s)", width, deviation);
    say_title(self, simulation->stopped ? "Simulation stopped" : "Simulation complete");
    fprintf(self->stream, " in %s (%u of %u scenarios)\n", duration,
            simulation->scenarios_completed, simulation->scenarios_total);
    if (simulation->scenarios_completed)
        say_number(self, "Expected cost:", simulation->mean, tail);
    if (simulation->lp_solves)
        say_solves(self, simulation->lp_solves);
    say_backend(self, simulation->solver, simulation->fallbacks);
    fputc('\n', self->stream);
}

void console_end(console *self, const cobre_run_result *result)
{
    if (self->input)
        cli_progress_end(&self->progress);
    if (self->is_quiet || !result)
        return;
    if (result->has_simulation && result->end != COBRE_RUN_FAILED) {
        fputc('\n', self->stream);
        console_say_simulation(self, &result->simulation);
    }
    if (result->end != COBRE_RUN_COMPLETED && result->end != COBRE_RUN_PARTIAL)
        return;
    fputs("Output written to ", self->stream);
    console_put(self->stream, result->output_dir);
    fputs("/\n", self->stream);
}
