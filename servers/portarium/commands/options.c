/*
 * options.c - the options of the commands that ask a plane.
 */
#include "commands/plane_commands.h"

const char portarium_exit_notes[] =
    "The database is opened as the owner of PORTARIUM_TOKEN, else as local:USER, an admin.\n"
    "Exit status: 0 done; 1 refused, because the input or the present state does not allow it;\n"
    "2 the command line, no permission, not found, or the plane or database cannot be used;\n"
    "3 the run that was followed ended as Failed or Cancelled; 4 an internal error; 130 stopped\n"
    "by Ctrl-C.";

static const char *const outcomes[] = { "retry", "succeeded", "failed", NULL };
static const char *const task_outcomes[] = { "Succeeded", "Failed", "Cancelled", NULL };

/* clang-format off */
#define PLACE                                                                                      \
    { .name = "db", .type = CLI_STRING, .argument = "URL", .env = "PORTARIUM_DATABASE_URL",        \
      .standard = "sqlite:portarium.db",                                                           \
      .help = "the database: sqlite:PATH or postgres://..." },                                     \
    { .name = "base-url", .type = CLI_STRING, .argument = "URL", .env = "PORTARIUM_BASE_URL",      \
      .help = "the control plane to ask instead, with PORTARIUM_TOKEN" },                          \
    { .name = "json", .type = CLI_FLAG, .help = "print the result, or the error, as JSON" }
#define WORKSPACE                                                                                  \
    { .name = "workspace", .type = CLI_STRING, .argument = "ID", .env = "PORTARIUM_WORKSPACE_ID",  \
      .letter = 'w', .help = "the workspace (default: the only one)" }
#define TARGET PLACE, WORKSPACE
#define TEXT_OPTION(name_, argument_, help_)                                                       \
    { .name = name_, .type = CLI_STRING, .argument = argument_, .help = help_ }
#define REQUIRED(name_, argument_, help_)                                                          \
    { .name = name_, .type = CLI_STRING, .argument = argument_, .help = help_, .required = true }
#define LIMIT                                                                                      \
    { .name = "limit", .type = CLI_INT, .argument = "N", .standard = "50", .min = 1,               \
      .max = 100000, .letter = 'L', .help = "how many at most" },                                  \
    TEXT_OPTION("sort", "FIELD:asc", "the order: FIELD:asc or FIELD:desc"),                        \
    TEXT_OPTION("search", "TEXT", "only those with the text in their id or title")
#define STATUS TEXT_OPTION("status", "STATUS", "only those with the status")
#define RUN TEXT_OPTION("run", "ID", "only those of the run")
#define WORKFLOW TEXT_OPTION("workflow", "ID", "only those of the workflow")
#define ASSIGNEE TEXT_OPTION("assignee", "USER", "only those assigned to the user")
#define ACTIVE TEXT_OPTION("active", "true|false", "only those that are active, or are not")
#define NAMED TEXT_OPTION("name", "NAME", "only those with the name")
#define RATIONALE TEXT_OPTION("rationale", "TEXT", "why")
#define OBJECT(input_, set_)                                                                       \
    TEXT_OPTION("input", "FILE", input_ ", a JSON object; -: standard input"),                     \
    { .name = "set", .type = CLI_STRING, .argument = "NAME=VALUE", .many = true, .help = set_ }
#define PARAMETERS OBJECT("the parameters", "a parameter; JSON, or else a text; may be repeated")
#define TIMEOUT                                                                                    \
    { .name = "timeout", .type = CLI_INT, .argument = "SECONDS", .min = 1, .max = 31536000,        \
      .help = "follow no longer (default: until the run ends)" }

const cli_option portarium_options_get[] = { TARGET, { 0 } };
const cli_option portarium_options_runs[] = { STATUS, WORKFLOW, LIMIT, TARGET, { 0 } };
const cli_option portarium_options_approvals[] = {
    STATUS, RUN, ASSIGNEE,
    TEXT_OPTION("plan", "ID", "only those of the plan"),
    TEXT_OPTION("work-item", "ID", "only those of the work item"),
    TEXT_OPTION("requested-by", "USER", "only those that the user asked for"),
    LIMIT, TARGET, { 0 },
};
const cli_option portarium_options_work_items[] = {
    STATUS, RUN, WORKFLOW,
    TEXT_OPTION("owner", "USER", "only those that the user owns"),
    TEXT_OPTION("approval", "ID", "only those of the approval"),
    LIMIT, TARGET, { 0 },
};
const cli_option portarium_options_human_tasks[] = { STATUS, RUN, ASSIGNEE, LIMIT, TARGET, { 0 } };
const cli_option portarium_options_agents[] = {
    TEXT_OPTION("machine", "ID", "only those of the machine"), LIMIT, TARGET, { 0 },
};
const cli_option portarium_options_machines[] = { ACTIVE, LIMIT, TARGET, { 0 } };
const cli_option portarium_options_workflows[] = { ACTIVE, NAMED, LIMIT, TARGET, { 0 } };
const cli_option portarium_options_policies[] = { ACTIVE, LIMIT, TARGET, { 0 } };
const cli_option portarium_options_workspaces[] = { NAMED, LIMIT, PLACE, { 0 } };

const cli_option portarium_options_start[] = {
    PARAMETERS,
    { .name = "wait", .type = CLI_FLAG, .help = "follow the run to its end, as runs watch" },
    TIMEOUT,
    TEXT_OPTION("idempotency-key", "KEY", "start once for the key, however often it is asked"),
    TARGET, { 0 },
};
const cli_option portarium_options_plan[] = { PARAMETERS, TARGET, { 0 } };
const cli_option portarium_options_watch[] = { TIMEOUT, TARGET, { 0 } };
const cli_option portarium_options_cancel[] = {
    RATIONALE,
    { .name = "compensate", .type = CLI_FLAG, .help = "undo the completed actions, the last first" },
    TARGET, { 0 },
};
const cli_option portarium_options_rationale[] = {
    REQUIRED("rationale", "TEXT", "why; required"), TARGET, { 0 },
};
const cli_option portarium_options_intervene[] = {
    REQUIRED("rationale", "TEXT", "why; at least 8 characters; required"),
    TEXT_OPTION("target", "ID", "to whom: for handoff and reroute"),
    TARGET, { 0 },
};
const cli_option portarium_options_resolve[] = {
    { .name = "outcome", .type = CLI_CHOICE, .argument = "OUTCOME", .choices = outcomes,
      .help = "how the action ended; required", .required = true },
    REQUIRED("rationale", "TEXT", "why; required"),
    OBJECT("the action's output", "a member of the output; may be repeated"),
    TARGET, { 0 },
};
const cli_option portarium_options_decide[] = {
    REQUIRED("rationale", "TEXT", "why; required"),
    OBJECT("answers to the approval's form", "an answer; may be repeated"),
    TEXT_OPTION("subject-hash", "SHA256", "decide only what has this hash"),
    { .name = "yes", .type = CLI_FLAG, .letter = 'y', .help = "do not ask on a terminal" },
    TARGET, { 0 },
};
const cli_option portarium_options_resubmit[] = {
    REQUIRED("note", "TEXT", "what was changed; required"),
    TEXT_OPTION("prompt", "TEXT", "the new prompt"),
    OBJECT("the action's new input", "a member of the input; may be repeated"),
    TARGET, { 0 },
};
const cli_option portarium_options_update_work_item[] = {
    TEXT_OPTION("title", "TEXT", "the new title"),
    TEXT_OPTION("status", "STATUS", "Open, InProgress, Blocked, Resolved or Closed"),
    TEXT_OPTION("owner", "USER", "the new owner; \"\": nobody"),
    TEXT_OPTION("due", "TIME", "when it is due, as in 2027-01-02T03:04:05Z"),
    TARGET, { 0 },
};
const cli_option portarium_options_complete_task[] = {
    { .name = "outcome", .type = CLI_CHOICE, .argument = "OUTCOME", .standard = "Succeeded",
      .choices = task_outcomes, .help = "how it ended" },
    TEXT_OPTION("notes", "TEXT", "what was done"),
    TARGET, { 0 },
};
const cli_option portarium_options_put_credential[] = {
    { .name = "key-file", .type = CLI_STRING, .argument = "FILE", .env = "PORTARIUM_KEY_FILE",
      .help = "the key of the plane, where the database is opened here" },
    TARGET, { 0 },
};
const cli_option portarium_options_simulate[] = {
    { .name = "last", .type = CLI_INT, .argument = "N", .min = 1, .max = 10000,
      .help = "judge so many of the last actions again" },
    TARGET, { 0 },
};
const cli_option portarium_options_tail[] = {
    { .name = "after", .type = CLI_INT, .argument = "ID", .min = 0, .max = INT64_MAX,
      .help = "begin behind the event (default: with the next one; 0: with the oldest)" },
    { .name = "limit", .type = CLI_INT, .argument = "N", .min = 1, .max = INT64_MAX, .letter = 'L',
      .help = "end after so many (default: continue)" },
    TARGET, { 0 },
};
const cli_option portarium_options_backup[] = {
    { .name = "db", .type = CLI_STRING, .argument = "URL", .env = "PORTARIUM_DATABASE_URL",
      .standard = "sqlite:portarium.db", .help = "the database: sqlite:PATH" },
    { .name = "json", .type = CLI_FLAG, .help = "print the result, or the error, as JSON" },
    { 0 },
};
/* clang-format on */
