/*
 * test_driver.c - jobs from their claim to their end: figures, outputs on disk, and what is left of
 * a job that fails or is stopped.
 */
#include "drive_rig.h"
#include "jobs/drive/input/inputs.h"

/* ---- backtests ------------------------------------------------------------------------------- */

static void a_backtest_counts_and_explains(void **state)
{
    const casparian_event *all = NULL;
    size_t count = 0;
    size_t at = 0;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,20\n3,none\n");
    drive_write(&rig, "in/b.csv", "4,40\n");
    drive_write(&rig, "in/c.csv", "5,50\nBOOM\n");
    drive_write(&rig, "in/.hidden", "BOOM\n");
    casparian_job job = drive_backtest(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/files_total"), 3);
    assert_int_equal(drive_int(job.result, "/files_processed"), 3);
    assert_int_equal(drive_int(job.result, "/files_passed"), 2);
    assert_int_equal(drive_int(job.result, "/files_failed"), 1);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_emitted"), 4);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_quarantined"), 1);
    assert_true(drive_double(job.result, "/outputs/trades/pass_rate") == 0.75);
    assert_true(drive_double(job.result, "/outputs/trades/quarantine_pct") == 25.0);
    assert_int_equal(drive_int(job.result, "/outputs/notes/rows_emitted"), 0);
    assert_true(drive_double(job.result, "/outputs/notes/pass_rate") == 1.0);
    assert_string_equal(
        mcp_json_string(mcp_json_pointer(job.result, "/outputs/trades/violations/0/column"), NULL),
        "qty");
    assert_string_equal(mcp_json_string(mcp_json_pointer(job.result, "/errors/0/kind"), NULL),
                        "parse_error");
    assert_int_equal(drive_int(job.progress, "/items_done"), 3);
    assert_string_equal(mcp_json_get_string(job.progress, "phase"), "done");
    const char *events = rig_events(&rig.base, job.id);
    assert_non_null(strstr(events, "violation"));
    rig_expect(&rig.base,
               casparian_job_events(&all, &count, rig.base.store, rig.base.arena, job.id, 0, 100,
                                    &rig.base.err),
               MCP_OK);
    while (at < count && strcmp(all[at].type, "violation") != 0)
        at++;
    const mcp_json *shown = mcp_json_pointer(all[at].payload, "/violations/0");
    assert_string_equal(mcp_json_get_string(shown, "column_name"), "qty");
    assert_string_equal(mcp_json_get_string(shown, "violation_type"), "type_mismatch");
    assert_int_equal(drive_int(shown, "/count"), 1);
    assert_int_equal(mcp_json_count(mcp_json_get(shown, "samples")), 1);
    assert_non_null(strstr(events, "file_failed"));
    assert_string_equal(events + strlen(events) - strlen("job_finished"), "job_finished");
    assert_int_equal(drive_files(&rig, ".csv"), 0);
    drive_close(&rig);
}

static void schemas_of_the_request_come_first(void **state)
{
    casparian_ephemeral proposed;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,none\n");
    const casparian_schemas texts = rig_schemas(
        &rig.base, "{\"trades\":{\"output_name\":\"trades\",\"columns\":[{\"name\":\"id\",\"type\":"
                   "\"string\"},{\"name\":\"qty\",\"type\":\"string\"}]}}");
    const casparian_schemas strict = rig_schemas(
        &rig.base, "{\"trades\":{\"output_name\":\"trades\",\"columns\":[{\"name\":\"id\",\"type\":"
                   "\"date\"},{\"name\":\"qty\",\"type\":\"date\"}]}}");
    rig_expect(&rig.base,
               casparian_ephemeral_propose(&proposed, rig.base.store, rig.base.arena, &strict,
                                           "ai_iteration", NULL, &rig.base.err),
               MCP_OK);
    casparian_spec spec = { .ephemeral_id = proposed.id };
    casparian_job job = drive_backtest(&rig, &spec);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_quarantined"), 2);
    assert_string_equal(
        mcp_json_string(mcp_json_pointer(job.result, "/outputs/trades/schema_source"), NULL),
        "ephemeral");
    rig_expect(&rig.base,
               casparian_ephemeral_load(&proposed, rig.base.store, rig.base.arena, proposed.id,
                                        &rig.base.err),
               MCP_OK);
    assert_int_equal(proposed.last_job, job.id);
    spec.schemas = &texts;
    job = drive_backtest(&rig, &spec);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_quarantined"), 0);
    assert_string_equal(
        mcp_json_string(mcp_json_pointer(job.result, "/outputs/trades/schema_hash"), NULL),
        texts.items[0].hash);
    drive_close(&rig);
}

static void a_backtest_of_nothing_is_complete(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    casparian_job job = drive_backtest(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/files_total"), 0);
    drive_write(&rig, "in/a.csv", "1,10\n");
    drive_write(&rig, "in/b.txt", "BOOM\n");
    job = drive_backtest(&rig, &(casparian_spec){ .pattern = "*.csv" });
    assert_int_equal(drive_int(job.result, "/files_total"), 1);
    drive_close(&rig);
}

static void one_file_is_an_input_too(void **state)
{
    drive_rig rig;
    int64_t id = 0;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,20\n");
    drive_write(&rig, "in/b.csv", "BOOM\n");
    casparian_prepared prepared = drive_prepare(&rig, NULL, NULL);
    const casparian_job_request request = { .type = CASPARIAN_JOB_BACKTEST,
                                            .plugin = prepared.job_plugin,
                                            .input_dir = drive_path(&rig, "in/a.csv") };
    rig_expect(&rig.base, casparian_job_create(&id, NULL, rig.base.store, &request, &rig.base.err),
               MCP_OK);
    casparian_job job = drive_run_claimed(&rig, MCP_OK);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/files_total"), 1);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_emitted"), 2);
    drive_close(&rig);
}

static void links_lead_only_to_what_is_allowed(void **state)
{
    const char *roots[1];
    guard *allowed = NULL;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    drive_write(&rig, "outside.csv", "2,20\n");
    assert_int_equal(symlink("a.csv", drive_path(&rig, "in/inside.csv")), 0);
    assert_int_equal(symlink("../outside.csv", drive_path(&rig, "in/leads-out.csv")), 0);
    assert_int_equal(symlink("..", drive_path(&rig, "in/folder")), 0);
    roots[0] = drive_path(&rig, "in");
    rig_expect(&rig.base, guard_new(&allowed, roots, 1, &rig.base.err), MCP_OK);
    casparian_job_file *files = NULL;
    size_t count = 0;
    const casparian_listing listing = { .input = roots[0] };
    rig_expect(
        &rig.base,
        casparian_inputs_list(&files, &count, allowed, rig.base.arena, &listing, &rig.base.err),
        MCP_OK);
    assert_int_equal(count, 2);
    assert_non_null(strstr(files[0].path, "/a.csv"));
    assert_non_null(strstr(files[1].path, "/inside.csv"));
    guard_free(allowed);
    drive_close(&rig);
}

static void a_plugin_that_cannot_be_imported_fails_the_job(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_write(&rig, "demo.py",
                "name = \"demo\"\nversion = \"1.0.0\"\nimport no_such_module\n"
                "def parse(path):\n    return []\n");
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    casparian_job job = drive_backtest(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_FAILED);
    assert_string_equal(job.error_code, "plugin_error");
    drive_close(&rig);
}

static void files_that_failed_before_come_first(void **state)
{
    const casparian_job_outcome *files = NULL;
    size_t count = 0;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    drive_write(&rig, "in/z.csv", "BOOM\n");
    drive_backtest(&rig, NULL);
    assert_int_equal(rig_count(&rig.base, "SELECT consecutive_failures FROM cf_high_failure_files"),
                     1);
    casparian_job job = drive_backtest(&rig, NULL);
    assert_int_equal(rig_count(&rig.base, "SELECT consecutive_failures FROM cf_high_failure_files"),
                     2);
    rig_expect(&rig.base,
               casparian_job_files(&files, &count, rig.base.store, rig.base.arena, job.id, NULL, 10,
                                   &rig.base.err),
               MCP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_api_job_files a JOIN "
                                          "cf_api_job_files b ON a.job_id = b.job_id AND "
                                          "a.path LIKE '%z.csv' AND b.path LIKE '%a.csv' AND "
                                          "a.row_id < b.row_id"),
                     1);
    drive_close(&rig);
}

static void a_failure_that_may_pass_is_tried_again(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\nFLAKY\n2,20\n");
    casparian_job job = drive_backtest(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/files_failed"), 0);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_emitted"), 2);
    drive_close(&rig);
}

static void one_failed_file_fails_the_job_where_that_is_set(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    rig.base.settings.jobs.fails_on_file_error = true;
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    drive_write(&rig, "in/b.csv", "BOOM\n");
    drive_write(&rig, "in/c.csv", "2,20\n");
    casparian_job job = drive_run(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_FAILED);
    assert_non_null(strstr(job.error_message, "b.csv"));
    assert_int_equal(drive_files(&rig, ".csv"), 0);
    drive_close(&rig);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void a_run_writes_all_outputs_and_skips_what_is_done(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,20\n");
    drive_write(&rig, "in/b.csv", "3,30\n");
    casparian_job job = drive_run(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), 3);
    assert_int_equal(drive_files(&rig, ".csv"), 2); /* notes, too: its schema is known */
    assert_int_equal(drive_lines(&rig, "trades"), 3);
    assert_non_null(strstr(rig_events(&rig.base, job.id), "output output job_finished"));
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_output_materializations"), 4);
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_commit_intents"), 0);

    job = drive_run(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/files_skipped"), 2);
    assert_int_equal(drive_int(job.result, "/files_total"), 2);
    assert_int_equal(drive_files(&rig, ".csv"), 2);

    drive_write(&rig, "in/b.csv", "3,30\n4,40\n");
    job = drive_run(&rig, NULL);
    assert_int_equal(drive_int(job.result, "/files_skipped"), 1);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), 2);
    assert_int_equal(drive_lines(&rig, "trades"), 5);

    job = drive_run(&rig, &(casparian_spec){ .force = true });
    assert_int_equal(drive_int(job.result, "/files_skipped"), 0);
    assert_int_equal(drive_lines(&rig, "trades"), 9);
    drive_close(&rig);
}

static void a_run_into_parquet_has_a_manifest(void **state)
{
    char manifest[64];
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,20\n");
    const casparian_sink_uri sink = drive_sink(&rig, "parquet");
    drive_queue(&rig, NULL, &sink, 0);
    casparian_job job = drive_run_claimed(&rig, MCP_OK);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_files(&rig, ".parquet"), 2);
    snprintf(manifest, sizeof manifest, "out/_casparian/%lld.manifest.json", (long long)job.id);
    assert_int_equal(access(drive_path(&rig, manifest), R_OK), 0);
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_outputs WHERE "
                                          "length(manifest_sha256) = 64 AND length(sha256) = 64"),
                     2);
    drive_close(&rig);
}

static void the_newest_rows_of_a_file_count(void **state)
{
    casparian_catalog catalog;
    size_t superseded = 0;
    size_t partly = 0;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,20\n");
    drive_write(&rig, "in/b.csv", "3,30\n");
    drive_run(&rig, NULL);
    drive_write(&rig, "in/b.csv", "3,30\n4,40\n");
    drive_run(&rig, NULL);
    rig_expect(&rig.base,
               casparian_catalog_read(&catalog, rig.base.store, rig.base.arena, &rig.base.err),
               MCP_OK);
    assert_int_equal(catalog.count, 4);
    for (size_t i = 0; i < catalog.count; i++) {
        superseded += catalog.files[i].is_superseded;
        partly += catalog.files[i].superseded_count;
        assert_string_equal(catalog.files[i].format, "csv");
        assert_non_null(catalog.files[i].definition);
    }
    assert_int_equal(superseded, 0);
    assert_int_equal(partly, 2); /* b.csv of the first job, in both outputs */
    int64_t version = catalog.version;
    drive_run(&rig, &(casparian_spec){ .force = true });
    rig_expect(&rig.base,
               casparian_catalog_read(&catalog, rig.base.store, rig.base.arena, &rig.base.err),
               MCP_OK);
    superseded = 0;
    for (size_t i = 0; i < catalog.count; i++)
        superseded += catalog.files[i].is_superseded;
    assert_int_equal(superseded, 4);
    assert_int_not_equal(version, catalog.version);
    drive_close(&rig);
}

static void invalid_rows_fail_a_run_unless_they_may_be_set_apart(void **state)
{
    casparian_spec spec = { .quarantine = { .has_allow = true, .allow = true } };
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,20\n3,30\n4,none\n");
    casparian_job job = drive_run(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_FAILED);
    assert_string_equal(job.error_code, "quarantine_not_allowed");
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_quarantined"), 1);
    assert_int_equal(drive_files(&rig, ".csv"), 0);
    job = drive_run(&rig, &spec);
    drive_expect_state(&job, CASPARIAN_JOB_FAILED);
    assert_string_equal(job.error_code, "quarantine_threshold");
    assert_int_equal(drive_files(&rig, ".csv"), 0);
    spec.quarantine.has_pct = true;
    spec.quarantine.max_pct = 25;
    job = drive_run(&rig, &spec);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), 3);
    assert_int_equal(drive_int(job.result, "/outputs/trades/quarantine/rows"), 1);
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_outputs WHERE is_committed = 1 "
                                          "AND kind = 'quarantine'"),
                     1);
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_quarantine_summary WHERE "
                                          "rows_quarantined = 1"),
                     3);
    drive_close(&rig);
}

static void a_schema_is_inferred_from_the_first_file_that_needs_it(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    drive_write(&rig, "in/b.csv", "2,20\nEXTRA one\n3,30\nEXTRA 22\n");
    drive_write(&rig, "in/c.csv", "EXTRA three\n");
    casparian_job job = drive_run(&rig, NULL);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), 3);
    assert_int_equal(drive_int(job.result, "/outputs/loose/rows_written"), 3);
    assert_int_equal(drive_lines(&rig, "trades"), 3);
    assert_int_equal(drive_lines(&rig, "loose"), 3);
    assert_string_equal(
        mcp_json_string(mcp_json_pointer(job.result, "/outputs/loose/schema_source"), NULL),
        "inferred");
    assert_non_null(strstr(mcp_json_string(mcp_json_pointer(job.result, "/warnings/0"), NULL),
                           "'loose' has no declared schema"));
    drive_close(&rig);
}

/* The rows of a large file alone are written while it is parsed, and again in the next pass. */
static void rows_of_a_pass_that_is_repeated_count_once(void **state)
{
    enum { ROWS = 60000 };
    static const char *const ends[] = { "EXTRA one\n", "FLAKY\nEXTRA one\n" };
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        drive_rig rig;
        mcp_buf text;
        drive_init(&rig);
        drive_start(&rig);
        mcp_buf_init(&text, 4 << 20);
        for (int row = 0; row < ROWS; row++)
            mcp_buf_printf(&text, "%d,%d\n", row, row % 7);
        mcp_buf_puts(&text, ends[i]);
        drive_write(&rig, "in/a.csv", text.data);
        mcp_buf_clear(&text);
        casparian_job job = drive_run(&rig, NULL);
        drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
        assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), ROWS);
        assert_int_equal(drive_int(job.result, "/outputs/loose/rows_written"), 1);
        assert_int_equal(drive_lines(&rig, "trades"), ROWS);
        assert_int_equal(drive_lines(&rig, "loose"), 1);
        drive_close(&rig);
    }
}

static void only_files_with_invalid_rows_run_again(void **state)
{
    casparian_spec spec = {
        .quarantine = { .has_allow = true, .allow = true, .has_pct = true, .max_pct = 100 }
    };
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    drive_write(&rig, "in/b.csv", "2,none\n");
    drive_write(&rig, "in/c.csv", "3,30\nBOOM\n");
    casparian_job job = drive_run(&rig, &spec);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    spec.force = true;
    spec.only = CASPARIAN_ONLY_QUARANTINED;
    job = drive_run(&rig, &spec);
    assert_int_equal(drive_int(job.result, "/files_total"), 1);
    assert_int_equal(drive_int(job.result, "/outputs/trades/quarantine/rows"), 1);
    drive_run(&rig, &(casparian_spec){ .quarantine = spec.quarantine, .force = true });
    spec.only = CASPARIAN_ONLY_FAILED;
    job = drive_run(&rig, &spec);
    assert_int_equal(drive_int(job.result, "/files_total"), 1);
    assert_string_equal(job.error_code, "all_files_failed");
    drive_close(&rig);
}

/* ---- what was approved is what runs ---------------------------------------------------------- */

static casparian_approval request_run(drive_rig *rig)
{
    const casparian_sink_uri sink = drive_sink(rig, "csv");
    casparian_prepared prepared = drive_prepare(rig, NULL, &sink);
    const casparian_run_request request = { .plugin = prepared.job_plugin,
                                            .input_dir = drive_path(rig, "in"),
                                            .sink_uri = sink.text,
                                            .target_path = sink.path,
                                            .files = prepared.files,
                                            .file_count = prepared.file_count,
                                            .schemas = prepared.schemas,
                                            .schema_count = prepared.schema_count,
                                            .quarantine = prepared.quarantine,
                                            .estimated_rows = prepared.estimated_rows };
    casparian_approval approval;
    casparian_decided decided;
    rig_expect(&rig->base,
               casparian_approval_request_run(&approval, rig->base.store, rig->base.arena, &request,
                                              &rig->base.err),
               MCP_OK);
    const casparian_decision decision = { .id = approval.id,
                                          .approves = true,
                                          .by = "cli:ada@host" };
    rig_expect(&rig->base,
               casparian_approval_decide(&decided, &approval, rig->base.store, rig->base.arena,
                                         &decision, &rig->base.err),
               MCP_OK);
    assert_int_equal(decided, CASPARIAN_DECIDED_APPROVED);
    return approval;
}

static void an_approved_run_does_what_was_approved(void **state)
{
    const casparian_job_outcome *files = NULL;
    size_t count = 0;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    drive_write(&rig, "in/b.csv", "2,20\n");
    drive_write(&rig, "in/c.csv", "3,30\n");
    casparian_approval approval = request_run(&rig);
    drive_write(&rig, "in/b.csv", "2,20\n4,40\n"); /* changed */
    assert_int_equal(unlink(drive_path(&rig, "in/c.csv")), 0);
    drive_write(&rig, "in/d.csv", "5,50\n"); /* new */
    casparian_job job = drive_run_claimed(&rig, MCP_OK);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(job.id, approval.job);
    assert_int_equal(drive_int(job.result, "/files_total"), 3);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), 1);
    bool is_partial = false;
    assert_true(mcp_json_bool(mcp_json_get(job.result, "partial"), &is_partial));
    assert_true(is_partial);
    rig_expect(&rig.base,
               casparian_job_files(&files, &count, rig.base.store, rig.base.arena, job.id, NULL, 10,
                                   &rig.base.err),
               MCP_OK);
    assert_int_equal(count, 3);
    assert_string_equal(files[0].status, "ok");
    assert_string_equal(files[1].status, "changed");
    assert_string_equal(files[2].status, "changed");
    drive_close(&rig);
}

static void a_plugin_that_was_changed_after_the_request_does_not_run(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    request_run(&rig);
    char *changed = strdup(drive_source);
    memcpy(strstr(changed, "1.0.0"), "1.0.1", 5);
    drive_write(&rig, "demo.py", changed);
    free(changed);
    casparian_job job = drive_run_claimed(&rig, MCP_OK);
    drive_expect_state(&job, CASPARIAN_JOB_FAILED);
    assert_string_equal(job.error_code, "approval_stale");
    assert_int_equal(drive_files(&rig, ".csv"), 0);
    drive_close(&rig);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static casparian_runner *start_runner(drive_rig *rig)
{
    const casparian_runner_options options = { .store = rig->base.store, .driver = rig->driver };
    casparian_runner *runner = NULL;
    rig_expect(&rig->base, casparian_runner_new(&runner, &options, &rig->base.err), MCP_OK);
    return runner;
}

/* Wait until the plugin works on a file. */
static void await_parsing(drive_rig *rig, int64_t id)
{
    for (int64_t until = mcp_clock_mono_ms() + 60000; mcp_clock_mono_ms() < until;) {
        casparian_job job = rig_job(&rig->base, id);
        const char *phase = mcp_json_get_string(job.progress, "phase");
        if (phase && strcmp(phase, "parsing") == 0)
            return;
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    fail_msg("job %lld does not parse", (long long)id);
}

static void a_cancelled_job_leaves_nothing(void **state)
{
    const casparian_sink_uri *none = NULL;
    casparian_cancelled how;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\nSLEEP 600\n");
    casparian_runner *runner = start_runner(&rig);
    const casparian_sink_uri sink = drive_sink(&rig, "csv");
    for (int is_run = 0; is_run < 2; is_run++) {
        int64_t id = drive_queue(&rig, NULL, is_run ? &sink : none, 0);
        await_parsing(&rig, id);
        rig_expect(&rig.base,
                   casparian_job_cancel(&how, rig.base.store, id, "tool:x", &rig.base.err), MCP_OK);
        assert_int_equal(how, CASPARIAN_CANCEL_DONE);
        casparian_job job = drive_await(&rig, id, CASPARIAN_JOB_CANCELLED);
        assert_string_equal(job.error_message, "Cancelled by user");
    }
    assert_int_equal(drive_files(&rig, ""), 0);
    casparian_runner_free(runner);
    drive_close(&rig);
}

static void a_job_ends_at_its_time(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\nSLEEP 600\n");
    drive_queue(&rig, NULL, NULL, 1000);
    casparian_job job = drive_run_claimed(&rig, MCP_OK);
    drive_expect_state(&job, CASPARIAN_JOB_FAILED);
    assert_string_equal(job.error_code, "timeout");
    assert_string_equal(job.error_message, "job timed out after 1 s");
    drive_close(&rig);
}

static void a_runner_that_ends_gives_its_job_back(void **state)
{
    bool is_alive = false;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    rig.base.settings.jobs.shutdown_grace_ms = 100;
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\nSLEEP 600\n");
    casparian_runner *runner = start_runner(&rig);
    int64_t id = drive_queue(&rig, NULL, NULL, 0);
    await_parsing(&rig, id);
    rig_expect(&rig.base, casparian_runner_is_alive(rig.base.store, &is_alive, &rig.base.err),
               MCP_OK);
    assert_true(is_alive);
    casparian_runner_free(runner);
    assert_int_equal(rig_job(&rig.base, id).state, CASPARIAN_JOB_QUEUED);
    rig_expect(&rig.base, casparian_runner_is_alive(rig.base.store, &is_alive, &rig.base.err),
               MCP_OK);
    assert_false(is_alive);

    drive_write(&rig, "in/a.csv", "1,10\n");
    runner = start_runner(&rig);
    drive_await(&rig, id, CASPARIAN_JOB_COMPLETED);
    casparian_runner_free(runner);
    assert_int_equal(rig_job(&rig.base, id).restart_count, 0);
    drive_close(&rig);
}

static void a_runner_that_lost_its_job_drops_what_it_made(void **state)
{
    const casparian_sink_uri *sink = NULL;
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n");
    const casparian_sink_uri csv = drive_sink(&rig, "csv");
    sink = &csv;
    int64_t id = drive_queue(&rig, NULL, sink, 0);
    casparian_claim old = rig_claim(&rig.base, "r1");
    casparian_claim other;
    casparian_recovered how;
    bool found = false;
    atomic_int stop = CASPARIAN_STOP_NONE;
    rig_sql(&rig.base, "UPDATE cf_api_jobs SET lease_until = 1");
    rig_expect(&rig.base,
               casparian_claim_take_expired(&other, &found, rig.base.store, "r2", &rig.base.err),
               MCP_OK);
    rig_expect(&rig.base, casparian_claim_recover(&how, rig.base.store, &other, &rig.base.err),
               MCP_OK);
    other = rig_claim(&rig.base, "r2");
    rig_expect(&rig.base, casparian_driver_run(rig.driver, &old, &stop, &rig.base.err),
               MCP_E_STOPPED);
    assert_int_equal(drive_files(&rig, ""), 0);
    assert_int_equal(rig_job(&rig.base, id).state, CASPARIAN_JOB_RUNNING);
    rig_expect(&rig.base, casparian_driver_run(rig.driver, &other, &stop, &rig.base.err), MCP_OK);
    assert_int_equal(drive_lines(&rig, "trades"), 1);
    drive_close(&rig);
}

/* ---- previews -------------------------------------------------------------------------------- */

static const mcp_json *preview(drive_rig *rig, const casparian_prepared *prepared,
                               const char *const *files, size_t count)
{
    casparian_redaction redaction;
    casparian_text text;
    const mcp_json *json = NULL;
    casparian_redaction_read(&redaction, &casparian_redaction_defaults, NULL, NULL);
    const casparian_preview_request request = { .plugin = &prepared->plugin,
                                                .schemas = prepared->schemas,
                                                .schema_count = prepared->schema_count,
                                                .files = files,
                                                .file_count = count,
                                                .limit = 2,
                                                .budget_ms = 60000,
                                                .redaction = &redaction };
    casparian_text_init(&text);
    rig_expect(
        &rig->base,
        casparian_driver_preview(&text.out, rig->driver, rig->base.arena, &request, &rig->base.err),
        MCP_OK);
    rig_expect(&rig->base, casparian_text_end(&text, &rig->base.err), MCP_OK);
    rig_expect(
        &rig->base,
        mcp_json_read(&json, rig->base.arena, text.buf.data, text.buf.length, &rig->base.err),
        MCP_OK);
    casparian_text_free(&text);
    return json;
}

static void a_preview_shows_rows_and_stores_nothing(void **state)
{
    drive_rig rig;
    (void)state;
    drive_init(&rig);
    drive_start(&rig);
    drive_write(&rig, "in/a.csv", "1,10\n2,none\n3,30\nEXTRA word\n");
    drive_write(&rig, "in/b.csv", "BOOM\n");
    casparian_prepared prepared = drive_prepare(&rig, NULL, NULL);
    const char *const files[] = { drive_path(&rig, "in/a.csv"), drive_path(&rig, "in/b.csv"),
                                  drive_path(&rig, "in/c.csv") };
    for (int round = 0; round < 3; round++) { /* the second time with the guest of the first */
        if (round == 2) {                     /* the third with another file of that name */
            drive_write(&rig, "in/new", "1,10\n2,none\n3,30\n");
            assert_int_equal(rename(drive_path(&rig, "in/new"), files[0]), 0);
        }
        const mcp_json *json = preview(&rig, &prepared, files, 3);
        assert_int_equal(mcp_json_count(mcp_json_pointer(json, "/outputs/trades/sample_rows")), 2);
        assert_non_null(mcp_json_pointer(json, "/outputs/trades/schema/columns/0"));
        assert_non_null(strstr(
            mcp_json_string(mcp_json_pointer(json, "/outputs/trades/sample_rows/0/id"), NULL),
            "[hash:"));
        assert_int_equal(mcp_json_count(mcp_json_get(json, "errors")), 2);
        assert_string_equal(mcp_json_string(mcp_json_pointer(json, "/errors/1/kind"), NULL),
                            "file_not_found");
    }
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_api_jobs"), 0);
    drive_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backtest_counts_and_explains),
        cmocka_unit_test(schemas_of_the_request_come_first),
        cmocka_unit_test(a_backtest_of_nothing_is_complete),
        cmocka_unit_test(one_file_is_an_input_too),
        cmocka_unit_test(links_lead_only_to_what_is_allowed),
        cmocka_unit_test(a_plugin_that_cannot_be_imported_fails_the_job),
        cmocka_unit_test(files_that_failed_before_come_first),
        cmocka_unit_test(a_failure_that_may_pass_is_tried_again),
        cmocka_unit_test(one_failed_file_fails_the_job_where_that_is_set),
        cmocka_unit_test(a_run_writes_all_outputs_and_skips_what_is_done),
        cmocka_unit_test(a_run_into_parquet_has_a_manifest),
        cmocka_unit_test(the_newest_rows_of_a_file_count),
        cmocka_unit_test(invalid_rows_fail_a_run_unless_they_may_be_set_apart),
        cmocka_unit_test(a_schema_is_inferred_from_the_first_file_that_needs_it),
        cmocka_unit_test(rows_of_a_pass_that_is_repeated_count_once),
        cmocka_unit_test(only_files_with_invalid_rows_run_again),
        cmocka_unit_test(an_approved_run_does_what_was_approved),
        cmocka_unit_test(a_plugin_that_was_changed_after_the_request_does_not_run),
        cmocka_unit_test(a_cancelled_job_leaves_nothing),
        cmocka_unit_test(a_job_ends_at_its_time),
        cmocka_unit_test(a_runner_that_ends_gives_its_job_back),
        cmocka_unit_test(a_runner_that_lost_its_job_drops_what_it_made),
        cmocka_unit_test(a_preview_shows_rows_and_stores_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
