/*
 * head.h - the head of a request: found in the bytes, bounded, held against the grammar, cut into
 * fields.
 */
#ifndef NET_HTTP_HEAD_H
#define NET_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    char *
        /* the block, borrowed; each text below ends in a NUL once mcp__head_terminate was called */
        bytes;
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

/**
 * Look for the end of a head.
 *
 * @param length    how many bytes there are; those before scan->looked are as they were
 * @param end       where the head ends, 0 when more bytes are needed; set when nothing is refused
 */
mcp__refusal mcp__head_find_end(size_t *end, mcp__head_scan *scan, const char *bytes, size_t length,
                                const mcp__head_limits *limits);

/** Cut a whole head into request line and fields. Changes no byte of it. */
mcp__refusal mcp__head_cut(mcp__request_head *head, char *bytes, size_t length);

/** Put a NUL behind each text of the head. Nobody may parse it afterwards. */
void mcp__head_terminate(mcp__request_head *head);

/** The first value of a field, NULL when there is none. The name's case does not matter. */
const char *mcp__head_value(const mcp__request_head *head, const char *name, size_t *length);

/** How often the field comes. */
size_t mcp__head_count(const mcp__request_head *head, const char *name);

/** Whether a list-valued field has the token, in any of its repetitions; case does not matter. */
bool mcp__head_has_token(const mcp__request_head *head, const char *name, const char *token);

/** Whether `byte` may stand in a method or a field name (RFC 9110 section 5.6.2). */
bool mcp__is_token_byte(char byte);

#endif
