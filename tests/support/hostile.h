/*
 * hostile.h - messages of a legal size that are made to take long, and the features they are made
 * for.
 *
 * A row is a text that is written out: `begin`, then `unit` as often as it fits into `bytes`, then
 * `end`. A "#" in the unit is a number of seven digits that counts up.
 */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <stddef.h>

#include "mcp/server.h"

typedef struct hostile {
    const char *name;
    const char *begin, *unit, *end;
    size_t bytes;       /* of the units together */
    const char *answer; /* what the answer has in it; "": none is due */
} hostile;

/* Ends with a row whose name is NULL. */
extern const hostile hostile_messages[];

/* A tool, templates, a prompt and a completion that have a place for each of them. */
extern const mcp_features hostile_features;

/* The text, ending in NUL, with `bytes_max` of units at most; free() it. */
char *hostile_write(const hostile *row, size_t bytes_max, size_t *length);

#endif
