/**
 * fields.h - read members of JSON objects into C structs, by tables.
 *
 * A table row has a member's name, its type and rules, and its place in the struct; one function
 * applies the table. Reading a file ends at its first problem: the problem is reported, `failed` is
 * set, and every further call on the reader does nothing, so readers need no branch per member.
 */
#ifndef COBRE_CASE_FIELDS_H
#define COBRE_CASE_FIELDS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/json.h"

#include "findings/report.h"

/** The value of an absent integer member; an absent real is NAN, an absent text NULL. */
#define COBRE_ABSENT INT64_MIN

typedef enum cobre_field_type {
    COBRE_FIELD_BOOL,   /* bool */
    COBRE_FIELD_INT32,  /* int64_t */
    COBRE_FIELD_UINT32, /* int64_t */
    COBRE_FIELD_INT64,  /* int64_t */
    COBRE_FIELD_REAL,   /* double */
    COBRE_FIELD_TEXT,   /* const char * */
    COBRE_FIELD_CHOICE, /* int64_t: index into `choices` */
    COBRE_FIELD_DATE,   /* cobre_date */
    COBRE_FIELD_ARRAY,  /* const mcp_json * */
    COBRE_FIELD_OBJECT, /* const mcp_json * */
    COBRE_FIELD_ANY     /* const mcp_json * */
} cobre_field_type;

/** No solver takes a larger number. A real member is refused beyond it, but for COBRE_UNBOUNDED. */
#define COBRE_NUMBER_MAX 1e20
#define COBRE_NUMBER_RULE "must lie between -1e20 and 1e20"

/** The registry whose ids a member holds. */
typedef enum cobre_registry {
    COBRE_NO_REGISTRY,
    COBRE_BUSES,
    COBRE_LINES,
    COBRE_HYDROS,
    COBRE_THERMALS,
    COBRE_SOURCES,  /* non-controllable */
    COBRE_STATIONS, /* pumping */
    COBRE_CONTRACTS,
    COBRE_CONSTRAINTS,
    COBRE_STUDY_STAGES,
    COBRE_REGISTRY_COUNT
} cobre_registry;

/** The file that defines a registry ("system/buses.json") and its word for one entry ("bus"). */
const char *cobre_registry_file(cobre_registry registry);
const char *cobre_registry_noun(cobre_registry registry);

enum {
    COBRE_REQUIRED = 1,
    COBRE_NULLABLE = 2, /* null counts as absent */
    COBRE_NOT_NEGATIVE = 4,
    COBRE_POSITIVE = 8,
    COBRE_AT_MOST_ONE = 16,
    COBRE_WITHIN = 32,    /* required where the object around it is there */
    COBRE_UNBOUNDED = 64, /* a real of any size: an upper limit, of which a large one is none */
    COBRE_OPTIONAL = COBRE_NULLABLE
};

typedef struct cobre_field {
    const char *path; /* "generation.max_mw": a dot enters an object */
    cobre_field_type type;
    unsigned flags;
    size_t offset; /* in the record */
    double preset; /* the value when absent; without `has_preset` see COBRE_ABSENT */
    bool has_preset;
    cobre_registry refers;
    const char *const *choices; /* NULL at the end */
} cobre_field;

/* Rows of a field table: plain; with a preset; an id of another registry; one of some words. */
/* clang-format off */
#define COBRE_F(record, path, type, flags, member)                                                 \
    { path, COBRE_FIELD_##type, flags, offsetof(record, member), 0, false, COBRE_NO_REGISTRY, NULL }
#define COBRE_P(record, path, type, flags, member, preset)                                         \
    { path, COBRE_FIELD_##type, flags, offsetof(record, member), preset, true,                     \
      COBRE_NO_REGISTRY, NULL }
#define COBRE_R(record, path, flags, member, registry)                                             \
    { path, COBRE_FIELD_INT32, flags, offsetof(record, member), 0, false, registry, NULL }
#define COBRE_C(record, path, flags, member, choices, preset)                                      \
    { path, COBRE_FIELD_CHOICE, flags, offsetof(record, member), preset, (preset) >= 0,            \
      COBRE_NO_REGISTRY, choices }
#define COBRE_FIELDS_END { NULL, COBRE_FIELD_ANY, 0, 0, 0, false, COBRE_NO_REGISTRY, NULL }
/* clang-format on */

typedef struct cobre_date {
    const char *text; /* NULL: absent */
    int32_t day;      /* since 1970-01-01 */
} cobre_date;

/** One file being read. `noun`, `id` and `name` are those of the current entity. */
typedef struct cobre_reader {
    cobre_report *report;
    mcp_arena *arena;
    const char *file;
    bool failed;       /* a problem was reported; or see `status` */
    mcp_status status; /* MCP_OK or MCP_E_NOMEM */
    const char *noun;
    bool has_id;
    int64_t id;
    const char *name;
    int64_t row; /* of a Parquet file, 1-based; 0: none */
} cobre_reader;

/**
 * Read the members that `fields` (path NULL at the end) lists.
 *
 * @param prefix the object's name in findings, "training.stopping_rules[2]."; "" for none
 * @param record every listed member is set, to its preset where the file has none
 */
void cobre_read_fields(cobre_reader *reader, const mcp_json *object, const char *prefix,
                       const cobre_field *fields, void *record);

/** Set the current entity, for the findings that follow; noun NULL: none. */
void cobre_reader_entity(cobre_reader *reader, const char *noun, const mcp_json *object);

/** Memory for `count` records; NULL sets `failed` and `status`. */
void *cobre_reader_array(cobre_reader *reader, size_t count, size_t size);

/** False, reported, unless the value is an object. */
bool cobre_reader_is_object(cobre_reader *reader, const mcp_json *value, const char *path);

/** The array of a file's only key; NULL, reported, when it is absent. */
const mcp_json *cobre_reader_root(cobre_reader *reader, const mcp_json *root, const char *key);

/**
 * The numbers of an array; anything else in it is reported.
 *
 * @return the arena's; NULL when the reader failed
 */
double *cobre_reader_numbers(cobre_reader *reader, const mcp_json *array, const char *path);

/* ---- the problems ---------------------------------------------------------------------------- */

void cobre_reader_missing(cobre_reader *reader, const char *path);
void cobre_reader_type(cobre_reader *reader, const char *path, const char *expected,
                       const mcp_json *value);

/** min -INFINITY, max INFINITY: none; `rule` is the rule in words: "must be > 0". */
void cobre_reader_range(cobre_reader *reader, const char *path, double value, double min,
                        double max, const char *rule);
void cobre_reader_enum(cobre_reader *reader, const char *path, const char *value,
                       const char *const *choices);
void cobre_reader_duplicate(cobre_reader *reader, const char *path, int64_t id,
                            const char *registry);

/** Any other problem: SchemaViolation with the expected and the actual value. */
void cobre_reader_violation(cobre_reader *reader, const char *path, const char *expected,
                            const char *actual, const char *suggestion);

/** A finding of layer 2 at the reader's current place. */
cobre_finding cobre_reader_finding(const cobre_reader *reader, cobre_kind kind, const char *path);

#endif
