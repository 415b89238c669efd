/*
 * rows.h - the rows of an event: itself, its data, and what was strange about it.
 */
#ifndef CASPARIAN_PARSERS_EVTX_NATIVE_ROWS_H
#define CASPARIAN_PARSERS_EVTX_NATIVE_ROWS_H

#include "casparian_plugin.h"
#include "parsers/evtx_native/binxml.h"

enum { CASPARIAN_EVTX_INFO = 1, CASPARIAN_EVTX_WARN = 3, CASPARIAN_EVTX_ERROR = 4 };

struct casparian_evtx_rows {
    cf_output *events;
    cf_output *event_data;
    cf_output *user_data;
    cf_output *annotations;
    cf_output *files;
};

void casparian_evtx_rows_open(struct casparian_evtx_rows *rows, cf_sink *sink);

/** The rows of one event. The tree is used further, for the event as JSON. */
void casparian_evtx_rows_add(struct casparian_evtx_rows *rows, struct casparian_tree *tree,
                             const struct casparian_node *root, int64_t record, int64_t micros);

void casparian_evtx_annotate(struct casparian_evtx_rows *rows, int64_t record, const char *type,
                             const char *key, const char *value, int64_t severity);

#endif
