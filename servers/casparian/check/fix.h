/**
 * fix.h - the change of a schema that is suggested for a violation, by fixed rules.
 *
 * A change is suggested only where the profile shows that it does not make more rows invalid. All
 * suggestions of an output can be applied together. Every function is pure; any thread.
 *
 * Source: casparian's data model, 4 (rules N1 to S2b).
 */
#ifndef CASPARIAN_CHECK_FIX_H
#define CASPARIAN_CHECK_FIX_H

#include "check/profile.h"
#include "check/violation.h"
#include "schema/definition.h"

typedef enum casparian_action {
    CASPARIAN_NO_FIX,
    CASPARIAN_CHANGE_TYPE,
    CASPARIAN_MAKE_NULLABLE,
    CASPARIAN_CHANGE_FORMAT,
    CASPARIAN_ADD_COLUMN,
    CASPARIAN_REMOVE_COLUMN,
} casparian_action;

/** A suggestion. Texts are constants, or borrowed from the fault. */
typedef struct casparian_fix {
    casparian_action action;
    casparian_type from, to; /* of CHANGE_TYPE, and `to` of ADD_COLUMN */
    const char *pattern;     /* of CHANGE_FORMAT, and of CHANGE_TYPE to a formatted type; or NULL */
    const char *alternatives[CASPARIAN_FORMATS]; /* of CHANGE_FORMAT */
    size_t alternative_count;
    const char *name; /* of ADD_COLUMN and REMOVE_COLUMN */
    char hint[256];   /* one sentence; "": none */
} casparian_fix;

/** A violation of a column, and what is known. */
typedef struct casparian_fault {
    casparian_violation violation;
    const char *name;
    const casparian_column *column;   /* as declared; NULL: an extra column */
    const casparian_profile *profile; /* NULL: there is none, and no change of type is suggested */
    const casparian_patterns *patterns;
    int64_t rows;  /* of the output */
    int64_t count; /* offending rows */
    int64_t sentinels;
    bool has_type_mismatch;   /* the column has these too, so one fix must serve both */
    bool must_not_lose;       /* no cell that is right may become wrong */
    bool is_structural_fixed; /* the columns of rows are changed: add and remove are suggested */
    const char *renamed;      /* of a missing column: the one extra column that looks like it */
} casparian_fault;

void casparian_fix_choose(casparian_fix *out, const casparian_fault *fault);

/**
 * The type that takes every value of a column that is not declared.
 *
 * @param profile NULL: the values are not known
 * @return false: no type does
 */
bool casparian_fix_type_of(casparian_type *out, const casparian_profile *profile,
                           const casparian_patterns *patterns);

/** Write members of an open object: suggested_fix and hint, those that there are. */
void casparian_fix_write(const casparian_fix *self, mcp_json_writer *out);

/** Whether two names are equal without case and underscores, or two edits apart at most. */
bool casparian_names_look_alike(const char *a, const char *b);

#endif
