/**
 * resources.h - the resources, and suggestions for the variables of their templates and for the
 * arguments of prompts.
 *
 * Source: seed SS3 and SS4; the output page, section 10; the errors page, section 7.
 */
#ifndef COBRE_FEATURES_RESOURCES_H
#define COBRE_FEATURES_RESOURCES_H

#include "mcp/prompt.h"
#include "mcp/resource.h"

/** Their templates. */
#define COBRE_URI_CONFIG "cobre://case/{case_dir}/config"
#define COBRE_URI_ENTITIES "cobre://case/{case_dir}/entities/{entity_type}"
#define COBRE_URI_SCENARIOS "cobre://case/{case_dir}/scenarios/{entity_id}"
#define COBRE_URI_CONVERGENCE "cobre://output/{output_dir}/convergence"
#define COBRE_URI_RESULTS "cobre://output/{output_dir}/results/{entity_type}"
#define COBRE_URI_POLICY "cobre://output/{output_dir}/policy/summary"

/** The names of the prompts. */
#define COBRE_PROMPT_SETUP "cobre/setup-study"
#define COBRE_PROMPT_DIAGNOSE "cobre/diagnose-convergence"
#define COBRE_PROMPT_COMPARE "cobre/compare-runs"
#define COBRE_PROMPT_EXPLAIN "cobre/explain-results"

extern const mcp_resource cobre_resources[];
extern const mcp_prompt cobre_prompts[];
extern const mcp_completion cobre_completions[];

#endif
