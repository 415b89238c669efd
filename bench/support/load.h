/*
 * load.h - clients of an HTTP site: one keep-alive connection each, all on one thread.
 *
 * A client has one request under way. It asks and waits (client_ask), or many are driven together:
 * each asks again as soon as it is answered (load_for), or requests fall due at a rate whether or
 * not the site keeps up, and the time of each counts from when it was due (load_paced).
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/site.h"

#define CLIENT_ANSWER_MAX ((size_t)1 << 30)

enum { CLIENT_ASK_MAX = 1024, CLIENT_ANSWER_FIRST = 16384, CLIENT_SESSION_MAX = 128 };

typedef struct reply {
    int status;
    const char *head; /* status line and fields */
    size_t head_length;
    const char *body; /* with its framing where it is chunked */
    size_t body_length;
} reply;

typedef struct client {
    const site *site;
    int fd;
    const char *token;                /* NULL: none */
    char session[CLIENT_SESSION_MAX]; /* "" without one */
    int64_t id;                       /* of its request under way */
    int64_t due_ns;
    size_t have;  /* bytes of `answer` */
    size_t room;  /* grows with what comes, to CLIENT_ANSWER_MAX */
    char *answer; /* ends with NUL */
} client;

typedef struct load {
    client *clients;
    size_t count;
    int epoll;
} load;

/** What the clients of a load say, and how the answer is looked at. */
typedef struct script {
    size_t (*ask)(char *out, client *by); /* one whole request, in CLIENT_ASK_MAX bytes */
    void (*hear)(const client *by, const reply *it); /* gives up where it is wrong */
} script;

void client_open(client *it, const site *site);

void client_close(client *it);

/** Say all of it and wait for the answer, which is good until the next. */
reply client_ask(client *it, const char *request, size_t length);

/** The head of an answer whose body never ends: as client_ask, with an empty body. */
reply client_ask_stream(client *it, const char *request, size_t length);

/** The field's value, up to its line's end; NULL without it. */
const char *reply_field(const reply *it, const char *name, size_t *length);

void load_open(load *out, const site *site, size_t count);

/** Connect one of its clients to another site instead. */
void load_move(const load *it, client *one, const site *site);

void load_close(load *it);

/** Ask until `seconds` are over or `calls_max` were asked; the calls answered, and how long that
 *  took. */
long load_for(load *it, const script *script, double seconds, long calls_max, double *took);

/** @param ms one figure for each of `calls`, in the order of their answers */
void load_paced(load *it, const script *script, long per_second, long calls, double *ms);

#endif
