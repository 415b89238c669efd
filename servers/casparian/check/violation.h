/**
 * violation.h - what can be wrong with rows, and what is known of one such thing: how many rows
 * have it, where it was first seen, and which values.
 *
 * One tally belongs to one output, column and kind of violation. It keeps up to 4,096 distinct
 * values, the first in full and the later ones as a count, within a budget that the tallies of an
 * output share. One thread at a time.
 *
 * Source: casparian's data model, 3.3 and 3.5.
 */
#ifndef CASPARIAN_CHECK_VIOLATION_H
#define CASPARIAN_CHECK_VIOLATION_H

#include <stdint.h>

#include "check/batch.h"
#include "check/redact.h"

/* clang-format off */
#define CASPARIAN_VIOLATION_MAP(X) \
    X(TYPE_MISMATCH, "type_mismatch") X(NULL_NOT_ALLOWED, "null_not_allowed") \
    X(FORMAT_MISMATCH, "format_mismatch") X(COLUMN_NAME_MISMATCH, "column_name_mismatch") \
    X(COLUMN_COUNT_MISMATCH, "column_count_mismatch")
/* clang-format on */

/** What can be wrong with a cell or a row; the order is that of the seed. */
typedef enum casparian_violation {
#define CASPARIAN_VIOLATION_VALUE(name, text) CASPARIAN_VIOLATION_##name,
    CASPARIAN_VIOLATION_MAP(CASPARIAN_VIOLATION_VALUE)
#undef CASPARIAN_VIOLATION_VALUE
        CASPARIAN_VIOLATIONS
} casparian_violation;

/** "type_mismatch", and so on. */
const char *casparian_violation_text(casparian_violation violation);

/** Distinct values of a tally, and bytes of the values of all tallies of an output. */
#define CASPARIAN_TALLY_VALUES_MAX 4096
#define CASPARIAN_TALLY_BYTES_MAX ((size_t)32 << 20)

/** Spellings of "no value". @return its number, from 0; -1: it is none */
int casparian_sentinel_of(const char *text, size_t length);

/** The spelling of a number that casparian_sentinel_of returned; NULL: there are no more. */
const char *casparian_sentinel_text(int number);

/** A value that was seen. */
typedef struct casparian_tally_value {
    const char *text; /* its text form, or what is shown of it (is_shown) */
    uint32_t length;
    bool is_shown;   /* a long or binary value: already redacted */
    bool is_literal; /* a number or time, which is not always redacted */
    uint64_t hash;
    size_t whole_length;
    int64_t count;
} casparian_tally_value;

typedef struct casparian_tally {
    int64_t count;           /* of rows */
    int64_t sentinels;       /* how many of them have a sentinel */
    uint32_t seen_sentinels; /* bit i: sentinel i */
    const char *first_file;  /* where it was first seen */
    int64_t first_row;
    casparian_tally_value *values; /* in the order of their first appearance */
    uint32_t value_count, capacity;
    uint32_t *slots; /* a hash table of 2 x capacity: index + 1; 0: free */
    int64_t others;  /* rows with values beyond those */
} casparian_tally;

/** Where the values of tallies are kept. */
typedef struct casparian_tally_store {
    mcp_arena *arena;
    size_t bytes; /* used of CASPARIAN_TALLY_BYTES_MAX */
    const casparian_redaction *redaction;
} casparian_tally_store;

/**
 * Count a row with a value.
 *
 * @param cell absent or null: the row has no value to show
 * @param file outlives the tally
 */
void casparian_tally_add(casparian_tally *self, casparian_tally_store *store,
                         const casparian_cell *cell, bool is_sensitive, const char *file,
                         int64_t row);

/** Add the figures of another tally, whose rows came later. */
void casparian_tally_merge(casparian_tally *self, casparian_tally_store *store,
                           const casparian_tally *later);

/** How much of a tally is written. */
typedef struct casparian_tally_limits {
    size_t samples, distribution;
} casparian_tally_limits;

#define CASPARIAN_DISTRIBUTION_MAX 10

/** Write members of an open object: samples and value_distribution, and where there are any
 *  sample_patterns and sentinels. */
void casparian_tally_write(const casparian_tally *self, mcp_json_writer *out,
                           const casparian_redaction *redaction, bool is_sensitive,
                           casparian_tally_limits limits);

#endif
