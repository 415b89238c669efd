/**
 * actor.h - the principal of a request: its subject, and what its token allows.
 */
#ifndef PORTARIUM_STORE_ACTOR_H
#define PORTARIUM_STORE_ACTOR_H

#include <stdint.h>

#include "model/roles.h"

/** A principal. Strings are borrowed. */
typedef struct portarium_actor {
    const char *subject;   /* the user's id; "system:NAME" for the plane itself */
    const char *workspace; /* of the token; NULL: every workspace (the operator of this machine) */
    portarium_roles roles;
    const char *agent_id;   /* the token is an agent's; NULL: a person's */
    const char *machine_id; /* the token is bound to a machine; NULL: it is not */
    const char *owner;      /* the person that an agent's token belongs to; NULL: none */
    const char *tier;       /* execution tier of the token; NULL: not given */
    const char *token_id;   /* of an API token; NULL: none */
    int64_t expires_ms;     /* wall clock: when the token expires; 0: never, or not known */
    const char *token_hash; /* an API token's SHA-256, read again by each command; NULL: none */
} portarium_actor;

#endif
