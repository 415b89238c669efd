/*
 * kept.h - texts that readers leave with a leaf of rows, so that the next need not write them
 * again.
 *
 * A leaf that nobody edits says the same as long as it lives, and most leaves outlive many versions
 * of a universe. A text never changes, belongs to its leaf, and ends with it, or when the writer
 * edits the leaf in place. All texts of the process share one bound: beyond it nothing more is
 * kept, and what is asked for is written each time.
 */
#ifndef UNIVERSE_KEPT_H
#define UNIVERSE_KEPT_H

#include <stddef.h>
#include <stdint.h>

#define UNIVERSE_KEPT_MAX ((size_t)64 << 20) /* bytes of all texts of this process */

typedef struct universe_kept universe_kept;

struct universe_kept {
    universe_kept *next; /* the leaf's text in another form */
    uint32_t form;       /* universe_form */
    uint32_t length;
    char text[];
};

/* A copy of the text; NULL: so much is kept already, or there is no memory. Any thread. */
universe_kept *universe_kept_new(uint32_t form, const char *text, size_t length);

/* Free a text and those behind it; NULL is fine. */
void universe_kept_free(universe_kept *kept);

/* Bytes that are kept; a part of universe_memory_used. */
size_t universe_kept_bytes(void);

#endif
