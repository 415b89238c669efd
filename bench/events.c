/*
 * events.c - server-sent events of a REST route: to one reader, to a thousand, at a rate, and on
 * idle streams.
 *
 * The server is the bench's own: one route opens a stream, another starts a thread that sends
 * numbered events to all streams. The sender waits while a reader's queue is full. The readers run
 * on one thread of another process on the same machine, which costs about as much as the server.
 * Each reader checks every event: the numbers must be consecutive.
 *
 *     bench-events
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "mcp/mcp.h"

#include "support/figures.h"
#include "support/scale.h"
#include "support/site.h"
#include "support/sse.h"

enum {
    BENCH_MAX_S = BENCH(120, 280),
    ROUNDS = BENCH(5, 1),
    ONE_READER_EVENTS = BENCH(200000, 200),
    READERS = BENCH(1000, 10),
    FAN_OUT_EVENTS = BENCH(200, 20),
    RATE = 200,
    RATED_EVENTS = BENCH(1000, 20),
    IDLE_STREAMS = BENCH(5000, 20),
    SILENCE_MS = 20000,
    READER_MAX = 16384
};

/* ---- the server ------------------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock; /* guards what follows */
    mcp_stream *streams[IDLE_STREAMS];
    int count;
    sem_t drained;
} audience = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void on_drained(mcp_stream *stream, void *data)
{
    (void)stream;
    sem_post(data);
}

static void on_closed(mcp_stream *stream, void *data)
{
    (void)data;
    pthread_mutex_lock(&audience.lock);
    for (int i = 0; i < audience.count; i++)
        if (audience.streams[i] == stream)
            audience.streams[i] = audience.streams[--audience.count];
    pthread_mutex_unlock(&audience.lock);
    mcp_stream_release(stream);
}

static mcp_status follow(mcp_call *call, void *data)
{
    mcp_stream_options options = { .drained = on_drained,
                                   .closed = on_closed,
                                   .data = &audience.drained,
                                   .first = ":connected\n\n" };
    mcp_stream *stream = NULL;

    (void)data;
    mcp_status st = mcp_call_stream(&stream, call, &options, mcp_call_error(call));
    if (st != MCP_OK)
        return st;
    pthread_mutex_lock(&audience.lock);
    bool has_room = audience.count < IDLE_STREAMS;
    if (has_room)
        audience.streams[audience.count++] = stream;
    pthread_mutex_unlock(&audience.lock);
    return has_room ? MCP_OK : MCP_E_BUSY;
}

/* A slow reader's queue is waited for, one millisecond at a time in case it has gone. */
static void send_to(mcp_stream *stream, mcp_event *event)
{
    while (mcp_stream_send(stream, event, NULL) == MCP_E_LIMIT) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)sem_timedwait(&audience.drained, &until);
    }
}

static void send_one(int number)
{
    char id[16];
    char data[160];
    mcp_event *event = NULL;

    snprintf(id, sizeof id, "%d", number);
    int length = snprintf(data, sizeof data,
                          "{\"type\":\"updateStar\",\"id\":\"s-%08d\",\"patch\":{\"mass\":1.5,"
                          "\"name\":\"Alpha\"},\"t\":%" PRId64 "}",
                          number, mcp_clock_mono_ns());
    if (mcp_event_new(&event, id, "command", data, (size_t)length, NULL) != MCP_OK)
        bench_give_up("no memory for an event");
    for (int i = 0; i < audience.count; i++) /* nobody comes or goes while it sends */
        send_to(audience.streams[i], event);
    mcp_event_release(event);
}

struct order {
    int count;
    int per_second; /* 0: as fast as they are taken */
};

static void *send_all(void *data)
{
    struct order order = *(struct order *)data;
    int64_t due = mcp_clock_mono_ns();

    free(data);
    for (int i = 0; i < order.count; i++) {
        send_one(i);
        if (order.per_second == 0)
            continue;
        due += 1000000000 / order.per_second;
        int64_t wait = due - mcp_clock_mono_ns();
        struct timespec nap = { .tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000 };
        if (wait > 0)
            nanosleep(&nap, NULL);
    }
    return NULL;
}

static mcp_status send_events(mcp_call *call, void *data)
{
    struct order *order = malloc(sizeof *order);
    pthread_t thread;

    (void)data;
    if (!order)
        return MCP_E_NOMEM;
    *order = (struct order){ (int)strtol(mcp_arg_string(call, "count"), NULL, 10),
                             (int)strtol(mcp_arg_string(call, "rate"), NULL, 10) };
    if (pthread_create(&thread, NULL, send_all, order) != 0) {
        free(order);
        return MCP_E_BUSY;
    }
    pthread_detach(thread);
    return MCP_OK;
}

static const mcp_route routes[] = { { "GET", "/follow", follow, MCP_READS, 0 },
                                    { "GET", "/send/{count}/{rate}", send_events, MCP_READS, 0 },
                                    { 0 } };

static int serve(int port)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_error err = MCP_ERROR_INIT;
    mcp_server *server = NULL;

    sem_init(&audience.drained, 0, 0);
    options.name = "events";
    options.version = "1.0.0";
    http.port = port;
    http.routes = routes;
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_http(server, &http, &err);
    mcp_server_free(server);
    return st != MCP_OK;
}

/* ---- readers --------------------------------------------------------------------------------- */

typedef struct reader {
    int fd;
    int next;    /* number of the event that must come */
    size_t have; /* bytes of an event that is not whole */
    char bytes[READER_MAX];
} reader;

typedef struct crowd {
    site site;
    reader *readers;
    int count;
    int epoll;
    double *ms; /* NULL: delivery is not timed; else one figure for each event of each reader */
    size_t timed;
} crowd;

static void wait_for_input(int fd, const char *what)
{
    struct pollfd poll_for = { .fd = fd, .events = POLLIN };

    if (poll(&poll_for, 1, SILENCE_MS) != 1)
        bench_give_up("no %s within %d s", what, SILENCE_MS / 1000);
}

static void open_reader(crowd *it, reader *by)
{
    static const char request[] = "GET /follow HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = by };

    by->fd = site_connect(&it->site);
    if (send(by->fd, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1)
        bench_give_up("a reader cannot ask");
    while (by->have == 0 || !memmem(by->bytes, by->have, ":connected\n\n", 12)) {
        wait_for_input(by->fd, "beginning of a stream");
        ssize_t got = recv(by->fd, by->bytes + by->have, sizeof by->bytes - by->have, 0);
        if (got <= 0)
            bench_give_up("a stream was not begun");
        by->have += (size_t)got;
    }
    by->have = 0;
    if (epoll_ctl(it->epoll, EPOLL_CTL_ADD, by->fd, &event) != 0)
        bench_give_up("epoll_ctl: %s", strerror(errno));
}

static void open_crowd(crowd *it, int count)
{
    it->site = (site){ .name = "causeway", .port = site_free_port() };
    it->count = count;
    it->readers = calloc((size_t)count, sizeof it->readers[0]);
    it->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!it->readers || it->epoll < 0)
        bench_give_up("no room for %d readers", count);
    site_serve(&it->site, serve);
    for (int i = 0; i < count; i++)
        open_reader(it, &it->readers[i]);
}

static void close_crowd(crowd *it)
{
    for (int i = 0; i < it->count; i++)
        close(it->readers[i].fd);
    close(it->epoll);
    free(it->readers);
    site_end(&it->site);
}

static void hear(crowd *it, reader *by, const sse_event *event)
{
    const char *sent = strstr(event->data, "\"t\":");

    if (!sent || strcmp(event->type, "command") != 0 || strtol(event->id, NULL, 10) != by->next)
        bench_give_up("event %d was due, not %s event '%s': %s", by->next, event->type, event->id,
                      event->data);
    by->next++;
    if (it->ms)
        it->ms[it->timed++] = (double)(mcp_clock_mono_ns() - strtoll(sent + 4, NULL, 10)) * 1e-6;
}

static void read_some(crowd *it, reader *by)
{
    ssize_t got = recv(by->fd, by->bytes + by->have, sizeof by->bytes - by->have, MSG_DONTWAIT);
    size_t used = 0;
    sse_event event;

    if (got <= 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        bench_give_up("a stream was ended");
    by->have += (size_t)got;
    for (;;) {
        size_t block = sse_next(&event, by->bytes + used, by->have - used);
        if (block == 0)
            break;
        if (event.data)
            hear(it, by, &event);
        used += block;
    }
    by->have -= used;
    memmove(by->bytes, by->bytes + used, by->have);
}

static void order(const crowd *it, int count, int per_second)
{
    char request[128];
    char answer[512];
    int fd = site_connect(&it->site);
    int length = snprintf(request, sizeof request,
                          "GET /send/%d/%d HTTP/1.1\r\nHost: localhost\r\n\r\n", count, per_second);

    if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        bench_give_up("nothing can be ordered");
    wait_for_input(fd, "answer");
    if (recv(fd, answer, sizeof answer, 0) < 12 || memcmp(answer, "HTTP/1.1 204", 12) != 0)
        bench_give_up("the order was not taken");
    close(fd);
}

/* Every reader gets `count` events; the seconds that took. */
static double follow_all(crowd *it, int count, int per_second)
{
    struct epoll_event events[256];
    long wanted = (long)count * it->count;
    int64_t from = mcp_clock_mono_ns();

    for (int i = 0; i < it->count; i++)
        it->readers[i].next = 0;
    order(it, count, per_second);
    while (wanted > 0) {
        int ready = epoll_wait(it->epoll, events, 256, SILENCE_MS);
        if (ready <= 0)
            bench_give_up("%ld events did not come", wanted);
        for (int i = 0; i < ready; i++) {
            reader *by = events[i].data.ptr;
            int before = by->next;
            read_some(it, by);
            wanted -= by->next - before;
        }
    }
    return (double)(mcp_clock_mono_ns() - from) * 1e-9;
}

/* ---- what is measured ------------------------------------------------------------------------ */

static void bench_flat_out(int readers, int count)
{
    double per_second[ROUNDS];
    crowd it = { 0 };

    open_crowd(&it, readers);
    int64_t before = program_cpu_ns(&it.site.program);
    for (int i = 0; i < ROUNDS; i++)
        per_second[i] = (double)count * readers / follow_all(&it, count, 0);
    double cpu_us = (double)(program_cpu_ns(&it.site.program) - before) * 1e-3 /
                    ((double)ROUNDS * count * readers);
    figures_sort(per_second, ROUNDS);
    printf(
        "events causeway      to %d reader%s %8.0f events/s in all (best %.0f), processor %.2f us an "
        "event;  resident %.1f MB\n",
        readers, readers == 1 ? " " : "s", per_second[ROUNDS / 2], per_second[ROUNDS - 1], cpu_us,
        (double)program_resident_kb(&it.site.program) / 1024);
    close_crowd(&it);
}

static void bench_rate(void)
{
    size_t total = (size_t)READERS * RATED_EVENTS;
    crowd it = { .ms = NULL };

    open_crowd(&it, READERS);
    it.ms = calloc(total, sizeof it.ms[0]);
    if (!it.ms)
        bench_give_up("no memory");
    int64_t before = program_cpu_ns(&it.site.program);
    double took = follow_all(&it, RATED_EVENTS, RATE);
    double busy = (double)(program_cpu_ns(&it.site.program) - before) * 1e-9 / took;
    figures_sort(it.ms, total);
    printf(
        "events causeway      %d/s to %d readers: delivered within median %.1f ms, 99 %% %.1f ms, all "
        "%.1f ms; %.0f %% of a processor\n",
        RATE, READERS, figures_at(it.ms, total, 0.5), figures_at(it.ms, total, 0.99),
        it.ms[total - 1], busy * 100);
    free(it.ms);
    close_crowd(&it);
}

static void bench_idle(void)
{
    crowd it = { 0 };

    open_crowd(&it, 1);
    double before = (double)program_resident_kb(&it.site.program);
    close_crowd(&it);
    it = (crowd){ 0 };
    open_crowd(&it, IDLE_STREAMS);
    double after = (double)program_resident_kb(&it.site.program);
    double took = follow_all(&it, 1, 0);
    printf(
        "events causeway      %d idle streams hold, %.1f KiB each; one event to all of them took "
        "%.0f ms\n",
        IDLE_STREAMS, (after - before) / IDLE_STREAMS, took * 1e3);
    close_crowd(&it);
}

static void on_time_over(int signal_number)
{
    static const char words[] = "bench: events took too long\n";

    (void)signal_number;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
    _exit(1);
}

int main(void)
{
    struct rlimit files;

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, on_time_over);
    alarm(BENCH_MAX_S);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur < IDLE_STREAMS + 100)
        bench_give_up("%d streams need as many descriptors; the limit is %lu", IDLE_STREAMS,
                      (unsigned long)files.rlim_cur);
    bench_flat_out(1, ONE_READER_EVENTS);
    bench_flat_out(READERS, FAN_OUT_EVENTS);
    bench_rate();
    bench_idle();
    return 0;
}
