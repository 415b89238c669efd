/*
 * hostile.h - what a plugin must not get away with, for the tests of the sandbox.
 *
 * Each attempt writes how it ended into `report`, as in "socket: Operation not permitted". What
 * would harm a machine without a sandbox is bounded here too: 500 processes or threads that end by
 * themselves after a minute, 4 GiB of memory, 1 GiB of scratch.
 */
#ifndef CASPARIAN_PARSERS_FIXTURE_NATIVE_HOSTILE_H
#define CASPARIAN_PARSERS_FIXTURE_NATIVE_HOSTILE_H

#include <stddef.h>

typedef void casparian_attempt(char *report, size_t size);

/** The attempt of that mode of the fixture, or NULL. */
casparian_attempt *casparian_hostile_find(const char *mode);

#endif
