/*
 * test_fixture.c - each mode of fixture_plugin and of its native twin, found by the registry and
 * run: what comes of it.
 *
 * The mode is the name of the file, so one guest reads them all, and a mode that ends its process
 * is followed by one that is read.
 */
#include "rig.h"

#include "plugins/registry.h"

struct mode {
    const char *name;
    casparian_failure failure;
    const char *text; /* in its rows, its log or its error */
};

static const struct mode of_python[] = {
    { "normal", CASPARIAN_FAILURE_NONE, "fixture: id=int64:2 value=string:value_2\n" },
    { "slow", CASPARIAN_FAILURE_NONE, "fixture: id=int64:2" },
    { "collision", CASPARIAN_FAILURE_RESERVED_COLUMN, "_cf_job_id" },
    { "reserved_column", CASPARIAN_FAILURE_RESERVED_COLUMN, "_cf_source_hash" },
    { "error", CASPARIAN_FAILURE_PARSE_ERROR, "ValueError: the fixture fails" },
    { "crash", CASPARIAN_FAILURE_CRASHED, "signal 11" },
    { "bad_frame", CASPARIAN_FAILURE_PROTOCOL_ERROR, "no signal" },
    { "forge_frames", CASPARIAN_FAILURE_PROTOCOL_ERROR, "END without METRICS" },
    { "row_errors", CASPARIAN_FAILURE_NONE, "_cf_row_error=string:bad row __cf_row_id=int64:2" },
    { "nulls", CASPARIAN_FAILURE_NONE, "fixture: id=null value=null\n" },
    { "wrong_type", CASPARIAN_FAILURE_NONE, "fixture: id=string:no number 0 value=int64:0\n" },
    { "huge_row", CASPARIAN_FAILURE_NONE, "xxxx" },
    { "huge_cell", CASPARIAN_FAILURE_MEMORY_LIMIT, "MemoryError" },
    { "oom", CASPARIAN_FAILURE_MEMORY_LIMIT, "MemoryError" },
    { "stray_stderr", CASPARIAN_FAILURE_NONE, "1: a library says something" },
    { "two_outputs_interleaved", CASPARIAN_FAILURE_NONE, "fixture_second: id=int64:2" },
};

static const struct mode hostile_of_python[] = {
    { "fork_bomb", CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError" },
    { "thread_bomb", CASPARIAN_FAILURE_PARSE_ERROR, "can't start new thread" },
    { "setsid", CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError" },
    { "exec", CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError" },
    { "socket", CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError" },
    { "system_calls", CASPARIAN_FAILURE_NONE,
      "[fixture]\nfixture: id=int64:0 value=string:done\n" },
    { "read_other", CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError" },
    { "read_processes", CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError" },
    { "read_sibling", CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError" },
    { "fill_scratch", CASPARIAN_FAILURE_OUTPUT_LIMIT, "scratch_mb" },
    { "endless_rows", CASPARIAN_FAILURE_OUTPUT_LIMIT, "output_max_mb" },
    { "normal", CASPARIAN_FAILURE_NONE, "fixture: id=int64:2 value=string:value_2\n" },
};

static const struct mode of_native[] = {
    { "normal", CASPARIAN_FAILURE_NONE, "fixture: id=int64:3 value=string:row-3\n" },
    { "slow", CASPARIAN_FAILURE_NONE, "fixture: id=int64:3" },
    { "collision", CASPARIAN_FAILURE_RESERVED_COLUMN, "_cf_job_id" },
    { "reserved_column", CASPARIAN_FAILURE_RESERVED_COLUMN, "_cf_job_id" },
    { "error", CASPARIAN_FAILURE_PARSE_ERROR, "the fixture fails" },
    { "crash", CASPARIAN_FAILURE_CRASHED, "signal 11" },
    { "bad_frame", CASPARIAN_FAILURE_PROTOCOL_ERROR, "does not begin with CFB1" },
    { "row_errors", CASPARIAN_FAILURE_NONE, "_cf_row_error=string:the fixture does not" },
    { "nulls", CASPARIAN_FAILURE_NONE, "fixture: id=int64:2 value=null\n" },
    { "wrong_type", CASPARIAN_FAILURE_NONE, "fixture: id=string:not a number" },
    { "huge_row", CASPARIAN_FAILURE_NONE, "xxxx" },
    { "stray_stderr", CASPARIAN_FAILURE_NONE, "1: a library greets" },
    { "two_outputs_interleaved", CASPARIAN_FAILURE_NONE, "fixture_other: id=int64:1" },
};

/* The attempts go on after a refusal, and say in a row how they were refused. */
static const struct mode hostile_of_native[] = {
    { "fork_bomb", CASPARIAN_FAILURE_NONE, "string:0 processes: Operation not permitted" },
    { "import_bomb", CASPARIAN_FAILURE_NONE, "string:0 processes: Operation not permitted" },
    { "thread_bomb", CASPARIAN_FAILURE_NONE, " threads: Resource temporarily unavailable" },
    { "setsid", CASPARIAN_FAILURE_NONE, "string:setsid: Operation not permitted" },
    { "exec", CASPARIAN_FAILURE_NONE, "string:exec: Permission denied" },
    { "socket", CASPARIAN_FAILURE_NONE, "string:socket: Operation not permitted" },
    { "system_calls", CASPARIAN_FAILURE_NONE, "string:system_calls: denied" },
    { "read_other", CASPARIAN_FAILURE_NONE, "string:read_other: Permission denied" },
    { "read_processes", CASPARIAN_FAILURE_NONE, "string:read_processes: Permission denied" },
    { "read_sibling", CASPARIAN_FAILURE_NONE, "string:read_sibling: Permission denied" },
    { "forge_frames", CASPARIAN_FAILURE_NONE, "string:0 descriptors: done" },
    { "oom", CASPARIAN_FAILURE_NONE, " MiB of memory: Cannot allocate memory" },
    { "no_memory", CASPARIAN_FAILURE_MEMORY_LIMIT, "no memory for its rows" },
    { "fill_scratch", CASPARIAN_FAILURE_NONE, " MiB of scratch: " },
    { "endless_rows", CASPARIAN_FAILURE_OUTPUT_LIMIT, "output_max_mb" },
    { "normal", CASPARIAN_FAILURE_NONE, "fixture: id=int64:3 value=string:row-3\n" },
};

static const char python_folder[] = "servers/casparian/parsers/fixture_plugin";
static const char native_folder[] = "../tests/plugins/fixture_native/1.0.0";

/* @param variable of the environment: the folder that `folder` is relative to */
static void open_fixture(rig *self, const char *variable, const char *folder)
{
    static const char *env[] = { "CF_FIXTURE_SLEEP_SECS=0", "CF_FIXTURE_EVERY=2" };
    casparian_registry_options options = { .allow_dev_plugins = true };
    casparian_registry *registry = NULL;
    mcp_error err = MCP_ERROR_INIT;

    rig_open(self);
    self->options.env = env;
    self->options.env_count = sizeof env / sizeof *env;
    char *path = realpath(mcp_arena_printf(self->arena, "%s/%s", getenv(variable), folder), NULL);
    assert_non_null(path);
    casparian_plugin_ref ref = { .path = mcp_arena_strdup(self->arena, path) };
    free(path);
    assert_int_equal(casparian_registry_new(&registry, &options, NULL), MCP_OK);
    if (casparian_registry_resolve(&self->plugin, NULL, self->arena, registry, &ref, ref.path,
                                   &err) != MCP_OK)
        fail_msg("%s", err.message);
    casparian_registry_free(registry);
    assert_true(self->plugin.is_trusted);
    assert_int_equal(self->plugin.schemas.count, 1);
    self->options.limits.log_bytes = 100000;
    scratch_write(&self->folder, "inputs/normal.txt", "", 0);
}

/* A file of that name is parsed, in the guest of the file before if that still runs. */
static void expect_mode(rig *self, const struct mode *mode)
{
    char name[40], relative[48];

    snprintf(name, sizeof name, "%s.txt", mode->name);
    snprintf(relative, sizeof relative, "inputs/%s", name);
    scratch_write(&self->folder, relative, "alpha\n", 6);
    print_message("%s\n", mode->name);
    rig_parse(self, name);
    rig_expect(self, mode->failure);
    if (!strstr(rig_rows(self), mode->text) && !strstr(rig_log(self), mode->text) &&
        !strstr(self->outcome.error, mode->text))
        fail_msg("no \"%s\": %s %.200s %.200s", mode->text, self->outcome.error, rig_rows(self),
                 rig_log(self));
}

static void expect_all(rig *self, const struct mode *modes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_mode(self, &modes[i]);
}

/* Skips the test where plugins are not kept from processes, sockets and files. */
static void needs_sandbox(void)
{
    char words[CASPARIAN_SANDBOX_WORDS_SIZE];

    if (casparian_sandbox_level(words))
        return;
    print_message("this system has %s alone\n", words);
    skip();
}

static void limit(rig *self)
{
    self->options.limits.output_bytes = 1 << 20;
    self->options.limits.scratch_bytes = 4 << 20;
}

static void each_mode_of_python_has_its_outcome(void **state)
{
    static rig self;

    (void)state;
    open_fixture(&self, "CAUSEWAY_SOURCE", python_folder);
    assert_string_equal(self.plugin.id, "fixture_plugin");
    expect_all(&self, of_python, sizeof of_python / sizeof *of_python);
    rig_close(&self);
}

static void each_attempt_of_python_fails(void **state)
{
    static rig self;

    (void)state;
    needs_sandbox();
    open_fixture(&self, "CAUSEWAY_SOURCE", python_folder);
    limit(&self);
    expect_all(&self, hostile_of_python, sizeof hostile_of_python / sizeof *hostile_of_python);
    rig_close(&self);
}

static void each_mode_of_the_twin_has_its_outcome(void **state)
{
    static rig self;

    (void)state;
    open_fixture(&self, "CAUSEWAY_BIN", native_folder);
    assert_string_equal(self.plugin.id, "fixture_native");
    expect_all(&self, of_native, sizeof of_native / sizeof *of_native);
    rig_close(&self);
}

static void each_attempt_of_the_twin_fails(void **state)
{
    static rig self;

    (void)state;
    needs_sandbox();
    open_fixture(&self, "CAUSEWAY_BIN", native_folder);
    limit(&self);
    expect_all(&self, hostile_of_native, sizeof hostile_of_native / sizeof *hostile_of_native);
    rig_close(&self);
}

static void the_clock_ends_the_twin(void **state)
{
    static const struct mode idle[] = {
        { "hang", CASPARIAN_FAILURE_IDLE_TIMEOUT, "idle_timeout_ms" },
        { "stop_self", CASPARIAN_FAILURE_IDLE_TIMEOUT, "idle_timeout_ms" },
    };
    static const struct mode loud = { "endless_log", CASPARIAN_FAILURE_FILE_TIMEOUT,
                                      "file_timeout_ms" };
    static rig self;

    (void)state;
    needs_sandbox();
    open_fixture(&self, "CAUSEWAY_BIN", native_folder);
    self.options.limits.idle_timeout_ms = 1000;
    expect_all(&self, idle, sizeof idle / sizeof *idle);
    casparian_guest_free(self.guest); /* it has the limits */
    self.guest = NULL;
    self.options.limits.idle_timeout_ms = 60000;
    self.options.limits.file_timeout_ms = 2000;
    expect_mode(&self, &loud);
    rig_close(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_of_python_has_its_outcome),
        cmocka_unit_test(each_attempt_of_python_fails),
        cmocka_unit_test(each_mode_of_the_twin_has_its_outcome),
        cmocka_unit_test(each_attempt_of_the_twin_fails),
        cmocka_unit_test(the_clock_ends_the_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
