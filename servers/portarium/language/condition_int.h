/*
 * condition_int.h - the parsed form that the parser and the evaluator share.
 */
#ifndef PORTARIUM_CONDITION_INT_H
#define PORTARIUM_CONDITION_INT_H

#include "language/condition.h"

typedef enum portarium_node_kind {
    PORTARIUM_NODE_LITERAL,
    PORTARIUM_NODE_NAME,
    PORTARIUM_NODE_NOT,
    PORTARIUM_NODE_AND,
    PORTARIUM_NODE_OR,
    PORTARIUM_NODE_EQUAL,
    PORTARIUM_NODE_UNEQUAL,
    PORTARIUM_NODE_LESS,
    PORTARIUM_NODE_LESS_EQUAL,
    PORTARIUM_NODE_GREATER,
    PORTARIUM_NODE_GREATER_EQUAL,
    PORTARIUM_NODE_IN,
    PORTARIUM_NODE_CONTAINS,
} portarium_node_kind;

/* A literal, a name, or an operator over one or two others. */
typedef struct portarium_node {
    portarium_node_kind kind;
    const mcp_json *literal;
    const char *name;
    size_t length; /* of `name` */
    const struct portarium_node *left;
    const struct portarium_node *right;
} portarium_node;

struct portarium_condition {
    const portarium_node *root;
    const char **names; /* closed by NULL */
};

#endif
