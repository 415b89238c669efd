/*
 * stdio.c - a child's standard streams: a message a line.
 *
 * One thread reads the child's output and writes its input, both without blocking. So a child that
 * does not read cannot keep us from reading, nor the other way round. A caller appends its line to
 * the queue and waits for its answer; how much of the line was written tells whether the request
 * may have arrived. When the child ends, all callers are woken with that.
 *
 * A line that was begun has to be finished. Where its caller's time is up before, the child has
 * read nothing for as long, and is ended.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client/client_int.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "proc/proc.h"
#include "thread/thread.h"

enum { POLL_MS = 50, PIECE = 1 << 16, END_MS = 2000, OWN_LINES_MAX = 1000 };

/* A line on its way to the child. */
struct line {
    struct line *next;
    const char *text;
    size_t length;
    size_t written; /* the newline counts */
    bool is_own;    /* allocated, with its text behind it; freed once it was written */
};

/* A caller. On its stack; reached through the list with the lock. */
struct waiter {
    struct waiter *next;
    struct client_exchange *exchange;
    struct line line;
    bool has_ended; /* the connection has */
    int reports;    /* calls of on_progress under way */
};

struct stdio {
    struct client_link link;
    client *owner;
    proc_spec spec;
    int wake;    /* an eventfd for the thread's poll */
    proc *child; /* of the thread that opens; NULL: none was started */

    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* for waiters */
    thread_worker worker;   /* valid where there is a child */
    bool is_alive;
    mcp_status end;  /* why it is not */
    uint64_t starts; /* children so far */
    struct line *first;
    struct line *last;
    size_t own_lines;
    struct waiter *waiters;

    mcp_buf input; /* the thread's: what was read of a line */
};

static struct stdio *stdio_of(struct client_link *link)
{
    return (struct stdio *)(void *)link;
}

/* ---- the queue of lines, with the lock ------------------------------------------------------- */

static void append(struct stdio *self, struct line *line)
{
    const uint64_t one = 1;

    line->next = NULL;
    if (self->first)
        self->last->next = line;
    else
        self->first = line;
    self->last = line;
    self->own_lines += line->is_own;
    /* It fails only when it is readable already. */
    if (write(self->wake, &one, sizeof one) < 0)
        return;
}

static void unlink_line(struct stdio *self, struct line *line)
{
    struct line *before = NULL;

    for (struct line *at = self->first; at && at != line; at = at->next)
        before = at;
    if (before)
        before->next = line->next;
    else
        self->first = line->next;
    if (self->last == line)
        self->last = before;
    self->own_lines -= line->is_own;
    if (line->is_own)
        free(line);
}

/* Append a copy of a text that nobody waits for. @return false: no memory, or too many wait */
static bool append_own(struct stdio *self, const char *text, size_t length)
{
    struct line *line = self->own_lines < OWN_LINES_MAX ? mcp_alloc(sizeof *line + length) : NULL;

    if (!line)
        return false;
    *line = (struct line){ .text = (char *)(line + 1), .length = length, .is_own = true };
    memcpy(line + 1, text, length);
    append(self, line);
    return true;
}

/* Write what the pipe takes. @return false: the child reads no more */
static bool write_some(struct stdio *self, int fd)
{
    while (self->first) {
        struct line *line = self->first;
        size_t rest = line->written < line->length ? line->length - line->written : 0;
        const struct iovec parts[] = { { (void *)(uintptr_t)(line->text + line->length - rest),
                                         rest },
                                       { (void *)(uintptr_t) "\n", 1 } };
        ssize_t wrote = writev(fd, parts, 2);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno == EAGAIN;
        line->written += (size_t)wrote;
        if (line->written <= line->length)
            return true;
        unlink_line(self, line);
    }
    return true;
}

/* ---- messages from the child, on the thread -------------------------------------------------- */

static struct waiter *find_waiter(struct stdio *self, int64_t number)
{
    for (struct waiter *at = self->waiters; at; at = at->next) {
        if (at->exchange->number == number)
            return at;
    }
    return NULL;
}

static void take_response(struct stdio *self, const struct client_message *message,
                          const mcp_json *value)
{
    mcp_json_writer writer;

    pthread_mutex_lock(&self->lock);
    struct waiter *waiter = find_waiter(self, message->number);
    if (waiter && !waiter->exchange->is_answered) {
        mcp_json_writer_init(&writer, &waiter->exchange->answer);
        mcp_write_value(&writer, value);
        waiter->exchange->is_answered = true;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
}

/* Without the lock, but the caller does not return before the report has ended. */
static void take_notification(struct stdio *self, const struct client_message *message)
{
    int64_t token = -1;

    if (strcmp(message->method, "notifications/tools/list_changed") == 0) {
        client_list_has_changed(self->owner);
        return;
    }
    if (!mcp_json_int(mcp_json_get(message->params, "progressToken"), &token))
        return;
    pthread_mutex_lock(&self->lock);
    struct waiter *waiter = find_waiter(self, token);
    if (waiter && waiter->exchange->is_answered)
        waiter = NULL;
    if (waiter)
        waiter->reports++;
    pthread_mutex_unlock(&self->lock);
    if (!waiter)
        return;
    client_take_progress(waiter->exchange->call, token, message);
    pthread_mutex_lock(&self->lock);
    waiter->reports--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void take_request(struct stdio *self, const struct client_message *message)
{
    mcp_buf text;

    mcp_buf_init(&text, self->owner->message_max);
    client_message_reply(&text, message);
    pthread_mutex_lock(&self->lock);
    if (text.status == MCP_OK)
        append_own(self, text.data, text.length);
    pthread_mutex_unlock(&self->lock);
    mcp_buf_clear(&text);
}

static void take_message(void *data, const struct client_message *message, const mcp_json *value)
{
    if (message->kind == CLIENT_RESPONSE)
        take_response(data, message, value);
    else if (message->kind == CLIENT_NOTIFICATION)
        take_notification(data, message);
    else if (message->kind == CLIENT_REQUEST)
        take_request(data, message);
}

/* A line that is no message is skipped: programs print. So is one that is nested too deep; it must
 * not end the calls of others. */
static mcp_status take_line(struct stdio *self, const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(self->owner->message_max * 16);

    if (!arena)
        return MCP_E_NOMEM;
    mcp_status st = client_message_read(text, length, arena, take_message, self, NULL);
    mcp_arena_free(arena);
    return st == MCP_E_NOMEM ? st : MCP_OK;
}

static mcp_status take_bytes(struct stdio *self, const char *bytes, size_t length)
{
    mcp_status st = MCP_OK;

    while (length > 0 && st == MCP_OK) {
        const char *newline = memchr(bytes, '\n', length);
        size_t part = newline ? (size_t)(newline - bytes) : length;
        st = mcp_buf_append(&self->input, bytes, part);
        if (st == MCP_OK && newline && self->input.length > 0)
            st = take_line(self, self->input.data, self->input.length);
        if (newline)
            mcp_buf_reset(&self->input);
        bytes += newline ? part + 1 : part;
        length -= newline ? part + 1 : part;
    }
    return st;
}

/* @return MCP_OK; MCP_E_IO: the end; MCP_E_LIMIT, MCP_E_NOMEM */
static mcp_status read_some(struct stdio *self, int fd, char *room)
{
    ssize_t got = read(fd, room, PIECE);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return MCP_OK;
    return got > 0 ? take_bytes(self, room, (size_t)got) : MCP_E_IO;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* What to wait for; false: the client ends or starts another child. */
static bool look(struct stdio *self, struct pollfd *fds)
{
    pthread_mutex_lock(&self->lock);
    bool runs = !self->worker.is_stopping;
    fds[1].fd = self->first ? proc_descriptor(self->child, PROC_STDIN) : -1;
    pthread_mutex_unlock(&self->lock);
    return runs;
}

static mcp_status converse(struct stdio *self, char *room)
{
    struct pollfd fds[] = { { proc_descriptor(self->child, PROC_STDOUT), POLLIN, 0 },
                            { -1, POLLOUT, 0 },
                            { self->wake, POLLIN, 0 } };
    mcp_status st = MCP_OK;
    uint64_t count = 0;

    while (st == MCP_OK && look(self, fds)) {
        if (poll(fds, 3, -1) < 0 && errno != EINTR)
            return MCP_E_IO;
        if (fds[2].revents && read(self->wake, &count, sizeof count) < 0 && errno != EAGAIN)
            return MCP_E_IO;
        pthread_mutex_lock(&self->lock);
        /* What the child has written before it stopped reading is still taken. */
        if (fds[1].fd >= 0 && fds[1].revents && !write_some(self, fds[1].fd) && !fds[0].revents)
            st = MCP_E_IO;
        pthread_mutex_unlock(&self->lock);
        if (st == MCP_OK && fds[0].revents)
            st = read_some(self, fds[0].fd, room);
    }
    return st;
}

/* With the lock. */
static void drop_lines(struct stdio *self)
{
    while (self->first)
        unlink_line(self, self->first);
}

/* The connection has ended: nobody waits any longer. */
static void end_all(struct stdio *self, mcp_status st)
{
    pthread_mutex_lock(&self->lock);
    self->is_alive = false;
    self->end = st == MCP_OK ? MCP_E_IO : st;
    drop_lines(self);
    for (struct waiter *at = self->waiters; at; at = at->next)
        at->has_ended = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void run(void *data)
{
    struct stdio *self = data;
    char *room = mcp_alloc(PIECE);
    sigset_t pipe_signal;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
    mcp_status st = room ? converse(self, room) : MCP_E_NOMEM;
    end_all(self, st);
    if (st != MCP_OK)
        proc_kill(self->child);
    free(room);
}

/* ---- an exchange ----------------------------------------------------------------------------- */

static mcp_status ended(const struct stdio *self, mcp_error *err)
{
    const char *label = self->owner->label;

    if (self->end == MCP_E_LIMIT)
        return mcp_error_set(err, MCP_E_LIMIT, "%s: a message is longer than %zu bytes", label,
                             self->owner->message_max);
    if (self->end == MCP_E_NOMEM)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a message");
    return mcp_error_set(err, MCP_E_IO, "%s: the child has ended", label);
}

/* With the lock, which is released meanwhile: wait for the answer. */
static mcp_status wait_for_answer(struct stdio *self, struct waiter *waiter, mcp_error *err)
{
    struct client_exchange *exchange = waiter->exchange;

    while (!exchange->is_answered && !waiter->has_ended) {
        int64_t now_ms = mcp_clock_mono_ms();
        if (now_ms >= exchange->until_ms)
            return mcp_error_set(err, MCP_E_TIMEOUT, "%s: no answer in time", self->owner->label);
        pthread_mutex_unlock(&self->lock);
        bool stops = exchange->should_stop && exchange->should_stop(exchange->data);
        pthread_mutex_lock(&self->lock);
        if (exchange->is_answered || waiter->has_ended)
            break;
        if (stops)
            return mcp_error_set(err, MCP_E_STOPPED, "%s: the call was stopped",
                                 self->owner->label);
        thread_wait_until(&self->changed, &self->lock,
                          exchange->until_ms - now_ms > POLL_MS ? now_ms + POLL_MS
                                                                : exchange->until_ms);
    }
    if (!exchange->is_answered)
        return ended(self, err);
    if (exchange->answer.status != MCP_OK)
        return mcp_error_set(err, exchange->answer.status, "%s: the answer is too long",
                             self->owner->label);
    return MCP_OK;
}

static void cancel(struct stdio *self, const struct client_exchange *exchange)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 4096);
    mcp_json_writer_init(&writer, &text);
    client_write_cancelled(&writer, exchange);
    if (text.status == MCP_OK)
        append_own(self, text.data, text.length);
    mcp_buf_clear(&text);
}

/* With the lock: the caller no longer waits. */
static void leave(struct stdio *self, struct waiter *waiter, uint64_t starts, mcp_status st)
{
    struct client_exchange *exchange = waiter->exchange;
    struct waiter **at = &self->waiters;

    exchange->is_answered = true; /* no further report */
    while (waiter->reports > 0)
        pthread_cond_wait(&self->changed, &self->lock);
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    exchange->may_have_arrived = waiter->line.written > 0;
    exchange->is_lost = waiter->has_ended;
    if (waiter->has_ended)
        return;
    if (waiter->line.written == 0) {
        unlink_line(self, &waiter->line);
    } else if (waiter->line.written <= waiter->line.length) {
        unlink_line(self, &waiter->line);
        exchange->is_lost = true;
        self->is_alive = false;
        if (self->starts == starts)
            proc_kill(self->child);
    } else if (st != MCP_OK && !exchange->is_handshake) {
        cancel(self, exchange);
    }
}

static mcp_status exchange_stdio(struct client_link *link, struct client_exchange *exchange,
                                 mcp_error *err)
{
    struct stdio *self = stdio_of(link);
    struct waiter waiter = { .exchange = exchange,
                             .line = { .text = exchange->text, .length = exchange->length } };

    pthread_mutex_lock(&self->lock);
    if (!self->is_alive) {
        exchange->is_lost = true;
        mcp_status st = ended(self, err);
        pthread_mutex_unlock(&self->lock);
        return st;
    }
    uint64_t starts = self->starts;
    waiter.next = self->waiters;
    self->waiters = &waiter;
    append(self, &waiter.line);
    mcp_status st = wait_for_answer(self, &waiter, err);
    leave(self, &waiter, starts, st);
    pthread_mutex_unlock(&self->lock);
    return st;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* End the child, if there is one: the end of its input, then a signal, then force. */
static void end_child(struct stdio *self, int64_t wait_ms)
{
    const uint64_t one = 1;
    proc_end end;

    if (!self->child)
        return;
    pthread_mutex_lock(&self->lock);
    self->worker.is_stopping = true;
    pthread_mutex_unlock(&self->lock);
    if (write(self->wake, &one, sizeof one) < 0 && errno != EAGAIN)
        proc_kill(self->child);
    thread_worker_stop(&self->worker);
    proc_close(self->child, PROC_STDIN);
    if (wait_ms > 0)
        proc_wait(self->child, &end, mcp_clock_mono_ms() + wait_ms, NULL);
    proc_free(self->child);
    self->child = NULL;
}

static mcp_status open_stdio(struct client_link *link, int64_t until_ms, mcp_error *err)
{
    struct stdio *self = stdio_of(link);

    (void)until_ms; /* proc_start has a bound of its own */
    end_child(self, 0);
    mcp_status st = proc_start(&self->child, &self->spec, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_reset(&self->input);
    pthread_mutex_lock(&self->lock);
    thread_worker_init(&self->worker, &self->lock);
    drop_lines(self);
    self->is_alive = true;
    self->starts++;
    pthread_mutex_unlock(&self->lock);
    st = thread_worker_start(&self->worker, run, self, err);
    if (st != MCP_OK)
        end_all(self, st);
    return st;
}

static void write_listen(mcp_json_writer *writer, struct stdio *self,
                         const struct client_session *session)
{
    client_write_head(writer, self->owner, session, atomic_fetch_add(&self->owner->numbers, 1),
                      "subscriptions/listen");
    mcp_write_end(writer); /* _meta */
    mcp_write_member_object(writer, "notifications");
    mcp_write_member_bool(writer, "toolsListChanged", true);
    mcp_write_end(writer);
    mcp_write_end(writer);
    mcp_write_end(writer);
}

static mcp_status begin_stdio(struct client_link *link, const struct client_session *session,
                              const char *text, size_t length, int64_t until_ms, mcp_error *err)
{
    struct stdio *self = stdio_of(link);
    mcp_json_writer writer;
    mcp_buf listen;

    (void)until_ms;
    mcp_buf_init(&listen, 1 << 16);
    mcp_json_writer_init(&writer, &listen);
    if (session->is_modern && session->lists_change && self->owner->on_list_changed)
        write_listen(&writer, self, session);
    pthread_mutex_lock(&self->lock);
    bool is_sent = listen.status == MCP_OK && (!text || append_own(self, text, length)) &&
                   (!listen.data || append_own(self, listen.data, listen.length));
    pthread_mutex_unlock(&self->lock);
    mcp_buf_clear(&listen);
    return is_sent ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a handshake");
}

static void free_stdio(struct client_link *link)
{
    struct stdio *self = stdio_of(link);

    end_child(self, END_MS);
    if (self->wake >= 0)
        close(self->wake);
    mcp_buf_clear(&self->input);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

mcp_status client_stdio_new(struct client_link **out, client *owner, const client_options *options,
                            mcp_error *err)
{
    static const struct client_link_kind kind = { open_stdio, begin_stdio, exchange_stdio,
                                                  free_stdio };
    struct stdio *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an MCP client");
    self->link.kind = &kind;
    self->owner = owner;
    self->spec = *options->child;
    self->spec.in = PROC_PIPE;
    self->spec.out = PROC_PIPE;
    self->spec.timeout_ms = 0;
    self->end = MCP_E_IO;
    mcp_buf_init(&self->input, owner->message_max);
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->changed);
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->wake < 0) {
        mcp_status st = mcp_error_errno(err, errno, "no descriptor for an MCP client");
        free_stdio(&self->link);
        return st;
    }
    *out = &self->link;
    return MCP_OK;
}
