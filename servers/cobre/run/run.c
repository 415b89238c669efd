/*
 * run.c - one run from the case directory to the output directory.
 *
 * The order is fixed (the output page, section 1): the case is loaded and validated before anything
 * is made; the output directory is opened and locked; markers of earlier runs are removed first and
 * those of this one are written last, so a run that dies leaves nothing that looks finished.
 *
 * When a file cannot be written during the training, the error is kept, should_stop ends the
 * training, and the run reports that first failure.
 *
 * With ranks each of them loads the case, builds the study and reads the saved policy. They meet
 * before the others look into the output directory that rank 0 has opened, and before rank 0
 * changes what they have read there.
 *
 * A saved policy is read before anything of an earlier run is removed. The policy is saved while
 * the training runs and at its end, however it ended.
 */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "findings/text.h"
#include "lp/lp.h"
#include "mcp/clock.h"
#include "results/results.h"
#include "run/checkpoint.h"
#include "run/suggestion.h"
#include "sddp/ranks/ranks.h"
#include "sddp/start.h"
#include "validate/load.h"

struct run {
    const cobre_run_order *order;
    const cobre_run_observer *observer; /* never NULL */
    cobre_run_result *out;
    mcp_arena *arena;
    const cobre_case *input;
    int out_fd, lock_fd;
    results *files;
    sddp *study;
    sddp_failure failure;
    int64_t training_steps, simulation_steps; /* of the progress; 0: not known, or none */
    int64_t simulation_began_ms;
    uint32_t scenarios_done;
    const policy *resumed;    /* its records of iterations are kept; else NULL */
    mcp_arena *resumed_arena; /* its own */
    checkpoint saving;        /* of the training's policy */
    mcp_error save_error;     /* of the policy, saved from a callback */
    mcp_error write_error;    /* of a file of the training, written from a callback */
    mcp_error scenario_error; /* the same of an earlier scenario; not read by solver threads */
};

static const cobre_run_observer no_observer;

/* ---- how a run fails ------------------------------------------------------------------------- */

static mcp_status end_with(struct run *run, cobre_run_end end, const cobre_record *record,
                           mcp_error *err)
{
    if (!record)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the error record");
    run->out->end = end;
    run->out->record = record;
    return MCP_OK;
}

/* A failure of the disk or the directory is a record; the server's own failure is a status. */
static mcp_status end_failed(struct run *run, const char *what, const mcp_error *cause,
                             mcp_error *err)
{
    const char *place = run->out->output_dir ? run->out->output_dir : run->order->output_name;
    if (cause->status == MCP_E_NOMEM || cause->status == MCP_E_INTERNAL)
        return mcp_error_set(err, cause->status, "%s: %s", what, cause->message);
    return end_with(run, COBRE_RUN_FAILED,
                    cobre_record_new(run->arena, "CheckpointFailed",
                                     "Check that the directory can be written and has room.",
                                     COBRE_MEMBERS(COBRE_TEXT("checkpoint_path", place),
                                                   COBRE_TEXT("operation", "write"),
                                                   COBRE_TEXT("detail", cause->message)),
                                     "%s: %s", what, cause->message),
                    err);
}

static mcp_status end_unsaved(struct run *run, const mcp_error *cause, mcp_error *err)
{
    static const char check[] = "Check that the directory can be written and has room.";
    static const char kept[] = "Check that the directory can be written and has room. The policy "
                               "that was saved before is still there.";
    if (cause->status == MCP_E_NOMEM || cause->status == MCP_E_INTERNAL)
        return mcp_error_set(err, cause->status, "The policy cannot be saved: %s", cause->message);
    return end_with(
        run, COBRE_RUN_FAILED,
        cobre_record_new(run->arena, "CheckpointFailed",
                         checkpoint_place_is_taken(&run->saving.place) ? kept : check,
                         COBRE_MEMBERS(COBRE_TEXT("checkpoint_path", run->saving.place.shown),
                                       COBRE_TEXT("operation", "write"),
                                       COBRE_TEXT("detail", cause->message)),
                         "The policy cannot be saved: %s", cause->message),
        err);
}

/* A policy that the case asks for cannot be read. */
static mcp_status end_unread(struct run *run, const checkpoint_place *place, const mcp_error *cause,
                             mcp_error *err)
{
    if (cause->status == MCP_E_NOMEM || cause->status == MCP_E_INTERNAL)
        return mcp_error_set(err, cause->status, "The policy cannot be read: %s", cause->message);
    return end_with(run, COBRE_RUN_REFUSED,
                    cobre_record_new(run->arena, "CheckpointFailed",
                                     "Let a training write a policy there first, or set "
                                     "policy.mode to \"fresh\" and policy.boundary to null.",
                                     COBRE_MEMBERS(COBRE_TEXT("checkpoint_path", place->shown),
                                                   COBRE_TEXT("operation", "read"),
                                                   COBRE_TEXT("detail", cause->message)),
                                     "The policy in '%s' cannot be read: %s", place->shown,
                                     cause->message),
                    err);
}

/* A policy that belongs to another case. */
static mcp_status end_unfit(struct run *run, const checkpoint_place *place, const char *settings,
                            const char *suggestion, const mcp_error *cause, mcp_error *err)
{
    if (cause->status != MCP_E_PARAMS)
        return mcp_error_set(err, cause->status, "The policy cannot be taken over: %s",
                             cause->message);
    return end_with(run, COBRE_RUN_REFUSED,
                    cobre_record_new(run->arena, "IncompatibleSettings", suggestion,
                                     COBRE_MEMBERS(COBRE_TEXT("file", "config.json"),
                                                   COBRE_TEXT("settings", settings),
                                                   COBRE_TEXT("detail", cause->message)),
                                     "The policy in '%s' does not fit the case: %s", place->shown,
                                     cause->message),
                    err);
}

/* In the forward pass and the simulation `opening` is a scenario's index (errors page, 2.2). */
static int32_t index_of(const sddp_failure *where)
{
    bool walks = strcmp(where->phase, "forward") == 0 || strcmp(where->phase, "simulation") == 0;
    return walks ? where->scenario : where->opening;
}

/* An LP without a solution has no active slacks to name. */
static mcp_status end_solver_failed(struct run *run, const mcp_error *cause, mcp_error *err)
{
    const sddp_failure *where = &run->failure;
    if (!where->solver_status)
        return mcp_error_set(err, cause->status, "The study failed: %s", cause->message);
    const char *const *hydros = suggestion_hydros(run->arena, run->input, where);
    const char *const *constraints = suggestion_constraints(run->arena, run->input, where);
    const char *suggestion = suggestion_of_failure(run->arena, run->input,
                                                   sddp_parts_of(run->study).inflow, where);
    if (!hydros || !constraints || !suggestion)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the error record");
    const char *first = constraints[0] ? constraints[0] : hydros[0];
    return end_with(
        run, COBRE_RUN_SOLVER_FAILED,
        cobre_record_new(
            run->arena, "SolverFailure", suggestion,
            COBRE_MEMBERS(COBRE_INT("stage", where->stage),
                          COBRE_INT("iteration", where->iteration),
                          COBRE_INT("opening", index_of(where)), COBRE_TEXT("phase", where->phase),
                          COBRE_TEXT("solver_status", where->solver_status),
                          COBRE_NULL("active_penalty_slacks"), COBRE_LIST("hydros", hydros),
                          COBRE_LIST("constraints", constraints)),
            first ? "%s: %s" : "%s", cause->message, first),
        err);
}

/* Another rank has ended, or differs from this one. */
static mcp_status end_alone(struct run *run, const rank_loss *lost, mcp_error *err)
{
    return end_with(
        run, COBRE_RUN_RANK_LOST,
        cobre_record_new(
            run->arena, "MpiError",
            "All processes need the same files and programs, and room to work; run "
            "again, with policy.mode \"resume\" from the last saved policy.",
            COBRE_MEMBERS(COBRE_TEXT("operation", lost->operation), COBRE_INT("rank", lost->rank),
                          COBRE_INT("error_code", lost->code), COBRE_TEXT("detail", lost->detail)),
            "The processes cannot work together: %s", lost->detail),
        err);
}

/* ---- warnings -------------------------------------------------------------------------------- */

static mcp_status warn(struct run *run, const char *text, mcp_error *err)
{
    cobre_run_result *out = run->out;
    const char **warnings = mcp_arena_array(run->arena, out->warning_count + 1, sizeof *warnings);
    char *copy = mcp_arena_strdup(run->arena, text);
    if (!warnings || !copy)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a warning");
    for (size_t i = 0; i < out->warning_count; i++)
        warnings[i] = out->warnings[i];
    warnings[out->warning_count++] = copy;
    out->warnings = warnings;
    return MCP_OK;
}

/* ---- the solver's callbacks ----------------------------------------------------------------- */

static void on_iteration(const sddp_iteration *row, void *data)
{
    struct run *run = data;
    bool saved = false;
    if (run->write_error.status == MCP_OK)
        results_add_iteration(run->files, row, &run->write_error);
    if (run->save_error.status == MCP_OK)
        checkpoint_iteration(&run->saving, run->study, (uint32_t)row->iteration, &saved,
                             &run->save_error);
    if (saved && run->write_error.status == MCP_OK)
        results_show_iterations(run->files, &run->write_error);
    const cobre_progress progress = {
        .done = row->iteration,
        .total = run->training_steps ? run->training_steps + run->simulation_steps : 0,
    };
    if (run->observer->iteration)
        run->observer->iteration(row, &progress, run->observer->data);
}

static void on_records(const sddp_records *records, void *data)
{
    struct run *run = data;
    if (run->write_error.status == MCP_OK)
        results_add_records(run->files, records, &run->write_error);
}

static mcp_status on_scenario(const sddp_scenario *scenario, void *data, mcp_error *err)
{
    struct run *run = data;
    mcp_status st = results_write_scenario(run->files, scenario, &run->scenario_error);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "%s", run->scenario_error.message);
    run->scenarios_done++;
    const cobre_progress progress = {
        .done = run->training_steps + run->scenarios_done,
        .total = run->training_steps + run->simulation_steps,
    };
    if (run->observer->scenario)
        run->observer->scenario(run->scenarios_done, (uint32_t)run->simulation_steps,
                                mcp_clock_mono_ms() - run->simulation_began_ms, &progress,
                                run->observer->data);
    return MCP_OK;
}

static sddp_stop should_stop(void *data)
{
    const struct run *run = data;
    if (run->write_error.status != MCP_OK || run->save_error.status != MCP_OK)
        return SDDP_STOP_NOW;
    return run->observer->should_stop ? run->observer->should_stop(run->observer->data)
                                      : SDDP_STOP_NONE;
}

/* ---- the phases ------------------------------------------------------------------------------ */

/* The rows belong to the study, which is freed before the result. */
static mcp_status keep_rows(struct run *run, mcp_error *err)
{
    sddp_training *training = &run->out->training;
    sddp_iteration *rows = mcp_arena_array(run->arena, training->iterations, sizeof *rows);
    if (!rows)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the convergence record");
    if (training->iterations)
        memcpy(rows, training->rows, training->iterations * sizeof *rows);
    training->rows = rows;
    run->out->has_training = true;
    return MCP_OK;
}

/* The files are rank 0's. */
static bool writes_files(const struct run *run)
{
    return ranks_own(run->order->ranks) == 0;
}

/* The training is over: save the policy and write the files. */
static mcp_status write_training_files(struct run *run, mcp_status solved, const mcp_error *cause,
                                       mcp_error *err)
{
    sddp_training *training = &run->out->training;
    if (run->save_error.status == MCP_OK)
        checkpoint_end(&run->saving, run->study, &run->save_error);

    mcp_error write_cause = run->write_error;
    mcp_status st = write_cause.status;
    sddp_training told = *training;
    if (run->save_error.status != MCP_OK)
        told.reason = SDDP_ERROR; /* a training without its policy is not complete */
    if (st == MCP_OK)
        st = results_write_training(run->files, &told, &write_cause);
    if (solved != MCP_OK)
        return end_solver_failed(run, cause, err);
    if (run->save_error.status != MCP_OK)
        return end_unsaved(run, &run->save_error, err);
    if (st != MCP_OK)
        return end_failed(run, "The training could not be written", &write_cause, err);
    return MCP_OK;
}

static mcp_status train(struct run *run, const sddp_observer *observer, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    sddp_training *training = &run->out->training;
    mcp_status solved = sddp_train(run->study, observer, training, &run->failure, &cause);
    mcp_status st = keep_rows(run, err);
    if (st != MCP_OK)
        return st;
    if (writes_files(run))
        st = write_training_files(run, solved, &cause, err);
    else if (solved != MCP_OK)
        st = end_solver_failed(run, &cause, err);
    if (st != MCP_OK || run->out->end != COBRE_RUN_COMPLETED)
        return st;
    if (training->reason == SDDP_SHUTDOWN)
        run->out->end = COBRE_RUN_PARTIAL;
    if (run->training_steps == 0)
        run->training_steps = (int64_t)training->iterations;
    if (run->observer->trained && writes_files(run))
        run->observer->trained(training, run->observer->data);
    return MCP_OK;
}

/* On a rank that writes no files. */
static mcp_status help_simulating(struct run *run, const sddp_observer *observer, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    sddp_simulation *simulation = &run->out->simulation;
    mcp_status st = sddp_simulate(run->study, observer, simulation, &run->failure, &cause);
    if (st != MCP_OK)
        return end_solver_failed(run, &cause, err);
    if (simulation->stopped)
        run->out->end = COBRE_RUN_PARTIAL;
    return MCP_OK;
}

static mcp_status simulate(struct run *run, const sddp_observer *observer, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    sddp_simulation *simulation = &run->out->simulation;
    run->simulation_began_ms = mcp_clock_mono_ms();
    mcp_status st = results_begin_simulation(run->files, &cause);
    if (st != MCP_OK)
        return end_failed(run, "The simulation could not be begun", &cause, err);

    results_simulation_folders(run->files, &run->out->simulation_folders, run->arena);
    if (!run->out->simulation_folders)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the names of the results");

    mcp_status solved = sddp_simulate(run->study, observer, simulation, &run->failure, &cause);
    mcp_error write_cause = MCP_ERROR_INIT;
    mcp_status written = results_end_simulation(run->files, simulation, solved != MCP_OK,
                                                &write_cause);
    run->out->has_simulation = true;
    if (run->scenario_error.status != MCP_OK)
        return end_failed(run, "The simulation could not be written", &run->scenario_error, err);
    if (solved != MCP_OK)
        return end_solver_failed(run, &cause, err);
    if (written != MCP_OK)
        return end_failed(run, "The simulation could not be written", &write_cause, err);
    if (simulation->stopped)
        run->out->end = COBRE_RUN_PARTIAL;
    return MCP_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool wants_training(const struct run *run)
{
    return run->order->phases == COBRE_PHASES_TRAINING ||
           (run->order->phases == COBRE_PHASES_BOTH && run->input->config.training_enabled);
}

static bool wants_simulation(const struct run *run)
{
    return run->order->phases == COBRE_PHASES_SIMULATION ||
           (run->order->phases == COBRE_PHASES_BOTH && run->input->config.simulation_enabled);
}

/* The other ranks find it there, and locked. */
static mcp_status open_output(struct run *run, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = writes_files(run) ? MCP_OK : ranks_meet(run->order->ranks, err);
    if (st != MCP_OK)
        return st;
    st = run->order->open_output(&run->out_fd, &run->out->output_dir, run->arena,
                                 run->order->output_data, &cause);
    if (st != MCP_OK)
        return end_failed(run, "The output directory cannot be opened", &cause, err);
    run->out->output_dir = cobre_text_clean(run->arena, run->out->output_dir);
    if (!run->out->output_dir)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the output directory's path");
    if (!writes_files(run))
        return MCP_OK;
    st = results_lock(&run->lock_fd, run->out_fd, &cause);
    if (st == MCP_E_BUSY)
        return end_with(run, COBRE_RUN_REFUSED,
                        cobre_record_new(run->arena, "IncompatibleSettings",
                                         "Wait for that run to end, or choose another directory.",
                                         COBRE_MEMBERS(COBRE_NULL("file"),
                                                       COBRE_TEXT("settings", run->out->output_dir),
                                                       COBRE_TEXT("detail", cause.message)),
                                         "A run is in progress in the output directory '%s'",
                                         run->out->output_dir),
                        err);
    if (st != MCP_OK)
        return end_failed(run, "The run cannot begin", &cause, err);
    return ranks_meet(run->order->ranks, err);
}

static mcp_status begin_files(struct run *run, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    results_options options = {
        .version = COBRE_VERSION,
        .solver = sddp_solver(run->study),
        .solver_version = strcmp(sddp_solver(run->study), "clp") == 0 ? lp_solver_version()
                                                                      : COBRE_VERSION,
        .threads = run->order->threads,
        .distribution = run->order->distribution,
        .trains = wants_training(run),
        .hydros = sddp_parts_of(run->study).hydros,
        .inflow = sddp_parts_of(run->study).inflow,
        .state = sddp_state(run->study),
        .engine = run->order->engine,
        .resumed = run->out->resumed.completed_iterations,
    };
    mcp_status st = results_begin(&run->files, run->input, run->out_fd, &options, &cause);
    for (size_t i = 0; st == MCP_OK && run->resumed && i < run->resumed->iteration_count; i++)
        st = results_add_iteration(run->files, &run->resumed->iterations[i], &cause);
    return st == MCP_OK ? MCP_OK : end_failed(run, "The output cannot be begun", &cause, err);
}

/* ---- what the study is built from ------------------------------------------------------------ */

/* A failing export is a warning (the output page, 7). */
static mcp_status export_stochastic(struct run *run, const study_files *files, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = run->input->config.export_stochastic
                        ? study_write_stochastic(files, run->out_fd, &cause)
                        : study_remove_stochastic(run->out_fd, &cause);
    if (st == MCP_OK)
        return MCP_OK;
    const char *text = mcp_arena_printf(run->arena, "The stochastic model is not exported: %s",
                                        cause.message);
    return text ? warn(run, text, err) : mcp_error_set(err, MCP_E_NOMEM, "no memory for a warning");
}

static mcp_status report_study(struct run *run, mcp_error *err)
{
    const sddp_parts parts = sddp_parts_of(run->study);
    mcp_error cause = MCP_ERROR_INIT;
    size_t stages = run->input->stage_count;
    program_scaling *scaling = mcp_arena_array(run->arena, stages, sizeof *scaling);
    const study_files files = { run->input, parts.hydros, parts.inflow, parts.tree, scaling };
    mcp_status st = scaling ? MCP_OK : MCP_E_NOMEM;
    for (size_t t = 0; t < stages && st == MCP_OK; t++)
        st = sddp_measure(&scaling[t], run->study, t, err);
    for (size_t i = 0; parts.hydros && i < parts.hydros->warning_count && st == MCP_OK; i++)
        st = warn(run, parts.hydros->warnings[i], err);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no memory for the reports on the study");
    if (study_write_reports(&files, run->out_fd, &cause) != MCP_OK)
        return end_failed(run, "The reports on the study could not be written", &cause, err);
    return export_stochastic(run, &files, err);
}

static cobre_run_models models_of(const struct run *run)
{
    const sddp_parts parts = sddp_parts_of(run->study);
    const size_t hydros = run->input->hydro_count;
    cobre_run_models models = {
        .hydros = hydros,
        .provenance = study_provenance_of(run->input, parts.inflow),
    };
    for (size_t h = 0; h < hydros; h++) {
        bool has_planes = false, evaporates = false;
        for (size_t t = 0; t < run->input->stage_count; t++) {
            has_planes = has_planes || parts.hydros->at[t * hydros + h].is_fpha;
            evaporates = evaporates || parts.hydros->at[t * hydros + h].evaporates;
        }
        models.with_planes += has_planes;
        models.evaporating += evaporates;
    }
    return models;
}

/* The first input file that a message names; NULL when it names none. */
static const char *file_of(const char *message)
{
    for (size_t i = 0; i < COBRE_FILE_COUNT; i++) {
        if (strstr(message, cobre_files_known[i].path))
            return cobre_files_known[i].path;
    }
    return NULL;
}

static mcp_status build_study(struct run *run, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = sddp_new(&run->study, run->input, run->order->threads, &cause);
    if (st == MCP_OK)
        return sddp_join(run->study, run->order->ranks, err);
    if (st != MCP_E_PARAMS && st != MCP_E_LIMIT)
        return mcp_error_set(err, st, "%s", cause.message);
    const char *file = file_of(cause.message);
    const char *verb = st == MCP_E_LIMIT ? "Lower the sizes" : "Correct the values";
    const char *suggestion = mcp_arena_printf(run->arena, "%s that the message names%s%s.", verb,
                                              file ? " in " : "", file ? file : "");
    if (!suggestion)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a refusal");
    return end_with(
        run, COBRE_RUN_REFUSED,
        cobre_record_new(run->arena, "IncompatibleSettings", suggestion,
                         COBRE_MEMBERS(COBRE_TEXT("file", file), COBRE_TEXT("settings", "study"),
                                       COBRE_TEXT("detail", cause.message)),
                         "The study cannot be built: %s", cause.message),
        err);
}

/* ---- what a run begins from ------------------------------------------------------------------ */

/* Read a policy into `arena`. *out stays NULL when there is none and there need not be one. */
static mcp_status read_policy(struct run *run, const policy **out, const checkpoint_place *place,
                              policy_parts parts, bool is_needed, mcp_arena *arena, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = checkpoint_place_read(out, place, parts, arena, &cause);
    if (st == MCP_OK || (st == MCP_E_NOT_FOUND && !is_needed))
        return MCP_OK;
    return end_unread(run, place, &cause, err);
}

/* A policy without resume.bin has no records of its iterations: the convergence record of the
 * directory has them, if it reaches as far. The first rank removes it while others start. */
static void find_iterations(struct run *run, policy *from)
{
    mcp_error none = MCP_ERROR_INIT;
    results_convergence record;
    uint32_t completed = from->metadata.completed_iterations;
    if (from->iteration_count > 0 || run->order->ranks ||
        results_read_convergence(&record, run->order->engine, run->out_fd, run->resumed_arena,
                                 &none) != MCP_OK ||
        record.count < completed)
        return;
    for (uint32_t i = 0; i < completed; i++)
        if (record.rows[i].iteration != (int32_t)i + 1)
            return;
    from->iterations = record.rows;
    from->iteration_count = completed;
}

static mcp_status take_policy(struct run *run, const policy *found, const checkpoint_place *place,
                              sddp_start_mode mode, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    bool is_exact = false, resumes = mode == SDDP_START_RESUME && wants_training(run);
    policy *from = mcp_arena_alloc(run->resumed_arena, sizeof *from);
    if (!from)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policy");
    *from = *found;
    if (resumes)
        find_iterations(run, from);
    mcp_status st = sddp_start(run->study, from, mode, &is_exact, &cause);
    if (st != MCP_OK)
        return end_unfit(run, place, "policy.mode", "Use the policy of a training of this case.",
                         &cause, err);
    if (wants_training(run) && sddp_is_of_other_data(run->study, from))
        st = warn(run,
                  "The case has changed since the saved policy was trained: its cuts and the lower "
                  "bound hold only if no future cost has fallen (policy.mode \"fresh\" is safe)",
                  err);
    if (!resumes || st != MCP_OK)
        return st;
    run->out->resumed = from->metadata;
    if (from->iteration_count == from->metadata.completed_iterations)
        run->resumed = from;
    if (!is_exact)
        st = warn(run,
                  "The training resumes from the cuts of the saved policy alone, because it has no "
                  "resume.bin that fits this case: the results may differ in the last digits",
                  err);
    if (st == MCP_OK && from->metadata.completed_iterations >= run->input->config.max_iterations)
        st = warn(run,
                  "The saved policy has all iterations that training.stopping_rules allow: there "
                  "is none left to run",
                  err);
    return st;
}

/* The saved policy that the case asks for, for the study. A simulation alone needs one, and takes
 * the bases too, so that it gives the bits of one that follows the training. */
static mcp_status start_study(struct run *run, const checkpoint_place *place, mcp_error *err)
{
    bool trains = wants_training(run);
    cobre_policy_mode wanted = run->input->config.policy.mode;
    if (trains && wanted == COBRE_MODE_FRESH)
        return MCP_OK;
    bool resumes = trains && wanted == COBRE_MODE_RESUME;
    bool is_warm = trains && wanted == COBRE_MODE_WARM_START;
    const policy *from = NULL;
    run->resumed_arena = mcp_arena_new(POLICY_BYTES_MAX);
    if (!run->resumed_arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policy");
    mcp_status st = read_policy(run, &from, place, is_warm ? POLICY_CUTS : POLICY_ALL, !resumes,
                                run->resumed_arena, err);
    if (st != MCP_OK || run->out->end != COBRE_RUN_COMPLETED)
        return st;
    if (from)
        return take_policy(run, from, place, is_warm ? SDDP_START_WARM : SDDP_START_RESUME, err);
    return warn(run, "There is no saved policy to resume from: the training starts at iteration 1",
                err);
}

/* The future cost of the last stage, from another policy. It stays as it is, and is not saved. */
static mcp_status take_boundary(struct run *run, mcp_error *err)
{
    const cobre_policy_config *config = &run->input->config.policy;
    if (!config->boundary_path)
        return MCP_OK;
    checkpoint_place place;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = checkpoint_place_open(&place, run->out_fd, run->out->output_dir,
                                          config->boundary_path, run->order->guard, run->arena,
                                          &cause);
    if (st != MCP_OK)
        return end_unread(run, &place, &cause, err);
    mcp_arena *arena = mcp_arena_new(POLICY_BYTES_MAX);
    const policy *from = NULL;
    st = arena ? read_policy(run, &from, &place, POLICY_CUTS, true, arena, err)
               : mcp_error_set(err, MCP_E_NOMEM, "no memory for the boundary policy");
    if (st == MCP_OK && from &&
        sddp_set_boundary(run->study, from, config->boundary_stage, &cause) != MCP_OK)
        st = end_unfit(run, &place, "policy.boundary",
                       "Use a policy with single cuts of a study with the same hydros, inflow lags "
                       "and months, and a stage that it has.",
                       &cause, err);
    mcp_arena_free(arena);
    checkpoint_place_close(&place);
    return st;
}

/* Find the place of the policy, take over what is there, and make it ready to be saved. */
static mcp_status begin_policy(struct run *run, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    checkpoint_place *place = &run->saving.place;
    mcp_status st = checkpoint_place_open(place, run->out_fd, run->out->output_dir,
                                          run->input->config.policy.path, run->order->guard,
                                          run->arena, &cause);
    if (st != MCP_OK)
        return wants_training(run) ? end_unsaved(run, &cause, err)
                                   : end_unread(run, place, &cause, err);
    st = take_boundary(run, err);
    if (st == MCP_OK && run->out->end == COBRE_RUN_COMPLETED)
        st = start_study(run, place, err);
    if (st == MCP_OK && run->out->end == COBRE_RUN_COMPLETED)
        st = ranks_meet(run->order->ranks, err);
    if (st != MCP_OK || run->out->end != COBRE_RUN_COMPLETED || !wants_training(run) ||
        !writes_files(run))
        return st;
    st = checkpoint_begin(&run->saving, run->input, place, COBRE_VERSION, run->arena, &cause);
    return st == MCP_OK ? MCP_OK : end_unsaved(run, &cause, err);
}

static mcp_status prepare(struct run *run, mcp_error *err)
{
    cobre_run_result *out = run->out;
    mcp_status st = build_study(run, err);
    if (st == MCP_OK && out->end == COBRE_RUN_COMPLETED)
        st = open_output(run, err);
    if (st == MCP_OK && out->end == COBRE_RUN_COMPLETED &&
        (wants_training(run) || wants_simulation(run)))
        st = begin_policy(run, err);
    if (!writes_files(run))
        return st;
    if (st == MCP_OK && out->end == COBRE_RUN_COMPLETED)
        st = begin_files(run, err);
    bool has_reports = wants_training(run) || !wants_simulation(run);
    if (st == MCP_OK && out->end == COBRE_RUN_COMPLETED && has_reports)
        st = report_study(run, err);
    return st;
}

static mcp_status work(struct run *run, mcp_error *err)
{
    cobre_run_result *out = run->out;
    sddp_observer observer = { .should_stop = should_stop, .data = run };
    if (writes_files(run)) {
        observer.iteration = on_iteration;
        observer.records = on_records;
        observer.scenario = on_scenario;
    }
    mcp_status st = prepare(run, err);
    if (st != MCP_OK || out->end != COBRE_RUN_COMPLETED)
        return st;
    const cobre_config *config = &run->input->config;
    if (wants_training(run) && config->has_iteration_limit)
        run->training_steps = config->max_iterations;
    if (wants_simulation(run))
        run->simulation_steps = config->simulation_scenarios;
    out->models = models_of(run);
    if (run->observer->started && writes_files(run))
        run->observer->started(out, run->observer->data);
    if (wants_training(run))
        st = train(run, &observer, err);
    if (st == MCP_OK && out->end == COBRE_RUN_COMPLETED && wants_simulation(run))
        st = writes_files(run) ? simulate(run, &observer, err)
                               : help_simulating(run, &observer, err);
    return st;
}

static mcp_status load(struct run *run, mcp_error *err)
{
    cobre_report *report = cobre_report_new(run->arena);
    if (!report)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the report");
    run->out->report = report;
    mcp_status st = cobre_case_load(&run->input, run->order->case_fd, run->order->case_dir,
                                    run->order->engine, report, run->arena, err);
    if (st != MCP_OK)
        return st;
    run->out->input = run->input;
    if (cobre_report_count(report, COBRE_SEVERITY_ERROR))
        run->out->end = COBRE_RUN_INVALID;
    return MCP_OK;
}

/* Tell the other ranks why this one ends, or the caller that another has. */
static mcp_status settle_with_ranks(struct run *run, mcp_status st, mcp_error *err)
{
    struct ranks *all = run->order->ranks;
    const rank_loss *lost = ranks_lost(all);
    if (lost)
        return end_alone(run, lost, err);
    if (st != MCP_OK)
        ranks_explain(all, err ? err->message : "an internal failure");
    else if (run->out->record)
        ranks_explain(all, run->out->record->message);
    else if (run->out->end == COBRE_RUN_INVALID)
        ranks_explain(all, "the case is not valid");
    return st;
}

mcp_status cobre_run(cobre_run_result *out, const cobre_run_order *order, mcp_arena *arena,
                     mcp_error *err)
{
    struct run run = {
        .order = order,
        .observer = order->observer ? order->observer : &no_observer,
        .out = out,
        .arena = arena,
        .out_fd = -1,
        .lock_fd = -1,
        .failure = { .stage = -1, .iteration = -1, .opening = -1, .scenario = -1 },
        .saving = { .place = { .dir_fd = -1 } },
        .save_error = MCP_ERROR_INIT,
        .write_error = MCP_ERROR_INIT,
        .scenario_error = MCP_ERROR_INIT,
    };
    memset(out, 0, sizeof *out);
    mcp_status st = load(&run, err);
    if (st == MCP_OK && run.input) /* there is a case exactly when it has no errors */
        st = work(&run, err);
    st = settle_with_ranks(&run, st, err);

    results_free(run.files);
    sddp_free(run.study);
    mcp_arena_free(run.resumed_arena);
    checkpoint_place_close(&run.saving.place);
    if (run.lock_fd >= 0)
        close(run.lock_fd);
    if (run.out_fd >= 0)
        close(run.out_fd);
    return st;
}
