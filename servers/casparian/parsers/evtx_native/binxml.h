/*
 * binxml.h - the binary XML of one event record, as a tree.
 *
 * Every offset is checked against the chunk. What a hostile record could multiply by templates
 * within templates is bounded: the depth, the steps, and the memory of the tree.
 */
#ifndef CASPARIAN_PARSERS_EVTX_NATIVE_BINXML_H
#define CASPARIAN_PARSERS_EVTX_NATIVE_BINXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CASPARIAN_BINXML_DEPTH_MAX = 64,
    CASPARIAN_BINXML_TREE_MAX = 1 << 20, /* bytes */
    CASPARIAN_BINXML_STEPS_MAX = 8000    /* tokens of one record, templates unfolded */
};

/** Memory of one tree, reused for the next. */
struct casparian_tree {
    size_t used;
    size_t steps;
    _Alignas(16) char bytes[CASPARIAN_BINXML_TREE_MAX];
};

struct casparian_text {
    const char *bytes; /* UTF-8 */
    size_t length;
};

/** An element, or an attribute (which has neither attributes nor children). */
struct casparian_node {
    struct casparian_node *next;
    struct casparian_node *attributes;
    struct casparian_node *children;
    struct casparian_node *last_attribute;
    struct casparian_node *last_child;
    struct casparian_text name;
    struct casparian_text text; /* all texts of it, joined */
    const uint8_t *binary;      /* its value was binary: in the chunk; else NULL */
    size_t binary_length;
    bool is_dropped; /* an optional value of it was null */
};

/**
 * Read the binary XML from `begin` to `end` of a chunk.
 *
 * @param root gets the elements as children; they are in the tree
 * @return NULL, or what is wrong; then the tree has what was read before
 */
const char *casparian_binxml_read(struct casparian_node *root, struct casparian_tree *tree,
                                  const uint8_t *chunk, size_t size, size_t begin, size_t end);

/** The child or attribute of that name in a list, or NULL. */
const struct casparian_node *casparian_node_find(const struct casparian_node *list,
                                                 const char *name);

/** Room in the tree; NULL: it is full. */
void *casparian_tree_take(struct casparian_tree *tree, size_t size);

#endif
