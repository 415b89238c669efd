/**
 * commands.h - the commands of the program. A new one: a function and a table of options in a file
 * of this folder, a declaration here, and a row in commands.c.
 */
#ifndef CASPARIAN_SHELL_COMMANDS_H
#define CASPARIAN_SHELL_COMMANDS_H

#include "cli/cli.h"

/** Ended by a row without a name. */
extern const cli_command casparian_commands[];

/** Options of every command: --home, --config, --json, --quiet, --verbose. */
extern const cli_option casparian_common_options[];

/** What each exit status means, for help. */
extern const char casparian_exit_notes[];

/** serve.c: casparian mcp serve */
extern const cli_option casparian_serve_options[];
cli_command_run casparian_command_serve;

/** hosted.c: host */
cli_command_run casparian_command_host;

/** approvals.c: approvals list, show, approve, reject; mcp list, mcp approve */
extern const cli_option casparian_approvals_list_options[];
cli_command_run casparian_command_approvals_list;
cli_command_run casparian_command_approvals_show;
extern const cli_option casparian_approve_options[];
cli_command_run casparian_command_approve;
extern const cli_option casparian_reject_options[];
cli_command_run casparian_command_reject;

/** inbox.c: approvals serve */
extern const cli_option casparian_approvals_serve_options[];
cli_command_run casparian_command_approvals_serve;

/** home/audit.c: audit verify, audit tail */
extern const cli_option casparian_audit_tail_options[];
cli_command_run casparian_command_audit_verify;
cli_command_run casparian_command_audit_tail;

/** jobs.c: jobs list, show, cancel, logs; worker; quarantine */
extern const cli_option casparian_jobs_list_options[];
cli_command_run casparian_command_jobs_list;
extern const cli_option casparian_jobs_show_options[];
cli_command_run casparian_command_jobs_show;
extern const cli_option casparian_jobs_cancel_options[];
cli_command_run casparian_command_jobs_cancel;
extern const cli_option casparian_jobs_logs_options[];
cli_command_run casparian_command_jobs_logs;
extern const cli_option casparian_worker_options[];
cli_command_run casparian_command_worker;
extern const cli_option casparian_quarantine_options[];
cli_command_run casparian_command_quarantine;

/** run.c: preview, backtest, run */
extern const cli_option casparian_preview_options[];
cli_command_run casparian_command_preview;
extern const cli_option casparian_backtest_options[];
cli_command_run casparian_command_backtest;
extern const cli_option casparian_run_options[];
cli_command_run casparian_command_run;

/** outputs.c: query, verify, lineage */
extern const cli_option casparian_query_options[];
cli_command_run casparian_command_query;
extern const cli_option casparian_verify_options[];
cli_command_run casparian_command_verify;
extern const cli_option casparian_lineage_options[];
cli_command_run casparian_command_lineage;

/** sources.c: scan; source list, add, show, remove, sync; rule add, remove; tag, untag; files */
extern const cli_option casparian_scan_flags[];
extern const cli_option casparian_source_add_options[];
extern const cli_option casparian_rule_add_options[];
extern const cli_option casparian_files_options[];
cli_command_run casparian_command_scan;
cli_command_run casparian_command_source_list;
cli_command_run casparian_command_source_add;
cli_command_run casparian_command_source_show;
cli_command_run casparian_command_source_remove;
cli_command_run casparian_command_source_sync;
cli_command_run casparian_command_rule_list;
cli_command_run casparian_command_rule_add;
cli_command_run casparian_command_rule_remove;
cli_command_run casparian_command_tag;
cli_command_run casparian_command_files;

/** about.c: version */
cli_command_run casparian_command_version;

/** home/doctor.c: doctor, config */
extern const cli_option casparian_doctor_options[];
cli_command_run casparian_command_doctor;
cli_command_run casparian_command_config;

/** plugins.c: plugin list, plugin show, schema */
extern const cli_option casparian_plugin_list_options[];
extern const cli_option casparian_schema_options[];
cli_command_run casparian_command_plugin_list;
cli_command_run casparian_command_plugin_show;
cli_command_run casparian_command_schema;

/** author/schemas.c: schema propose, promote, diff */
extern const cli_option casparian_schema_promote_options[];
cli_command_run casparian_command_schema_propose;
cli_command_run casparian_command_schema_promote;
cli_command_run casparian_command_schema_diff;

/** author/template.c: plugin new */
extern const cli_option casparian_plugin_new_options[];
cli_command_run casparian_command_plugin_new;

/** author/install.c: plugin import, verify, remove; author/sign.c: plugin sign, keygen */
cli_command_run casparian_command_plugin_import;
cli_command_run casparian_command_plugin_verify;
cli_command_run casparian_command_plugin_remove;
extern const cli_option casparian_plugin_sign_options[];
cli_command_run casparian_command_plugin_sign;
cli_command_run casparian_command_plugin_keygen;

#endif
