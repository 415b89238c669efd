/**
 * pulse.h - heartbeats of agents and machines, and what follows from their absence.
 *
 * A heartbeat is kept in memory and stored at most once in the flush time for each sender, so it
 * costs no transaction. Stored ones show all replicas who is there. A change of status is an event,
 * AgentStatusChanged, when it is stored. A sender that has been silent for the offline time is
 * noted once, with the event AgentWentOffline, by whichever replica sees it first.
 */
#ifndef PORTARIUM_SERVICE_FLEET_PULSE_H
#define PORTARIUM_SERVICE_FLEET_PULSE_H

#include "store/committer.h"
#include "store/record.h"

enum {
    PORTARIUM_HEARTBEAT_INTERVAL_S = 30, /* what senders are asked for */
    PORTARIUM_FLUSH_MS = 5000,
    PORTARIUM_STALE_MS = 2 * PORTARIUM_HEARTBEAT_INTERVAL_S * 1000,
    PORTARIUM_OFFLINE_MS = 300000
};

/** The kinds of senders, as the table `heartbeats` and events name them. */
#define PORTARIUM_KIND_AGENT "agent"
#define PORTARIUM_KIND_MACHINE "machine"

/** Heartbeats of one plane. Any thread. */
typedef struct portarium_pulses portarium_pulses;

/** Start the thread that stores them. @param out yours, end it with portarium_pulses_free */
mcp_status portarium_pulses_new(portarium_pulses **out, portarium_committer *committer,
                                const portarium_settings *settings, mcp_error *err);

/** Store what is left, and end. NULL is fine. */
void portarium_pulses_free(portarium_pulses *self);

/** What was last heard of a sender. */
typedef struct portarium_pulse {
    int64_t at_ms; /* 0: never */
    portarium_heartbeat status;
} portarium_pulse;

/**
 * Take a heartbeat.
 *
 * @param body of the heartbeat; copied
 * @return MCP_OK; MCP_E_LIMIT: there are too many senders; MCP_E_NOMEM
 */
mcp_status portarium_pulse_beat(portarium_pulses *self, const char *workspace, const char *kind,
                                const char *id, const portarium_pulse *pulse, const mcp_json *body,
                                mcp_error *err);

/** Read what was last heard of a sender, by this replica or another. */
mcp_status portarium_pulse_read(portarium_pulse *out, portarium_tx *tx, const char *kind,
                                const char *id, mcp_error *err);

/** "online", "stale", "offline", "draining" or "never-seen". */
const char *portarium_pulse_liveness(const portarium_pulse *pulse, const portarium_tx *tx);

#endif
