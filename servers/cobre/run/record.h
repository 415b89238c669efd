/**
 * record.h - the error record that every machine interface of cobre shows for one failure.
 *
 * What is wrong with a case is a finding (validate/report.h); what goes wrong with a request, a run
 * or an output directory is a record. On the wire both are {kind, message, context, suggestion}.
 *
 * Source: the errors page, sections 1.1, 2.2 and 7.
 */
#ifndef COBRE_RUN_RECORD_H
#define COBRE_RUN_RECORD_H

#include "mcp/arena.h"
#include "mcp/json.h"

#include "validate/report.h"

/** The longest text in a record, in bytes: a path of PATH_MAX within its sentence. */
#define COBRE_RECORD_TEXT_MAX 5000

typedef struct cobre_record {
    const char *kind;            /* "SolverFailure", ...; constant */
    const char *message;         /* names the thing and the place */
    const char *suggestion;      /* what to look at next; NULL: none */
    const cobre_member *members; /* the context, in order */
} cobre_record;

/**
 * A record in an arena. Its texts are made UTF-8 and cut at COBRE_RECORD_TEXT_MAX bytes.
 *
 * @param kind, suggestion constants
 * @param members          copied with their texts; names are constants
 * @param format           the message, as printf has it
 * @return NULL when memory is out
 */
const cobre_record *cobre_record_new(mcp_arena *arena, const char *kind, const char *suggestion,
                                     const cobre_member *members, const char *format, ...)
    MCP_PRINTF(5, 6);

/** Write {kind, message, context, suggestion}. */
void cobre_record_write(const cobre_record *record, mcp_json_writer *writer);

#endif
