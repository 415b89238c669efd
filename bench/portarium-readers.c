/*
 * portarium-readers.c - a thousand readers of a workspace's event stream, while runs make 200
 * events a second.
 *
 * The server is portarium on SQLite. Runs are started over MCP at a rate; each makes three events.
 * One thread reads all streams and looks at every event: their numbers must come one by one, none
 * lost and none doubled. The time of an event counts from the moment that it names, which is before
 * its commit, to its arrival. In the middle each fourth reader disconnects, and connects again half
 * a second later with the number of its last event. So does a reader that was too slow and receives
 * `resync`: that is counted.
 *
 *     bench-portarium-readers [PROGRAM]     default: portarium of CAUSEWAY_BIN or build/bin
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/figures.h"
#include "support/plane.h"
#include "support/scale.h"
#include "support/session.h"

enum {
    READERS = BENCH(1000, 8),
    TOKENS = BENCH(40, 2), /* requests of one principal have a rate */
    SENDERS = 8,
    EVENTS_OF_RUN = 3,
    RATE = BENCH(67, 200), /* runs a second */
    RUNS = BENCH(800, 60),
    EVENTS = RUNS * EVENTS_OF_RUN,
    RECONNECTING = 4, /* each so many */
    AWAY_MS = BENCH(500, 50),
    SILENCE_MS = 60000,
    READER_MAX = 65536
};

typedef struct reader {
    int fd; /* -1: away */
    int number;
    int64_t next;   /* number of the event that must come */
    int64_t missed; /* the last event that was made while it was away */
    size_t have;    /* bytes of an event that is not whole */
    char bytes[READER_MAX];
} reader;

static plane own;
static char tokens[TOKENS][PLANE_TOKEN_MAX], sender_token[PLANE_TOKEN_MAX];
static reader *readers;
static int watch; /* epoll */
static double *ms;
static size_t timed;
static long resyncs;
static int64_t first;          /* number of the last event before all these */
static int64_t newest;         /* event that any reader has heard */
static double moments[EVENTS]; /* that they name, in milliseconds of the wall clock */

/* ---- readers --------------------------------------------------------------------------------- */

static void connect_reader(reader *it)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = it };
    char request[512];
    int length = snprintf(request, sizeof request,
                          "GET /v1/workspaces/ws-1/events:stream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                          "Authorization: Bearer %s\r\nLast-Event-ID: %" PRId64 "\r\n\r\n",
                          own.sites[0].port, tokens[it->number % TOKENS], it->next - 1);

    it->fd = site_connect(&own.sites[0]);
    it->have = 0;
    if (send(it->fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        bench_give_up("a reader cannot ask");
    if (epoll_ctl(watch, EPOLL_CTL_ADD, it->fd, &event) != 0)
        bench_give_up("epoll_ctl: %s", strerror(errno));
}

static void leave(reader *it)
{
    close(it->fd);
    it->fd = -1;
}

/* The wall clock's milliseconds of "...","time":"2026-01-02T03:04:05.678Z",... */
static double moment_of(const char *event, size_t length)
{
    static const char name[] = "\"time\":\"";
    const char *at = memmem(event, length, name, sizeof name - 1);
    struct tm parts = { 0 };
    double seconds = 0;

    if (!at || sscanf(at + sizeof name - 1, "%d-%d-%dT%d:%d:%lfZ", &parts.tm_year, &parts.tm_mon,
                      &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &seconds) != 6)
        bench_give_up("an event without a time: %.*s", (int)length, event);
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return ((double)timegm(&parts) + seconds) * 1e3;
}

static double wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* One whole event; `at` is where its "id: " is. Those that were missed have no time of arrival. */
static void hear(reader *it, const char *at, size_t length)
{
    int64_t number = strtoll(at + 4, NULL, 10);

    if (number != it->next)
        bench_give_up("reader %d was due event %" PRId64 " and %" PRId64 " came", it->number,
                      it->next, number);
    it->next++;
    if (number > newest) {
        newest = number;
        moments[number - first - 1] = moment_of(at, length);
    }
    if (number > it->missed)
        ms[timed++] = wall_ms() - moments[number - first - 1];
}

/* Keep what came before a resync: the events behind it are not the next ones. */
static bool cut_at_resync(reader *it)
{
    const char *at = memmem(it->bytes, it->have, "event: resync", 13);

    if (at)
        it->have = (size_t)(at - it->bytes);
    return at != NULL;
}

/* The length of chunks stands between the events, on lines of their own. @return events heard */
static long read_some(reader *it)
{
    ssize_t got = recv(it->fd, it->bytes + it->have, sizeof it->bytes - 1 - it->have, MSG_DONTWAIT);
    long heard = 0;
    size_t used = 0;
    bool is_behind = false;

    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got <= 0)
        bench_give_up("the stream of reader %d was ended: %.*s", it->number, (int)it->have,
                      it->bytes);
    it->have += (size_t)got;
    it->bytes[it->have] = '\0'; /* numbers and times are read out of it */
    is_behind = cut_at_resync(it);
    for (;;) {
        const char *from = it->bytes + used;
        const char *id = memmem(from, it->have - used, "\nid: ", 5);
        const char *end = id ? memmem(id, it->have - (size_t)(id - it->bytes), "\n\n", 2) : NULL;
        if (!end)
            break;
        hear(it, id + 1, (size_t)(end - id) - 1);
        heard++;
        used = (size_t)(end + 1 - it->bytes); /* its newline may be the next one's */
    }
    it->have -= used;
    memmove(it->bytes, it->bytes + used, it->have);
    if (is_behind) {
        resyncs++;
        leave(it);
        it->missed = newest;
        connect_reader(it);
    }
    return heard;
}

/* ---- the sender ------------------------------------------------------------------------------ */

static size_t ask_start(char *out, client *by)
{
    char body[256];

    by->id++;
    int length = snprintf(body, sizeof body,
                          "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64
                          ",\"method\":\"tools/call\",\"params\":{\"name\":\"portarium_run_start\","
                          "\"arguments\":{\"workspaceId\":\"ws-1\",\"workflowId\":\"noop\","
                          "\"input\":{\"n\":1}}}}",
                          by->id);
    return session_write(out, CLIENT_ASK_MAX, by, body, (size_t)length);
}

static void hear_start(const client *by, const reply *it)
{
    if (it->status != 200 || !memmem(it->body, it->body_length, "Pending", 7))
        bench_give_up("a start was answered by %.1000s", by->answer);
}

static const script start = { ask_start, hear_start };

static double answered_ms[RUNS];

static void *send_all(void *data)
{
    load *senders = data;

    load_paced(senders, &start, RATE, RUNS, answered_ms);
    return NULL;
}

/* ---- what is measured ------------------------------------------------------------------------ */

/* Each RECONNECTING-th reader leaves at one moment, and all of them are back at another. */
static void come_and_go(int64_t began_ns)
{
    static int done;
    int64_t ms_now = (bench_now_ns() - began_ns) / 1000000;
    int64_t half = (int64_t)RUNS * 1000 / RATE / 2;

    if (done == 0 && ms_now >= half) {
        for (int i = 0; i < READERS; i += RECONNECTING)
            leave(&readers[i]);
        done = 1;
    } else if (done == 1 && ms_now >= half + AWAY_MS) {
        for (int i = 0; i < READERS; i += RECONNECTING) {
            readers[i].missed = newest;
            connect_reader(&readers[i]);
        }
        done = 2;
    }
}

static void read_all(int64_t began_ns)
{
    struct epoll_event events[256];
    long wanted = (long)READERS * EVENTS;
    int64_t heard_ns = began_ns;

    while (wanted > 0) {
        int ready = epoll_wait(watch, events, 256, 20);
        for (int i = 0; i < ready; i++) {
            reader *it = events[i].data.ptr;
            if (it->fd >= 0)
                wanted -= read_some(it);
        }
        if (ready > 0)
            heard_ns = bench_now_ns();
        if (bench_now_ns() - heard_ns > (int64_t)SILENCE_MS * 1000000)
            bench_give_up("%ld events did not come", wanted);
        come_and_go(began_ns);
    }
}

static void bench(void)
{
    load senders;
    pthread_t sender;
    newest = first = plane_number(&own, "SELECT event_seq FROM heads WHERE workspace = 'ws-1'");

    for (int i = 0; i < READERS; i++) {
        readers[i].number = i;
        readers[i].next = first + 1;
        connect_reader(&readers[i]);
    }
    plane_connect(&senders, &own.sites[0], SENDERS, sender_token);
    int64_t cpu = program_cpu_ns(&own.sites[0].program);
    int64_t began = bench_now_ns();
    if (pthread_create(&sender, NULL, send_all, &senders) != 0)
        bench_give_up("no thread");
    read_all(began);
    pthread_join(sender, NULL);
    double took = (double)(bench_now_ns() - began) * 1e-9;
    double busy = (double)(program_cpu_ns(&own.sites[0].program) - cpu) * 1e-9 / took;
    figures_sort(ms, timed);
    figures_sort(answered_ms, RUNS);
    printf("portarium-readers %d readers, %d events/s: %d events to each, none lost or doubled, %d "
           "readers were away for %d ms\n",
           READERS, RATE * EVENTS_OF_RUN, EVENTS, (READERS + RECONNECTING - 1) / RECONNECTING,
           AWAY_MS);
    if (resyncs > 0)
        printf("portarium-readers %ld times a reader was too slow, and connected again\n", resyncs);
    printf("portarium-readers from an event to its arrival: median %.1f ms, 99 %% within %.1f ms "
           "(at most 100); %.0f %% of a core; resident %.1f MB; load average %.1f\n",
           figures_at(ms, timed, 0.5), figures_at(ms, timed, 0.99), busy * 100,
           (double)program_resident_kb(&own.sites[0].program) / 1024, bench_load_average());
    printf(
        "portarium-readers the starts that make the events: median %.1f ms, 99 %% within %.1f ms\n",
        figures_at(answered_ms, RUNS, 0.5), figures_at(answered_ms, RUNS, 0.99));
    load_close(&senders);
}

int main(int argc, char **argv)
{
    struct rlimit limit;

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    alarm(BENCH(100, 280));
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    readers = calloc(READERS, sizeof readers[0]);
    ms = calloc((size_t)READERS * EVENTS, sizeof ms[0]);
    watch = epoll_create1(EPOLL_CLOEXEC);
    if (!readers || !ms || watch < 0)
        bench_give_up("no memory");
    plane_program(argc, argv);
    plane_open(&own, 1, false);
    plane_token(sender_token, &own, 1, "ada", "operator");
    plane_tokens(tokens, TOKENS, &own);
    plane_serve(&own);
    bench();
    plane_close(&own);
    free(readers);
    free(ms);
    return 0;
}
