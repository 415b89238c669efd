/*
 * request.h - one request being read. Its head: found in the bytes, bounded, held against the
 * grammar, cut into fields; then its body.
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

/** What a head may have at most. */
typedef struct mcp__head_limits {
    size_t block_max; /* bytes of the whole head */
    size_t line_max;  /* bytes of the request line */
    size_t fields_max;
} mcp__head_limits;

/** How far a head that comes in pieces has been looked at. All zero: not at all. */
typedef struct mcp__head_scan {
    uint32_t line;   /* where the line begins that is not whole yet */
    uint32_t looked; /* bytes in which no further end of line is */
    uint32_t lines;  /* whole lines so far */
} mcp__head_scan;

/** Offsets from the head's first byte. */
typedef struct mcp__head_field {
    uint32_t name, name_length;
    uint32_t value, value_length; /* without the white space around it */
} mcp__head_field;

typedef struct mcp__request_head {
    char *bytes;            /* the block, borrowed; each text below ends in a NUL */
    uint32_t method_length; /* the method begins at 0 */
    uint32_t target, target_length;
    uint32_t path, path_length; /* within the target */
    uint32_t query;             /* 0: none */
    int minor;                  /* HTTP/1.0 or 1.1 */
    size_t count;
    size_t room;
    mcp__head_field *fields;
} mcp__request_head;

/** What is wrong with a request: the status to refuse it with, 0 for nothing, and words. */
typedef struct mcp__refusal {
    int status;
    const char *words;
} mcp__refusal;

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
    mcp__head_field fields[];
} mcp__request;

/* ---- the head -------------------------------------------------------------------------------- */

/**
 * Look for the end of a head.
 *
 * @param length    how many bytes there are; those before scan->looked are as they were
 * @param end       where the head ends, 0 when more bytes are needed; set when nothing is refused
 */
mcp__refusal mcp__head_find_end(size_t *end, mcp__head_scan *scan, const char *bytes, size_t length,
                                const mcp__head_limits *limits);

/** The first value of a field, NULL when there is none. The name's case does not matter. */
const char *mcp__head_value(const mcp__request_head *head, const char *name, size_t *length);

/** How often the field comes. */
size_t mcp__head_count(const mcp__request_head *head, const char *name);

/** Whether a list-valued field has the token, in any of its repetitions; case does not matter. */
bool mcp__head_has_token(const mcp__request_head *head, const char *name, const char *token);

/** Whether a method or a field's name may be so (RFC 9110 section 5.6.2). */
bool mcp__is_token(const char *text, size_t length);

/** Whether a field's value may be so: no control byte but the tab, which would end a line for some
 *  readers. */
bool mcp__is_field_value(const char *text, size_t length);

/* ---- the request ----------------------------------------------------------------------------- */

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
