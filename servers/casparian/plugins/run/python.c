/*
 * python.c - guests of Python plugins.
 *
 * An interpreter is started with one end of a socket as descriptor 3; it gets the shim
 * (guest/rows.py, guest/shim.py) and the request `load` through it, and answers READY. For each
 * file a pipe is made, whose write end goes with the request `parse`; the child of the file writes
 * its frames there, and the interpreter says EXIT on the socket when that child has ended. All that
 * the child wrote is in the pipe by then.
 *
 * An interpreter whose file failed by itself takes the next one. One that had to be killed is
 * started again for the next file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keys/base64.h"
#include "mcp/clock.h"
#include "mcp/files.h"
#include "mcp/json.h"
#include "plugins/run/guest_int.h"
#include "plugins/run/python_stream.h"

extern const mcp_file casparian_guest_files[];

enum {
    CHANNEL_FD = 3,
    PIPE_BYTES = 1 << 20,
    REQUEST_MAX = 1 << 20,
    SEND_MS = 10000,
    LEAVE_MS = 10000, /* between the answer of a file and the end of its child */
    READS_MAX = 64,   /* of one stream in a row, so that the clock is looked at */
};

/* What receives the shim before there is a shim. */
static const char loader[] = "import os\n"
                             "def take(n):\n"
                             "    data = b''\n"
                             "    while len(data) < n:\n"
                             "        part = os.read(3, n - len(data))\n"
                             "        if not part: os._exit(1)\n"
                             "        data += part\n"
                             "    return data\n"
                             "for name in ('rows.py', 'shim.py'):\n"
                             "    exec(compile(take(int.from_bytes(take(4), 'big')),"
                             " '<casparian>/' + name, 'exec'), globals())\n";

static const char *const sources[] = { "rows.py", "shim.py" };

/* One file on its way. */
struct run {
    casparian_guest *guest;
    const casparian_guest_file *file;
    casparian_intake *intake;
    casparian_python_stream stream; /* of the pipe */
    int pipe;                       /* its read end; -1: at its end */
    bool has_ready, has_left;       /* READY, EXIT came */
    bool is_gone;                   /* the socket is at its end */
    int64_t measured_ms;
};

static void host_failed(casparian_intake *intake, mcp_status status)
{
    if (intake->status == MCP_OK)
        intake->status = status;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Sends bytes, and descriptors with the first of them. */
static mcp_status send_all(int channel, const char *bytes, size_t length, const int *fds,
                           size_t count, mcp_error *err)
{
    int64_t until_ms = mcp_clock_mono_ms() + SEND_MS;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = { .bytes = { 0 } };

    while (length) {
        struct iovec part = { (void *)(uintptr_t)bytes, length };
        struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
        if (count) {
            message.msg_control = control.bytes;
            message.msg_controllen = CMSG_SPACE(count * sizeof(int));
            control.header.cmsg_level = SOL_SOCKET;
            control.header.cmsg_type = SCM_RIGHTS;
            control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
            memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
        }
        ssize_t sent = sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return mcp_error_errno(err, errno, "cannot send to a guest");
        if (sent < 0 && mcp_clock_mono_ms() >= until_ms)
            return mcp_error_set(err, MCP_E_TIMEOUT, "a guest takes no request");
        if (sent < 0) {
            struct pollfd wait = { .fd = channel, .events = POLLOUT };
            poll(&wait, 1, CASPARIAN_POLL_MS);
            continue;
        }
        bytes += sent;
        length -= (size_t)sent;
        count = 0;
    }
    return MCP_OK;
}

static mcp_status send_message(casparian_guest *self, const char *bytes, size_t length,
                               const int *fds, size_t count, mcp_error *err)
{
    char head[4] = { (char)(length >> 24), (char)(length >> 16), (char)(length >> 8),
                     (char)length };
    mcp_status st = send_all(self->channel, head, sizeof head, fds, count, err);
    return st == MCP_OK ? send_all(self->channel, bytes, length, NULL, 0, err) : st;
}

static mcp_status send_sources(casparian_guest *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && st == MCP_OK; i++) {
        const mcp_file *file = mcp_files_find(casparian_guest_files, sources[i]);
        st = file ? send_message(self, file->bytes, file->length, NULL, 0, err)
                  : mcp_error_set(err, MCP_E_INTERNAL, "%s is not embedded", sources[i]);
    }
    return st;
}

static mcp_status finish_request(casparian_guest *self, mcp_json_writer *writer, const int *fds,
                                 size_t count, mcp_error *err)
{
    mcp_write_end(writer);
    mcp_status st = mcp_json_writer_status(writer);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "a request of a guest cannot be written");
    return send_message(self, writer->buf->data, writer->buf->length, fds, count, err);
}

/* Where the guest is alone with itself, the module is imported once; else each child imports it,
 * when its filter holds. */
static bool imports_once(const casparian_guest *self)
{
    unsigned alone = PROC_TREE | PROC_FILES;
    return self->plugin.settings.isolation == CASPARIAN_PER_JOB ||
           self->options.sandbox == CASPARIAN_SANDBOX_OFF ||
           (proc_held(self->child) & alone) == alone;
}

static mcp_status send_load(casparian_guest *self, mcp_error *err)
{
    const casparian_plugin *plugin = &self->plugin;
    mcp_json_writer writer;
    mcp_buf text, filter;

    mcp_buf_init(&text, REQUEST_MAX);
    mcp_buf_init(&filter, REQUEST_MAX);
    keys_base64(&filter, self->filter.data, self->filter.length);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "op", "load");
    mcp_write_member_string(&writer, "path", plugin->entrypoint);
    mcp_write_member_string(&writer, "folder", plugin->dir);
    mcp_write_member_string(&writer, "shown_folder", self->dir);
    mcp_write_member_string(&writer, "name", plugin->id);
    mcp_write_member_string(&writer, "default_output", plugin->default_output);
    mcp_write_member_array(&writer, "outputs");
    for (size_t i = 0; i < plugin->output_count; i++)
        mcp_write_string(&writer, plugin->outputs[i]);
    mcp_write_end(&writer);
    mcp_write_member_string(&writer, "filter", filter.length ? filter.data : "");
    mcp_write_member_bool(&writer, "forks", plugin->settings.isolation != CASPARIAN_PER_JOB);
    mcp_write_member_bool(&writer, "imports_here", imports_once(self));
    mcp_status st = finish_request(self, &writer, NULL, 0, err);
    mcp_buf_clear(&text);
    mcp_buf_clear(&filter);
    return st;
}

/* Sends `parse` with the write end of the pipe, and with the ruleset unless it is -1. */
static mcp_status send_parse(struct run *run, int pipe_end, int ruleset, mcp_error *err)
{
    const casparian_guest_file *file = run->file;
    const char *id = file->file_id ? file->file_id : "0";
    const char *job = run->guest->options.job_id ? run->guest->options.job_id : "0";
    const int fds[] = { pipe_end, ruleset };
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, REQUEST_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "op", "parse");
    mcp_write_member_string(&writer, "file", file->path);
    mcp_write_member_string(&writer, "file_id", id);
    mcp_write_member_string(&writer, "job_id", job);
    if (file->row_limit > 0)
        mcp_write_member_int(&writer, "row_limit", file->row_limit);
    mcp_write_member_object(&writer, "env");
    mcp_write_member_string(&writer, "CF_FILE_ID", id);
    mcp_write_member_string(&writer, "BRIDGE_FILE_ID", id);
    mcp_write_member_string(&writer, "CF_FILE_PATH", file->path);
    mcp_write_member_string(&writer, "BRIDGE_FILE_PATH", file->path);
    mcp_write_end(&writer);
    mcp_status st = finish_request(run->guest, &writer, fds, ruleset < 0 ? 1 : 2, err);
    mcp_buf_clear(&text);
    return st;
}

/* ---- frames --------------------------------------------------------------------------------- */

static void violated(struct run *run, const char *what)
{
    casparian_intake_fail(run->intake, CASPARIAN_FAILURE_PROTOCOL_ERROR, "%s", what);
}

static void on_frame(struct run *run, const casparian_frame *frame)
{
    casparian_python_take(&run->stream, frame);
}

/* What the interpreter itself says. */
static void on_guest_frame(struct run *run, const casparian_frame *frame)
{
    casparian_guest *guest = run->guest;
    casparian_guest_outcome *outcome = run->intake->outcome;
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *json = NULL;
    int64_t code = -1, signal_number = 0;

    if (arena)
        mcp_json_read(&json, arena, frame->bytes, frame->length, NULL);
    if (frame->kind == CASPARIAN_FRAME_READY && !run->has_ready && mcp_json_is_object(json)) {
        run->has_ready = true;
        if (mcp_json_get(json, "error"))
            mcp_buf_append(&guest->load_error, frame->bytes, frame->length);
    } else if (frame->kind == CASPARIAN_FRAME_EXIT && guest->is_loaded && !run->has_left &&
               mcp_json_int(mcp_json_get(json, "exit_code"), &code) &&
               mcp_json_int(mcp_json_get(json, "signal"), &signal_number)) {
        run->has_left = true;
        outcome->exit_code = (int)code;
        outcome->signal = (int)signal_number;
    } else {
        violated(run, "an answer of the guest that was not asked for");
    }
    mcp_arena_free(arena);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef void frame_handler(struct run *run, const casparian_frame *frame);

/* @return false: the descriptor is at its end, or has nothing now (errno EAGAIN) */
static bool read_frames(struct run *run, casparian_frames *frames, int fd, frame_handler *handle)
{
    casparian_frame frame;
    mcp_error why = MCP_ERROR_INIT;
    size_t room;
    char *at = casparian_frames_space(frames, &room);
    if (!at) {
        host_failed(run->intake, mcp_error_set(run->intake->err, MCP_E_NOMEM,
                                               "no memory for a frame of a guest"));
        errno = ENOMEM;
        return false;
    }
    ssize_t length = read(fd, at, room);
    if (length <= 0) {
        errno = length == 0 ? 0 : errno;
        return false;
    }
    casparian_frames_filled(frames, (size_t)length);
    run->intake->heard_ms = mcp_clock_mono_ms();
    mcp_status st = MCP_OK;
    do {
        st = casparian_frames_next(&frame, frames, &why);
        if (st == MCP_OK && frame.kind != CASPARIAN_FRAME_NONE)
            handle(run, &frame);
    } while (st == MCP_OK && frame.kind != CASPARIAN_FRAME_NONE && run->intake->status == MCP_OK);
    if (st != MCP_OK)
        violated(run, why.message);
    return st == MCP_OK;
}

static void read_pipe(struct run *run)
{
    for (int i = 0; i < READS_MAX && run->pipe >= 0 && run->intake->status == MCP_OK; i++) {
        if (read_frames(run, &run->stream.frames, run->pipe, on_frame))
            continue;
        if (errno == EAGAIN || errno == EINTR)
            return;
        close(run->pipe);
        run->pipe = -1;
    }
}

static void read_channel(struct run *run)
{
    if (read_frames(run, &run->guest->answers, run->guest->channel, on_guest_frame))
        return;
    if (errno != EAGAIN && errno != EINTR)
        run->is_gone = true;
}

static void read_logs(struct run *run)
{
    proc *child = run->guest->child;
    if (!casparian_guest_read_log(child, PROC_STDOUT, run->intake, &run->intake->out))
        proc_close(child, PROC_STDOUT);
    if (!casparian_guest_read_log(child, PROC_STDERR, run->intake, &run->intake->errors))
        proc_close(child, PROC_STDERR);
}

/* Waits for something, and takes all that there is. */
static void pump(struct run *run)
{
    proc *child = run->guest->child;
    struct pollfd fds[] = {
        { .fd = run->pipe, .events = POLLIN },
        { .fd = run->guest->channel, .events = POLLIN },
        { .fd = proc_descriptor(child, PROC_STDOUT), .events = POLLIN },
        { .fd = proc_descriptor(child, PROC_STDERR), .events = POLLIN },
    };
    if (poll(fds, sizeof fds / sizeof *fds, CASPARIAN_POLL_MS) <= 0)
        return;
    if (fds[0].revents)
        read_pipe(run);
    if (fds[1].revents)
        read_channel(run);
    if (fds[2].revents || fds[3].revents)
        read_logs(run);
}

/* Of an interpreter that ended: how. */
static void fail_guest(struct run *run)
{
    proc_end end = { .code = -1 };
    proc_wait(run->guest->child, &end, mcp_clock_mono_ms() + LEAVE_MS, NULL);
    casparian_guest_fail_end(run->intake, end.code, end.signal);
}

/* ---- starting -------------------------------------------------------------------------------- */

static mcp_status start_process(casparian_guest *self, mcp_error *err)
{
    const char *argv[] = { self->plugin.python, "-s", "-u", "-B", "-c", loader, NULL };
    casparian_launch launch = { .plugin = &self->plugin,
                                .options = &self->options,
                                .protections = &self->protections,
                                .scratch = self->scratch,
                                .argv = argv };
    mcp_arena *arena = mcp_arena_new(0);
    int pair[2];
    proc_spec spec;

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the start of a guest");
    mcp_status st = casparian_launch_spec(&spec, arena, &launch, err);
    if (st == MCP_OK && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        st = mcp_error_errno(err, errno, "cannot make the socket of a guest");
    if (st != MCP_OK) {
        mcp_arena_free(arena);
        return st;
    }
    proc_fd channel = { .fd = pair[1], .as = CHANNEL_FD };
    spec.fds = &channel;
    spec.fd_count = 1;
    st = casparian_launch_start(&self->child, &spec, err);
    close(pair[1]);
    if (st == MCP_OK && fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0)
        self->channel = pair[0];
    else
        close(pair[0]);
    mcp_arena_free(arena);
    return st;
}

/* Waits for READY. */
static void await_ready(struct run *run)
{
    const casparian_guest_file *file = run->file;
    int64_t limit_ms = run->guest->options.limits.start_timeout_ms;
    int64_t until_ms = mcp_clock_mono_ms() + limit_ms;
    while (!run->has_ready && !casparian_intake_is_over(run->intake)) {
        pump(run);
        if (run->is_gone && !run->has_ready)
            fail_guest(run);
        if (file->should_stop && file->should_stop(file->data))
            casparian_intake_fail(run->intake, CASPARIAN_FAILURE_CANCELLED,
                                  "the file was cancelled");
        if (mcp_clock_mono_ms() >= until_ms)
            casparian_intake_fail(run->intake, CASPARIAN_FAILURE_START_TIMEOUT,
                                  "the module was not imported within %lld ms (start_timeout_ms)",
                                  (long long)limit_ms);
    }
}

static void start(struct run *run)
{
    casparian_guest *self = run->guest;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = start_process(self, &why);
    if (st == MCP_E_UNSUPPORTED) {
        casparian_intake_fail(run->intake, CASPARIAN_FAILURE_SANDBOX_FAILED, "%s", why.message);
        return;
    }
    if (st == MCP_OK)
        st = send_sources(self, &why);
    if (st == MCP_OK)
        st = send_load(self, &why);
    if (st == MCP_OK)
        await_ready(run);
    else if (self->child && st != MCP_E_NOMEM)
        fail_guest(run); /* the socket broke: the interpreter has ended */
    else
        host_failed(run->intake, mcp_error_set(run->intake->err, st, "%s", why.message));
    self->is_loaded = run->has_ready;
}

void casparian_python_end(casparian_guest *self)
{
    proc_free(self->child);
    if (self->channel >= 0)
        close(self->channel);
    self->child = NULL;
    self->channel = -1;
    self->is_loaded = false;
    casparian_frames_clear(&self->answers);
    mcp_buf_reset(&self->load_error);
}

/* ---- one file -------------------------------------------------------------------------------- */

static void note_sandbox(casparian_guest *self, casparian_guest_outcome *outcome)
{
    unsigned held = proc_held(self->child) | self->protections.file;
    proc_protection_words(outcome->sandbox, held);
}

/* Makes the pipe and requests the file. */
static mcp_status request(struct run *run, mcp_error *err)
{
    casparian_guest *self = run->guest;
    bool forks = self->plugin.settings.isolation != CASPARIAN_PER_JOB;
    int ends[2], ruleset = -1;
    mcp_status st = MCP_OK;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return mcp_error_errno(err, errno, "cannot make a pipe for a guest");
    run->pipe = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* a refusal makes it slower only */
    if (forks && self->protections.file & PROC_FILES)
        st = casparian_file_ruleset(&ruleset, &self->plugin, self->scratch, run->file->fd, err);
    if (st == MCP_OK)
        st = send_parse(run, ends[1], ruleset, err);
    close(ends[1]);
    if (ruleset >= 0)
        close(ruleset);
    return st;
}

static bool must_go_on(const struct run *run)
{
    if (run->intake->status != MCP_OK || run->is_gone)
        return false;
    if (run->stream.has_answered)
        return !run->has_left && mcp_clock_mono_ms() - run->stream.answered_ms < LEAVE_MS;
    return !run->has_left && !casparian_intake_is_over(run->intake);
}

static void take_file(struct run *run)
{
    int64_t deadline_ms = casparian_guest_deadline(run->guest, run->file);
    run->measured_ms = mcp_clock_mono_ms();
    run->intake->heard_ms = run->measured_ms;
    while (must_go_on(run)) {
        pump(run);
        if (!run->has_left)
            casparian_guest_watch(run->guest, run->file, run->intake, deadline_ms,
                                  &run->measured_ms);
    }
    while (run->has_left && run->pipe >= 0 && !casparian_intake_is_over(run->intake)) {
        size_t before = casparian_frames_rest(&run->stream.frames) + run->intake->outcome->bytes;
        read_pipe(run); /* what the child left there */
        if (before == casparian_frames_rest(&run->stream.frames) + run->intake->outcome->bytes)
            break;
    }
    read_logs(run);
    if (run->is_gone && !run->has_left)
        fail_guest(run);
    else if (!run->stream.has_answered)
        casparian_guest_fail_end(run->intake, run->intake->outcome->exit_code,
                                 run->intake->outcome->signal);
}

static void parse_loaded(struct run *run)
{
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = request(run, &why);
    if (st == MCP_OK)
        take_file(run);
    else if (st == MCP_E_IO || st == MCP_E_TIMEOUT)
        fail_guest(run);
    else
        host_failed(run->intake, mcp_error_set(run->intake->err, st, "%s", why.message));
    if (run->pipe >= 0)
        close(run->pipe);
}

static void fail_load(struct run *run)
{
    casparian_guest *self = run->guest;
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *json = NULL;
    if (arena)
        mcp_json_read(&json, arena, self->load_error.data, self->load_error.length, NULL);
    casparian_intake_error(run->intake, json, CASPARIAN_FAILURE_IMPORT_ERROR);
    mcp_arena_free(arena);
}

/* Whether the interpreter can take the next file. One that has no process for a file says so as
 * CRASHED: the next one begins with a new count of processes. */
static bool is_usable(const struct run *run)
{
    casparian_failure failure = run->intake->outcome->failure;
    return run->intake->status == MCP_OK && run->has_left && run->stream.has_answered &&
           !run->is_gone && failure != CASPARIAN_FAILURE_PROTOCOL_ERROR &&
           failure != CASPARIAN_FAILURE_CRASHED &&
           run->guest->plugin.settings.isolation != CASPARIAN_PER_EXEC;
}

void casparian_python_parse(casparian_guest *self, const casparian_guest_file *file,
                            casparian_intake *intake)
{
    struct run run = { .guest = self, .file = file, .intake = intake, .pipe = -1 };
    casparian_python_init(&run.stream, intake);
    if (!self->is_loaded)
        casparian_python_end(self);
    if (!self->child)
        start(&run);
    if (self->child)
        note_sandbox(self, intake->outcome);
    bool has_load_error = self->is_loaded && self->load_error.length;
    if (has_load_error)
        fail_load(&run);
    else if (self->is_loaded && !casparian_intake_is_over(intake))
        parse_loaded(&run);
    if (self->child && !has_load_error && !is_usable(&run)) {
        casparian_guest_stop(self->child, intake->outcome->failure);
        casparian_python_end(self);
    }
    casparian_python_clear(&run.stream);
}
