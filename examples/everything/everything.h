/*
 * everything.h - what the parts of the example server hand to its main: tables of features.
 */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include "mcp/mcp.h"

/** Tool definitions, prompts, resources.json and two small media: what examples/everything/
 *  holds. */
extern const mcp_file everything_files[];

/* content.c */
mcp_handler test_simple_text;
mcp_handler test_image_content;
mcp_handler test_audio_content;
mcp_handler test_embedded_resource;
mcp_handler test_multiple_content_types;
mcp_handler test_error_handling;
mcp_handler json_schema_2020_12_tool;
mcp_handler test_header_argument;
mcp_handler greet;
mcp_handler echo;

/* while.c */
mcp_handler test_tool_with_logging;
mcp_handler test_logging_tool;
mcp_handler test_tool_with_progress;
mcp_handler test_acknowledge_progress;
mcp_handler test_reconnection;
mcp_handler test_missing_capability;

/* ask.c */
mcp_handler test_sampling;
mcp_handler test_elicitation;
mcp_handler test_elicitation_sep1034_defaults;
mcp_handler test_elicitation_sep1330_enums;
mcp_handler test_streaming_elicitation;
mcp_handler test_input_required_result_elicitation;
mcp_handler test_input_required_result_sampling;
mcp_handler test_input_required_result_list_roots;
mcp_handler test_input_required_result_request_state;
mcp_handler test_input_required_result_multiple_inputs;
mcp_handler test_input_required_result_multi_round;
mcp_handler test_input_required_result_tampered_state;
mcp_handler test_input_required_result_capabilities;
mcp_handler fill_with_context;

/* task.c */
mcp_handler slow_compute;
mcp_handler failing_job;
mcp_handler protocol_error_job;
mcp_handler confirm_delete;
mcp_handler multi_input;
mcp_handler test_tool_with_task;

/* visit.c */
mcp_handler test_elicitation_url;
mcp_handler test_visit_required;
mcp_handler test_visit_done;

/* changes.c */
mcp_handler test_trigger_tool_change;
mcp_handler test_trigger_prompt_change;
mcp_handler test_trigger_resource_update;

/** shelf.c */
extern const mcp_resource everything_resources[];
extern const mcp_prompt everything_prompts[];
extern const mcp_completion everything_completions[];

/** One grey point. */
const mcp_file *everything_image(void);

#endif
