/*
 * check.h - what the files that check a value share.
 *
 * A check lives on one thread, from mcp_schema_check to its return. It ends at the first
 * refusal, so every function here answers "go on?": false is a refusal that has been recorded,
 * or a failure of the check itself in `status`. What is needed for a while comes from a stack of
 * blocks and goes back to it, so alternatives that are tried and dropped cost no memory.
 */
#ifndef MCP_SCHEMA_CHECK_H
#define MCP_SCHEMA_CHECK_H

#include "schema/node.h"

/* Deepest nesting of schemas within one check, references included. */
enum { MCP__NESTING_MAX = 1000 };

/* Deepest place in a value: what the reader lets through, and a member's name below it. */
enum { MCP__PATH_MAX = MCP_JSON_DEPTH_MAX + 2 };

/* Resources that are being evaluated, innermost first: what `$dynamicRef` searches. */
typedef struct mcp__scope {
    const mcp__resource *resource;
    const struct mcp__scope *outer;
} mcp__scope;

/* What a refusal says besides who refused what; zeros for nothing. */
typedef struct mcp__details {
    const char *property; /* a member's name, or NULL */
    size_t property_length;
    const char *needed_by; /* dependentRequired: the member that is there */
    size_t needed_by_length;
    size_t first; /* numbers for the message */
    size_t second;
} mcp__details;

/* A refusal. */
typedef struct mcp__found {
    const mcp__rule *rule;      /* whose; NULL for a schema that is `false` */
    const mcp__subschema *node; /* that has the keyword, or is `false` */
    const mcp_json *actual;
    mcp__details details;
    size_t depth; /* of the value's place */
    mcp__token path[MCP__PATH_MAX];
} mcp__found;

/* A block of the stack; its bytes follow. */
typedef struct mcp__block {
    struct mcp__block *next;
    size_t used;
    size_t size;
} mcp__block;

/* Where the stack was; see mcp__stack_release. */
typedef struct mcp__stack_mark {
    mcp__block *block;
    size_t used;
} mcp__stack_mark;

struct mcp__check {
    const mcp_schema *schema;
    mcp_arena *scratch;
    mcp_error *err;
    mcp_status status; /* of the check itself: the first failure sticks */
    uint64_t steps_left;
    const mcp__rule *rule; /* the last that was begun: where the steps run out */
    unsigned nesting;
    unsigned quiet; /* above 0: refusals are expected and not recorded */
    const mcp__scope *scope;
    mcp__matcher matcher;
    mcp__block bottom; /* of the stack; has no bytes */
    mcp__block *block; /* its top */
    mcp__found found;  /* the last refusal */
    size_t depth;
    mcp__token path[MCP__PATH_MAX];
};

/* Which members or items of a value some keyword has looked at. NULL where nobody will ask. */
struct mcp__marks {
    uint64_t *bits;
    size_t count;
};

/* Does the value fit? */
typedef bool mcp__node_check(mcp__check *check, const mcp__subschema *node, const mcp_json *value,
                             mcp__marks *marks);
mcp__node_check mcp__check_node;

/* What type the value has, as a bit of node.h; an integer is a number. */
unsigned mcp__type_of(const mcp_json *value);

/* Check with marks of its own, which are handed on in `marks` only when the value fits. */
bool mcp__check_apart(mcp__node_check *how, mcp__check *check, const mcp__subschema *node,
                      const mcp_json *value, mcp__marks *marks);

/* Pay for work; false when the steps are used up or the check has failed before. */
bool mcp__check_step(mcp__check *check, uint64_t steps);

/* End the check without an answer. */
bool mcp__check_break(mcp__check *check, mcp_status status, const char *words);

/* Record that `value`, at the present place, does not obey. The answer, false, is for `return`.
 * `details` may be NULL. */
bool mcp__check_refuse(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                       const mcp__details *details);

/* Memory until the mark is released; NULL ends the check. */
void *mcp__stack_take(mcp__check *check, size_t size);
mcp__stack_mark mcp__stack_top(const mcp__check *check);
void mcp__stack_release(mcp__check *check, mcp__stack_mark mark);

/* Say where the steps ran out, and what can be done about it. Returns MCP_E_LIMIT. */
mcp_status mcp__finding_limit(const mcp__check *check, mcp_error *err);

/* Write the refusal for people and programs. Either may be NULL. */
mcp_status mcp__finding_write(mcp_schema_finding *finding, const mcp__check *check, mcp_error *err);

/* The keywords. The function of one is written as MCP__KEYWORD(name) { ... }: whether `value`
 * obeys `rule`; a refusal is recorded in the check; what was looked at is set in `marks`. */
#define MCP__KEYWORD(name)                                                                         \
    bool mcp__check_##name(mcp__check *check, const mcp__rule *rule, const mcp_json *value,        \
                           mcp__marks *marks __attribute__((unused)))
mcp__keyword_check mcp__check_type, mcp__check_const, mcp__check_enum, mcp__check_maximum,
    mcp__check_exclusive_maximum, mcp__check_minimum, mcp__check_exclusive_minimum,
    mcp__check_at_most, mcp__check_at_least, mcp__check_multiple_of, mcp__check_pattern,
    mcp__check_format, mcp__check_required, mcp__check_dependent_required,
    mcp__check_dependent_schemas, mcp__check_property_names, mcp__check_properties,
    mcp__check_pattern_properties, mcp__check_additional, mcp__check_unevaluated_members,
    mcp__check_unique_items, mcp__check_prefix_items, mcp__check_items, mcp__check_contains,
    mcp__check_unevaluated_items, mcp__check_ref, mcp__check_dynamic_ref, mcp__check_all_of,
    mcp__check_any_of, mcp__check_one_of, mcp__check_not, mcp__check_if;

#endif
