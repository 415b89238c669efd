/**
 * settings.h - the settings of a plane that its transactions depend on. Read-only while it runs.
 */
#ifndef PORTARIUM_STORE_SETTINGS_H
#define PORTARIUM_STORE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/log.h"

/** Zero is the default of every field. */
typedef struct portarium_settings {
    const char *instance;      /* id of this process, the owner of its leases */
    const char *environment;   /* "dev", "test", "staging" or "prod" */
    bool compat_cancel;        /* rbac.compat_cancel: every role may cancel a run */
    bool audit_reads;          /* who is shown evidence is in the evidence */
    int commits_max;           /* commands that wait for the database; 0: 10,000 */
    int64_t idempotency_ms;    /* how long answers to keys are kept; 0: 24 h */
    int64_t assisted_grace_ms; /* the wait before an Assisted action; 0: none */
    int64_t flush_ms;          /* heartbeats are stored as often; 0: 5,000 */
    int64_t stale_ms;          /* silence after which an agent is stale; 0: 60,000 */
    int64_t offline_ms;        /* and offline; 0: 300,000 */
    bool has_engine;           /* this process performs runs; the plane sets it */
    bool has_row_security;     /* the database is PostgreSQL; the plane sets it */
    const uint8_t *seal_key;   /* 32 bytes, of secret parameters; NULL: there is none */
    mcp_log log;
    const struct portarium_shapes *shapes;       /* of bodies; the plane sets it, and the next */
    struct portarium_definitions *definitions;   /* of workflows */
    const struct portarium_executors *executors; /* NULL: none */
    struct portarium_pulses *pulses;             /* NULL: no heartbeats are taken */
    struct keys_pair *evidence_key;              /* signs checkpoints; NULL: there are none */
    struct portarium_checkpoint_file *checkpoint_file; /* where they are appended; NULL: nowhere */
    struct portarium_pump *pump;                       /* of webhooks; NULL: nothing is delivered */
    struct portarium_policies_read_once *policies;
} portarium_settings;

#endif
