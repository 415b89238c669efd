/**
 * report.h - what was found wrong with a case directory, one finding at a time.
 *
 * A finding carries everything a machine and a person need: the public kind, the layer that found
 * it, the file, the entity, the field, the value and the way out. A report belongs to one arena and
 * one thread. It keeps at most COBRE_FINDINGS_MAX errors and as many warnings; the counts go on,
 * and the written list then ends with a record that says how many more there are.
 *
 * Source: the errors page, sections 1.1, 2.1, 2.3 and 5.
 */
#ifndef COBRE_VALIDATE_REPORT_H
#define COBRE_VALIDATE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/json.h"

#define COBRE_FINDINGS_MAX 1000

typedef enum cobre_severity { COBRE_SEVERITY_ERROR, COBRE_SEVERITY_WARNING } cobre_severity;

/* The public validation kinds. */
#define COBRE_KIND_MAP(X)                                                                          \
    X(MISSING_FILE, "MissingFile")                                                                 \
    X(PARSE_ERROR, "ParseError")                                                                   \
    X(SCHEMA_VIOLATION, "SchemaViolation")                                                         \
    X(TYPE_MISMATCH, "TypeMismatch")                                                               \
    X(OUT_OF_RANGE, "OutOfRange")                                                                  \
    X(INVALID_ENUM, "InvalidEnum")                                                                 \
    X(DUPLICATE_ID, "DuplicateId")                                                                 \
    X(MISSING_REFERENCE, "MissingReference")                                                       \
    X(COVERAGE_MISMATCH, "CoverageMismatch")                                                       \
    X(STAGE_MISMATCH, "StageMismatch")                                                             \
    X(INCOMPATIBLE_SETTINGS, "IncompatibleSettings")                                               \
    X(PHYSICAL_CONSTRAINT, "PhysicalConstraint")                                                   \
    X(CAPACITY_VIOLATION, "CapacityViolation")                                                     \
    X(PENALTY_CONSISTENCY, "PenaltyConsistency")

typedef enum cobre_kind {
#define X(name, words) COBRE_KIND_##name,
    COBRE_KIND_MAP(X)
#undef X
} cobre_kind;

/** One further member of a finding's context: build it with COBRE_TEXT ... COBRE_NULL. */
typedef struct cobre_member {
    const char *name; /* NULL ends a list */
    /* clang-format off */
    enum { COBRE_MEMBER_NULL, COBRE_MEMBER_TEXT, COBRE_MEMBER_INT, COBRE_MEMBER_REAL,
           COBRE_MEMBER_LIST } type;
    /* clang-format on */
    const char *text;
    int64_t number;
    double real;             /* NaN and infinity are written as null */
    const char *const *list; /* strings, NULL at the end */
} cobre_member;

/* clang-format off */
#define COBRE_TEXT(name, value) { name, COBRE_MEMBER_TEXT, value, 0, 0, NULL }
#define COBRE_INT(name, value) { name, COBRE_MEMBER_INT, NULL, value, 0, NULL }
#define COBRE_REAL(name, value) { name, COBRE_MEMBER_REAL, NULL, 0, value, NULL }
#define COBRE_LIST(name, value) { name, COBRE_MEMBER_LIST, NULL, 0, 0, value }
#define COBRE_NULL(name) { name, COBRE_MEMBER_NULL, NULL, 0, 0, NULL }
/* clang-format on */
#define COBRE_MEMBERS(...)                                                                         \
    ((const cobre_member[]){ __VA_ARGS__, { NULL, COBRE_MEMBER_NULL, NULL, 0, 0, NULL } })

typedef struct cobre_finding {
    cobre_severity severity;
    cobre_kind kind;
    const char *internal_kind; /* "InvalidReference", ...; NULL: taken from `kind` */
    int layer;                 /* 1 to 5 */
    const char *file;          /* relative to the case directory, "system/hydros.json" */
    const char *noun;          /* what the entity is, "hydro"; NULL: it is about the file */
    bool has_entity_id;
    int64_t entity_id;
    const char *entity_name;     /* NULL: not known */
    int64_t row;                 /* 1-based row of a Parquet file; 0: not a row */
    const char *field;           /* "generation.max_mw"; NULL: none */
    const char *bare;            /* set by the report: the message as it was given */
    const char *message;         /* the report appends the place: " (hydro 3 'NAME' in FILE)" */
    const char *suggestion;      /* NULL: none */
    const cobre_member *members; /* further context, in order; NULL: none */
} cobre_finding;

typedef struct cobre_report cobre_report;

/** A new, empty report; it lives in the arena. NULL when memory is out. */
cobre_report *cobre_report_new(mcp_arena *arena);

/**
 * Add a finding. Everything in it is copied. When memory is out the report remembers that
 * (cobre_report_status) and still counts the finding.
 */
void cobre_report_add(cobre_report *report, const cobre_finding *finding);

/**
 * printf into one of the report's own four buffers, for the messages and suggestions that are
 * about to be added: valid until the fourth call after this one. Cut where it is too long, at a
 * character. So a file with a million bad rows costs no more memory than the findings kept.
 */
const char *cobre_report_text(cobre_report *report, const char *format, ...) MCP_PRINTF(2, 3);

/** MCP_OK, or MCP_E_NOMEM when a finding could not be kept. */
mcp_status cobre_report_status(const cobre_report *report);

/** Remember that memory ran out in a check, so that a clean report is no answer. */
void cobre_report_out_of_memory(cobre_report *report);

/** Put the findings in order: lowest layer, then file, then entity, then as found. */
void cobre_report_sort(cobre_report *report);

/** How many findings of a severity there were, kept or not. */
size_t cobre_report_count(const cobre_report *report, cobre_severity severity);

/** The i-th kept finding of a severity; NULL beyond the last. Borrowed. */
const cobre_finding *cobre_report_finding(const cobre_report *report, cobre_severity severity,
                                          size_t index);

/** What validation did; filled by cobre_case_load (errors page, section 5). */
typedef struct cobre_coverage {
    int layers_completed;
    int64_t files_checked;
    int64_t entities_validated;
} cobre_coverage;

const cobre_coverage *cobre_report_coverage(const cobre_report *report);
void cobre_report_set_coverage(cobre_report *report, const cobre_coverage *coverage);

/** "MissingFile", ... */
const char *cobre_kind_name(cobre_kind kind);

/** Write one finding as an error record: {kind, message, context, suggestion}. */
void cobre_finding_write(const cobre_finding *finding, mcp_json_writer *writer);

/** Write all findings of a severity as an array of error records. */
void cobre_report_write(const cobre_report *report, cobre_severity severity,
                        mcp_json_writer *writer);

/** Write {files_checked, entities_validated, layers_completed, error_count, warning_count}. */
void cobre_report_write_summary(const cobre_report *report, mcp_json_writer *writer);

/** Write the members of cobre/validate's result: valid, errors, warnings, summary. */
void cobre_report_write_verdict(const cobre_report *report, mcp_json_writer *writer);

/** Write the record of the first error, with one more member `errors` that lists all of them. */
void cobre_report_write_failure(const cobre_report *report, mcp_json_writer *writer);

/** Write members of a context into an object that is begun; NULL writes none. */
void cobre_members_write(const cobre_member *members, mcp_json_writer *writer);

/** One line for people: "[Kind] file (entity): message"; the arena's, NULL when memory is out. */
const char *cobre_finding_line(const cobre_finding *finding, mcp_arena *arena);

#endif
