/*
 * name.h - names of columns that a file brings.
 */
#ifndef CASPARIAN_PARSERS_INPUT_NAME_H
#define CASPARIAN_PARSERS_INPUT_NAME_H

#include <stddef.h>

enum { CASPARIAN_NAME_MAX = 128 }; /* bytes */

/**
 * Copy a name, with U+FFFD in place of each byte that is not UTF-8.
 *
 * @param out ends in NUL
 * @return NULL, or why it is no name: empty, too long, with a NUL byte
 */
const char *casparian_name_copy(char out[CASPARIAN_NAME_MAX + 1], size_t *out_length,
                                const char *name, size_t length);

#endif
