/*
 * json.h - a node of an event as JSON.
 */
#ifndef CASPARIAN_PARSERS_EVTX_NATIVE_JSON_H
#define CASPARIAN_PARSERS_EVTX_NATIVE_JSON_H

#include "parsers/evtx_native/binxml.h"

/**
 * The content of a node. One with text alone is a string, an empty one null, another an object: its
 * attributes in `#attributes`, its text in `#text`, its children by their names, those of the same
 * name in an array.
 *
 * @return in the tree; empty: the tree is full
 */
struct casparian_text casparian_json_of(struct casparian_tree *tree,
                                        const struct casparian_node *node);

#endif
