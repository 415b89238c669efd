/*
 * check.c - the walk of a value through a compiled schema.
 *
 * mcp__check_node tries the rules of one node in order and ends at the first refusal. On its way
 * it keeps the scope of resources for `$dynamicRef` and, only where some `unevaluated*` will
 * ask, marks of what has been looked at: a node that has such a keyword starts with empty marks
 * of its own, since it may only see what it and the schemas it applies in place looked at, and
 * hands them on when it fits.
 *
 * All work is paid for in steps and nesting is bounded, so a schema that refers to itself
 * without going deeper into the value, or one made to be slow, ends in MCP_E_LIMIT.
 */
#include "schema/check/check.h"

#include <string.h>

#include "base/arena_int.h"

static const char no_memory[] = "no memory to check a value against its schema";

enum { BLOCK_SIZE = 4000, BLOCK_MAX = 1 << 20 };

/* ---- status and steps ----------------------------------------------------------------------- */

bool mcp__check_break(mcp__check *check, mcp_status status, const char *words)
{
    if (check->status == MCP_OK)
        check->status = mcp_error_set(check->err, status, "%s", words);
    return false;
}

bool mcp__check_step(mcp__check *check, uint64_t steps)
{
    if (check->status != MCP_OK)
        return false;
    if (check->steps_left < steps) {
        check->steps_left = 0;
        check->status = mcp__finding_limit(check, check->err);
        return false;
    }
    check->steps_left -= steps;
    return true;
}

/* ---- the stack ------------------------------------------------------------------------------ */

static mcp__block *block_new(mcp__check *check, size_t size)
{
    size_t room = check->block->size ? check->block->size * 2 : BLOCK_SIZE;

    room = room > BLOCK_MAX ? BLOCK_MAX : room;
    room = room < size ? size : room;
    mcp__block *block = mcp_arena_alloc(check->scratch, sizeof *block + room);
    if (block)
        *block = (mcp__block){ .next = check->block->next, .size = room };
    else
        mcp__check_break(check, mcp__arena_failure(check->scratch), no_memory);
    return block;
}

void *mcp__stack_take(mcp__check *check, size_t size)
{
    mcp__block *block = check->block;

    size = (size + 7) & ~(size_t)7;
    if (block->size - block->used < size) {
        mcp__block *next = block->next;
        if (!next || next->size < size)
            next = block_new(check, size);
        if (!next)
            return NULL;
        next->used = 0;
        block->next = next;
        check->block = block = next;
    }
    void *out = (unsigned char *)(block + 1) + block->used;
    block->used += size;
    return memset(out, 0, size);
}

mcp__stack_mark mcp__stack_top(const mcp__check *check)
{
    return (mcp__stack_mark){ check->block, check->block->used };
}

void mcp__stack_release(mcp__check *check, mcp__stack_mark mark)
{
    check->block = mark.block;
    mark.block->used = mark.used;
}

/* ---- refusals ------------------------------------------------------------------------------- */

/* `rule` is NULL for a node that is `false`. */
static bool record(mcp__check *check, const mcp__rule *rule, const mcp__subschema *node,
                   const mcp_json *value, const mcp__details *details)
{
    mcp__found *found = &check->found;

    if (check->quiet > 0 || check->status != MCP_OK)
        return false;
    found->rule = rule;
    found->node = node;
    found->actual = value;
    found->details = details ? *details : (mcp__details){ 0 };
    found->depth = check->depth;
    memcpy(found->path, check->path, check->depth * sizeof *check->path);
    return false;
}

bool mcp__check_refuse(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                       const mcp__details *details)
{
    return record(check, rule, rule->node, value, details);
}

/* ---- the walk ------------------------------------------------------------------------------- */

unsigned mcp__type_of(const mcp_json *value)
{
    static const unsigned bits[] = {
        [MCP_JSON_NULL] = MCP__NULL,     [MCP_JSON_BOOL] = MCP__BOOLEAN,
        [MCP_JSON_INT] = MCP__NUMBER,    [MCP_JSON_UINT] = MCP__NUMBER,
        [MCP_JSON_DOUBLE] = MCP__NUMBER, [MCP_JSON_STRING] = MCP__STRING,
        [MCP_JSON_ARRAY] = MCP__ARRAY,   [MCP_JSON_OBJECT] = MCP__OBJECT,
    };

    return bits[mcp_json_type_of(value)];
}

static bool check_rules(mcp__check *check, const mcp__subschema *node, const mcp_json *value,
                        mcp__marks *marks)
{
    unsigned type = mcp__type_of(value);

    for (size_t i = 0; i < node->rule_count; i++) {
        const mcp__rule *rule = &node->rules[i];
        if (!rule->keyword->check || !(rule->keyword->types & type))
            continue;
        check->rule = rule;
        if (!mcp__check_step(check, 1) || !rule->keyword->check(check, rule, value, marks))
            return false;
    }
    return true;
}

static bool take_marks(mcp__marks *marks, mcp__check *check, const mcp_json *value)
{
    size_t count = mcp_json_count(value);
    size_t words = (count + 63) / 64;

    if (!mcp__check_step(check, words / 8))
        return false;
    marks->bits = mcp__stack_take(check, words * sizeof *marks->bits);
    marks->count = count;
    return marks->bits != NULL;
}

static void add_marks(mcp__marks *marks, const mcp__marks *more)
{
    for (size_t i = 0; marks && more && i < (marks->count + 63) / 64; i++)
        marks->bits[i] |= more->bits[i];
}

bool mcp__check_apart(mcp__node_check *how, mcp__check *check, const mcp__subschema *node,
                      const mcp_json *value, mcp__marks *marks)
{
    mcp__stack_mark top = mcp__stack_top(check);
    mcp__marks own;
    bool fits = take_marks(&own, check, value) && how(check, node, value, &own);

    if (fits)
        add_marks(marks, &own);
    mcp__stack_release(check, top);
    return fits;
}

bool mcp__check_node(mcp__check *check, const mcp__subschema *node, const mcp_json *value,
                     mcp__marks *marks)
{
    mcp__scope scope = { node->resource, check->scope };
    const mcp__scope *outer = check->scope;

    if (!mcp__check_step(check, 1))
        return false;
    if (node->refuses)
        return record(check, NULL, node, value, NULL);
    if (check->nesting >= MCP__NESTING_MAX)
        return mcp__check_break(check, MCP_E_LIMIT, "the schema leads back to itself without end");
    check->nesting++;
    if (!outer || outer->resource != node->resource)
        check->scope = &scope;
    bool fits = node->tracks ? mcp__check_apart(check_rules, check, node, value, marks)
                             : check_rules(check, node, value, marks);
    check->scope = outer;
    check->nesting--;
    return fits;
}

mcp_status mcp_schema_check_within(const mcp_schema *schema, const mcp_json *value,
                                   uint64_t *steps_left, mcp_arena *scratch,
                                   mcp_schema_finding *finding, mcp_error *err)
{
    if (!schema || !value || !scratch)
        return mcp_error_set(err, MCP_E_PARAMS, "there is no %s",
                             !schema  ? "schema"
                             : !value ? "value"
                                      : "arena");
    mcp__check *check = mcp_arena_alloc(scratch, sizeof *check);

    if (!check)
        return mcp_error_set(err, mcp__arena_failure(scratch), no_memory);
    check->schema = schema;
    check->scratch = scratch;
    check->err = err;
    check->block = &check->bottom;
    check->steps_left = steps_left ? *steps_left : schema->steps_max;
    bool fits = mcp__check_node(check, schema->root, value, NULL);
    mcp__matcher_clear(&check->matcher);
    if (steps_left)
        *steps_left = check->steps_left;
    if (check->status != MCP_OK || fits)
        return check->status;
    return mcp__finding_write(finding, check, err);
}

mcp_status mcp_schema_check(const mcp_schema *schema, const mcp_json *value, mcp_arena *scratch,
                            mcp_schema_finding *finding, mcp_error *err)
{
    return mcp_schema_check_within(schema, value, NULL, scratch, finding, err);
}
