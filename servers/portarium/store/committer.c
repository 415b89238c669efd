/*
 * committer.c - commands and reads as functions of a database session.
 */
#include "store/committer.h"

#include <stdlib.h>

#include "db/group.h"
#include "fault/fault.h"
#include "store/tx/pending.h"

struct portarium_committer {
    db *database;
    db_group *group;
    const portarium_settings *settings;
    portarium_on_commit *on_commit;
    void *data;
};

/* A command on its way. */
typedef struct command {
    portarium_committer *owner;
    portarium_tx as; /* as it was submitted: each run begins with it */
    portarium_tx tx;
    portarium_work *work;
    portarium_on_end *on_end;
    void *data;
} command;

static mcp_status flush(db_session *session, void *data, mcp_error *err)
{
    const portarium_committer *self = data;
    return portarium_tx_flush(session, self->settings, err);
}

mcp_status portarium_committer_new(portarium_committer **out, db *database,
                                   const portarium_settings *settings,
                                   portarium_on_commit *on_commit, void *data, mcp_error *err)
{
    portarium_committer *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the committer");
    *self = (portarium_committer){
        .database = database, .settings = settings, .on_commit = on_commit, .data = data
    };
    const db_group_options options = { .finish = flush,
                                       .finish_data = self,
                                       .queue_max = settings->commits_max };
    mcp_status st = db_group_new(&self->group, database, &options, err);
    if (st != MCP_OK && st != MCP_E_DENIED) { /* denied: it is open for reading only */
        free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_committer_free(portarium_committer *self)
{
    if (!self)
        return;
    db_group_free(self->group);
    free(self);
}

static mcp_status run(db_session *session, void *data, mcp_error *err)
{
    command *self = data;
    self->tx = self->as;
    self->tx.session = session;
    mcp_status st = portarium_tx_begin(&self->tx, err);
    if (st == MCP_OK)
        st = portarium_pending_begin(&self->tx, err);
    if (st == MCP_OK)
        st = self->work(&self->tx, self->data, err);
    if (st == MCP_OK)
        st = portarium_pending_end(&self->tx, err);
    if (st == MCP_OK)
        return portarium_tx_end(&self->tx, err);
    portarium_pending_drop(&self->tx);
    return st;
}

static command command_of(portarium_committer *self, const portarium_tx *as, portarium_work *work,
                          void *data)
{
    command out = { .owner = self, .as = *as, .work = work, .data = data };
    out.as.settings = self->settings;
    out.as.writes = true;
    return out;
}

static void committed(const command *self)
{
    FAULT_POINT("committed");
    if (self->owner->on_commit)
        self->owner->on_commit(self->tx.workspace, &self->tx.after, self->owner->data);
}

static mcp_status refuse(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_DENIED, "the database was opened for reading only");
}

mcp_status portarium_commit(portarium_committer *self, const portarium_tx *as, portarium_work *work,
                            void *data, mcp_error *err)
{
    command what = command_of(self, as, work, data);
    if (!self->group)
        return refuse(err);
    mcp_status st = db_group_run(self->group, as->workspace, run, &what, err);
    if (st == MCP_OK)
        committed(&what);
    return st;
}

static void ended(void *data, mcp_status status, const mcp_error *err)
{
    command *self = data;
    if (status == MCP_OK)
        committed(self);
    self->on_end(status, err, self->data);
    free(self);
}

void portarium_commit_submit(portarium_committer *self, const portarium_tx *as,
                             portarium_work *work, portarium_on_end *on_end, void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    command *what = malloc(sizeof *what);
    if (!what) {
        on_end(mcp_error_set(&err, MCP_E_NOMEM, "no memory for a command"), &err, data);
        return;
    }
    *what = command_of(self, as, work, data);
    what->on_end = on_end;
    mcp_status st = self->group
                        ? db_group_submit(self->group, as->workspace, run, what, ended, &err)
                        : refuse(&err);
    if (st != MCP_OK) {
        free(what);
        on_end(st, &err, data);
    }
}

mcp_status portarium_view(portarium_committer *self, const portarium_tx *as, portarium_work *work,
                          void *data, mcp_error *err)
{
    portarium_tx tx = *as;
    tx.settings = self->settings;
    tx.writes = false;
    mcp_status st = db_begin(&tx.session, self->database, DB_READ, err);
    if (st != MCP_OK)
        return st;
    st = portarium_tx_begin(&tx, err);
    if (st == MCP_OK)
        st = work(&tx, data, err);
    if (st == MCP_OK)
        return db_commit(tx.session, err);
    db_rollback(tx.session);
    return st;
}
