/*
 * dictionary.h - the distinct texts of a column chunk, by their index.
 *
 * It is bounded: a text for which there is no place is not added. Texts come from files that nobody
 * has checked, so a search gives up after a few steps where many texts have one hash.
 */
#ifndef COLUMNS_DICTIONARY_H
#define COLUMNS_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"

#define DICTIONARY_TEXTS_MAX 32768
#define DICTIONARY_BYTES_MAX ((size_t)1 << 20)

/* Zeros are not a dictionary; its fields are read only. */
struct dictionary {
    mcp_buf plain;   /* the texts as PLAIN values: each has its length before it */
    mcp_buf entries; /* of each text: its hash, and where its length begins in `plain` */
    mcp_buf slots;   /* a power of two of uint32_t: an index plus one; 0: free */
    uint32_t count;
};

void dictionary_init(struct dictionary *self);

/* Free the buffers. */
void dictionary_clear(struct dictionary *self);

/* Forget the texts and keep the buffers. */
void dictionary_reset(struct dictionary *self);

/* Bytes that it needs. */
size_t dictionary_held(const struct dictionary *self);

/*
 * The index of a text, which is added if it is new.
 *
 * @param is_new set
 * @return UINT32_MAX: there is no place for it, or no memory (`status` of a buffer)
 */
uint32_t dictionary_index(struct dictionary *self, const char *text, size_t length, bool *is_new);

/* The PLAIN value of an index, with its length before it. */
const char *dictionary_at(const struct dictionary *self, uint32_t index, size_t *length);

/* Whether a buffer found no memory. */
mcp_status dictionary_status(const struct dictionary *self);

#endif
