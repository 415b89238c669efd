/*
 * load.c - asking an HTTP site, and the little of HTTP/1.1 that its answers need.
 *
 * An answer's end is known by Content-Length, by the last chunk, or by having no body (202, 204).
 */
#include "support/load.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SILENCE_MS = 60000, EVENTS = 64 };

/* ---- answers --------------------------------------------------------------------------------- */

const char *reply_field(const reply *it, const char *name, size_t *length)
{
    const char *end = it->head + it->head_length;
    size_t size = strlen(name);

    for (const char *at = it->head; at < end;) {
        const char *stop = memchr(at, '\r', (size_t)(end - at));
        if (!stop)
            stop = end;
        if ((size_t)(stop - at) > size && at[size] == ':' && strncasecmp(at, name, size) == 0) {
            at += size + 1;
            at += *at == ' ';
            *length = (size_t)(stop - at);
            return at;
        }
        at = stop + 2;
    }
    return NULL;
}

/* The length of a chunked body; 0 while it is not whole. */
static size_t chunked_length(const char *body, size_t have)
{
    size_t at = 0;

    for (;;) {
        if (!memmem(body + at, have - at, "\r\n", 2))
            return 0;
        char *after = NULL;
        size_t chunk = strtoul(body + at, &after, 16);
        const char *line_end = memmem(after, have - (size_t)(after - body), "\r\n", 2);
        if (!line_end)
            return 0;
        at = (size_t)(line_end - body) + 2 + chunk + 2;
        if (at > have)
            return 0;
        if (chunk == 0)
            return at;
    }
}

static bool read_head(reply *out, const client *it)
{
    const char *end = memmem(it->answer, it->have, "\r\n\r\n", 4);

    if (!end)
        return false;
    *out = (reply){ .head = it->answer,
                    .head_length = (size_t)(end - it->answer),
                    .body = end + 4 };
    if (it->have < 12 || memcmp(it->answer, "HTTP/1.1 ", 9) != 0)
        bench_give_up("%s: no HTTP: %.*s", it->site->name, (int)it->have, it->answer);
    out->status = (int)strtol(it->answer + 9, NULL, 10);
    return true;
}

static bool read_reply(reply *out, const client *it)
{
    size_t length;

    if (!read_head(out, it))
        return false;
    size_t have = it->have - (size_t)(out->body - it->answer);
    const char *declared = reply_field(out, "Content-Length", &length);
    if (declared) {
        out->body_length = strtoul(declared, NULL, 10);
        return have >= out->body_length;
    }
    if (reply_field(out, "Transfer-Encoding", &length)) {
        out->body_length = chunked_length(out->body, have);
        return out->body_length > 0;
    }
    if (out->status != 202 && out->status != 204)
        bench_give_up("%s: an answer without length: %.*s", it->site->name, (int)it->have,
                      it->answer);
    return true;
}

/* ---- one client ------------------------------------------------------------------------------ */

void client_open(client *it, const site *site)
{
    *it = (client){ .site = site, .fd = site_connect(site), .room = CLIENT_ANSWER_FIRST };
    it->answer = malloc(it->room);
    if (!it->answer)
        bench_give_up("no memory");
}

void client_close(client *it)
{
    close(it->fd);
    free(it->answer);
    *it = (client){ .fd = -1 };
}

static void client_wait(const client *it, short events)
{
    struct pollfd one = { .fd = it->fd, .events = events };

    if (poll(&one, 1, SILENCE_MS) == 0)
        bench_give_up("%s: silent for %d s", it->site->name, SILENCE_MS / 1000);
}

static void client_say(const client *it, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t put = send(it->fd, text, length, MSG_NOSIGNAL);
        if (put > 0) {
            text += put;
            length -= (size_t)put;
        } else if (errno == EAGAIN) {
            client_wait(it, POLLOUT);
        } else if (errno != EINTR) {
            bench_give_up("%s: writing: %s", it->site->name, strerror(errno));
        }
    }
}

static void make_room(client *it)
{
    if (it->have < it->room - 1)
        return;
    it->room *= 2;
    it->answer = it->room <= CLIENT_ANSWER_MAX ? realloc(it->answer, it->room) : NULL;
    if (!it->answer)
        bench_give_up("%s: answers without end", it->site->name);
}

static void client_read(client *it)
{
    make_room(it);
    ssize_t got = recv(it->fd, it->answer + it->have, it->room - 1 - it->have, 0);
    if (got == 0)
        bench_give_up("%s: hung up", it->site->name);
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        bench_give_up("%s: reading: %s", it->site->name, strerror(errno));
    if (got > 0)
        it->have += (size_t)got;
    it->answer[it->have] = '\0';
}

static reply ask(client *it, const char *request, size_t length,
                 bool (*read)(reply *, const client *))
{
    reply answer;

    it->have = 0;
    client_say(it, request, length);
    do {
        client_wait(it, POLLIN);
        client_read(it);
    } while (!read(&answer, it));
    return answer;
}

reply client_ask(client *it, const char *request, size_t length)
{
    return ask(it, request, length, read_reply);
}

reply client_ask_stream(client *it, const char *request, size_t length)
{
    return ask(it, request, length, read_head);
}

/* ---- many ------------------------------------------------------------------------------------ */

static void open_one(const load *it, client *one, const site *site)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = one };

    client_open(one, site);
    if (epoll_ctl(it->epoll, EPOLL_CTL_ADD, one->fd, &event) != 0)
        bench_give_up("epoll: %s", strerror(errno));
}

void load_move(const load *it, client *one, const site *site)
{
    client_close(one);
    open_one(it, one, site);
}

void load_open(load *out, const site *site, size_t count)
{
    *out = (load){ .clients = calloc(count, sizeof(client)), .count = count };
    out->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!out->clients || out->epoll < 0)
        bench_give_up("no memory");
    for (size_t i = 0; i < count; i++)
        open_one(out, &out->clients[i], site);
}

void load_close(load *it)
{
    for (size_t i = 0; i < it->count; i++)
        client_close(&it->clients[i]);
    close(it->epoll);
    free(it->clients);
    *it = (load){ .epoll = -1 };
}

static void client_start(client *it, const script *script, int64_t due_ns)
{
    char request[CLIENT_ASK_MAX];

    it->have = 0;
    it->due_ns = due_ns;
    client_say(it, request, script->ask(request, it));
}

/* Whether its answer is here, whole; it was looked at then. */
static bool client_is_answered(client *it, const script *script)
{
    reply answer;

    client_read(it);
    if (!read_reply(&answer, it))
        return false;
    script->hear(it, &answer);
    return true;
}

/* Waits up to `ns` and looks: the clients that are answered now. */
static int answered(load *it, const script *script, int64_t ns, client **out)
{
    struct epoll_event events[EVENTS];
    struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
    int count = epoll_pwait2(it->epoll, events, EVENTS, &time, NULL);
    int done = 0;

    if (count < 0 && errno != EINTR)
        bench_give_up("epoll: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
        client *one = events[i].data.ptr;
        if (client_is_answered(one, script))
            out[done++] = one;
    }
    if (done == 0 && ns >= (int64_t)SILENCE_MS * 1000000 && count == 0)
        bench_give_up("%s: silent for %d s", it->clients[0].site->name, SILENCE_MS / 1000);
    return done;
}

long load_for(load *it, const script *script, double seconds, long calls_max, double *took)
{
    client *ready[EVENTS];
    int64_t from = bench_now_ns();
    int64_t until = from + (int64_t)(seconds * 1e9);
    long asked = 0;
    long heard = 0;

    for (size_t i = 0; i < it->count && asked < calls_max; i++, asked++)
        client_start(&it->clients[i], script, 0);
    while (heard < asked) {
        int count = answered(it, script, (int64_t)SILENCE_MS * 1000000, ready);
        bool has_time = bench_now_ns() < until;
        heard += count;
        for (int i = 0; i < count && has_time && asked < calls_max; i++, asked++)
            client_start(ready[i], script, 0);
    }
    *took = (double)(bench_now_ns() - from) * 1e-9;
    return heard;
}

void load_paced(load *it, const script *script, long per_second, long calls, double *ms)
{
    client *ready[EVENTS];
    client **idle = calloc(it->count, sizeof(client *)); /* a ring, so that all take their turn */
    size_t idle_first = 0;
    size_t idle_count = 0;
    int64_t step = 1000000000 / per_second;
    int64_t from = bench_now_ns() + step;
    long asked = 0;

    if (!idle)
        bench_give_up("no memory");
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (size_t i = 0; i < it->count; i++)
        idle[idle_count++] = &it->clients[i];
    for (long heard = 0; heard < calls;) {
        int64_t now = bench_now_ns();
        for (; asked < calls && idle_count > 0 && from + asked * step <= now; asked++, idle_count--)
            client_start(idle[idle_first++ % it->count], script, from + asked * step);
        int64_t next = from + asked * step - bench_now_ns();
        bool is_waiting = asked == calls || idle_count == 0;
        int count = answered(
            it, script, is_waiting ? (int64_t)SILENCE_MS * 1000000 : (next > 0 ? next : 0), ready);
        now = bench_now_ns();
        for (int i = 0; i < count; i++) {
            ms[heard++] = (double)(now - ready[i]->due_ns) * 1e-6;
            idle[(idle_first + idle_count++) % it->count] = ready[i];
        }
    }
    prctl(PR_SET_TIMERSLACK, 0UL);
    free(idle);
}
