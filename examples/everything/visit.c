/*
 * visit.c - tools whose user must be at an address, for what the client must not see: here a
 * sign-in.
 *
 * A real server learns from the address itself that somebody has signed in, and makes sure that it
 * is the user who was sent: by the id, which it put into the address. Here test_visit_done does
 * that.
 */
#include <pthread.h>
#include <string.h>

#include "everything.h"

#define SIGN_IN "https://as.example/sign-in?errand="

static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static char open_id[MCP_RANDOM_ID_SIZE];                 /* "": nobody was sent yet */
static bool has_signed_in;

/* The id of the open elicitation, in the call's memory, or a new one. NULL: no randomness, or no
 * memory. */
static const char *elicitation_id(mcp_call *call)
{
    const char *id = NULL;

    pthread_mutex_lock(&desk);
    if (open_id[0] || mcp_random_id(open_id, mcp_call_error(call)) == MCP_OK)
        id = mcp_arena_strdup(mcp_call_arena(call), open_id);
    pthread_mutex_unlock(&desk);
    return id;
}

static const char *address_of(mcp_call *call, const char *id)
{
    return id ? mcp_arena_printf(mcp_call_arena(call), SIGN_IN "%s", id) : NULL;
}

/* Tells whether the user agreed to go. */
mcp_status test_elicitation_url(mcp_call *call, void *data)
{
    const char *id = elicitation_id(call);
    const char *url = address_of(call, id);

    (void)data;
    if (!url)
        return MCP_E_NOMEM;
    const mcp_json *answer = mcp_call_elicit_url(call, "sign-in", "Please sign in.", url, id);
    if (!answer)
        return mcp_call_input_required(call);
    const char *action = mcp_json_get_string(answer, "action");
    return mcp_call_text(call, action ? action : "nothing");
}

/* Cannot be done before somebody has signed in. */
mcp_status test_visit_required(mcp_call *call, void *data)
{
    const char *id = elicitation_id(call);
    const char *url = address_of(call, id);

    (void)data;
    pthread_mutex_lock(&desk);
    bool may = has_signed_in;
    pthread_mutex_unlock(&desk);
    if (may)
        return mcp_call_text(call, "You are signed in.");
    return url ? mcp_call_require_url_elicitation(call, "Please sign in.", url, id) : MCP_E_NOMEM;
}

/* The user was at the address: notify the client that sent them. */
mcp_status test_visit_done(mcp_call *call, void *data)
{
    const char *id = elicitation_id(call);

    (void)data;
    if (!id)
        return MCP_E_NOMEM;
    pthread_mutex_lock(&desk);
    has_signed_in = true;
    pthread_mutex_unlock(&desk);
    mcp_status st = mcp_server_elicitation_complete(mcp_call_server(call), id,
                                                    mcp_call_error(call));
    return st == MCP_OK ? mcp_call_text(call, "Signed in.") : st;
}
