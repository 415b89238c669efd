/**
 * profile.h - which types and formats the values of a column would fit, of all that are considered
 * for a suggested fix.
 *
 * A profile only counts, so the profiles of two files are added. It counts what a change of type
 * would win and lose: cells that fail now and would fit, rows that have no other fault, and cells
 * that are right now and would fail.
 *
 * Source: casparian's data model, 4 and 5.3.
 */
#ifndef CASPARIAN_CHECK_PROFILE_H
#define CASPARIAN_CHECK_PROFILE_H

#include "check/batch.h"
#include "schema/layout.h"
#include "schema/lexical.h"

/** Patterns of dates, and of timestamps with and without a zone, in the order of preference. */
enum { CASPARIAN_DATE_FORMATS = 14, CASPARIAN_FORMATS = CASPARIAN_DATE_FORMATS + 12 };

/** What a value may be. The numbers below CASPARIAN_FORMATS are patterns. The order of preference
 *  is that of CASPARIAN_CANDIDATES. */
typedef enum casparian_candidate {
    CASPARIAN_FITS_BOOLEAN = CASPARIAN_FORMATS,
    CASPARIAN_FITS_INT64,
    CASPARIAN_FITS_DECIMAL,
    CASPARIAN_FITS_FLOAT64,
    CASPARIAN_FITS_TIME,
    CASPARIAN_FITS_DURATION,
    CASPARIAN_FITS_BINARY,
    CASPARIAN_FITS_STRING,
    CASPARIAN_CANDIDATES
} casparian_candidate;

/** The compiled patterns: immutable, any thread. */
typedef struct casparian_patterns {
    struct {
        const char *text;
        casparian_temporal kind;
        size_t digits; /* each value must have so many bytes, and no value another number; 0: any */
        const casparian_format *format;
        casparian_layout layout;
    } items[CASPARIAN_FORMATS];
    uint32_t of_marks[256]; /* bit i: pattern i may match texts with such characters */
} casparian_patterns;

/** Compile them. @return MCP_OK; MCP_E_NOMEM */
mcp_status casparian_patterns_compile(casparian_patterns *out, mcp_arena *arena, mcp_error *err);

/** What one candidate would do. */
typedef struct casparian_fits {
    int64_t fits;   /* cells that are no sentinels and fit */
    int64_t won;    /* cells that fail now and would fit */
    int64_t healed; /* of these, those of rows without another fault */
    int64_t kept;   /* cells that are right now and would fit */
} casparian_fits;

typedef struct casparian_profile {
    int64_t cells; /* with a value; an empty text is one in a string column only */
    int64_t sentinels;
    int64_t failing; /* cells that fail now */
    size_t whole;    /* most digits before and behind the point of numbers */
    size_t fraction;
    size_t shortest, longest; /* texts, sentinels apart; 0: there were none */
    uint32_t kinds;           /* bit k: a cell of casparian_kind k */
    casparian_fits of[CASPARIAN_CANDIDATES];
} casparian_profile;

/** What is known of a cell before it is profiled. */
typedef enum casparian_standing {
    CASPARIAN_STANDS,      /* it is right */
    CASPARIAN_FAILS,       /* it is wrong, and so is something else in the row */
    CASPARIAN_FAILS_ALONE, /* it is wrong, and nothing else in the row */
} casparian_standing;

/** Count a value. @param cell not null */
void casparian_profile_add(casparian_profile *self, const casparian_patterns *patterns,
                           const casparian_cell *cell, casparian_standing standing);

/** Add another profile. */
void casparian_profile_merge(casparian_profile *self, const casparian_profile *other);

/** Cells that are right now and would fail. */
int64_t casparian_profile_lost(const casparian_profile *self, casparian_candidate candidate);

/** Whether every value that is no sentinel fits, and there are some. */
bool casparian_profile_all(const casparian_profile *self, const casparian_patterns *patterns,
                           casparian_candidate candidate);

#endif
