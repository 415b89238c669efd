/**
 * fleet.h - what the operations of machines and of agents share.
 */
#ifndef PORTARIUM_SERVICE_FLEET_FLEET_H
#define PORTARIUM_SERVICE_FLEET_FLEET_H

#include "service/fleet/pulse.h"
#include "service/operation.h"

/** Write a member that is an array of texts. */
void portarium_write_texts(mcp_json_writer *json, const char *name, const char *const *texts,
                           size_t count);

/** Write the members liveness, lastHeartbeatAtIso and status. */
void portarium_write_pulse(mcp_json_writer *json, const portarium_pulse *pulse,
                           const char *liveness);

/** Take a heartbeat and answer. @param id_member "agentId" or "machineId" */
mcp_status portarium_take_heartbeat(portarium_tx *tx, const portarium_request *request,
                                    portarium_reply *reply, const char *kind, const char *id_member,
                                    const char *id, mcp_error *err);

/** Whether a machine is active. */
bool portarium_is_active(const portarium_record *machine);

#endif
