/*
 * array.c - the keywords that look at the items of an array.
 */
#include <stdlib.h>

#include "schema/check/check.h"

/* Of items or members. */
MCP__KEYWORD(max_count)
{
    mcp__details details = { .first = mcp_json_count(value) };

    return details.first <= rule->as.count || mcp__check_refuse(check, rule, value, &details);
}

MCP__KEYWORD(min_count)
{
    mcp__details details = { .first = mcp_json_count(value) };

    return details.first >= rule->as.count || mcp__check_refuse(check, rule, value, &details);
}

/* ---- uniqueItems ---------------------------------------------------------------------------- */

/* The steps of sorting one item among 100,000. */
enum { SORT = 4 };

typedef struct hashed {
    uint64_t hash;
    size_t index;
} hashed;

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a;
    const hashed *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Equal items have equal hashes, so after sorting they are neighbours; few others are. */
static bool find_equal(mcp__details *out, mcp__check *check, const mcp_json *value,
                       const hashed *items, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        for (size_t k = i + 1; k < count && items[k].hash == items[i].hash; k++) {
            if (!mcp__check_step(check, 1))
                return false;
            if (!mcp_json_equal(mcp_json_item(value, items[i].index),
                                mcp_json_item(value, items[k].index)))
                continue;
            *out = (mcp__details){ .first = items[i].index, .second = items[k].index };
            return true;
        }
    }
    return false;
}

MCP__KEYWORD(unique_items)
{
    size_t count = mcp_json_count(value);
    mcp__stack_mark top = mcp__stack_top(check);
    mcp__details details = { 0 };
    bool is_paid = true;

    if (!rule->as.count || count < 2)
        return true;
    hashed *items = mcp__stack_take(check, count * sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < count && is_paid; i++) {
        items[i].index = i;
        is_paid = mcp__check_hash(&items[i].hash, check, mcp_json_item(value, i));
    }
    is_paid = is_paid && mcp__check_step(check, count * SORT);
    if (is_paid)
        qsort(items, count, sizeof *items, by_hash);
    bool has_equal = is_paid && find_equal(&details, check, value, items, count);
    mcp__stack_release(check, top);
    if (has_equal)
        return mcp__check_refuse(check, rule, value, &details);
    return check->status == MCP_OK;
}

/* ---- subschemas ----------------------------------------------------------------------------- */

MCP__KEYWORD(prefix_items)
{
    for (size_t i = 0; i < rule->node_count && i < mcp_json_count(value); i++) {
        if (!mcp__check_item(check, rule->nodes[i], value, i))
            return false;
        mcp__marks_set(marks, i);
    }
    return true;
}

MCP__KEYWORD(items)
{
    size_t first = rule->with[0] ? rule->with[0]->node_count : 0;

    for (size_t i = first; i < mcp_json_count(value); i++) {
        if (!mcp__check_item(check, rule->nodes[0], value, i))
            return false;
    }
    mcp__marks_set_all(marks); /* prefixItems has checked the items before */
    return true;
}

/* Too few or too many: the finding is that of minContains or maxContains where they stand there. */
static bool check_contains_count(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                                 size_t found)
{
    const mcp__rule *least = rule->with[0];
    const mcp__rule *most = rule->with[1];
    mcp__details details = { .first = found };

    if (least && found < least->as.count)
        return mcp__check_refuse(check, least, value, &details);
    if (most && found > most->as.count)
        return mcp__check_refuse(check, most, value, &details);
    if (!least && found == 0)
        return mcp__check_refuse(check, rule, value, &details);
    return true;
}

MCP__KEYWORD(contains)
{
    size_t found = 0;

    for (size_t i = 0; i < mcp_json_count(value); i++) {
        check->quiet++;
        bool fits = mcp__check_item(check, rule->nodes[0], value, i);
        check->quiet--;
        if (check->status != MCP_OK)
            return false;
        if (!fits)
            continue;
        mcp__marks_set(marks, i);
        found++;
    }
    return check_contains_count(check, rule, value, found);
}

MCP__KEYWORD(unevaluated_items)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (!mcp__check_step(check, 1))
            return false;
        if (!mcp__marks_has(marks, i) && !mcp__check_item(check, rule->nodes[0], value, i))
            return false;
    }
    mcp__marks_set_all(marks);
    return true;
}
