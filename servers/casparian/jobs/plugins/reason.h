/**
 * reason.h - why a plugin failed with a file, in the form that a client may see.
 *
 * The message of an exception may have texts of the file in it. By default a client sees of it the
 * exception's type, the place in the plugin's own code, and the words that the plugin's own file
 * has, or that interpreters use: those are no data. Of other words it sees the shape.
 *
 * One thread at a time uses the words of a plugin.
 */
#ifndef CASPARIAN_JOBS_PLUGINS_REASON_H
#define CASPARIAN_JOBS_PLUGINS_REASON_H

#include "check/redact.h"
#include "plugins/outcome.h"

/** The words of a plugin's own file, which is read when the first one is asked for. */
typedef struct casparian_words casparian_words;

/** @param plugin is kept @return NULL: no memory */
casparian_words *casparian_words_new(const casparian_plugin *plugin);

/** NULL is fine. */
void casparian_words_free(casparian_words *self);

/** casparian_redaction.is_known of a plugin, with its words as data. A file that cannot be read has
 *  no words. */
casparian_word_is_known casparian_words_has;

/**
 * Append the reason of a failure.
 *
 * @param redaction with the words of the plugin
 * @return out->status
 */
mcp_status casparian_reason_append(mcp_buf *out, const casparian_redaction *redaction,
                                   const casparian_plugin *plugin,
                                   const casparian_guest_outcome *outcome);

#endif
