/*
 * universe-viewers.c - a thousand viewers of one universe while commands come at a rate.
 *
 * The server is the program itself on SQLite. Its thousand streams are read by one thread of this
 * process, another sends the commands over HTTP; each says in the command when it was sent, so that
 * the time to a viewer's eyes counts from there, the commit included. Each viewer looks at every
 * event: versions must come one by one, none lost and none doubled.
 *
 * One more viewer reads nothing all the while. Afterwards it must find what fits between it and the
 * server, then a `resync`, and behind that the newest commands like everybody else.
 *
 * Then three thousand viewers of another universe never read, while commands come at a rate: the
 * time of the commands themselves counts, while buffers fill and after that.
 *
 *     bench-universe-viewers [PROGRAM]     default: universe of CAUSEWAY_BIN or build/bin
 */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/figures.h"
#include "support/load.h"
#include "support/scale.h"

enum {
    BENCH_MAX_S = BENCH(175, 280),
    VIEWERS = BENCH(1000, 4),
    SENDERS = 16,
    RATE = BENCH(200, 2000),
    COMMANDS = 3000,
    LAST_COMMANDS = 20, /* that the one who did not read sees with the others */
    SILENCE_MS = 20000,
    STALLED_WINDOW = 2048,
    STALLED_SEGMENT = 536,
    BODIES_MIN = 1000,
    READER_MAX = 32768,
    DEAF = BENCH(3000, 8),
    DEAF_RATE = BENCH(100, 1000),
    DEAF_COMMANDS = BENCH(2000, 200)
};

typedef struct viewer {
    int fd;
    int64_t next; /* version that must come */
    size_t have;  /* bytes of an event that is not whole */
    char bytes[READER_MAX];
} viewer;

static char own_program[4096];
static char folder[] = P_tmpdir "/bench-viewers-XXXXXX";
static site server = { .name = "universe" };
static client talker;
static char body_id[64]; /* of a body that the commands change */
static viewer viewers[VIEWERS];
static viewer stalled;
static int deaf[DEAF];
static int watch; /* epoll */
static double *ms;
static size_t timed;

/* ---- the server ------------------------------------------------------------------------------ */

static int drop(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void drop_folder(void)
{
    nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void begin(void)
{
    char serve[] = "serve", port_flag[] = "--port", db_flag[] = "--db";
    char level_flag[] = "--log-level", error[] = "error";
    char port[16];
    char db[sizeof folder + 32];
    char *const command[] = { own_program, serve,      port_flag, port, db_flag,
                              db,          level_flag, error,     NULL };

    snprintf(port, sizeof port, "%d", server.port = site_free_port());
    snprintf(db, sizeof db, "sqlite:%s/universe.db", folder);
    site_run(&server, command);
    client_open(&talker, &server);
}

static size_t write_post(char *out, size_t size, const char *path, const char *body)
{
    int length = snprintf(out, size,
                          "POST /universes%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          path, server.port, strlen(body), body);

    if (length < 0 || (size_t)length >= size)
        bench_give_up("a request longer than %zu bytes", size);
    return (size_t)length;
}

static reply ask(const char *method_and_path, const char *body, int expected)
{
    char request[CLIENT_ASK_MAX];
    size_t length = 0;

    if (body)
        length = write_post(request, sizeof request, method_and_path, body);
    else
        length = (size_t)snprintf(request, sizeof request,
                                  "GET /universes%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                                  method_and_path, server.port);
    reply it = client_ask(&talker, request, length);
    if (it.status != expected)
        bench_give_up("%s was answered by %.1000s", method_and_path, talker.answer);
    return it;
}

static int64_t number_in(const reply *it, const char *name)
{
    const char *at = memmem(it->body, it->body_length, name, strlen(name));

    if (!at)
        bench_give_up("no %s in %.1000s", name, it->body);
    return strtoll(at + strlen(name), NULL, 10);
}

static int64_t version_now(void)
{
    reply it = ask("/seen/summary", NULL, 200);

    return number_in(&it, "\"version\":");
}

static void grow(void)
{
    ask("", "{\"id\":\"seen\",\"name\":\"seen\",\"state\":{}}", 201);
    ask("/seen/generate", "{\"seed\":1,\"maxSystems\":16,\"topologyPreset\":\"moonRich\"}", 200);
    reply it = ask("/seen/summary", NULL, 200);
    int64_t bodies = number_in(&it, "\"stars\":");
    if (bodies < BODIES_MIN)
        bench_give_up("only %" PRId64 " bodies", bodies);
    it = ask("/seen/positions?format=ids", NULL, 200);
    if (it.body_length < 40 || sscanf(it.body, "[\"%63[^\"]\"", body_id) != 1)
        bench_give_up("no ids");
}

/* ---- viewers --------------------------------------------------------------------------------- */

static void wait_for_input(int fd, const char *what)
{
    struct pollfd poll_for = { .fd = fd, .events = POLLIN };

    if (poll(&poll_for, 1, SILENCE_MS) != 1)
        bench_give_up("no %s within %d s", what, SILENCE_MS / 1000);
}

static void ask_for_stream(viewer *by, int64_t version)
{
    char request[128];
    int length = snprintf(request, sizeof request,
                          "GET /universes/seen/events HTTP/1.1\r\nHost: localhost\r\n\r\n");

    by->next = version + 1;
    if (send(by->fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        bench_give_up("a viewer cannot ask");
}

static void open_viewer(viewer *by, int64_t version)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = by };
    const char *end = NULL;

    by->fd = site_connect(&server);
    ask_for_stream(by, version);
    while (!end) {
        wait_for_input(by->fd, "beginning of a stream");
        ssize_t got = recv(by->fd, by->bytes + by->have, sizeof by->bytes - by->have, 0);
        if (got <= 0)
            bench_give_up("a stream was not begun");
        by->have += (size_t)got;
        end = memmem(by->bytes, by->have, ":connected\n\n", 12);
    }
    by->have -= (size_t)(end + 12 - by->bytes);
    memmove(by->bytes, end + 12, by->have);
    if (epoll_ctl(watch, EPOLL_CTL_ADD, by->fd, &event) != 0)
        bench_give_up("epoll_ctl: %s", strerror(errno));
}

/* A small window and small segments: little fits between it and the server. */
static void open_stalled(int64_t version)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)server.port) };
    int window = STALLED_WINDOW;
    int segment = STALLED_SEGMENT;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    stalled.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(stalled.fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    setsockopt(stalled.fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
    if (stalled.fd < 0 || connect(stalled.fd, (struct sockaddr *)&address, sizeof address) != 0)
        bench_give_up("a viewer cannot connect: %s", strerror(errno));
    ask_for_stream(&stalled, version);
}

/* One whole event. @return false: a comment or a field between events */
static bool hear(viewer *by, const char *event, size_t length)
{
    const char *id = memmem(event, length, "id: ", 4);
    const char *sent = memmem(event, length, "\"t=", 3);

    if (!memmem(event, length, "event: ", 7))
        return false;
    if (!id || !sent || strtoll(id + 4, NULL, 10) != by->next)
        bench_give_up("version %" PRId64 " was due and this came: %.*s", by->next, (int)length,
                      event);
    by->next++;
    ms[timed++] = (double)(bench_now_ns() - strtoll(sent + 3, NULL, 10)) * 1e-6;
    return true;
}

/* @return how many events came */
static long read_some(viewer *by)
{
    ssize_t got = recv(by->fd, by->bytes + by->have, sizeof by->bytes - 1 - by->have, MSG_DONTWAIT);
    const char *at = by->bytes;
    long heard = 0;

    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got <= 0)
        bench_give_up("a stream was ended");
    by->have += (size_t)got;
    by->bytes[by->have] = '\0';
    for (;;) {
        const char *end = memmem(at, by->have - (size_t)(at - by->bytes), "\n\n", 2);
        if (!end)
            break;
        heard += hear(by, at, (size_t)(end - at));
        at = end + 2;
    }
    by->have -= (size_t)(at - by->bytes);
    memmove(by->bytes, at, by->have);
    return heard;
}

static void view_all(long commands)
{
    struct epoll_event events[256];
    long wanted = commands * VIEWERS;

    while (wanted > 0) {
        int ready = epoll_wait(watch, events, 256, SILENCE_MS);
        if (ready <= 0)
            bench_give_up("%ld events did not come", wanted);
        for (int i = 0; i < ready; i++)
            wanted -= read_some(events[i].data.ptr);
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

static size_t ask_command(char *out, client *by)
{
    char body[256];

    snprintf(body, sizeof body,
             "{\"type\":\"updateStar\",\"id\":\"%s\",\"payload\":{\"name\":\"t=%" PRId64 "\"}}",
             body_id, bench_now_ns());
    by->id++;
    return write_post(out, CLIENT_ASK_MAX, "/seen/commands?return=minimal", body);
}

static void hear_command(const client *by, const reply *it)
{
    if (it->status != 200)
        bench_give_up("a command was answered by %.1000s", by->answer);
}

static const script command = { ask_command, hear_command };

static void *send_all(void *data)
{
    long count = *(const long *)data;
    double *answered_ms = calloc((size_t)count, sizeof answered_ms[0]);
    static load senders;

    if (!answered_ms)
        bench_give_up("no memory");
    load_open(&senders, &server, SENDERS);
    load_paced(&senders, &command, RATE, count, answered_ms);
    load_close(&senders);
    figures_sort(answered_ms, (size_t)count);
    if (count == COMMANDS)
        printf("universe-viewers the commands themselves: median %.1f ms, 99 %% within %.1f ms\n",
               figures_at(answered_ms, (size_t)count, 0.5),
               figures_at(answered_ms, (size_t)count, 0.99));
    free(answered_ms);
    return NULL;
}

/* Commands at the rate, seen by all but the one who does not read. */
static void run(long commands)
{
    pthread_t sender;

    if (pthread_create(&sender, NULL, send_all, &commands) != 0)
        bench_give_up("no thread");
    view_all(commands);
    pthread_join(sender, NULL);
}

/* ---- what is measured ------------------------------------------------------------------------ */

static double load_average(void)
{
    double load = 0;

    return getloadavg(&load, 1) == 1 ? load : -1;
}

static void bench_rate(void)
{
    int64_t before = program_cpu_ns(&server.program);
    int64_t from = bench_now_ns();

    run(COMMANDS);
    double took = (double)(bench_now_ns() - from) * 1e-9;
    double busy = (double)(program_cpu_ns(&server.program) - before) * 1e-9 / took;
    figures_sort(ms, timed);
    printf("universe-viewers %d commands/s to %d viewers: %zu events, none lost or doubled; from "
           "sending to seeing median %.1f ms, 99 %% within %.1f ms, all %.1f ms; %.0f %% of a "
           "processor; resident %.1f MB; load average %.1f\n",
           RATE, VIEWERS, timed, figures_at(ms, timed, 0.5), figures_at(ms, timed, 0.99),
           ms[timed - 1], busy * 100, (double)program_resident_kb(&server.program) / 1024,
           load_average());
}

/* An event of its stream, as far as its lines have come. */
struct late_event {
    bool is_resync;
    int64_t version; /* by its id, or by what a resync says; 0: none yet */
};

/* A line of it, an empty one at its end; *seen is the version up to which the viewer knows all.
 * @return true: it was a resync */
static bool hear_late(const char *line, struct late_event *event, int64_t *seen)
{
    const struct late_event whole = *event;

    if (strncmp(line, "event: ", 7) == 0)
        event->is_resync = strncmp(line + 7, "resync", 6) == 0;
    (void)sscanf(line, "id: %" SCNd64, &event->version);
    if (event->is_resync)
        (void)sscanf(line, "data: {\"version\":%" SCNd64, &event->version);
    if (line[0] != '\n')
        return false;
    *event = (struct late_event){ 0 };
    if (whole.version == 0)
        return false;
    if (!whole.is_resync && whole.version != *seen + 1)
        bench_give_up("the one who did not read was due version %" PRId64 ", not %" PRId64,
                      *seen + 1, whole.version);
    *seen = whole.version;
    return whole.is_resync;
}

static sem_t resynced;

/* The stream of the one who did not read: it begins to, now. */
static void *read_late(void *data)
{
    int64_t last = *(const int64_t *)data;
    int64_t seen = stalled.next - 1, found = 0;
    struct late_event event = { 0 };
    long resyncs = 0;
    char line[4096];
    FILE *in = fdopen(stalled.fd, "r");

    if (!in)
        bench_give_up("no memory");
    while (seen < last && fgets(line, sizeof line, in)) {
        int64_t before = seen;
        if (!hear_late(line, &event, &seen))
            continue;
        if (resyncs++ == 0)
            found = before;
        sem_post(&resynced);
    }
    if (seen < last || resyncs != 1)
        bench_give_up("the one who did not read saw %" PRId64 " of %" PRId64 ", %ld resyncs", seen,
                      last, resyncs);
    printf("universe-viewers one more did not read: it found %" PRId64 " events, a resync, and "
           "then all %d that came\n",
           found - stalled.next + 1, LAST_COMMANDS);
    fclose(in);
    return NULL;
}

static void bench_stalled(int64_t last)
{
    pthread_t reader;
    struct timespec until;

    sem_init(&resynced, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SILENCE_MS / 1000;
    if (pthread_create(&reader, NULL, read_late, &last) != 0)
        bench_give_up("no thread");
    if (sem_timedwait(&resynced, &until) != 0)
        bench_give_up("the one who did not read got no resync within %d s", SILENCE_MS / 1000);
    timed = 0;
    run(LAST_COMMANDS);
    pthread_join(reader, NULL);
}

/* ---- viewers that never read ----------------------------------------------------------------- */

static size_t ask_deaf(char *out, client *by)
{
    by->id++;
    return write_post(out, CLIENT_ASK_MAX, "/deaf/commands?return=minimal",
                      "{\"type\":\"tick\",\"dt\":1}");
}

static void bench_deaf(void)
{
    static const char request[] =
        "GET /universes/deaf/events?detail=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const script tick = { ask_deaf, hear_command };
    static double answered_ms[DEAF_COMMANDS];
    static load senders;

    ask("", "{\"id\":\"deaf\",\"name\":\"deaf\",\"state\":{}}", 201);
    for (int i = 0; i < DEAF; i++) {
        deaf[i] = site_connect(&server);
        if (send(deaf[i], request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
            bench_give_up("a viewer cannot ask");
        wait_for_input(deaf[i], "beginning of a stream");
    }
    load_open(&senders, &server, SENDERS);
    load_paced(&senders, &tick, DEAF_RATE, DEAF_COMMANDS, answered_ms);
    load_close(&senders);
    figures_sort(answered_ms, DEAF_COMMANDS);
    printf("universe-viewers %d commands/s with %d viewers that never read: median %.1f ms, 99 %% "
           "within %.1f ms (50 allowed), all %.1f ms; resident %.1f MB; load average %.1f\n",
           DEAF_RATE, DEAF, figures_at(answered_ms, DEAF_COMMANDS, 0.5),
           figures_at(answered_ms, DEAF_COMMANDS, 0.99), answered_ms[DEAF_COMMANDS - 1],
           (double)program_resident_kb(&server.program) / 1024, load_average());
    for (int i = 0; i < DEAF; i++)
        close(deaf[i]);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void on_time_over(int signal_number)
{
    static const char words[] = "bench: universe-viewers took too long\n";

    (void)signal_number;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
    _exit(1);
}

static void prepare(int argc, char **argv)
{
    const char *bin = getenv("CAUSEWAY_BIN");
    struct rlimit files;

    if (argc > 1)
        snprintf(own_program, sizeof own_program, "%s", argv[1]);
    else
        snprintf(own_program, sizeof own_program, "%s/universe", bin ? bin : "build/bin");
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, on_time_over);
    alarm(BENCH_MAX_S);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur < VIEWERS + DEAF + 100)
        bench_give_up("%d viewers need as many descriptors; the limit is %lu", VIEWERS + DEAF,
                      (unsigned long)files.rlim_cur);
    if (!mkdtemp(folder))
        bench_give_up("no folder in " P_tmpdir);
    atexit(drop_folder);
    watch = epoll_create1(EPOLL_CLOEXEC);
    ms = calloc((size_t)VIEWERS * (COMMANDS + LAST_COMMANDS), sizeof ms[0]);
    if (watch < 0 || !ms)
        bench_give_up("no memory");
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    begin();
    grow();
    int64_t version = version_now();
    open_stalled(version);
    for (int i = 0; i < VIEWERS; i++)
        open_viewer(&viewers[i], version);
    bench_rate();
    bench_stalled(version + COMMANDS + LAST_COMMANDS);
    for (int i = 0; i < VIEWERS; i++)
        close(viewers[i].fd);
    close(watch);
    bench_deaf();
    client_close(&talker);
    site_end(&server);
    free(ms);
    return 0;
}
