/*
 * form.h - what the text of a value looks like.
 */
#ifndef CASPARIAN_PARSERS_EVTX_NATIVE_FORM_H
#define CASPARIAN_PARSERS_EVTX_NATIVE_FORM_H

#include "parsers/evtx_native/binxml.h"

struct casparian_form {
    const char *name; /* empty, bool, hex, int, timestamp, duration, sid, guid, string */
    bool has_integer;
    bool has_boolean;
    bool has_micros;
    bool boolean;
    int64_t integer;
    int64_t micros;
};

struct casparian_form casparian_form_of(struct casparian_text text);

/** A decimal integer within int64. */
bool casparian_form_integer(struct casparian_text text, int64_t *out);

#endif
