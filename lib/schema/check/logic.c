/*
 * logic.c - the keywords that apply schemas to the same value: references and the logical ones.
 *
 * When no alternative of anyOf or oneOf fits, the finding should say what the author of the
 * value most likely got wrong. An alternative that already refuses the value's type was hardly
 * meant; one that refuses a constant deeper inside is most often the wrong branch of a union. Of
 * the others the one that got deepest is taken.
 */
#include <string.h>

#include "schema/check/check.h"

MCP__KEYWORD(ref)
{
    return mcp__check_node(check, rule->nodes[0], value, marks);
}

static const mcp__subschema *dynamic_anchor(const mcp__resource *resource, const char *name)
{
    for (const mcp__anchor *at = resource->dynamic_anchors; at; at = at->next) {
        if (strcmp(at->name, name) == 0)
            return at->node;
    }
    return NULL;
}

/* The outermost resource in scope that has such a dynamic anchor decides (Core 8.2.3.2). */
MCP__KEYWORD(dynamic_ref)
{
    const mcp__subschema *target = rule->nodes[0];

    for (const mcp__scope *at = check->scope; rule->as.anchor && at; at = at->outer) {
        const mcp__subschema *found = dynamic_anchor(at->resource, rule->as.anchor);
        if (!mcp__check_step(check, 1))
            return false;
        target = found ? found : target;
    }
    return mcp__check_node(check, target, value, marks);
}

MCP__KEYWORD(all_of)
{
    for (size_t i = 0; i < rule->node_count; i++) {
        if (!mcp__check_node(check, rule->nodes[i], value, marks))
            return false;
    }
    return true;
}

/* Try a schema that need not fit: what it looked at counts only if it does. */
static bool try_node(mcp__check *check, const mcp__subschema *node, const mcp_json *value,
                     mcp__marks *marks)
{
    mcp__stack_mark top = mcp__stack_top(check);
    mcp__marks own;

    if (!marks)
        return mcp__check_node(check, node, value, NULL);
    bool fits = mcp__marks_take(&own, check, value) && mcp__check_node(check, node, value, &own);
    if (fits)
        mcp__marks_add(marks, &own);
    mcp__stack_release(check, top);
    return fits;
}

/* ---- alternatives --------------------------------------------------------------------------- */

/* How well the last refusal explains why an alternative does not fit; negative: hardly. */
static int worth_of(const mcp__check *check)
{
    const mcp__found *found = &check->found;
    const char *keyword = found->rule ? found->rule->keyword->name : "false";
    int depth = (int)(found->depth - check->depth) * 4;

    if (strcmp(keyword, "type") == 0)
        return depth - 4;
    if (strcmp(keyword, "const") == 0 || strcmp(keyword, "enum") == 0)
        return depth - (depth > 0 ? 6 : 2);
    return strcmp(keyword, "false") == 0 ? depth - 5 : depth;
}

/* What was tried so far. */
typedef struct attempt {
    mcp__found *best; /* NULL until an alternative was refused, and where nobody wants a finding */
    int worth;
    bool is_tied;         /* another explains as well */
    mcp__details fitting; /* the numbers of the first two alternatives that fit */
} attempt;

static void weigh(attempt *tried, mcp__check *check)
{
    int worth = worth_of(check);

    if (tried->best && worth <= tried->worth) {
        tried->is_tied = tried->is_tied || worth == tried->worth;
        return;
    }
    if (!tried->best)
        tried->best = mcp__stack_take(check, sizeof *tried->best);
    if (!tried->best)
        return;
    mcp__found_copy(tried->best, &check->found);
    tried->worth = worth;
    tried->is_tied = false;
}

/* Try alternatives until `enough` fit, and say how many do. */
static size_t try_all(attempt *tried, mcp__check *check, const mcp__rule *rule,
                      const mcp_json *value, mcp__marks *marks, size_t enough)
{
    size_t count = 0;

    for (size_t i = 0; i < rule->node_count && count < enough; i++) {
        if (try_node(check, rule->nodes[i], value, marks)) {
            if (count == 0)
                tried->fitting.first = i;
            tried->fitting.second = i;
            count++;
        } else if (check->status != MCP_OK) {
            return 0;
        } else if (check->quiet == 0) {
            weigh(tried, check);
        }
    }
    return count;
}

/* None fits. Where several refuse the value itself for what it is, the keyword is the finding. */
static bool refuse_all(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                       const attempt *tried)
{
    bool is_vague = tried->worth <= -4 || (tried->worth < 0 && tried->is_tied);

    if (check->quiet > 0 || check->status != MCP_OK)
        return false;
    if (rule->node_count > 1 && is_vague && tried->best->depth == check->depth)
        return mcp__check_refuse(check, rule, value, NULL);
    mcp__found_copy(&check->found, tried->best);
    return false;
}

MCP__KEYWORD(any_of)
{
    mcp__stack_mark top = mcp__stack_top(check);
    attempt tried = { 0 };
    size_t enough = marks ? SIZE_MAX : 1; /* each one that fits has looked at something */
    size_t count = try_all(&tried, check, rule, value, marks, enough);

    if (count == 0)
        refuse_all(check, rule, value, &tried);
    mcp__stack_release(check, top);
    return count > 0 && check->status == MCP_OK;
}

MCP__KEYWORD(one_of)
{
    mcp__stack_mark top = mcp__stack_top(check);
    attempt tried = { 0 };
    size_t count = try_all(&tried, check, rule, value, marks, 2);

    if (count == 0)
        refuse_all(check, rule, value, &tried);
    mcp__stack_release(check, top);
    if (count == 2)
        return mcp__check_refuse(check, rule, value, &tried.fitting);
    return count == 1 && check->status == MCP_OK;
}

/* ---- not, if -------------------------------------------------------------------------------- */

MCP__KEYWORD(not )
{
    /* what a schema under `not` looked at never counts */
    if (mcp__check_quietly(check, rule->nodes[0], value, NULL))
        return mcp__check_refuse(check, rule, value, NULL);
    return check->status == MCP_OK;
}

MCP__KEYWORD(if)
{
    check->quiet++;
    bool is_met = try_node(check, rule->nodes[0], value, marks);
    check->quiet--;
    const mcp__rule *next = rule->with[is_met ? 0 : 1];
    if (check->status != MCP_OK)
        return false;
    return !next || mcp__check_node(check, next->nodes[0], value, marks);
}
