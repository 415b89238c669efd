/**
 * plane_commands.h - the commands that ask a plane. All of them run on the database of --db, and on
 * the plane of --base-url with PORTARIUM_TOKEN.
 */
#ifndef PORTARIUM_COMMANDS_PLANE_COMMANDS_H
#define PORTARIUM_COMMANDS_PLANE_COMMANDS_H

#include "cli/cli.h"

/* Their options. */
extern const cli_option portarium_options_get[], portarium_options_runs[],
    portarium_options_approvals[], portarium_options_work_items[], portarium_options_human_tasks[],
    portarium_options_agents[], portarium_options_machines[], portarium_options_workflows[],
    portarium_options_policies[], portarium_options_workspaces[], portarium_options_start[],
    portarium_options_plan[], portarium_options_watch[], portarium_options_rationale[],
    portarium_options_cancel[], portarium_options_intervene[], portarium_options_resolve[],
    portarium_options_decide[], portarium_options_resubmit[], portarium_options_update_work_item[],
    portarium_options_complete_task[], portarium_options_simulate[], portarium_options_tail[],
    portarium_options_backup[], portarium_options_put_credential[];

/** What each exit status means, for help. */
extern const char portarium_exit_notes[];

/** portarium WHAT list, portarium WHAT get ID */
cli_command_run portarium_command_list, portarium_command_get;

/** portarium runs ... */
cli_command_run portarium_command_start, portarium_command_plan, portarium_command_cancel,
    portarium_command_watch, portarium_command_intervene, portarium_command_resolve;

/** portarium approvals ... */
cli_command_run portarium_command_decide, portarium_command_resubmit;

/** portarium work-items update, human-tasks complete, workflows and policies apply, ... */
cli_command_run portarium_command_update_work_item, portarium_command_complete_task,
    portarium_command_apply, portarium_command_archive, portarium_command_simulate;

/** portarium credentials put and delete */
cli_command_run portarium_command_put_credential, portarium_command_delete_credential;

/** portarium events tail */
cli_command_run portarium_command_tail;

/** portarium admin status, freeze, unfreeze and backup */
cli_command_run portarium_command_status, portarium_command_freeze, portarium_command_backup;

#endif
