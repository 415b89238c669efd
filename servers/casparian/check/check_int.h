/*
 * check_int.h - the figures of an output, which check.c counts and report.c writes.
 */
#ifndef CASPARIAN_CHECK_CHECK_INT_H
#define CASPARIAN_CHECK_CHECK_INT_H

#include "check/check.h"
#include "check/convert.h"
#include "check/profile.h"

/* What is known of a column, declared or extra. */
struct column_figures {
    const char *name;
    uint64_t hash;   /* of the name; a shape of rows is the sum of its columns' */
    int64_t dropped; /* rows that had it, in mode allow_extra */
    bool is_sensitive;
    casparian_tally tallies[CASPARIAN_VIOLATIONS];
    casparian_profile *profile; /* NULL: nothing was profiled */
};

/* Rows that have the same wrong columns. */
struct shape {
    uint64_t hash;
    int64_t rows;
    int64_t pure; /* of these, those without another fault */
};

struct figures {
    casparian_tally_store store;
    casparian_check_counts counts;
    struct column_figures *columns; /* those of the definition */
    struct column_figures **extras;
    size_t extra_count;
    struct shape *shapes;
    size_t shape_count;
    casparian_tally parser;
};

struct casparian_check {
    casparian_check_options options;
    mcp_arena *arena;
    casparian_converter *converters;
    casparian_patterns patterns;
    struct figures kept, current;
    bool is_open; /* a file is being read */
    const char *path;
    mcp_buf events;
};

#endif
