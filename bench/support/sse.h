/*
 * sse.h - a reader of server-sent events (WHATWG HTML, section 9.2.6).
 */
#ifndef BENCH_SSE_H
#define BENCH_SSE_H

#include <stddef.h>

enum { SSE_FIELD_MAX = 64 };

/** One event. */
typedef struct sse_event {
    char type[SSE_FIELD_MAX]; /* "message" without a field `event` */
    char id[SSE_FIELD_MAX];   /* "" without a field `id` */
    char *data;               /* its lines, joined by line feeds, ending with NUL; NULL: no event */
} sse_event;

/**
 * Parse the first block of a stream, up to its blank line. Its fields may come in any order;
 * comments and unknown fields are ignored; lines end with CR LF, LF or CR.
 *
 * @param out   `data` is NULL for a block without data, which is no event; else it is borrowed from
 *              `bytes`, where its lines were joined
 * @param bytes the received bytes that were not yet consumed
 * @return the length of the block, to be consumed once the event was used; 0: it is incomplete
 */
size_t sse_next(sse_event *out, char *bytes, size_t length);

#endif
