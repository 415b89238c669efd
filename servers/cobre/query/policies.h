/**
 * policies.h - policies as the contract shows them: a summary, one stage, a comparison.
 *
 * Source: seed SS2.5, SS2.6, SS3.3; the output page, section 10.
 */
#ifndef COBRE_QUERY_POLICIES_H
#define COBRE_QUERY_POLICIES_H

#include "mcp/json.h"
#include "policy/read.h"

#define QUERY_CUTS_SHOWN 10    /* whose coefficients are shown */
#define QUERY_POLICIES_MAX 100 /* that are compared at once */

/** Write the members of a summary into an object that is begun. */
void query_policy_write_summary(mcp_json_writer *writer, const policy_summary *summary);

/**
 * Write the members of one stage into an object that is begun; in currency.
 *
 * @param all   with the cuts of that stage
 * @param stage  its index
 */
void query_policy_write_stage(mcp_json_writer *writer, const policy *all, size_t stage);

/** The parts of a comparison. */
typedef struct query_metrics {
    bool convergence, cut_counts;
} query_metrics;

/** A policy that is compared, and the directory that a client names. */
typedef struct query_policy {
    const char *directory;
    const policy_summary *summary;
} query_policy;

/** Write the members of a comparison into an object that is begun: `policies`, `compatible`,
 *  `deltas` (second minus first; null unless two compatible ones are compared), and, when they are
 *  not compatible, `incompatibility`. */
void query_policies_write_comparison(mcp_json_writer *writer, const query_policy *policies,
                                     size_t count, query_metrics metrics);

#endif
