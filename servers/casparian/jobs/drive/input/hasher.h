/*
 * hasher.h - the SHA-256 of a file, made by a thread of its own while the file is parsed.
 */
#ifndef CASPARIAN_JOBS_DRIVE_INPUT_HASHER_H
#define CASPARIAN_JOBS_DRIVE_INPUT_HASHER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "keys/canonical.h"
#include "mcp/error.h"

typedef struct casparian_hasher {
    pthread_t thread;
    bool has_thread;
    int fd;              /* borrowed */
    atomic_bool is_over; /* nobody wants the hash any more */
    atomic_bool is_made; /* sha256 is written */
    mcp_status status;
    mcp_error err;
    char sha256[KEYS_HEX_SIZE];
} casparian_hasher;

/* Begin. A small file is hashed at once. */
void casparian_hasher_start(casparian_hasher *self, int fd, int64_t size);

/* Whether a thread has made the hash by now. Of a small file, which has no thread, it is false. */
bool casparian_hasher_is_ready(const casparian_hasher *self);

/* Wait for the hash, in self->sha256. The thread has ended then, whatever is returned. */
mcp_status casparian_hasher_join(casparian_hasher *self, mcp_error *err);

/* End it without a hash. */
void casparian_hasher_drop(casparian_hasher *self);

#endif
