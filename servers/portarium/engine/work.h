/**
 * work.h - work items and human tasks of runs: what people see that they are to do.
 */
#ifndef PORTARIUM_ENGINE_WORK_H
#define PORTARIUM_ENGINE_WORK_H

#include "engine/run.h"

/** What a work item is linked to; NULL: not to one. */
typedef struct portarium_work_links {
    const char *run, *workflow, *approval, *agent;
    const char *due; /* sla.dueAtIso; NULL: it has no time limit */
} portarium_work_links;

/** The timer of a work item's time limit, while a person has its task to do. */
#define PORTARIUM_TASK_TIMER "human-task"

/** Store a work item with status Open. @param owner NULL: nobody's */
mcp_status portarium_work_item_create(const char **id, portarium_tx *tx, const char *title,
                                      const char *owner, const portarium_work_links *links,
                                      mcp_error *err);

/** Link one that there is to an approval. */
mcp_status portarium_work_item_link(portarium_tx *tx, const char *id, const char *approval,
                                    mcp_error *err);

/** Change its status, with the event WorkItemTransitioned. Nothing happens to a Closed one.
 *  @param id NULL: nothing happens */
mcp_status portarium_work_item_become(portarium_tx *tx, const char *id,
                                      portarium_work_item_status status, mcp_error *err);

/** Change the status of a human task, and other members; a Pending one is assigned to the actor
 *  first. @param patch NULL: no other change @return MCP_E_EXISTS: the transition is not legal */
mcp_status portarium_human_task_become(portarium_record *task, portarium_tx *tx,
                                       portarium_human_task_status status, const mcp_json *patch,
                                       mcp_error *err);

/**
 * End what people still have to do for a run that ends: undecided approvals expire, human tasks are
 * completed with the outcome Cancelled, their work items are closed; those of a cancelled run all.
 *
 * @param rationale of the approvals
 */
mcp_status portarium_work_close(portarium_run *run, portarium_tx *tx, const char *rationale,
                                mcp_error *err);

#endif
