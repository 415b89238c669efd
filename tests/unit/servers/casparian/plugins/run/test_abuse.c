/*
 * test_abuse.c - hostile Python plugins: what they try is denied or ended, the host goes through
 * it, and no process is left.
 *
 * Where this system lacks a protection, the test says so and that casparian_sandbox_level says it
 * as well.
 */
#include "../rig.h"

#include <dirent.h>

static rig all;
static char mark[64]; /* in the environment of every process of a test's guests */

static int set_up(void **state)
{
    static const char *env[1];
    static int number;
    rig_open(&all);
    snprintf(mark, sizeof mark, "CF_TEST_MARK=%ld-%d", (long)getpid(), number++);
    env[0] = mark;
    all.options.env = env;
    all.options.env_count = 1;
    *state = &all;
    return 0;
}

/* Processes whose environment has the mark. */
static size_t count_processes(void)
{
    DIR *processes = opendir("/proc");
    size_t count = 0;
    assert_non_null(processes);
    for (struct dirent *entry = readdir(processes); entry; entry = readdir(processes)) {
        char path[300];
        static char environ_text[65536];
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "rb") : NULL;
        size_t length = file ? fread(environ_text, 1, sizeof environ_text, file) : 0;
        if (file)
            fclose(file);
        count += length && memmem(environ_text, length, mark, strlen(mark)) != NULL;
    }
    closedir(processes);
    return count;
}

static int tear_down(void **state)
{
    rig *self = *state;
    casparian_guest_free(self->guest);
    self->guest = NULL;
    int64_t until_ms = mcp_clock_mono_ms() + 60000;
    while (count_processes() && mcp_clock_mono_ms() < until_ms)
        usleep(20000);
    size_t left = count_processes();
    rig_close(self);
    return left == 0 ? 0 : -1;
}

/* Skips the test where plugins are not kept from processes, sockets and files. */
static void needs_sandbox(void)
{
    char words[CASPARIAN_SANDBOX_WORDS_SIZE];
    if (casparian_sandbox_level(words))
        return;
    print_message("this system has %s alone, and casparian_sandbox_level says so\n", words);
    skip();
}

static void fails(rig *self, const char *source, casparian_failure failure, const char *error)
{
    rig_module(self, source);
    rig_parse(self, "one.txt");
    rig_expect(self, failure);
    if (!strstr(self->outcome.error, error))
        fail_msg("\"%s\" is not in \"%s\"", error, self->outcome.error);
}

/* The guest, or a new one, reads the next file as if nothing had been. */
static void next_file_is_read(rig *self)
{
    rig_parse(self, "two.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(self->outcome.rows, 1);
}

/* A module that does something with one.txt, and gives a row of any other file. */
#define EXCEPT_TWO(body)                                                                           \
    "import os, sys, signal, time, threading\n"                                                    \
    "def parse(path):\n"                                                                           \
    "    if path.endswith('two.txt'):\n"                                                           \
    "        yield {'a': 1}\n"                                                                     \
    "        return\n" body

/* ---- processes ------------------------------------------------------------------------------- */

static void a_fork_bomb_does_not_start(void **state)
{
    needs_sandbox();
    fails(*state,
          EXCEPT_TWO("    while True:\n"
                     "        os.fork()\n"),
          CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError");
    next_file_is_read(*state);
}

static void a_fork_bomb_of_a_module_is_bounded(void **state)
{
    rig *self = *state;
    needs_sandbox();
    rig_module(self, "import os\n"
                     "while True:\n"
                     "    os.fork()\n");
    rig_parse(self, "one.txt");
    assert_int_not_equal(self->outcome.failure, CASPARIAN_FAILURE_NONE);
    /* 64 at most at a time by the limit. While the processes end and others take their places, a
     * look at /proc that takes long finds both, so the least of several looks counts. */
    size_t least = SIZE_MAX;
    for (int i = 0; i < 20 && least > 70; i++) {
        size_t count = count_processes();
        least = count < least ? count : least;
    }
    assert_true(least <= 70);
}

static void a_daemon_of_a_module_ends_with_its_guest(void **state)
{
    rig *self = *state;
    needs_sandbox();
    rig_module(self, "import os, time\n"
                     "if os.fork() == 0:\n"
                     "    os.setsid()\n"
                     "    if os.fork() == 0:\n"
                     "        time.sleep(3600)\n"
                     "    os._exit(0)\n"
                     "def parse(path):\n"
                     "    yield {'a': 1}\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_true(count_processes() >= 2); /* the tear-down sees that it is gone */
}

static void a_thread_bomb_is_bounded(void **state)
{
    needs_sandbox();
    fails(*state,
          EXCEPT_TWO("    while True:\n"
                     "        threading.Thread(target=time.sleep, args=(3600,), "
                     "daemon=True).start()\n"),
          CASPARIAN_FAILURE_PARSE_ERROR, "can't start new thread");
    next_file_is_read(*state);
}

static void threads_may_be_used(void **state)
{
    rig_gives(*state,
              "import threading\n"
              "def parse(path):\n"
              "    rows = []\n"
              "    thread = threading.Thread(target=lambda: rows.append({'a': 1}))\n"
              "    thread.start()\n"
              "    thread.join()\n"
              "    return rows\n",
              "[demo]\ndemo: a=int64:1\n");
}

static void no_program_is_started(void **state)
{
    needs_sandbox();
    fails(*state, EXCEPT_TWO("    os.execv('/bin/true', ['true'])\n"),
          CASPARIAN_FAILURE_PARSE_ERROR, "PermissionError");
    next_file_is_read(*state);
}

static void no_module_starts_a_program(void **state)
{
    needs_sandbox();
    fails(*state, "import os\nos.execv('/bin/true', ['true'])\n", CASPARIAN_FAILURE_IMPORT_ERROR,
          "PermissionError");
}

/* Landlock denies signals since its version 6; before, a file can end its own guest. */
static void others_cannot_be_killed(void **state)
{
    rig *self = *state;
    needs_sandbox();
    rig_module(self, EXCEPT_TWO("    os.kill(-1, signal.SIGKILL)\n"
                                "    yield {'a': 1}\n"));
    rig_parse(self, "one.txt");
    assert_true(self->outcome.failure == CASPARIAN_FAILURE_NONE ||
                self->outcome.failure == CASPARIAN_FAILURE_CRASHED);
    next_file_is_read(self);
}

/* System calls by number, past Python: errno of each, or 0. */
static void system_calls_are_denied(void **state)
{
    needs_sandbox();
    rig_gives(*state,
              "import ctypes, errno, platform\n"
              "libc = ctypes.CDLL(None, use_errno=True)\n"
              "CALLS = {'ptrace': 101, 'unshare': 272, 'mount': 165, 'bpf': 321, 'keyctl': 250,\n"
              "         'io_uring_setup': 425, 'userfaultfd': 323, 'perf_event_open': 298,\n"
              "         'fork': 57, 'vfork': 58, 'execve': 59, 'execveat': 322, 'setns': 308,\n"
              "         'clone3': 435}\n"
              "def parse(path):\n"
              "    if platform.machine() != 'x86_64':\n"
              "        CALLS.clear()\n"
              "    for name, number in CALLS.items():\n"
              "        result = libc.syscall(number, 0, 0, 0, 0, 0, 0)\n"
              "        if result == 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):\n"
              "            yield {'call': name, 'errno': ctypes.get_errno()}\n"
              "    yield {'done': True}\n",
              "[demo]\ndemo: done=boolean:true\n");
}

/* ---- sockets and files ----------------------------------------------------------------------- */

static void no_socket_of_any_family_opens(void **state)
{
    needs_sandbox();
    rig_gives(*state,
              "import socket\n"
              "def parse(path):\n"
              "    for family in range(1, 46):\n"
              "        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):\n"
              "            try:\n"
              "                socket.socket(family, kind)\n"
              "                yield {'family': family}\n"
              "            except OSError:\n"
              "                pass\n"
              "    yield {'done': True}\n",
              "[demo]\ndemo: done=boolean:true\n");
}

static void nothing_but_its_file_is_read(void **state)
{
    rig *self = *state;
    needs_sandbox();
    const char *source = mcp_arena_printf(
        self->arena,
        "import os\n"
        "PATHS = ['/etc/passwd', '/proc/1/environ', '/proc/self/environ', '%s/inputs/two.txt',\n"
        "         '/etc/shadow', '/', '/root', '%s/inputs', '%s']\n"
        "def parse(path):\n"
        "    for other in PATHS:\n"
        "        try:\n"
        "            os.listdir(other) if os.path.isdir(other) else open(other).close()\n"
        "            yield {'read': other}\n"
        "        except OSError:\n"
        "            pass\n"
        "    yield {'own': open(path).read()}\n",
        self->folder.path, self->folder.path, self->folder.path);
    rig_gives(self, source, "[demo]\ndemo: own=string:alpha\nbeta\n\n");
}

static void a_module_reads_no_more_than_its_inputs(void **state)
{
    needs_sandbox();
    fails(*state, "open('/etc/passwd')\ndef parse(path): pass\n", CASPARIAN_FAILURE_IMPORT_ERROR,
          "PermissionError");
}

static void nothing_is_written_outside_of_scratch(void **state)
{
    rig *self = *state;
    needs_sandbox();
    const char *source = mcp_arena_printf(
        self->arena,
        "def parse(path):\n"
        "    for other in (path, __file__, '/tmp/x', '%s/x', '%s/scratch/x'):\n"
        "        try:\n"
        "            open(other, 'a').close()\n"
        "            yield {'wrote': other}\n"
        "        except OSError:\n"
        "            pass\n"
        "    open('own', 'w').write('x')\n"
        "    yield {'done': True}\n",
        self->folder.path, self->folder.path);
    rig_gives(self, source, "[demo]\ndemo: done=boolean:true\n");
}

static void a_file_that_took_the_place_of_another_is_not_read(void **state)
{
    rig *self = *state;
    needs_sandbox();
    rig_module(self, "def parse(path):\n    yield {'text': open(path).read()}\n");
    const char *path = scratch_path(&self->folder, "inputs/one.txt");
    casparian_guest_file file = { .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
    casparian_guest_events events = { .batch = rig_on_batch, .data = self };
    scratch_write(&self->folder, "inputs/new", "other", 5);
    assert_int_equal(rename(scratch_path(&self->folder, "inputs/new"), path), 0);
    assert_int_equal(casparian_guest_new(&self->guest, &self->plugin, &self->options, NULL),
                     MCP_OK);
    assert_int_equal(casparian_guest_parse(&self->outcome, self->guest, &file, &events, NULL),
                     MCP_OK);
    close(file.fd);
    rig_expect(self, CASPARIAN_FAILURE_PARSE_ERROR);
    assert_non_null(strstr(self->outcome.error, "PermissionError"));
}

static void a_full_scratch_folder_ends_the_file(void **state)
{
    rig *self = *state;
    self->options.limits.scratch_bytes = 4 << 20;
    fails(self,
          EXCEPT_TWO("    for i in range(1000):\n"
                     "        open(f'file{i}', 'wb').write(b'x' * (1 << 20))\n"
                     "    time.sleep(3600)\n"),
          CASPARIAN_FAILURE_OUTPUT_LIMIT, "scratch_mb");
    next_file_is_read(self);
}

/* ---- time and memory ------------------------------------------------------------------------- */

static void a_loop_ends_at_the_time_of_a_file(void **state)
{
    rig *self = *state;
    self->options.limits.file_timeout_ms = 1500;
    rig_module(self, EXCEPT_TWO("    while True: pass\n"));
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_FILE_TIMEOUT);
    casparian_guest_free(self->guest);
    self->guest = NULL;
    self->options.limits.file_timeout_ms = 0;
    next_file_is_read(self);
}

static void a_plugin_that_stops_itself_is_idle(void **state)
{
    rig *self = *state;
    self->options.limits.idle_timeout_ms = 1500;
    rig_module(self, EXCEPT_TWO("    os.kill(os.getpid(), signal.SIGSTOP)\n"));
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_IDLE_TIMEOUT);
}

static void memory_is_limited(void **state)
{
    rig *self = *state;
    fails(self, EXCEPT_TWO("    bytearray(4 << 30)\n"), CASPARIAN_FAILURE_MEMORY_LIMIT,
          "MemoryError");
    next_file_is_read(self);
}

static void endless_rows_are_ended(void **state)
{
    rig *self = *state;
    self->options.limits.output_bytes = 1 << 20;
    fails(self,
          EXCEPT_TWO("    while True:\n"
                     "        yield {'text': 'x' * 1000}\n"),
          CASPARIAN_FAILURE_OUTPUT_LIMIT, "output_max_mb");
    next_file_is_read(self);
}

static void an_endless_log_is_cut_and_ended(void **state)
{
    rig *self = *state;
    self->options.limits.file_timeout_ms = 3000;
    self->options.limits.log_bytes = 100000;
    rig_module(self, EXCEPT_TWO("    while True:\n"
                                "        print('x' * 1000)\n"));
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_FILE_TIMEOUT);
    assert_true(self->log.length < 150000);
}

static void an_import_without_end_is_ended(void **state)
{
    rig *self = *state;
    self->options.limits.start_timeout_ms = 1500;
    fails(self, "while True: pass\n", CASPARIAN_FAILURE_START_TIMEOUT, "start_timeout_ms");
}

static bool stop_soon(void *data)
{
    return mcp_clock_mono_ms() > *(int64_t *)data;
}

/* The plugin runs for ever: only SIGKILL ends it. */
static void a_plugin_that_ignores_signals_is_cancelled(void **state)
{
    rig *self = *state;
    rig_module(self, "import signal, time\n"
                     "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                     "def parse(path):\n"
                     "    while True: pass\n");
    const char *path = scratch_path(&self->folder, "inputs/one.txt");
    int64_t at_ms = mcp_clock_mono_ms() + 1500;
    casparian_guest_file file = { .path = path,
                                  .fd = open(path, O_RDONLY | O_CLOEXEC),
                                  .should_stop = stop_soon,
                                  .data = &at_ms };
    casparian_guest_events events = { .data = NULL };
    assert_int_equal(casparian_guest_new(&self->guest, &self->plugin, &self->options, NULL),
                     MCP_OK);
    assert_int_equal(casparian_guest_parse(&self->outcome, self->guest, &file, &events, NULL),
                     MCP_OK);
    close(file.fd);
    rig_expect(self, CASPARIAN_FAILURE_CANCELLED);
    assert_false(casparian_guest_is_warm(self->guest));
}

/* ---- forged frames --------------------------------------------------------------------------- */

static void forged_frames_fail_their_file_alone(void **state)
{
    static const struct {
        const char *bytes, *error;
    } rows[] = {
        { "b'\\xff\\xff\\xff\\x00'", "no signal" },
        { "b'\\x00\\x00\\x00\\x05CFJ1{'", "rows outside of an output" },
        { "b'\\xff\\xff\\xff\\xfd\\x00\\x00\\x00\\x09'", "without OUTPUT_META" },
        { "b'\\x00\\x00\\x00\\x00'", "END without METRICS" },
        { "b'\\xff\\xff\\xff\\xf8\\x00\\x00\\x00\\x02{}'", "a frame that a file does not have" },
        { "b'\\xff\\xff\\xff\\xfb\\x00\\x00\\x00\\x15{\"rows_published\": 7}'",
          "METRICS says 7 rows, and 0 came" },
        { "b'\\xff\\xff\\xff\\xfa\\x00\\x00\\x00\\x02[]'", "OUTPUT_META frame without" },
    };
    rig *self = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *source = mcp_arena_printf(self->arena,
                                              EXCEPT_TWO("    os.write(3, %s)\n"
                                                         "    time.sleep(3600)\n"),
                                              rows[i].bytes);
        casparian_guest_free(self->guest);
        self->guest = NULL;
        fails(self, source, CASPARIAN_FAILURE_PROTOCOL_ERROR, rows[i].error);
        next_file_is_read(self);
    }
}

static void an_end_is_the_end(void **state)
{
    fails(*state,
          EXCEPT_TWO("    metrics = b'{\"rows_published\": 0, \"status\": \"ok\"}'\n"
                     "    os.write(3, b'\\xff\\xff\\xff\\xfb' + len(metrics).to_bytes(4, 'big') + "
                     "metrics + b'\\0\\0\\0\\0')\n"
                     "    yield {'a': 1}\n"),
          CASPARIAN_FAILURE_PROTOCOL_ERROR, "frames after the end");
    next_file_is_read(*state);
}

/* The socket of the interpreter is not open in the child of a file. */
static void the_socket_of_the_guest_is_not_there(void **state)
{
    rig_gives(*state,
              "import os, stat\n"
              "def parse(path):\n"
              "    for fd in range(256):\n"
              "        try:\n"
              "            if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
              "                yield {'socket': fd}\n"
              "        except OSError:\n"
              "            pass\n"
              "    yield {'done': True}\n",
              "[demo]\ndemo: done=boolean:true\n");
}

static void a_frame_of_fifty_megabytes(void **state)
{
    rig *self = *state;
    rig_module(self, "def parse(path):\n    yield {'text': 'x' * (50 << 20)}\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(self->outcome.rows, 1);
}

/* A payload of as many cells as fit, which would take gigabytes of the host. */
static void a_payload_of_small_cells_is_bounded(void **state)
{
    rig *self = *state;
    rig_module(
        self,
        EXCEPT_TWO("    meta = b'{\"index\": 1, \"name\": \"x\"}'\n"
                   "    rows = b'CFJ1{\"c\":[\"a\"],\"r\":[[' + b'0,' * (45 << 20) + "
                   "b'0]]}'\n"
                   "    data = b'\\xff\\xff\\xff\\xfa' + len(meta).to_bytes(4, 'big') + meta\n"
                   "    data += b'\\xff\\xff\\xff\\xfd\\0\\0\\0\\1'\n"
                   "    data += len(rows).to_bytes(4, 'big') + rows\n"
                   "    data = memoryview(data)\n"
                   "    while data: data = data[os.write(3, data):]\n"
                   "    yield {'a': 1}\n"));
    rig_parse(self, "one.txt");
    assert_true(self->outcome.failure == CASPARIAN_FAILURE_PROTOCOL_ERROR ||
                self->outcome.failure == CASPARIAN_FAILURE_OUTPUT_LIMIT);
    print_message("%s\n", self->outcome.error);
    next_file_is_read(self);
}

static void a_row_that_is_too_long_for_a_frame(void **state)
{
    fails(*state, EXCEPT_TWO("    yield {'text': 'x' * (101 << 20)}\n"),
          CASPARIAN_FAILURE_OUTPUT_LIMIT, "at most 104857600");
}

/* ---- the level ------------------------------------------------------------------------------- */

static void the_level_is_said_in_words(void **state)
{
    rig *self = *state;
    char words[CASPARIAN_SANDBOX_WORDS_SIZE];
    bool holds = casparian_sandbox_level(words);
    mcp_error err = MCP_ERROR_INIT;
    print_message("here: %s\n", words);
    rig_module(self, "def parse(path):\n    yield {'a': 1}\n");
    self->options.sandbox = CASPARIAN_SANDBOX_REQUIRED;
    mcp_status st = casparian_guest_new(&self->guest, &self->plugin, &self->options, &err);
    if (!holds) {
        assert_int_equal(st, MCP_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, "this system lacks"));
        return;
    }
    assert_int_equal(st, MCP_OK);
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_string_equal(self->outcome.sandbox, words);
}

static void off_has_limits_alone(void **state)
{
    rig *self = *state;
    self->options.sandbox = CASPARIAN_SANDBOX_OFF;
    rig_gives(self,
              "import resource\n"
              "def parse(path):\n"
              "    open('/etc/passwd').close()\n"
              "    yield {'memory': resource.getrlimit(resource.RLIMIT_AS)[0]}\n",
              "[demo]\ndemo: memory=int64:2147483648\n");
    /* For others than root the limit of processes binds. */
    if (strcmp(self->outcome.sandbox, "none") != 0)
        assert_string_equal(self->outcome.sandbox, "process-limit");
}

static void a_plugin_may_be_allowed_to_start_processes(void **state)
{
    rig *self = *state;
    rig_module(self, "import subprocess\n"
                     "def parse(path):\n"
                     "    out = subprocess.run(['/bin/echo', 'hello'], capture_output=True)\n"
                     "    yield {'text': out.stdout.decode()}\n");
    self->plugin.settings.may_start_processes = true;
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_string_equal(rig_rows(self), "[demo]\ndemo: text=string:hello\n\n");
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(a_fork_bomb_does_not_start),
        WITH_RIG(a_fork_bomb_of_a_module_is_bounded),
        WITH_RIG(a_daemon_of_a_module_ends_with_its_guest),
        WITH_RIG(a_thread_bomb_is_bounded),
        WITH_RIG(threads_may_be_used),
        WITH_RIG(no_program_is_started),
        WITH_RIG(no_module_starts_a_program),
        WITH_RIG(others_cannot_be_killed),
        WITH_RIG(system_calls_are_denied),
        WITH_RIG(no_socket_of_any_family_opens),
        WITH_RIG(nothing_but_its_file_is_read),
        WITH_RIG(a_module_reads_no_more_than_its_inputs),
        WITH_RIG(nothing_is_written_outside_of_scratch),
        WITH_RIG(a_file_that_took_the_place_of_another_is_not_read),
        WITH_RIG(a_full_scratch_folder_ends_the_file),
        WITH_RIG(a_loop_ends_at_the_time_of_a_file),
        WITH_RIG(a_plugin_that_stops_itself_is_idle),
        WITH_RIG(memory_is_limited),
        WITH_RIG(endless_rows_are_ended),
        WITH_RIG(an_endless_log_is_cut_and_ended),
        WITH_RIG(an_import_without_end_is_ended),
        WITH_RIG(a_plugin_that_ignores_signals_is_cancelled),
        WITH_RIG(forged_frames_fail_their_file_alone),
        WITH_RIG(an_end_is_the_end),
        WITH_RIG(the_socket_of_the_guest_is_not_there),
        WITH_RIG(a_frame_of_fifty_megabytes),
        WITH_RIG(a_payload_of_small_cells_is_bounded),
        WITH_RIG(a_row_that_is_too_long_for_a_frame),
        WITH_RIG(the_level_is_said_in_words),
        WITH_RIG(off_has_limits_alone),
        WITH_RIG(a_plugin_may_be_allowed_to_start_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
