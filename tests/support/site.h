/*
 * site.h - what the server of the HTTP tests serves.
 *
 *     /hello        "hello"                       /hold     nothing until the test answers
 *     /echo         the request's body            /stream   begins a stream, the test continues it
 *     /facts        what the server understood    /bytes/N  N times "x"
 *     /last         "bye", and closes             /unfit    a field value that no field may have
 *     a request with the field X-Refuse is answered with that status before its body is read
 */
#ifndef TESTS_SITE_H
#define TESTS_SITE_H

#include <stdatomic.h>

#include "net/http.h"
#include "rig.h"

#define SITE_HELD_MAX 4096

typedef struct site {
    mcp__http_options options;               /* its handler is filled in by site_init */
    mcp__http_exchange *held[SITE_HELD_MAX]; /* the loop's */
    atomic_int holding;                      /* how many were held, ever */
    atomic_int requests;                     /* that `request` got */
    atomic_int heads;
    atomic_int hung_up;
    atomic_int drained;
} site;

void site_init(site *self);

/* The exchange held under that number; NULL once it hung up. On the loop only. */
mcp__http_exchange *site_held(site *self, int number);

/* Wait until the counter has reached `wanted`; CLIENT_WAIT_MS at most, which ends the test. */
void site_wait(atomic_int *counter, int wanted);

/* Answer what is held under `number`, from another thread. */
void site_answer(site *self, rig *rig, int number, const char *body);

/* Write to, or with NULL end, the stream that is held under `number`. */
void site_write(site *self, rig *rig, int number, const char *piece);

#endif
