/**
 * settings.h - all settings of casparian: config.toml, the environment and the command line.
 *
 * A value is that of the command line, else of the variable CASPARIAN_<TABLE>_<KEY> (scalars), else
 * of the file, else the default. A key that does not exist is an error that names the nearest one;
 * so is a value of another type or out of its bounds.
 *
 * It never changes after it was read, so threads may share it.
 */
#ifndef CASPARIAN_GATEWAY_SETTINGS_H
#define CASPARIAN_GATEWAY_SETTINGS_H

#include "check/redact.h"
#include "cli/cli.h"
#include "guard/audit.h"
#include "jobs/settings.h"
#include "plugins/registry.h"
#include "query/query.h"
#include "sinks/route.h"

/** [trust] */
typedef struct casparian_trust_settings {
    const char *mode;
    bool allow_unsigned_python, allow_unsigned_native, allow_dev_plugins;
    const casparian_signer *signers; /* the allowed ones, with their keys */
    size_t signer_count;
    const char *signing_key; /* a file; NULL: none */
} casparian_trust_settings;

/** Who may call what (security, 5). */
typedef enum casparian_permission_profile {
    CASPARIAN_PROFILE_DEFAULT,
    CASPARIAN_PROFILE_READONLY, /* nothing that writes or decides */
    CASPARIAN_PROFILE_FULL      /* casparian_approval_decide decides directly */
} casparian_permission_profile;

/** [mcp] */
typedef struct casparian_mcp_settings {
    const char *const *allowed_paths; /* at least one */
    size_t allowed_path_count;
    size_t max_response_bytes; /* of an answer, as compact JSON */
    int64_t max_rows;
    size_t max_cell_bytes;
    int64_t rate_limit_rpm; /* calls of tools a minute; 0: no limit */
    int64_t expensive_rpm;  /* of expensive ones */
    casparian_permission_profile profile;
    const char *const *disabled_tools;
    size_t disabled_tool_count;
    const mcp_json *tools; /* {"name": "deny", "other": {"permission"?, "sinks"?, "plugins"?}};
                              NULL: none */
} casparian_mcp_settings;

/** How casparian_approval_decide works (lifecycle, 4.4). */
typedef enum casparian_decide_mode {
    CASPARIAN_DECIDE_ELICIT, /* approving asks the human through the client */
    CASPARIAN_DECIDE_OFF,    /* the tool is not listed */
    CASPARIAN_DECIDE_ALLOW   /* decides directly */
} casparian_decide_mode;

/** [audit] */
typedef struct casparian_audit_settings {
    const char *path; /* NULL: mcp_audit.ndjson in the home */
    bool is_required; /* without it tools are refused */
    guard_audit_options file;
} casparian_audit_settings;

typedef struct casparian_config {
    casparian_settings work; /* [jobs], [approvals], [quarantine], [plugins], [ephemeral] */
    casparian_trust_settings trust;
    casparian_mcp_settings mcp;
    casparian_decide_mode decide;
    casparian_redaction_settings redaction;
    casparian_query_settings query; /* [query], but for the folder of its cache */
    bool query_exposes_control;
    casparian_audit_settings audit;
    const casparian_route *sinks; /* [[sinks]] */
    size_t sink_count;
} casparian_config;

/**
 * Read the settings.
 *
 * @param out  yours, free it with casparian_config_free
 * @param path of config.toml
 * @param flags CONFIG_OPTIONAL where the user has not named the file
 * @param line options such as --max-rows; NULL: none
 * @return MCP_OK; MCP_E_PARAMS, MCP_E_PARSE, MCP_E_LIMIT: the file or a variable is not valid, and
 *         the message says where; MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO: the file, or that of a
 *         key; MCP_E_NOMEM
 */
mcp_status casparian_config_open(casparian_config **out, const char *path, unsigned flags,
                                 const cli_line *line, mcp_error *err);

/** NULL is fine. */
void casparian_config_free(casparian_config *self);

/** Write each key with its value and origin, in an open object:
 *  "mcp.max_rows": {"value": 10000, "origin": "default"}. */
void casparian_config_write(mcp_json_writer *json, const casparian_config *self);

#endif
