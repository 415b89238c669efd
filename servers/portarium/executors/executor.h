/**
 * executor.h - how an action of a run reaches the system that it changes.
 *
 * An executor performs one attempt: it blocks until the system has answered or the deadline has
 * passed. The engine has stored the attempt before, and stores its outcome afterwards, so an
 * executor knows neither the database nor the run. It never repeats by itself.
 *
 * The binding of an adapter registration says which executor performs its operations:
 * {"kind": "http", ...} (spec 11.3).
 */
#ifndef PORTARIUM_EXECUTORS_EXECUTOR_H
#define PORTARIUM_EXECUTORS_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "model/identity.h"
#include "model/vocabulary.h"

/** A credential that the workspace stores itself. */
typedef struct portarium_stored_credential {
    const char *name;  /* NULL: none */
    const char *value; /* NULL: it was sealed with another key */
} portarium_stored_credential;

/** What an attempt may name: of its binding, of its adapter and of its machine. */
enum { PORTARIUM_STORED_NAMES = 3 };

/** What is to be done. Everything is borrowed. */
typedef struct portarium_attempt {
    const char *workspace, *run_id, *action_id;
    const char *operation;   /* "ticket:write" */
    const char *key;         /* idempotency key, the same for each attempt */
    int attempt;             /* from 1 */
    const mcp_json *input;   /* as approved; NULL: none */
    const mcp_json *binding; /* of the adapter registration */
    const mcp_json *machine; /* of such a binding: endpointUrl, auth, credential; NULL: none */
    const mcp_json *egress;  /* array of addresses that the adapter may reach; NULL: none */
    const char *provider;    /* providerSlug, which names the credential */
    portarium_stored_credential stored[PORTARIUM_STORED_NAMES];
    const char *correlation_id;
    portarium_trace trace;
    int64_t deadline_mono_ms;
} portarium_attempt;

/** How it ended. */
typedef enum portarium_outcome {
    PORTARIUM_OUTCOME_DONE,   /* the system has confirmed it */
    PORTARIUM_OUTCOME_FAILED, /* it certainly did not happen, or the system has refused it */
    PORTARIUM_OUTCOME_UNKNOWN /* it may have happened: sent, and no answer */
} portarium_outcome;

/** The result of an attempt. Values in the arena. */
typedef struct portarium_result {
    portarium_outcome outcome;
    const mcp_json *output;            /* DONE: may be NULL; FAILED: only for executors */
    portarium_error_class error_class; /* otherwise */
    char message[240];                 /* for people; without credentials */
    int64_t retry_after_ms;            /* the system has asked for this delay; 0: it has not */
} portarium_result;

/** Whether the attempt should stop: the run was cancelled, or the plane shuts down. */
typedef struct portarium_stop {
    bool (*is_set)(void *data);
    void *data;
} portarium_stop;

/** Performs attempts of one kind. */
typedef struct portarium_executor {
    const char *kind; /* of the binding: "http" */
    /**
     * Perform one attempt. Blocks, at most until the deadline. Any thread, several at once.
     *
     * @param arena for the result
     * @param data  of the registry
     */
    void (*perform)(portarium_result *out, const portarium_attempt *attempt,
                    const portarium_stop *stop, mcp_arena *arena, void *data);
    /**
     * Check a binding when its registration is stored.
     *
     * @return MCP_OK; MCP_E_SCHEMA: names the member; MCP_E_DENIED: a name that the host's
     *         configuration does not have
     */
    mcp_status (*check)(const mcp_json *binding, void *data, mcp_error *err);
    /** Whether an attempt may be repeated after its outcome was lost: the system knows the key. */
    bool (*is_idempotent)(const mcp_json *binding);
} portarium_executor;

enum { PORTARIUM_EXECUTORS_MAX = 8 };

/** The executors of a program, each with its data. */
typedef struct portarium_executors {
    struct {
        const portarium_executor *executor;
        void *data;
    } items[PORTARIUM_EXECUTORS_MAX];
    size_t count;
} portarium_executors;

/** The executor of a binding; NULL: there is none of that kind. */
const portarium_executor *portarium_executor_find(const portarium_executors *all,
                                                  const mcp_json *binding, void **data);

#endif
