/*
 * record.h - what the database holds of a universe besides its state, and what an entry of the log
 * changed.
 */
#ifndef UNIVERSE_RECORD_H
#define UNIVERSE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

enum {
    UNIVERSE_KEY_MAX = 128,    /* bytes of a universe's id */
    UNIVERSE_TITLE_MAX = 1024, /* bytes of its name */
    UNIVERSE_LIST_MAX = 1000   /* records at once */
};

/** A universe without its state. Strings are the arena's. */
typedef struct universe_record {
    const char *id;
    const char *name;
    int64_t version; /* 0 at creation, one more with each accepted change */
    double time;     /* seconds of simulation */
    int64_t bodies;
    int64_t created_ms; /* wall clock */
    int64_t updated_ms;
    int64_t bytes; /* of the state's JSON, about; -1: not known */
} universe_record;

/** Entities that one or several entries of the log changed. */
typedef struct universe_changes {
    bool everything; /* the log does not reach back, or the whole was replaced: fetch the state */
    bool roots, root_groups;
    const universe_touch *touches; /* each entity once, as it ended; the arena's */
    size_t count;
} universe_changes;

#endif
