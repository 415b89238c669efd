/**
 * tool_classes.h - how dangerous a tool is, judged by its name alone. Pure; any thread.
 *
 * The class comes from the patterns of the workspace, never from what a tool says of itself.
 */
#ifndef PORTARIUM_TOOL_CLASSES_H
#define PORTARIUM_TOOL_CLASSES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/vocabulary.h"

/** One pattern and the class of the tools that fit it. */
typedef struct portarium_tool_pattern {
    const char *pattern;
    portarium_tool_class tool_class;
} portarium_tool_pattern;

/** True when the pattern fits the name: the same text, or a prefix followed by '*', or "*". A '*'
 *  elsewhere is an ordinary character. */
bool portarium_pattern_fits(const char *pattern, const char *name);

/** The class of the first pattern that fits; Unknown when none does. */
portarium_tool_class portarium_tool_class_of(const portarium_tool_pattern *patterns, size_t count,
                                             const char *name);

/** The least strict tier that may use tools of a class: ReadOnly Auto, Mutation and Unknown
 *  HumanApprove, Dangerous ManualOnly. */
portarium_tier portarium_tool_class_tier(portarium_tool_class tool_class);

/** What is decided of a proposal by the tool's class alone: ReadOnly Allow, Mutation and Unknown
 *  RequireApproval, Dangerous Deny. */
portarium_effect portarium_tool_class_effect(portarium_tool_class tool_class);

#endif
