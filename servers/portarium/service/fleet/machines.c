/*
 * machines.c - machines: the endpoints on which agents run.
 */
#include <string.h>

#include "check/agent.h"
#include "check/check.h"
#include "model/identity.h"
#include "service/fleet/fleet.h"
#include "service/list.h"
#include "service/note.h"
#include "service/operations.h"

/* ---- what agents and machines share ---------------------------------------------------------- */

void portarium_write_texts(mcp_json_writer *json, const char *name, const char *const *texts,
                           size_t count)
{
    mcp_write_member_array(json, name);
    for (size_t i = 0; i < count; i++)
        mcp_write_string(json, texts[i]);
    mcp_write_end(json);
}

void portarium_write_pulse(mcp_json_writer *json, const portarium_pulse *pulse,
                           const char *liveness)
{
    char at[MCP_CLOCK_UTC_SIZE];
    mcp_write_member_string(json, "liveness", liveness);
    if (pulse->at_ms == 0)
        return;
    portarium_time_write(at, pulse->at_ms);
    mcp_write_member_string(json, "lastHeartbeatAtIso", at);
    mcp_write_member_string(json, "status", portarium_heartbeat_text(pulse->status));
}

mcp_status portarium_take_heartbeat(portarium_tx *tx, const portarium_request *request,
                                    portarium_reply *reply, const char *kind, const char *id_member,
                                    const char *id, mcp_error *err)
{
    char at[MCP_CLOCK_UTC_SIZE];
    portarium_draft draft;
    portarium_pulses *pulses = tx->settings->pulses;
    portarium_pulse pulse = { .at_ms = 0 };
    portarium_heartbeat_read(&pulse.status, portarium_body_string(request, "status"));
    if (!pulses)
        return portarium_refuse(reply, tx, err, 403, "This server takes no heartbeats.");
    /* It is recorded, so a recent time (tx.c) will not do. */
    mcp_status st = db_now(tx->session, &pulse.at_ms, err);
    if (st == MCP_OK)
        st = portarium_pulse_beat(pulses, tx->workspace, kind, id, &pulse, request->body, err);
    if (st != MCP_OK)
        return st;
    portarium_time_write(at, pulse.at_ms);
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, id_member, id);
    mcp_write_member_string(&draft.json, "lastHeartbeatAtIso", at);
    mcp_write_member_string(&draft.json, "status", portarium_heartbeat_text(pulse.status));
    mcp_write_member_int(&draft.json, "heartbeatIntervalSeconds", PORTARIUM_HEARTBEAT_INTERVAL_S);
    mcp_write_member_int(&draft.json, "expiresAfterSeconds", PORTARIUM_OFFLINE_MS / 1000);
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

bool portarium_is_active(const portarium_record *machine)
{
    bool is_active = false;
    mcp_json_bool(mcp_json_get(machine->json, "active"), &is_active);
    return is_active;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The document, and the liveness. */
static mcp_status write_view(mcp_json_writer *json, portarium_tx *tx,
                             const portarium_record *machine, mcp_error *err)
{
    portarium_pulse pulse;
    mcp_status st = portarium_pulse_read(&pulse, tx, PORTARIUM_KIND_MACHINE, machine->id, err);
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(machine->json); i++)
        mcp_write_member_value(json, mcp_json_name(machine->json, i, NULL),
                               mcp_json_item(machine->json, i));
    portarium_write_pulse(json, &pulse, portarium_pulse_liveness(&pulse, tx));
    mcp_write_end(json);
    return st;
}

static mcp_status list_machines(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_machines, request, write_view, err);
}

static mcp_status get(portarium_record *out, portarium_tx *tx, const portarium_request *request,
                      mcp_error *err)
{
    return portarium_record_get(out, tx, &portarium_machines,
                                portarium_argument(request, "machineId"), err);
}

static mcp_status get_machine(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_record machine;
    mcp_status st = get(&machine, tx, request, err);
    return st == MCP_OK ? portarium_reply_view(reply, tx, &machine, write_view, err) : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The document that is stored, without the authentication, which is hidden. */
static mcp_status document_of(const mcp_json **out, const mcp_json **hidden, portarium_tx *tx,
                              const mcp_json *body, const char *id, portarium_fields *fields,
                              mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *own = NULL, *auth = mcp_json_get(body, "authConfig");
    const char *const *capabilities = NULL;
    size_t count = 0;
    mcp_status st = portarium_body_check(tx->settings->shapes, PORTARIUM_SHAPE_Machine, body,
                                         tx->now_ms, fields, err);
    if (st == MCP_OK)
        st = portarium_capabilities_read(&capabilities, &count, tx->arena,
                                         mcp_json_get(body, "capabilities"), "/capabilities",
                                         fields, err);
    if (st == MCP_OK)
        st = portarium_fields_status(fields, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "machineId", id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "registeredAtIso", tx->now);
    portarium_write_texts(&draft.json, "capabilities", capabilities, count);
    mcp_write_member_null(&draft.json, "authConfig");
    st = portarium_draft_read(&draft, tx, &own, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, out, body, own, err);
    if (st != MCP_OK || !auth)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_value(&draft.json, "authConfig", auth);
    return portarium_draft_read(&draft, tx, hidden, err);
}

/* Whether a machine is what it would be after it was registered again, but for the time. */
static mcp_status is_same(bool *out, portarium_tx *tx, const portarium_record *machine,
                          const mcp_json *json, const mcp_json *hidden, mcp_error *err)
{
    const mcp_json *time = NULL, *then = NULL;
    const char *at = mcp_json_get_string(machine->json, "registeredAtIso");
    mcp_status st = portarium_object(tx, &time, err, "registeredAtIso", at, NULL);
    if (st == MCP_OK)
        st = portarium_assign(tx, &then, json, time, err);
    *out = st == MCP_OK && mcp_json_equal(then, machine->json) &&
           (machine->hidden ? hidden && mcp_json_equal(machine->hidden, hidden) : !hidden);
    return st;
}

/* Store a machine. One that was deregistered may be registered again.
 * @param has_changed set to false where it is what is stored */
static mcp_status store(portarium_record *out, portarium_tx *tx, const char *id,
                        const mcp_json *json, const mcp_json *hidden, bool *has_changed,
                        mcp_error *err)
{
    bool same = false;
    *has_changed = true;
    mcp_status st = portarium_record_get(out, tx, &portarium_machines, id, err);
    if (st == MCP_E_NOT_FOUND)
        return portarium_record_insert(out, tx, &portarium_machines, id, json, hidden, err);
    if (st == MCP_OK && portarium_is_active(out))
        return mcp_error_set(err, MCP_E_EXISTS, "Machine %.128s exists already.", id);
    if (st == MCP_OK)
        st = is_same(&same, tx, out, json, hidden, err);
    *has_changed = !same;
    if (same)
        return MCP_OK;
    out->hidden = hidden;
    return st == MCP_OK ? portarium_record_replace(out, tx, &portarium_machines, json, err) : st;
}

static mcp_status create_machine(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_record machine;
    bool has_changed = true;
    const mcp_json *json = NULL, *hidden = NULL;
    const char *id = portarium_body_string(request, "machineId");
    mcp_status st = id ? MCP_OK : portarium_id_new(&id, "machine-", tx->arena, err);
    if (st == MCP_OK && tx->actor->machine_id)
        return portarium_refuse(reply, tx, err, 403, "A token of a machine registers no machines.");
    if (st == MCP_OK)
        st = document_of(&json, &hidden, tx, request->body, id, &reply->fields, err);
    if (st == MCP_OK)
        st = store(&machine, tx, id, json, hidden, &has_changed, err);
    if (st == MCP_OK && !has_changed)
        return portarium_reply_json(reply, tx, 200, machine.json, err);
    const portarium_event event = { .type = "MachineRegistered",
                                    .kind = PORTARIUM_KIND_MACHINE,
                                    .id = id };
    if (st == MCP_OK)
        st = portarium_note(tx, &event, err, "Machine %s registered", id);
    portarium_reply_location(reply, tx, "machines", id);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 201, machine.json, err) : st;
}

static mcp_status delete_machine(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    static const char inactive[] = "{\"active\":false}";
    portarium_record machine;
    const mcp_json *patch = NULL;
    mcp_status st = get(&machine, tx, request, err);
    if (st == MCP_OK && tx->actor->machine_id && strcmp(tx->actor->machine_id, machine.id) != 0)
        return portarium_refuse(reply, tx, err, 403, "The token is of another machine.");
    if (st == MCP_OK)
        st = portarium_check_if_match_view(reply, tx, request, &machine, write_view, err);
    if (st == MCP_OK && !portarium_is_active(&machine))
        return portarium_reply_none(reply);
    if (st == MCP_OK)
        st = mcp_json_read(&patch, tx->arena, inactive, sizeof inactive - 1, err);
    if (st == MCP_OK)
        st = portarium_record_patch(&machine, tx, &portarium_machines, patch, NULL, err);
    if (st != MCP_OK)
        return st;
    const portarium_event event = { .type = "MachineDeregistered",
                                    .kind = PORTARIUM_KIND_MACHINE,
                                    .id = machine.id };
    st = portarium_note(tx, &event, err, "Machine %s deregistered", machine.id);
    return st == MCP_OK ? portarium_reply_none(reply) : st;
}

static mcp_status machine_heartbeat(portarium_tx *tx, const portarium_request *request,
                                    portarium_reply *reply, mcp_error *err)
{
    portarium_record machine;
    mcp_status st = get(&machine, tx, request, err);
    if (st == MCP_OK && tx->actor->machine_id && strcmp(tx->actor->machine_id, machine.id) != 0)
        return portarium_refuse(reply, tx, err, 403, "The token is of another machine.");
    return st == MCP_OK ? portarium_take_heartbeat(tx, request, reply, PORTARIUM_KIND_MACHINE,
                                                   "machineId", machine.id, err)
                        : st;
}

/* Whether work would be handed to it now, by what the plane knows. */
static mcp_status test_machine(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    portarium_record machine;
    portarium_draft draft;
    portarium_pulse pulse;
    mcp_status st = get(&machine, tx, request, err);
    if (st == MCP_OK)
        st = portarium_pulse_read(&pulse, tx, PORTARIUM_KIND_MACHINE, machine.id, err);
    if (st != MCP_OK)
        return st;
    bool is_active = portarium_is_active(&machine);
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "machineId", machine.id);
    mcp_write_member_bool(&draft.json, "routable", is_active);
    if (!is_active)
        mcp_write_member_string(&draft.json, "reason", "the machine is inactive");
    portarium_write_pulse(&draft.json, &pulse, portarium_pulse_liveness(&pulse, tx));
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

/* clang-format off */
const portarium_operation portarium_machine_operations[] = {
    { "listMachines", "GET", "/machines", PORTARIUM_MAY_READ_AGENTS, 0,
      PORTARIUM_NO_BODY, "Machine", "the machines of the workspace", list_machines },
    { "createMachine", "POST", "/machines", PORTARIUM_MAY_REGISTER_AGENT, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Machine, "Machine", "register a machine", create_machine },
    { "getMachine", "GET", "/machines/{machineId}", PORTARIUM_MAY_READ_AGENTS, PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "Machine", "one machine", get_machine },
    { "deleteMachine", "DELETE", "/machines/{machineId}", PORTARIUM_MAY_REGISTER_AGENT,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH, PORTARIUM_NO_BODY, NULL, "no work goes to it any more", delete_machine },
    { "testMachine", "POST", "/machines/{machineId}/test", PORTARIUM_MAY_REGISTER_AGENT, 0,
      PORTARIUM_NO_BODY, "Machine", "whether work would go to it", test_machine },
    { "machineHeartbeat", "POST", "/machines/{machineId}/heartbeat", PORTARIUM_MAY_HEARTBEAT, 0,
      PORTARIUM_SHAPE_Heartbeat, "Heartbeat", "the machine is there", machine_heartbeat },
    { 0 },
};
/* clang-format on */
