/*
 * test_native.c - native plugins: the protocol, and every way to violate it.
 */
#include "../rig.h"

static rig all;

static int set_up(void **state)
{
    rig_open(&all);
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

/* Runs the program of the tests in a mode. */
static void run_mode(rig *self, const char *mode)
{
    static const char *env[2];
    env[0] = mcp_arena_printf(self->arena, "NATIVE_MODE=%s", mode);
    env[1] = mcp_arena_printf(self->arena, "NATIVE_OTHER=%s",
                              scratch_path(&self->folder, "inputs/two.txt"));
    self->options.env = env;
    self->options.env_count = 2;
    if (!self->plugin.id) {
        scratch_write(&self->folder, "plugin/note", "", 0);
        self->plugin = (casparian_plugin){ .id = "demo",
                                           .version = "1.0.0",
                                           .display = "demo@1.0.0",
                                           .runtime = CASPARIAN_NATIVE,
                                           .origin = CASPARIAN_INSTALLED,
                                           .entrypoint = NATIVE_GUEST,
                                           .outputs = self->outputs,
                                           .default_output = "rows" };
        self->plugin.dir = mcp_arena_strdup(self->arena, scratch_path(&self->folder, "plugin"));
    }
    rig_parse(self, "one.txt");
}

static void fails(rig *self, const char *mode, casparian_failure failure, const char *error)
{
    run_mode(self, mode);
    rig_expect(self, failure);
    if (!strstr(self->outcome.error, error))
        fail_msg("\"%s\" is not in \"%s\"", error, self->outcome.error);
}

/* ---- the protocol ---------------------------------------------------------------------------- */

static void rows_come_as_they_were_sent(void **state)
{
    rig *self = *state;
    run_mode(self, "rows");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_string_equal(rig_rows(self), "[rows]\n"
                                        "rows: id=int64:1 value=string:a\n"
                                        "rows: id=int64:2 value=null\n"
                                        "rows: id=int64:3 value=string:ccc\n"
                                        "rows: id=int64:1 value=string:a\n"
                                        "rows: id=int64:2 value=null\n"
                                        "rows: id=int64:3 value=string:ccc\n");
    assert_int_equal(self->outcome.rows, 6);
    assert_int_equal(self->outcome.exit_code, 0);
}

/* Far more messages than the queue has room for, and than a pipe holds. */
static void an_output_may_begin_many_times(void **state)
{
    rig *self = *state;
    run_mode(self, "streams");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(self->outcome.rows, 3000);
    assert_int_equal(strncmp(rig_rows(self), "[even]\neven: id=int64:1", 23), 0);
    assert_non_null(strstr(rig_rows(self), "[odd]\nodd: "));
}

static void what_is_no_message_is_logged(void **state)
{
    rig *self = *state;
    run_mode(self, "noise");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_non_null(strstr(rig_log(self), "1: a library says something\n"));
    assert_non_null(strstr(rig_log(self), "4: {\"type\":\"curious\"}\n"));
    assert_true(self->log.length < 200000); /* of 2 MiB in one line, the first part */
    assert_int_equal(self->outcome.rows, 6);
}

static void a_row_limit_ends_an_endless_program(void **state)
{
    rig *self = *state;
    self->row_limit = 4;
    run_mode(self, "endless");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(self->outcome.rows, 4);
    assert_true(self->outcome.stopped_at_row_limit);
}

/* ---- violations ------------------------------------------------------------------------------ */

static void violations_have_their_words(void **state)
{
    static const struct {
        const char *mode;
        casparian_failure failure;
        const char *error;
    } rows[] = {
        { "arrow", CASPARIAN_FAILURE_ARROW_NOT_SUPPORTED, "encoding cfb" },
        { "other_version", CASPARIAN_FAILURE_PROTOCOL_ERROR, "hello is of demo 9.9.9" },
        { "no_hello", CASPARIAN_FAILURE_PROTOCOL_ERROR, "without hello" },
        { "late_hello", CASPARIAN_FAILURE_PROTOCOL_ERROR, "first message is not hello" },
        { "wrong_stream", CASPARIAN_FAILURE_PROTOCOL_ERROR, "stream_index 5; 0 comes next" },
        { "early_begin", CASPARIAN_FAILURE_PROTOCOL_ERROR, "before the output_end" },
        { "wrong_rows", CASPARIAN_FAILURE_PROTOCOL_ERROR, "says 4 rows, and 3 came" },
        { "damaged", CASPARIAN_FAILURE_PROTOCOL_ERROR, "output rows: " },
        { "too_long", CASPARIAN_FAILURE_PROTOCOL_ERROR, "a block of 2147483647 bytes" },
        { "no_finish", CASPARIAN_FAILURE_PROTOCOL_ERROR, "without cf_finish" },
        { "cut", CASPARIAN_FAILURE_PROTOCOL_ERROR, "ended within an output" },
        { "stray_rows", CASPARIAN_FAILURE_PROTOCOL_ERROR, "rows outside of an output" },
        { "crash", CASPARIAN_FAILURE_CRASHED, "signal 11" },
        { "code", CASPARIAN_FAILURE_CRASHED, "code 7" },
        { "permanent", CASPARIAN_FAILURE_PARSE_ERROR, "the disk is busy" },
        { "transient", CASPARIAN_FAILURE_PARSE_ERROR, "the disk is busy" },
    };
    rig *self = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        casparian_guest_free(self->guest); /* the mode is in its environment */
        self->guest = NULL;
        print_message("%s\n", rows[i].mode);
        fails(self, rows[i].mode, rows[i].failure, rows[i].error);
        assert_int_equal(self->outcome.is_retryable, strcmp(rows[i].mode, "transient") == 0);
    }
}

static void a_program_must_say_hello(void **state)
{
    rig *self = *state;
    self->options.limits.start_timeout_ms = 500;
    fails(self, "silent", CASPARIAN_FAILURE_START_TIMEOUT, "no hello within 500 ms");
}

static void a_program_that_hangs_is_ended(void **state)
{
    rig *self = *state;
    self->options.limits.idle_timeout_ms = 500;
    fails(self, "hang", CASPARIAN_FAILURE_IDLE_TIMEOUT, "nothing was heard");
}

static void endless_rows_are_ended(void **state)
{
    rig *self = *state;
    self->options.limits.output_bytes = 100000;
    fails(self, "endless", CASPARIAN_FAILURE_OUTPUT_LIMIT, "output_max_mb");
    assert_true(self->outcome.bytes < 200000);
}

/* The hash of a declared schema is compared where the caller wants it. */
static void a_schema_hash_must_be_that_of_the_schema(void **state)
{
    rig *self = *state;
    casparian_column column = { .name = "id", .type = { .kind = CASPARIAN_KIND_INT64 } };
    casparian_definition definition = { .output = "rows", .count = 1, .columns = &column };
    self->outputs[0] = "rows";
    run_mode(self, "rows"); /* makes the plugin */
    casparian_guest_free(self->guest);
    self->guest = NULL;
    self->plugin.output_count = 1;
    self->plugin.schemas = (casparian_schemas){ 1, &definition };
    self->options.checks_schema_hash = true;
    fails(self, "hash", CASPARIAN_FAILURE_PROTOCOL_ERROR, "schema hash 0123");
    casparian_guest_free(self->guest);
    self->guest = NULL;
    self->options.checks_schema_hash = false;
    run_mode(self, "hash"); /* begins twice, but its hash is not what is wrong */
    assert_null(strstr(self->outcome.error, "hash"));
}

/* ---- what it reaches ------------------------------------------------------------------------- */

static void it_reaches_its_file_alone(void **state)
{
    rig *self = *state;
    char words[CASPARIAN_SANDBOX_WORDS_SIZE];
    if (!casparian_sandbox_level(words)) {
        print_message("this system has %s\n", words);
        skip();
    }
    run_mode(self, "reach");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    /* EACCES for files, programs and sockets of the network; EPERM for what seccomp denies. */
    if (!strstr(rig_log(self), "passwd=13 other=13 inet=1 unix=1 fork=1 exec=13"))
        fail_msg("%s", rig_log(self));
    assert_non_null(strstr(self->outcome.sandbox, "landlock"));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(rows_come_as_they_were_sent),
        WITH_RIG(an_output_may_begin_many_times),
        WITH_RIG(what_is_no_message_is_logged),
        WITH_RIG(a_row_limit_ends_an_endless_program),
        WITH_RIG(violations_have_their_words),
        WITH_RIG(a_program_must_say_hello),
        WITH_RIG(a_program_that_hangs_is_ended),
        WITH_RIG(endless_rows_are_ended),
        WITH_RIG(a_schema_hash_must_be_that_of_the_schema),
        WITH_RIG(it_reaches_its_file_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
