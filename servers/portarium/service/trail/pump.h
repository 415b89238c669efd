/**
 * pump.h - delivers events to webhooks: at least once each, in their order.
 *
 * A delivery is a POST of the event, a CloudEvents document, with
 *
 *     webhook-id: the event's id
 *     webhook-timestamp: seconds since 1970
 *     webhook-signature: v1=HEX, the HMAC-SHA256 of "ID.TIMESTAMP.BODY" under the whole secret
 *
 * An answer of 2xx within 10 seconds is taken as received. Anything else is repeated: after a
 * second, then twice as long each time, at most five minutes. One replica at a time delivers to a
 * webhook. Events that the outbox has dropped meanwhile are passed over.
 */
#ifndef PORTARIUM_SERVICE_TRAIL_PUMP_H
#define PORTARIUM_SERVICE_TRAIL_PUMP_H

#include "db/db.h"
#include "mcp/arena.h"
#include "model/fields.h"
#include "store/settings.h"

/** Any thread. */
typedef struct portarium_pump portarium_pump;

typedef struct portarium_pump_options {
    const char *const *egress; /* hosts that webhooks may be at (kit/fetch/egress.h); copied */
    size_t egress_count;
    const char *ca_file; /* PEM certificates to trust; NULL: the system's */
    int64_t retry_ms;    /* the first delay; 0: 1,000 */
} portarium_pump_options;

/** Start it. @param out yours, end it with portarium_pump_free */
mcp_status portarium_pump_new(portarium_pump **out, db *database,
                              const portarium_settings *settings,
                              const portarium_pump_options *options, mcp_error *err);

/** Stop; a delivery under way is given up, and comes again. NULL is fine. */
void portarium_pump_free(portarium_pump *self);

/** There are events. Never blocks. NULL is fine. */
void portarium_pump_wake(portarium_pump *self);

/** Judge the address of a new webhook: it must be on the list. @param self NULL: none is. */
mcp_status portarium_pump_judge(const portarium_pump *self, const char *url,
                                portarium_fields *fields, mcp_error *err);

/** The name that the secret of a webhook is sealed with. In the arena. @return NULL: no memory */
const char *portarium_webhook_secret_name(mcp_arena *arena, const char *workspace, const char *id);

#endif
