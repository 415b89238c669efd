/*
 * keyword.c - the keywords: whether a value obeys a rule.
 *
 * The walk over an object goes over the members of the value, and the schema's `properties`, a
 * hashed JSON object itself, is asked for each: so the work grows with the value, and the place of
 * each member, which the marks are kept by, is known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "schema/check/check.h"
#include "json/json_int.h"

/* The steps of writing a double as a decimal, and of sorting one item among 100,000. */
enum { DECIMAL = 4, SORT = 4 };

/* ---- work, members, items ------------------------------------------------------------------- */

/* Pay for a look at so many bytes of text, besides the step that every look costs. */
static bool pay_for_bytes(mcp__check *check, size_t length)
{
    return mcp__check_step(check, 1 + length / MCP__BYTES_A_STEP);
}

/* The value's hash, paid for. False ends the check. */
static bool hash_of(uint64_t *out, mcp__check *check, const mcp_json *value)
{
    uint64_t left = check->steps_left;

    *out = mcp__value_hash(value, &left);
    return mcp__check_step(check, left > 0 ? check->steps_left - left : check->steps_left + 1);
}

/* Whether the text matches. False as well when the check ends. */
static bool matches(mcp__check *check, const mcp__pattern *pattern, const char *text, size_t length)
{
    bool is_match = false;

    if (!mcp__check_step(check, 1))
        return false;
    mcp_status st = mcp__pattern_match(&is_match, pattern, &check->matcher, text, length,
                                       &check->steps_left, check->err);
    check->status = st == MCP_E_LIMIT ? mcp__finding_limit(check, check->err) : st;
    return is_match;
}

static void set_mark(mcp__marks *marks, size_t index)
{
    if (marks)
        marks->bits[index / 64] |= (uint64_t)1 << index % 64;
}

static void set_all_marks(mcp__marks *marks)
{
    if (marks)
        memset(marks->bits, 0xff, (marks->count + 63) / 64 * sizeof *marks->bits);
}

static bool has_mark(const mcp__marks *marks, size_t index)
{
    return marks->bits[index / 64] >> index % 64 & 1;
}

/* Check a member or an item, whose place is one step deeper. */
static bool check_child(mcp__check *check, const mcp__subschema *node, const mcp_json *container,
                        size_t index)
{
    mcp__token token = { .index = index };

    if (check->depth >= MCP__PATH_MAX)
        return mcp__check_break(check, MCP_E_LIMIT, "the value is nested too deep to check");
    token.name = mcp_json_name(container, index, &token.length);
    check->path[check->depth++] = token;
    bool fits = mcp__check_node(check, node, mcp_json_item(container, index), NULL);
    check->depth--;
    return fits;
}

/* A refusal is an answer and leaves no finding. */
static bool check_quietly(mcp__check *check, const mcp__subschema *node, const mcp_json *value)
{
    check->quiet++;
    bool fits = mcp__check_node(check, node, value, NULL);
    check->quiet--;
    return fits;
}

/* ---- type ----------------------------------------------------------------------------------- */

MCP__KEYWORD(type)
{
    unsigned type = mcp__type_of(value);

    if (type == MCP__NUMBER && mcp__number_is_whole(value))
        type |= MCP__INTEGER;
    return (rule->as.types & type) || mcp__check_refuse(check, rule, value, NULL);
}

/* ---- const, enum ---------------------------------------------------------------------------- */

/* The hashes of what a value is compared with are there already. */

MCP__KEYWORD(const)
{
    uint64_t hash;

    if (!hash_of(&hash, check, value))
        return false;
    if (rule->as.hashes[0] == hash && mcp_json_equal(rule->value, value))
        return true;
    return mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(enum)
{
    size_t count = mcp_json_count(rule->value);
    uint64_t hash;

    if (!hash_of(&hash, check, value) || !mcp__check_step(check, count / 8))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (rule->as.hashes[i] == hash && mcp_json_equal(mcp_json_item(rule->value, i), value))
            return true;
    }
    return mcp__check_refuse(check, rule, value, NULL);
}

/* ---- limits --------------------------------------------------------------------------------- */

#define LIMIT(name, comparison)                                                                    \
    MCP__KEYWORD(name)                                                                             \
    {                                                                                              \
        return mcp__json_compare(value, rule->value) comparison 0 ||                               \
               mcp__check_refuse(check, rule, value, NULL);                                        \
    }
LIMIT(maximum, <=)
LIMIT(exclusive_maximum, <)
LIMIT(minimum, >=)
LIMIT(exclusive_minimum, >)

/* Of a string the characters, not the bytes, count (Validation 6.3.1); else items or members. */
static bool check_size(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                       bool is_most)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    size_t size = text ? mcp__utf8_length(text, length) : mcp_json_count(value);
    mcp__details details = { .first = size };

    if (!mcp__check_step(check, length / MCP__BYTES_A_STEP))
        return false;
    return (is_most ? size <= rule->as.count : size >= rule->as.count) ||
           mcp__check_refuse(check, rule, value, &details);
}

MCP__KEYWORD(at_most)
{
    return check_size(check, rule, value, true);
}

MCP__KEYWORD(at_least)
{
    return check_size(check, rule, value, false);
}

MCP__KEYWORD(multiple_of)
{
    if (!mcp__check_step(check, DECIMAL))
        return false;
    return mcp__decimal_divides(rule->as.divisor, mcp__number_decimal(value)) ||
           mcp__check_refuse(check, rule, value, NULL);
}

/* ---- strings -------------------------------------------------------------------------------- */

MCP__KEYWORD(pattern)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    return matches(check, rule->as.patterns[0], text, length) ||
           mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(format)
{
    const mcp__format *format = rule->as.format;
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (!format)
        return true;
    if (!mcp__check_step(check, format->steps + length / MCP__BYTES_A_STEP))
        return false;
    return (matches(check, rule->as.patterns[0], text, length) &&
            (!format->also || format->also(text, length))) ||
           mcp__check_refuse(check, rule, value, NULL);
}

/* ---- uniqueItems ---------------------------------------------------------------------------- */

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
        is_paid = hash_of(&items[i].hash, check, mcp_json_item(value, i));
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

/* ---- items ---------------------------------------------------------------------------------- */

MCP__KEYWORD(prefix_items)
{
    for (size_t i = 0; i < rule->node_count && i < mcp_json_count(value); i++) {
        if (!check_child(check, rule->nodes[i], value, i))
            return false;
        set_mark(marks, i);
    }
    return true;
}

MCP__KEYWORD(items)
{
    size_t first = rule->with[0] ? rule->with[0]->node_count : 0;

    for (size_t i = first; i < mcp_json_count(value); i++) {
        if (!check_child(check, rule->nodes[0], value, i))
            return false;
    }
    set_all_marks(marks); /* prefixItems has checked the items before */
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
        bool fits = check_child(check, rule->nodes[0], value, i);
        check->quiet--;
        if (check->status != MCP_OK)
            return false;
        if (!fits)
            continue;
        set_mark(marks, i);
        found++;
    }
    return check_contains_count(check, rule, value, found);
}

MCP__KEYWORD(unevaluated_items)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (!mcp__check_step(check, 1))
            return false;
        if (!has_mark(marks, i) && !check_child(check, rule->nodes[0], value, i))
            return false;
    }
    set_all_marks(marks);
    return true;
}

/* ---- members -------------------------------------------------------------------------------- */

/* All of `names` must be members of the value. `details` says on whose behalf. */
static bool has_all(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                    const mcp_json *names, mcp__details details)
{
    for (size_t i = 0; i < mcp_json_count(names); i++) {
        details.property = mcp_json_string(mcp_json_item(names, i), &details.property_length);
        if (!pay_for_bytes(check, details.property_length))
            return false;
        if (!mcp_json_get_n(value, details.property, details.property_length))
            return mcp__check_refuse(check, rule, value, &details);
    }
    return true;
}

MCP__KEYWORD(required)
{
    return has_all(check, rule, value, rule->value, (mcp__details){ 0 });
}

MCP__KEYWORD(dependent_required)
{
    for (size_t i = 0; i < mcp_json_count(rule->value); i++) {
        mcp__details details = { 0 };
        details.needed_by = mcp_json_name(rule->value, i, &details.needed_by_length);
        if (!pay_for_bytes(check, details.needed_by_length))
            return false;
        if (mcp_json_get_n(value, details.needed_by, details.needed_by_length) &&
            !has_all(check, rule, value, mcp_json_item(rule->value, i), details))
            return false;
    }
    return true;
}

MCP__KEYWORD(dependent_schemas)
{
    for (size_t i = 0; i < rule->node_count; i++) {
        const mcp__token *member = &rule->nodes[i]->at.token;
        if (!pay_for_bytes(check, member->length))
            return false;
        if (mcp_json_get_n(value, member->name, member->length) &&
            !mcp__check_node(check, rule->nodes[i], value, marks))
            return false;
    }
    return true;
}

/* A name is no value of the document, so one is made; the finding is about the object that has
 * it. */
MCP__KEYWORD(property_names)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        mcp__details details = { 0 };
        details.property = mcp_json_name(value, i, &details.property_length);
        struct mcp_json name = { .type = MCP_JSON_STRING,
                                 .count = (uint32_t)details.property_length,
                                 .is.string = details.property };
        if (!check_quietly(check, rule->nodes[0], &name))
            return mcp__check_refuse(check, rule, value, &details);
    }
    return true;
}

MCP__KEYWORD(properties)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        if (!pay_for_bytes(check, length))
            return false;
        size_t found = mcp__json_find(rule->value, name, length);
        if (found == rule->node_count)
            continue;
        if (!check_child(check, rule->nodes[found], value, i))
            return false;
        set_mark(marks, i);
    }
    return true;
}

MCP__KEYWORD(pattern_properties)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        for (size_t k = 0; k < rule->node_count; k++) {
            if (!matches(check, rule->as.patterns[k], name, length))
                continue;
            if (!check_child(check, rule->nodes[k], value, i))
                return false;
            set_mark(marks, i);
        }
    }
    return check->status == MCP_OK;
}

/* Whether a sibling `properties` or `patternProperties` has this member. */
static bool is_taken(mcp__check *check, const mcp__rule *rule, const char *name, size_t length)
{
    const mcp__rule *properties = rule->with[0];
    const mcp__rule *patterns = rule->with[1];

    if (properties && mcp__json_find(properties->value, name, length) < properties->node_count)
        return true;
    for (size_t k = 0; patterns && k < patterns->node_count; k++) {
        if (matches(check, patterns->as.patterns[k], name, length))
            return true;
    }
    return false;
}

/* A member that nobody else has: where nothing may be, the finding is about the object. */
static bool check_surplus(mcp__check *check, const mcp__rule *rule, const mcp_json *value, size_t i)
{
    mcp__details details = { 0 };

    if (!rule->nodes[0]->refuses)
        return check_child(check, rule->nodes[0], value, i);
    details.property = mcp_json_name(value, i, &details.property_length);
    return mcp__check_refuse(check, rule, value, &details);
}

MCP__KEYWORD(additional)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        if (!pay_for_bytes(check, length))
            return false;
        bool taken = is_taken(check, rule, name, length);
        if (check->status != MCP_OK)
            return false;
        if (taken)
            continue;
        if (!check_surplus(check, rule, value, i))
            return false;
        set_mark(marks, i);
    }
    return true;
}

MCP__KEYWORD(unevaluated_members)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (!mcp__check_step(check, 1))
            return false;
        if (!has_mark(marks, i) && !check_surplus(check, rule, value, i))
            return false;
    }
    set_all_marks(marks);
    return true;
}

/* ---- references, allOf ---------------------------------------------------------------------- */

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
    return marks ? mcp__check_apart(mcp__check_node, check, node, value, marks)
                 : mcp__check_node(check, node, value, NULL);
}

/* ---- alternatives --------------------------------------------------------------------------- */

/* When no alternative of anyOf or oneOf fits, the finding should say what the author of the value
 * most likely got wrong. An alternative that already refuses the value's type was hardly meant; one
 * that refuses a constant deeper inside is most often the wrong branch of a union. Of the others
 * the one that got deepest is taken. */

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
    bool is_tied; /* another explains as well */
} attempt;

/* Only the part of the path that is used. */
static void copy_found(mcp__found *to, const mcp__found *from)
{
    memcpy(to, from, offsetof(mcp__found, path) + from->depth * sizeof *from->path);
}

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
    copy_found(tried->best, &check->found);
    tried->worth = worth;
    tried->is_tied = false;
}

/* None fits. Where several refuse the value itself for what it is, the keyword is the finding. */
static void refuse_all(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                       const attempt *tried)
{
    bool is_vague = tried->worth <= -4 || (tried->worth < 0 && tried->is_tied);

    if (!tried->best || check->status != MCP_OK)
        return;
    if (rule->node_count > 1 && is_vague && tried->best->depth == check->depth)
        mcp__check_refuse(check, rule, value, NULL);
    else
        copy_found(&check->found, tried->best);
}

/* Try alternatives until `enough` fit. @return how many do; 0 as well when the check ends */
static size_t try_all(mcp__details *fitting, mcp__check *check, const mcp__rule *rule,
                      const mcp_json *value, mcp__marks *marks, size_t enough)
{
    mcp__stack_mark top = mcp__stack_top(check);
    attempt tried = { 0 };
    size_t count = 0;

    for (size_t i = 0; i < rule->node_count && count < enough && check->status == MCP_OK; i++) {
        if (try_node(check, rule->nodes[i], value, marks)) {
            if (count == 0)
                fitting->first = i;
            fitting->second = i;
            count++;
        } else if (check->status == MCP_OK && check->quiet == 0) {
            weigh(&tried, check);
        }
    }
    if (count == 0)
        refuse_all(check, rule, value, &tried);
    mcp__stack_release(check, top);
    return check->status == MCP_OK ? count : 0;
}

MCP__KEYWORD(any_of)
{
    mcp__details ignored = { 0 };

    /* With marks, each one that fits has looked at something. */
    return try_all(&ignored, check, rule, value, marks, marks ? SIZE_MAX : 1) > 0;
}

MCP__KEYWORD(one_of)
{
    mcp__details fitting = { 0 };
    size_t count = try_all(&fitting, check, rule, value, marks, 2);

    return count == 1 || (count == 2 && mcp__check_refuse(check, rule, value, &fitting));
}

/* ---- not, if -------------------------------------------------------------------------------- */

MCP__KEYWORD(not )
{
    /* what a schema under `not` looked at never counts */
    if (check_quietly(check, rule->nodes[0], value))
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
