/**
 * app.h - what the handlers of cobre's MCP server share.
 *
 * features/ has the tools, resources and prompts, gateway/ what these share. The domain is in the
 * rooms below; each may include those to its right, and none of them includes a header of MCP calls
 * or servers (tests/house/layers.mjs holds both):
 *
 *     shell       the commands of the program           report, run, results, ... but no tools
 *     report      words, numbers, the HTML report       run, query, results, sddp, lp, case
 *     run         one run: validate, train, simulate    results, sddp, lp, validate, case, findings
 *     chart       images of a plot                      -
 *     query       questions about an output directory   results, case/read, case, findings
 *     results     the output directory                  sddp, case
 *     sddp        training and simulation; iteration/   sddp/stage, lp, stochastic, case
 *     sddp/stage  one stage: program, cuts, solve       lp, case
 *     lp          the port to an LP solver              -
 *     stochastic  random numbers and the opening tree   case
 *     validate    the five layers, from files to case   case/read, case, findings
 *     case/read   the readers of the JSON files         case, findings
 *     case        the case, its input tables and files  findings
 *     findings    error records and reports             -
 */
#ifndef COBRE_GATEWAY_APP_H
#define COBRE_GATEWAY_APP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "columns/columns.h"
#include "guard/paths.h"
#include "mcp/files.h"
#include "mcp/tool.h"

/** The state shared by the tools of one server. Handlers on several threads use it at once. */
typedef struct cobre_app {
    guard *guard; /* the allowed directories */
    columns *engine;
    unsigned threads;         /* the largest number of a run */
    pthread_mutex_t run_lock; /* guards the two below */
    bool is_running;
    char running_case[4096];       /* PATH_MAX; for the message that refuses a second run */
    atomic_int_fast64_t lp_solves; /* of runs, since the start */
} cobre_app;

/** The ten tools of the contract (seed SS2), to be added with cobre_files. */
extern const mcp_tool cobre_tools[];

/** The files embedded by the build: tools/, schemas/. */
extern const mcp_file cobre_files[];

#endif
