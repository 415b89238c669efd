/*
 * node.h - what a compiled schema is made of.
 *
 * A schema document becomes a tree of nodes, one a subschema. A node has rules, one a keyword
 * that does something, in the order of the keyword table: so the check of a value is a walk over
 * arrays. Nodes lie in resources (a root or an embedded `$id`), which is what `$dynamicRef` asks
 * about. All of it lives in the schema's arena and never changes after compiling; only the
 * patterns are freed one by one.
 */
#ifndef MCP_SCHEMA_NODE_H
#define MCP_SCHEMA_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/schema.h"
#include "schema/number.h"
#include "schema/pattern.h"

typedef struct mcp__subschema mcp__subschema;
typedef struct mcp__rule mcp__rule;
typedef struct mcp__resource mcp__resource;
typedef struct mcp__keyword mcp__keyword;
typedef struct mcp__compiler mcp__compiler;
typedef struct mcp__check mcp__check;
typedef struct mcp__marks mcp__marks;

/* What `format` asserts (format.c). A format that is not served accepts everything. */
typedef struct mcp__format {
    const char *name;
    const char *expression;                        /* of ECMA-262 */
    bool (*also)(const char *text, size_t length); /* what it cannot say; NULL: nothing */
    unsigned steps; /* what `also` costs besides the length; compiling an expression is dear */
} mcp__format;

/* The format of that name; NULL when it is not served. */
const mcp__format *mcp__format_find(const char *name);

/* The types that `type` names, as bits. An integer has both number bits. */
enum {
    MCP__NULL = 1,
    MCP__BOOLEAN = 2,
    MCP__OBJECT = 4,
    MCP__ARRAY = 8,
    MCP__STRING = 16,
    MCP__NUMBER = 32,
    MCP__INTEGER = 64,
    MCP__ANY = 127
};

/* Whether `value` obeys; a refusal is recorded in the check. */
typedef bool mcp__keyword_check(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                                mcp__marks *marks);

/* One row a keyword; see keyword.c. */
struct mcp__keyword {
    const char *name;
    unsigned vocabulary; /* which of the draft's vocabularies it belongs to; compile.h */
    unsigned types;      /* values of other types pass without a look */

    /* Reads the keyword's value into the rule. False: it cannot be, which is recorded. */
    bool (*compile)(mcp__compiler *compiler, mcp__rule *rule);

    mcp__keyword_check *check; /* NULL: nothing to check */
};

/* One keyword of one subschema. */
struct mcp__rule {
    const mcp__keyword *keyword;
    const mcp__subschema *node; /* whose keyword */
    const mcp_json *value;
    const mcp__subschema **nodes; /* the subschemas in it; for a reference, its target */
    size_t node_count;
    const mcp__rule *with[2]; /* siblings it has to know (compile.c); NULL where absent */
    union {
        uint64_t count;         /* minLength and its like */
        unsigned types;         /* type */
        mcp__decimal divisor;   /* multipleOf */
        const uint64_t *hashes; /* const, enum: of each value */
        struct {
            const mcp__pattern **patterns; /* pattern, format; patternProperties: next to `nodes` */
            const mcp__format *format;     /* NULL: nothing is asserted */
        };
        const char *anchor; /* $dynamicRef: the name to look for, NULL for none */
    } as;
    mcp__rule *next_pending; /* while compiling: references not yet resolved */
};

/* A reference token of a JSON Pointer: a member's name, or an index where the name is NULL. */
typedef struct mcp__token {
    const char *name;
    size_t length;
    size_t index;
} mcp__token;

/* Where a subschema is: under `keyword` of `parent`, and there perhaps one token deeper. */
typedef struct mcp__location {
    const mcp__subschema *parent; /* NULL for the root of a document */
    const char *keyword;
    bool has_token;
    mcp__token token;
} mcp__location;

/* One subschema. */
struct mcp__subschema {
    const mcp_json *json;
    mcp__resource *resource;
    mcp__location at;
    mcp__rule *rules;
    size_t rule_count;
    bool refuses; /* the schema `false` */
    bool tracks;  /* has unevaluated*: must know what its other keywords looked at */
};

/* What `$anchor` or `$dynamicAnchor` names. */
typedef struct mcp__anchor {
    struct mcp__anchor *next; /* of the same resource; dynamic ones only */
    const char *name;
    const mcp__subschema *node;
    bool is_dynamic;
} mcp__anchor;

/* A root or an embedded schema with an `$id`. */
struct mcp__resource {
    const char *uri; /* absolute where a base was known; without fragment; "" for none */
    const mcp__subschema *root;
    unsigned vocabularies; /* the dialect */
    mcp__anchor *dynamic_anchors;
};

struct mcp_schema {
    mcp_arena *arena;
    const mcp__subschema *root;
    mcp__pattern *patterns; /* all, to be freed */
    uint64_t steps_max;
};

/* Append the JSON Pointer to a subschema within its document. */
void mcp__node_pointer(mcp_buf *out, const mcp__subschema *node);

/* Append one reference token of a JSON Pointer, with the slash before it. */
void mcp__pointer_token(mcp_buf *out, const mcp__token *token);

#endif
