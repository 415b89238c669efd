/*
 * outcome.c - the answers of a batch that has ended, and whether it is worth another try.
 *
 * A database server comes and goes; of its absence senders hear what they may do: send it again
 * where nothing was done, look first where nobody knows. What else displeases a database is no
 * fault of theirs, and its words are for the log.
 */
#include "service/service_int.h"

bool universe_spoils_batch(mcp_status status)
{
    return status == MCP_E_IO || status == MCP_E_STORAGE || status == MCP_E_BUSY ||
           status == MCP_E_TIMEOUT;
}

bool universe_may_try_again(const universe_service *service, mcp_status status, bool was_sent)
{
    return status == MCP_E_BUSY ||
           (status == MCP_E_IO && !was_sent && db_is_shared(service->options.db));
}

static mcp_status as_reported(const universe_service *service, mcp_status status, bool was_sent,
                              mcp_error *cause)
{
    switch (status) {
    case MCP_OK:
    case MCP_E_NOMEM:
    case MCP_E_BUSY:
    case MCP_E_TIMEOUT:
    case MCP_E_STOPPED:
    case MCP_E_INTERNAL:
        return status;
    case MCP_E_STORAGE: /* the path of the file is for the log */
        return mcp_error_set(cause, status, "the disk is full; nothing was changed");
    default:
        break;
    }
    if (status == MCP_E_IO && was_sent && !db_is_shared(service->options.db)) {
        mcp_error why = *cause;
        return mcp_error_set(cause, MCP_E_IO,
                             "the change may have been made, read the universe to see: %s",
                             why.message);
    }
    if (status != MCP_E_IO || !db_is_shared(service->options.db))
        return MCP_E_IO;
    return was_sent ? mcp_error_set(cause, MCP_E_TIMEOUT,
                                    "the database was lost in the commit: read the universe to see "
                                    "whether the change was made")
                    : mcp_error_set(cause, MCP_E_BUSY,
                                    "the database cannot be reached; nothing was changed");
}

static void answer(universe_service *service, universe_change *change, mcp_status status,
                   const mcp_error *cause)
{
    universe_figures *figures = &service->figures;
    bool has_own = change->status != MCP_OK && !universe_spoils_batch(change->status);
    if (change->kind == UNIVERSE_CHANGE_CATCH_UP)
        return;
    if (!has_own && status != MCP_OK) {
        change->status = status;
        if (change->err)
            *change->err = *cause;
    }
    pthread_mutex_lock(&service->lock);
    if (change->kind == UNIVERSE_CHANGE_COMMANDS && !change->is_stale) {
        int64_t *count = change->status == MCP_OK ? &figures->judged[change->out->answer]
                                                  : &figures->failed;
        *count += (int64_t)change->count;
    }
    figures->rejected += change->status == MCP_OK && change->out->answer == UNIVERSE_REFUSED;
    pthread_mutex_unlock(&service->lock);
}

void universe_answer_batch(universe_service *service, universe_change *const *changes, size_t count,
                           mcp_status status, bool was_sent, mcp_error *cause)
{
    status = as_reported(service, status, was_sent, cause);
    for (size_t i = 0; i < count; i++)
        answer(service, changes[i], status, cause);
}
