/*
 * rejects.h - the output of lines that a parser cannot read.
 */
#ifndef CASPARIAN_PARSERS_INPUT_REJECTS_H
#define CASPARIAN_PARSERS_INPUT_REJECTS_H

#include "casparian_plugin.h"

/** Columns line_number, error_reason and raw_line_preview. */
cf_output *casparian_rejects_open(cf_sink *sink, const char *name);

/** Add a line. The preview is its first 200 bytes at most, up to the end of a character. */
void casparian_rejects_add(cf_output *rejects, int64_t line, const char *reason, const char *bytes,
                           size_t length);

#endif
