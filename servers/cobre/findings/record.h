/**
 * record.h - the error record that every machine interface of cobre shows for one failure:
 * {kind, message, context, suggestion}.
 *
 * A failure of a request, a run or an output directory is a record. An error or a warning about a
 * case is a finding (findings/report.h), which is written as a record too.
 *
 * Source: the errors page, sections 1.1, 2.2 and 7.
 */
#ifndef COBRE_FINDINGS_RECORD_H
#define COBRE_FINDINGS_RECORD_H

#include <stdarg.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/json.h"

/** The longest text in a record, in bytes: a path of PATH_MAX within its sentence. */
#define COBRE_RECORD_TEXT_MAX 5000

/** One member of a context: build it with COBRE_TEXT ... COBRE_NULL. */
typedef struct cobre_member {
    const char *name; /* a constant; NULL ends a list */
    /* clang-format off */
    enum { COBRE_MEMBER_NULL, COBRE_MEMBER_TEXT, COBRE_MEMBER_INT, COBRE_MEMBER_REAL,
           COBRE_MEMBER_LIST, COBRE_MEMBER_JSON } type;
    /* clang-format on */
    int64_t number;
    double real; /* NaN and infinity are written as null */
    union {
        const char *text;
        const char *const *list; /* strings, NULL at the end */
        const mcp_json *json;    /* not copied: lives as long as the record */
    };
} cobre_member;

/* clang-format off */
#define COBRE_TEXT(key, value) { .name = key, .type = COBRE_MEMBER_TEXT, .text = value }
#define COBRE_INT(key, value) { .name = key, .type = COBRE_MEMBER_INT, .number = value }
#define COBRE_REAL(key, value) { .name = key, .type = COBRE_MEMBER_REAL, .real = value }
#define COBRE_LIST(key, value) { .name = key, .type = COBRE_MEMBER_LIST, .list = value }
#define COBRE_JSON(key, value) { .name = key, .type = COBRE_MEMBER_JSON, .json = value }
#define COBRE_NULL(key) { .name = key }
#define COBRE_MEMBERS_END { .name = NULL }
/* clang-format on */
#define COBRE_MEMBERS(...) ((const cobre_member[]){ __VA_ARGS__, COBRE_MEMBERS_END })

/** A copy of a list with its texts, made UTF-8 and cut at COBRE_RECORD_TEXT_MAX bytes. NULL is an
 *  empty list. NULL when memory is out. */
const cobre_member *cobre_members_copy(mcp_arena *arena, const cobre_member *members);

/** Write the members into an object that is begun; NULL writes none. */
void cobre_members_write(const cobre_member *members, mcp_json_writer *writer);

typedef struct cobre_record {
    const char *kind;            /* "SolverFailure", ...; constant */
    const char *message;         /* names the subject and the place */
    const char *suggestion;      /* what to look at next; NULL: none */
    const cobre_member *members; /* the context, in order; NULL: empty */
} cobre_record;

/**
 * A record in an arena. Its texts are made UTF-8 and cut at COBRE_RECORD_TEXT_MAX bytes.
 *
 * @param kind, suggestion constants
 * @param members          copied with their texts
 * @param format           the message, as for printf
 * @return NULL when memory is out
 */
const cobre_record *cobre_record_new(mcp_arena *arena, const char *kind, const char *suggestion,
                                     const cobre_member *members, const char *format, ...)
    MCP_PRINTF(5, 6);

/** cobre_record_new with the arguments of the message in a va_list. */
const cobre_record *cobre_record_newv(mcp_arena *arena, const char *kind, const char *suggestion,
                                      const cobre_member *members, const char *format,
                                      va_list arguments) MCP_PRINTF(5, 0);

/** Write a record. */
void cobre_record_write(const cobre_record *record, mcp_json_writer *writer);

/**
 * Begin a record that is no cobre_record: the object, kind, message, and the object of the context.
 * After it: the members of the context, cobre_record_end, further members, mcp_write_end.
 */
void cobre_record_begin(mcp_json_writer *writer, const char *kind, const char *message);

/** End the context and write the suggestion; the record's object stays open. */
void cobre_record_end(mcp_json_writer *writer, const char *suggestion);

#endif
