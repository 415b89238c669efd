/**
 * report.h - the errors and warnings about one case directory.
 *
 * A finding holds the public kind, the layer that found it, the file, the entity, the field, the
 * value and a suggestion. A report belongs to one arena and one thread. It keeps at most
 * COBRE_FINDINGS_MAX errors and as many warnings. Further findings are counted, and the written
 * list ends with a record that gives their number.
 *
 * Source: the errors page, sections 1.1, 2.1, 2.3 and 5.
 */
#ifndef COBRE_FINDINGS_REPORT_H
#define COBRE_FINDINGS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/json.h"

#include "findings/record.h"

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

typedef struct cobre_finding {
    cobre_severity severity;
    cobre_kind kind;
    const char *internal_kind; /* "InvalidReference", ...; NULL: taken from `kind` */
    int layer;                 /* 1 to 5 */
    const char *file;          /* relative to the case directory, "system/hydros.json" */
    const char *noun; /* the word for the entity, "hydro"; NULL: the finding is about the file */
    bool has_entity_id;
    int64_t entity_id;
    const char *entity_name;     /* NULL: not known */
    int64_t row;                 /* 1-based row of a Parquet file; 0: not a row */
    const char *field;           /* "generation.max_mw"; NULL: none */
    const char *bare;            /* set by the report: the message without the place */
    const char *message;         /* the report appends the place: " (hydro 3 'NAME' in FILE)" */
    const char *suggestion;      /* NULL: none */
    const cobre_member *members; /* further context, in order; NULL: none */
} cobre_finding;

typedef struct cobre_report cobre_report;

/** A new, empty report, owned by the arena. NULL when memory is out. */
cobre_report *cobre_report_new(mcp_arena *arena);

/**
 * Add a finding; its texts are copied. When memory is out, the finding is still counted and
 * cobre_report_status returns MCP_E_NOMEM.
 */
void cobre_report_add(cobre_report *report, const cobre_finding *finding);

/**
 * printf into one of the report's four buffers, for the message or suggestion of the next finding:
 * valid until the fourth call after this one. A longer text is cut at a character. So a file with a
 * million bad rows costs no more memory than the findings kept.
 */
const char *cobre_report_text(cobre_report *report, const char *format, ...) MCP_PRINTF(2, 3);

/** MCP_OK, or MCP_E_NOMEM when a finding could not be kept. */
mcp_status cobre_report_status(const cobre_report *report);

/** Set the status to MCP_E_NOMEM: a check ran out of memory, so the report is incomplete. */
void cobre_report_out_of_memory(cobre_report *report);

/** Sort the findings by layer, file, entity and order of discovery. */
void cobre_report_sort(cobre_report *report);

/** The number of findings of a severity, kept or not. */
size_t cobre_report_count(const cobre_report *report, cobre_severity severity);

/** The i-th kept finding of a severity; NULL beyond the last. Borrowed. */
const cobre_finding *cobre_report_finding(const cobre_report *report, cobre_severity severity,
                                          size_t index);

/** The extent of a validation; set by cobre_case_load (errors page, section 5). */
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

/** One line for people: "[Kind] file (entity): message"; the arena's, NULL when memory is out. */
const char *cobre_finding_line(const cobre_finding *finding, mcp_arena *arena);

#endif
