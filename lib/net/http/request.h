/*
 * request.h - one request being read: its head, then its body.
 *
 * The head's bytes and a body that came whole with it are not copied; mcp__request_keep does that
 * when the reading has to wait for more.
 */
#ifndef NET_HTTP_REQUEST_H
#define NET_HTTP_REQUEST_H

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "net/http/head.h"

/** What the bodies of all requests have gathered together. The loop's. */
typedef struct mcp__bodies {
    size_t used; /* bytes of memory */
    size_t max_bytes;
} mcp__bodies;

typedef struct mcp__request {
    mcp__request_head head;
    uint64_t declared; /* Content-Length; 0 without one */
    bool is_chunked;
    bool keeps_alive;    /* the client wants to use the connection again */
    bool wants_continue; /* Expect: 100-continue */
    bool is_complete;    /* the body is whole */
    bool is_unwanted;    /* answered already: the body is read and dropped */

    /* the body: bytes where they came, or gathered in `gathered` */
    const char *view;
    size_t view_length;
    mcp_buf gathered;
    size_t dropped;
    mcp__bodies *bodies; /* whose bound holds; NULL: none. Set before a body comes */

    /* the request's own */
    size_t counted; /* of the body's memory */
    llhttp_t parser;
    char *kept; /* a copy of the head's bytes */
    size_t kept_size;
    size_t body_max;
    size_t framing;     /* bytes since the body's last: of a chunk's size line, or of trailers */
    const char *cursor; /* up to where the bytes being fed are counted */
    mcp__refusal refusal;
    struct mcp__request *next; /* in a list of spare ones */
    mcp__head_field fields[];
} mcp__request;

/** Yours, free it with mcp__request_free; NULL when memory is out. */
mcp__request *mcp__request_new(size_t fields_max);

/** NULL is fine. */
void mcp__request_free(mcp__request *request);

/**
 * Begin with a whole head. Afterwards `is_complete` says whether there is no body.
 *
 * @param bytes the head, as mcp__head_find_end found it; changed, and borrowed until
 *              mcp__request_keep
 */
mcp__refusal mcp__request_begin(mcp__request *request, char *bytes, size_t length, size_t body_max);

/** Go on with the body. @param used how many of the bytes belong to this request */
mcp__refusal mcp__request_feed(mcp__request *request, size_t *used, const char *bytes,
                               size_t length);

/** The bytes given so far will go away: copy what is needed of them. */
mcp_status mcp__request_keep(mcp__request *request);

/** The body, as far as it has come. */
const char *mcp__request_body(const mcp__request *request, size_t *length);

/** Forget the request; keep moderate memory for the next one. */
void mcp__request_reset(mcp__request *request);

#endif
