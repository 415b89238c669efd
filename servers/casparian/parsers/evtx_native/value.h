/*
 * value.h - values of binary XML as text.
 */
#ifndef CASPARIAN_PARSERS_EVTX_NATIVE_VALUE_H
#define CASPARIAN_PARSERS_EVTX_NATIVE_VALUE_H

#include "parsers/evtx_native/binxml.h"

enum { CASPARIAN_EVTX_NULL = 0, CASPARIAN_EVTX_BINARY = 14, CASPARIAN_EVTX_FRAGMENT = 33 };

/** UTF-16LE as UTF-8, up to a NUL; false: the tree is full. */
bool casparian_evtx_utf16(struct casparian_tree *tree, struct casparian_text *out,
                          const uint8_t *bytes, size_t length);

/** A value of that type, of `length` bytes; false: the tree is full. What is malformed is "". */
bool casparian_evtx_text(struct casparian_tree *tree, struct casparian_text *out, unsigned type,
                         const uint8_t *bytes, size_t length);

/** Microseconds since 1970 of a FILETIME. */
int64_t casparian_evtx_micros(uint64_t filetime);

#endif
