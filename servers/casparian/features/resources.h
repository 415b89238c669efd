/**
 * resources.h - jobs and approvals as resources, and the prompts.
 */
#ifndef CASPARIAN_FEATURES_RESOURCES_H
#define CASPARIAN_FEATURES_RESOURCES_H

#include "mcp/prompt.h"
#include "mcp/resource.h"

#define CASPARIAN_JOB_URI "casparian://job/"
#define CASPARIAN_APPROVAL_URI "casparian://approval/"

/** `data` of their functions is the app. */
extern const mcp_resource casparian_resources[];
extern const mcp_prompt casparian_prompts[];

#endif
