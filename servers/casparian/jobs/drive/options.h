/**
 * options.h - what a driver is made of, and why a job of it should stop (jobs/driver.h).
 */
#ifndef CASPARIAN_JOBS_DRIVE_OPTIONS_H
#define CASPARIAN_JOBS_DRIVE_OPTIONS_H

#include "check/redact.h"
#include "guard/paths.h"
#include "jobs/store.h"
#include "keys/sign.h"
#include "plugins/registry.h"

typedef struct casparian_driver casparian_driver;

/** Zero is the default of every field that is not required. All of it outlives the driver. */
typedef struct casparian_driver_options {
    casparian_store *store;       /* required */
    casparian_registry *registry; /* required */
    const guard *roots; /* where inputs and sinks of jobs may be; NULL: anywhere (the shell) */
    const casparian_redaction_settings *redaction; /* NULL: the defaults */
    const keys_pair *signing_key;                  /* of manifests; NULL: they are not signed */
    const char *program; /* of manifests; NULL: "casparian" and its version */
} casparian_driver_options;

/** Why a job that runs should stop. */
typedef enum casparian_stop {
    CASPARIAN_STOP_NONE,
    CASPARIAN_STOP_CANCELLED, /* somebody asked for it: it becomes cancelled */
    CASPARIAN_STOP_SHUTDOWN,  /* the runner ends: it goes back to the queue */
    CASPARIAN_STOP_LOST       /* another runner has it: what was made is dropped */
} casparian_stop;

#endif
