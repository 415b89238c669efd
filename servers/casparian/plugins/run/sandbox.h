/*
 * sandbox.h - how the process of a guest is started: its environment, its limits, and what it is
 * kept from.
 *
 * A Python guest must fork for each file, so its own process may; what runs a file gives that up,
 * and all files but its one, by a filter and a Landlock ruleset that the host makes. A native guest
 * is started without them.
 */
#ifndef CASPARIAN_PLUGINS_RUN_SANDBOX_H
#define CASPARIAN_PLUGINS_RUN_SANDBOX_H

#include "plugins/outcome.h"
#include "proc/proc.h"

/* What a guest gets on this system, decided when it is made. */
typedef struct casparian_protections {
    unsigned process;  /* of the process: proc_spec.protect */
    unsigned required; /* without which it does not start */
    unsigned file;     /* of what runs one file, besides: a filter, and PROC_FILES: a ruleset */
    uid_t uid;         /* of the process, where the host is root */
} casparian_protections;

/* @return MCP_OK; MCP_E_UNSUPPORTED: the sandbox is required, and the system lacks a part of it,
 *         which err names */
mcp_status casparian_protections_choose(casparian_protections *out, const casparian_plugin *plugin,
                                        casparian_sandbox sandbox, mcp_error *err);

/* The protections of this system in words. @return as casparian_sandbox_level */
bool casparian_protections_level(char words[CASPARIAN_SANDBOX_WORDS_SIZE]);

/* The process of a guest, to be started with a file or without one. */
typedef struct casparian_launch {
    const casparian_plugin *plugin;
    const casparian_guest_options *options; /* its limits are complete */
    const casparian_protections *protections;
    const char *scratch;
    const char *const *argv;
    const casparian_guest_file *file; /* of a native plugin; NULL: of a Python plugin */
} casparian_launch;

/* Fill a spec but for its streams and descriptors. @param arena for its parts. @return MCP_OK;
 * MCP_E_NOMEM */
mcp_status casparian_launch_spec(proc_spec *out, mcp_arena *arena, const casparian_launch *launch,
                                 mcp_error *err);

/* proc_start, once more where the process in between was killed before the program began. */
mcp_status casparian_launch_start(proc **out, const proc_spec *spec, mcp_error *err);

/* Make the Landlock rules of one file of a Python plugin. @param out the caller's. @return as
 * proc_ruleset */
mcp_status casparian_file_ruleset(int *out, const casparian_plugin *plugin, const char *scratch,
                                  int file, mcp_error *err);

#endif
