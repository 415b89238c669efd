/*
 * bus_reader.h - a reader of a bus without a socket: it takes an event when the test says so.
 *
 * It behaves as a stream of the library does: it holds a few events, says that it is full, tells
 * when it has drained, and tells once that it is closed.
 */
#ifndef TESTS_BUS_READER_H
#define TESTS_BUS_READER_H

#include "bus/bus.h"

typedef struct bus_reader bus_reader;

/* What was taken. */
typedef struct bus_taken {
    int64_t id; /* -1: it has none */
    char name[32];
    char data[128];
} bus_taken;

/* Follow a topic, with room for `window` events; a failure ends the test. */
bus_reader *bus_reader_new(bus *bus, const char *topic, const bus_subscription *how, int window);

/* The same, but the bus may refuse: then NULL, and `status` says why. */
bus_reader *bus_reader_try(bus *bus, const char *topic, const bus_subscription *how, int window,
                           mcp_status *status);

/* Take the next event if there is one. */
bool bus_reader_take(bus_reader *reader, bus_taken *out);

/* Take the next event, waiting for it; a minute without one ends the test. */
void bus_reader_next(bus_reader *reader, bus_taken *out);

/* Whether the bus has closed it and all was taken. Waits for it where `waits`. */
bool bus_reader_is_over(bus_reader *reader, bool waits);

/* How many events wait. */
int bus_reader_waiting(bus_reader *reader);

/* Unsubscribe; the reader is freed once the bus has released it. */
void bus_reader_end(bus_reader *reader);

#endif
