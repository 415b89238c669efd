/*
 * drive_rig.h - a home, a folder of inputs and a small Python plugin, and jobs that run it.
 *
 * The plugin reads lines: "id,qty" is a row of `trades`, "EXTRA text" one of `loose`, which has no
 * schema, "BOOM" raises, "FLAKY" raises a failure that may pass in the file's first second,
 * "SLEEP s" sleeps.
 */
#ifndef DRIVE_RIG_H
#define DRIVE_RIG_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>

#include "jobs/catalog.h"
#include "jobs/driver.h"
#include "jobs/runner.h"
#include "mcp/clock.h"
#include "store_rig.h"

static const char drive_source[] =
    "import os, time\n"
    "name = \"demo\"\n"
    "version = \"1.0.0\"\n"
    "outputs = {\n"
    "    \"trades\": {\"columns\": [{\"name\": \"id\", \"type\": \"int64\", \"nullable\": False},\n"
    "                           {\"name\": \"qty\", \"type\": \"int64\"}]},\n"
    "    \"notes\": {\"columns\": [{\"name\": \"text\", \"type\": \"string\"}]},\n"
    "}\n"
    "def parse(path):\n"
    "    for number, line in enumerate(open(path)):\n"
    "        line = line.rstrip(\"\\n\")\n"
    "        if line == \"BOOM\":\n"
    "            raise ValueError(\"boom\")\n"
    "        if line == \"FLAKY\":\n"
    "            if time.time() < os.stat(path).st_mtime + 1:\n"
    "                error = OSError(\"busy\")\n"
    "                error.retryable = True\n"
    "                raise error\n"
    "        elif line.startswith(\"SLEEP \"):\n"
    "            time.sleep(float(line[6:]))\n"
    "        elif line.startswith(\"EXTRA \"):\n"
    "            value = line[6:]\n"
    "            yield (\"loose\", {\"text\": int(value) if value.isdigit() else value,\n"
    "                             \"n\": number})\n"
    "        else:\n"
    "            first, second = line.split(\",\")\n"
    "            yield (\"trades\", {\"id\": first, \"qty\": second, \"__cf_row_id\": number + 1})\n";

typedef struct drive_rig {
    store_rig base;
    char root[64]; /* with in/, out/ and demo.py */
    casparian_registry *registry;
    casparian_driver *driver;
} drive_rig;

static inline const char *drive_path(drive_rig *rig, const char *relative)
{
    const char *path = mcp_arena_printf(rig->base.arena, "%s/%s", rig->root, relative);
    assert_non_null(path);
    return path;
}

static inline void drive_write(drive_rig *rig, const char *relative, const char *text)
{
    FILE *file = fopen(drive_path(rig, relative), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline void drive_start(drive_rig *rig)
{
    const casparian_registry_options plugins = { .allow_unsigned_python = true,
                                                 .allow_dev_plugins = true };
    store_rig *base = &rig->base;
    rig_open(base);
    rig_expect(base, casparian_registry_new(&rig->registry, &plugins, &base->err), MCP_OK);
    const casparian_driver_options options = { .store = base->store, .registry = rig->registry };
    rig_expect(base, casparian_driver_new(&rig->driver, &options, &base->err), MCP_OK);
}

static const drive_rig *drive_latest; /* whose logs show why a job has another state */

static inline void drive_init(drive_rig *rig)
{
    drive_latest = rig;
    *rig = (drive_rig){ .registry = NULL };
    rig_init(&rig->base);
    snprintf(rig->root, sizeof rig->root, "/tmp/casparian-work-XXXXXX");
    assert_non_null(mkdtemp(rig->root));
    assert_int_equal(mkdir(drive_path(rig, "in"), 0700), 0);
    drive_write(rig, "demo.py", drive_source);
}

static inline void drive_stop(drive_rig *rig)
{
    casparian_driver_free(rig->driver);
    casparian_registry_free(rig->registry);
    rig->driver = NULL;
    rig->registry = NULL;
}

static inline void drive_close(drive_rig *rig)
{
    drive_stop(rig);
    pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", rig->root, (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    rig_close(&rig->base);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static inline const mcp_json *drive_ref(drive_rig *rig)
{
    const char *text = mcp_arena_printf(rig->base.arena, "{\"path\":\"%s\"}",
                                        drive_path(rig, "demo.py"));
    return rig_json(&rig->base, text);
}

static inline casparian_sink_uri drive_sink(drive_rig *rig, const char *scheme)
{
    casparian_sink_uri uri;
    const char *text = mcp_arena_printf(rig->base.arena, "%s://%s", scheme, drive_path(rig, "out"));
    rig_expect(&rig->base,
               casparian_sink_uri_read(&uri, rig->base.arena, text, "/", &rig->base.err), MCP_OK);
    return uri;
}

static inline casparian_prepared drive_prepare(drive_rig *rig, const casparian_spec *spec,
                                               const casparian_sink_uri *sink)
{
    const casparian_prepare_request request = { .plugin_ref = drive_ref(rig),
                                                .plugin_path = drive_path(rig, "demo.py"),
                                                .input = drive_path(rig, "in"),
                                                .spec = spec,
                                                .sink = sink,
                                                .lists_files = sink != NULL };
    casparian_plugin_problem problem;
    casparian_prepared prepared;
    rig_expect(&rig->base,
               casparian_driver_prepare(&prepared, &problem, rig->driver, rig->base.arena, &request,
                                        &rig->base.err),
               MCP_OK);
    return prepared;
}

/* Queue a backtest, or a run where there is a sink. */
static inline int64_t drive_queue(drive_rig *rig, const casparian_spec *spec,
                                  const casparian_sink_uri *sink, int64_t timeout_ms)
{
    casparian_prepared prepared = drive_prepare(rig, spec, sink);
    const casparian_job_request request = {
        .type = sink ? CASPARIAN_JOB_RUN : CASPARIAN_JOB_BACKTEST,
        .plugin = prepared.job_plugin,
        .input_dir = drive_path(rig, "in"),
        .sink_uri = sink ? sink->text : NULL,
        .spec = spec,
        .timeout_ms = timeout_ms,
        .files = prepared.files,
        .file_count = prepared.file_count,
    };
    int64_t id = 0;
    rig_expect(&rig->base,
               casparian_job_create(&id, NULL, rig->base.store, &request, &rig->base.err), MCP_OK);
    return id;
}

/* Claim the next job and run it on this thread. */
static inline casparian_job drive_run_claimed(drive_rig *rig, mcp_status expected)
{
    casparian_claim claim = rig_claim(&rig->base, "here");
    atomic_int stop = CASPARIAN_STOP_NONE;
    rig_expect(&rig->base, casparian_driver_run(rig->driver, &claim, &stop, &rig->base.err),
               expected);
    return rig_job(&rig->base, claim.job);
}

static inline casparian_job drive_backtest(drive_rig *rig, const casparian_spec *spec)
{
    drive_queue(rig, spec, NULL, 0);
    return drive_run_claimed(rig, MCP_OK);
}

static inline casparian_job drive_run(drive_rig *rig, const casparian_spec *spec)
{
    const casparian_sink_uri sink = drive_sink(rig, "csv");
    drive_queue(rig, spec, &sink, 0);
    return drive_run_claimed(rig, MCP_OK);
}

/* ---- looking --------------------------------------------------------------------------------- */

static inline int64_t drive_int(const mcp_json *json, const char *pointer)
{
    int64_t value = -1;
    if (!mcp_json_int(mcp_json_pointer(json, pointer), &value))
        fail_msg("no integer at %s", pointer);
    return value;
}

static inline double drive_double(const mcp_json *json, const char *pointer)
{
    double value = -1;
    if (!mcp_json_double(mcp_json_pointer(json, pointer), &value))
        fail_msg("no number at %s", pointer);
    return value;
}

/* What the plugin has written in a job. */
static inline void drive_print_log(int64_t job)
{
    char path[PATH_MAX], line[512];
    snprintf(path, sizeof path, "%s/logs/jobs/%lld.log",
             casparian_store_home(drive_latest->base.store), (long long)job);
    FILE *file = fopen(path, "r");
    if (!file)
        print_message("no log: %s: %s\n", path, strerror(errno));
    while (file && fgets(line, sizeof line, file))
        print_message("log: %s", line);
    if (file)
        fclose(file);
}

static inline void drive_expect_state(const casparian_job *job, casparian_job_state state)
{
    if (job->state == state)
        return;
    drive_print_log(job->id);
    fail_msg("job is %s: %s: %s", casparian_job_state_text(job->state),
             job->error_code ? job->error_code : "", job->error_message ? job->error_message : "");
}

/* How many files of the sink's folder have that ending; hidden ones are temporary. */
static inline int drive_files(drive_rig *rig, const char *ending)
{
    int count = 0;
    DIR *all = opendir(drive_path(rig, "out"));
    if (!all)
        return 0;
    for (const struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
        size_t length = strlen(entry->d_name);
        size_t tail = strlen(ending);
        if (entry->d_name[0] != '.' && length > tail &&
            strcmp(entry->d_name + length - tail, ending) == 0)
            count++;
    }
    closedir(all);
    return count;
}

/* Lines of all CSV files of an output, without their headers. */
static inline int drive_lines(drive_rig *rig, const char *output)
{
    char line[4096];
    int count = 0;
    DIR *all = opendir(drive_path(rig, "out"));
    assert_non_null(all);
    for (const struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
        size_t length = strlen(output);
        if (strncmp(entry->d_name, output, length) != 0 || strlen(entry->d_name) != length + 21)
            continue;
        FILE *file = fopen(
            drive_path(rig, mcp_arena_printf(rig->base.arena, "out/%s", entry->d_name)), "r");
        assert_non_null(file);
        for (int number = 0; fgets(line, sizeof line, file); number++)
            count += number > 0;
        fclose(file);
    }
    closedir(all);
    return count;
}

/* Wait until a job has a state, 60 s. */
static inline casparian_job drive_await(drive_rig *rig, int64_t id, casparian_job_state state)
{
    casparian_job job = rig_job(&rig->base, id);
    for (int64_t until = mcp_clock_mono_ms() + 60000; job.state != state;) {
        if (mcp_clock_mono_ms() > until)
            drive_expect_state(&job, state);
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
        job = rig_job(&rig->base, id);
    }
    return job;
}

#endif
