/**
 * offer.h - actions that agents fetch: the binding "pull" of an adapter.
 *
 * Such an action becomes a work item, which agents with its capability see. An agent claims it by a
 * lease of the action, renews the lease while it works, and completes or fails the attempt. When a
 * lease ends without a word, the attempt is lost, as one of a process that died (attempt.h).
 */
#ifndef PORTARIUM_ENGINE_OFFER_H
#define PORTARIUM_ENGINE_OFFER_H

#include "engine/run.h"

enum { PORTARIUM_CLAIM_MS = 60000 };

/** Whether the adapter's actions are offered. */
bool portarium_is_offered(const portarium_record *adapter);

/** The capability that an agent needs for an action. */
const char *portarium_offer_capability(const portarium_action *definition);

/** Begin an attempt and offer it. An offer of an earlier attempt is closed. */
mcp_status portarium_offer(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                           const portarium_record *adapter, const mcp_json *input, mcp_error *err);

/** Nobody may claim a work item any more: it is Resolved or Closed. */
mcp_status portarium_offer_end(portarium_tx *tx, const char *item,
                               portarium_work_item_status status, mcp_error *err);

#endif
