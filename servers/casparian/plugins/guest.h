/**
 * guest.h - a child process that runs a plugin over files, one after the other.
 *
 * Of a Python plugin the guest is an interpreter that has imported the module and forks for each
 * file (2.3 ms instead of 100); of a native plugin it is one process for each file. Both are kept
 * from the rest of the machine by kit/proc: no other process, no network, no files but their own
 * and their one input (plugins, 3). Rows come out batch by batch while the plugin runs: what the
 * host has not taken yet waits in the pipe, and the plugin waits with it.
 *
 *     casparian_guest_options options = { .scratch_dir = scratch, .inputs = &folder,
 *                                         .input_count = 1, .job_id = "17" };
 *     casparian_guest_events events = { .batch = take_rows, .log = write_log, .data = job };
 *     st = casparian_guest_new(&guest, &plugin, &options, err);
 *     while (st == MCP_OK && next_file(job, &file))
 *         st = casparian_guest_parse(&outcome, guest, &file, &events, err);
 *     casparian_guest_free(guest);
 *
 * What a plugin does wrong is an outcome, not an error: the next file can be parsed, with a new
 * process where the old one had to be killed. A guest that is kept answers the next file at once.
 *
 * One thread at a time uses a guest.
 */
#ifndef CASPARIAN_PLUGINS_GUEST_H
#define CASPARIAN_PLUGINS_GUEST_H

#include "plugins/outcome.h"

typedef struct casparian_guest casparian_guest;

/**
 * Make a guest. Its process starts with the first file.
 *
 * @param plugin copied; must be trusted by the caller
 * @return MCP_OK; MCP_E_UNSUPPORTED: the sandbox is required and the system does not have it, or
 *         there is no interpreter (err names it); MCP_E_EXISTS: the plugin that is copied is not
 *         what was looked up any more; MCP_E_STORAGE; MCP_E_PARAMS; MCP_E_NOMEM; MCP_E_IO
 */
mcp_status casparian_guest_new(casparian_guest **out, const casparian_plugin *plugin,
                               const casparian_guest_options *options, mcp_error *err);

/** End what runs, remove its scratch folder, and free it. NULL is fine. */
void casparian_guest_free(casparian_guest *self);

/**
 * Run the plugin over one file.
 *
 * A request to stop ends a plugin within 3.5 s: SIGTERM, and SIGKILL after 3 s.
 *
 * @return MCP_OK: see `outcome`; a status of `events`; MCP_E_NOMEM; MCP_E_IO: the host's own
 *         failure
 */
mcp_status casparian_guest_parse(casparian_guest_outcome *outcome, casparian_guest *self,
                                 const casparian_guest_file *file,
                                 const casparian_guest_events *events, mcp_error *err);

/** Whether its process lives, so that the next file does not wait for a start. */
bool casparian_guest_is_warm(const casparian_guest *self);

/**
 * What a sandbox would be for guests of this process, in words, and whether REQUIRED would refuse.
 * Starts a process to find out, once; any thread.
 *
 * @param words filled
 * @return true: processes, sockets and files are denied to plugins
 */
bool casparian_sandbox_level(char words[CASPARIAN_SANDBOX_WORDS_SIZE]);

#endif
