/*
 * condition.c - the evaluation of a parsed condition, and the look-up of names in an object.
 *
 * The tree is as deep as the parser lets it be, so the recursion is bounded; the steps bound the
 * work, because an array from outside may be long.
 */
#include "language/condition.h"

#include <string.h>

#include "language/condition_int.h"

typedef struct evaluation {
    portarium_condition_get *get;
    void *data;
    unsigned steps;
    mcp_error *err;
} evaluation;

/* A value: of JSON, or the boolean that an operator gave. `json` NULL with `is_bool` false is
 * null. */
typedef struct value {
    const mcp_json *json;
    bool is_bool;
    bool truth;
} value;

static mcp_status evaluate(value *out, evaluation *self, const portarium_node *node);

static mcp_status step(evaluation *self)
{
    if (self->steps == PORTARIUM_CONDITION_STEPS_MAX)
        return mcp_error_set(self->err, MCP_E_LIMIT, "condition: more than %d steps",
                             PORTARIUM_CONDITION_STEPS_MAX);
    self->steps++;
    return MCP_OK;
}

static mcp_status mismatch(const evaluation *self, const char *what)
{
    return mcp_error_set(self->err, MCP_E_PARAMS, "condition: %s", what);
}

static value of_bool(bool truth)
{
    return (value){ .is_bool = true, .truth = truth };
}

static value of_json(const mcp_json *json)
{
    value result = { .json = mcp_json_is_null(json) ? NULL : json };

    if (mcp_json_bool(json, &result.truth))
        result = of_bool(result.truth);
    return result;
}

static bool is_container(const value *x)
{
    return mcp_json_is_array(x->json) || mcp_json_is_object(x->json);
}

static bool are_equal(const value *a, const value *b)
{
    if (a->is_bool || b->is_bool)
        return a->is_bool && b->is_bool && a->truth == b->truth;
    if (!a->json || !b->json)
        return a->json == b->json;
    return mcp_json_equal(a->json, b->json);
}

static mcp_status judge_equality(value *out, evaluation *self, const portarium_node *node,
                                 const value *a, const value *b)
{
    if (is_container(a) || is_container(b))
        return mismatch(self, "arrays and objects are not compared");
    *out = of_bool(are_equal(a, b) == (node->kind == PORTARIUM_NODE_EQUAL));
    return MCP_OK;
}

/* -1, 0 or 1 in *out. Two integers are compared as such: doubles would lose digits. */
static mcp_status compare(int *out, const evaluation *self, const value *a, const value *b)
{
    size_t a_length;
    size_t b_length;
    const char *a_text = mcp_json_string(a->json, &a_length);
    const char *b_text = mcp_json_string(b->json, &b_length);
    int64_t i;
    int64_t k;
    double x;
    double y;

    if (a_text && b_text) {
        int order = memcmp(a_text, b_text, a_length < b_length ? a_length : b_length);
        *out = order ? order : (a_length > b_length) - (a_length < b_length);
    } else if (mcp_json_int(a->json, &i) && mcp_json_int(b->json, &k)) {
        *out = (i > k) - (i < k);
    } else if (mcp_json_double(a->json, &x) && mcp_json_double(b->json, &y)) {
        *out = (x > y) - (x < y);
    } else {
        return mismatch(self, "order is of two numbers or of two strings");
    }
    return MCP_OK;
}

static mcp_status judge_order(value *out, evaluation *self, const portarium_node *node,
                              const value *a, const value *b)
{
    int order = 0;
    mcp_status st = compare(&order, self, a, b);

    if (st != MCP_OK)
        return st;
    bool is_so = node->kind == PORTARIUM_NODE_LESS         ? order < 0
                 : node->kind == PORTARIUM_NODE_LESS_EQUAL ? order <= 0
                 : node->kind == PORTARIUM_NODE_GREATER    ? order > 0
                                                           : order >= 0;
    *out = of_bool(is_so);
    return MCP_OK;
}

static mcp_status judge_membership(value *out, evaluation *self, const value *item, const value *in)
{
    size_t length;
    size_t part_length;
    const char *text = mcp_json_string(in->json, &length);
    const char *part = mcp_json_string(item->json, &part_length);

    if (text && part) {
        *out = of_bool(part_length == 0 || memmem(text, length, part, part_length) != NULL);
        return MCP_OK;
    }
    if (!mcp_json_is_array(in->json) || is_container(item))
        return mismatch(self, "membership is of a scalar in an array, or of two strings");
    for (size_t i = 0; i < mcp_json_count(in->json); i++) {
        value other = of_json(mcp_json_item(in->json, i));
        mcp_status st = step(self);
        if (st != MCP_OK)
            return st;
        if (!is_container(&other) && are_equal(item, &other)) {
            *out = of_bool(true);
            return MCP_OK;
        }
    }
    *out = of_bool(false);
    return MCP_OK;
}

static mcp_status evaluate_bool(value *out, evaluation *self, const portarium_node *node)
{
    value result = { 0 };
    mcp_status st = evaluate(&result, self, node);

    if (st != MCP_OK)
        return st;
    if (!result.is_bool)
        return mismatch(self, "a boolean is needed");
    *out = result;
    return MCP_OK;
}

/* && and ||: the right side is not looked at when the left one decides. */
static mcp_status evaluate_logic(value *out, evaluation *self, const portarium_node *node)
{
    value left = { 0 };
    mcp_status st = evaluate_bool(&left, self, node->left);

    if (st != MCP_OK)
        return st;
    if (left.truth == (node->kind == PORTARIUM_NODE_OR)) {
        *out = left;
        return MCP_OK;
    }
    return evaluate_bool(out, self, node->right);
}

static mcp_status evaluate_name(value *out, evaluation *self, const portarium_node *node)
{
    const mcp_json *json = NULL;
    mcp_status st = self->get(&json, node->name, node->length, self->data);

    if (st == MCP_E_NOT_FOUND)
        return mcp_error_set(self->err, MCP_E_PARAMS, "condition: unknown name '%s'", node->name);
    if (st != MCP_OK)
        return mcp_error_set(self->err, st, "condition: '%s' has no value now", node->name);
    *out = of_json(json);
    return MCP_OK;
}

static mcp_status evaluate_pair(value *out, evaluation *self, const portarium_node *node)
{
    value left = { 0 };
    value right = { 0 };
    mcp_status st = evaluate(&left, self, node->left);

    if (st == MCP_OK)
        st = evaluate(&right, self, node->right);
    if (st != MCP_OK)
        return st;
    if (node->kind == PORTARIUM_NODE_EQUAL || node->kind == PORTARIUM_NODE_UNEQUAL)
        return judge_equality(out, self, node, &left, &right);
    if (node->kind == PORTARIUM_NODE_IN)
        return judge_membership(out, self, &left, &right);
    if (node->kind == PORTARIUM_NODE_CONTAINS)
        return judge_membership(out, self, &right, &left);
    return judge_order(out, self, node, &left, &right);
}

static mcp_status evaluate(value *out, evaluation *self, const portarium_node *node)
{
    mcp_status st = step(self);

    if (st != MCP_OK)
        return st;
    switch (node->kind) {
    case PORTARIUM_NODE_LITERAL:
        *out = of_json(node->literal);
        return MCP_OK;
    case PORTARIUM_NODE_NAME:
        return evaluate_name(out, self, node);
    case PORTARIUM_NODE_NOT:
        st = evaluate_bool(out, self, node->left);
        if (st == MCP_OK)
            out->truth = !out->truth;
        return st;
    case PORTARIUM_NODE_AND:
    case PORTARIUM_NODE_OR:
        return evaluate_logic(out, self, node);
    default:
        return evaluate_pair(out, self, node);
    }
}

mcp_status portarium_condition_judge(bool *out, const portarium_condition *condition,
                                     portarium_condition_get *get, void *data, mcp_error *err)
{
    evaluation self = { .get = get, .data = data, .err = err };
    value result = { 0 };
    mcp_status st = evaluate_bool(&result, &self, condition->root);

    if (st == MCP_OK)
        *out = result.truth;
    return st;
}

mcp_status portarium_condition_get_member(const mcp_json **out, const char *name, size_t length,
                                          void *data)
{
    const mcp_json *at = data;
    const char *end = name + length;

    for (const char *part = name; part <= end;) {
        const char *dot = memchr(part, '.', (size_t)(end - part));
        const char *stop = dot ? dot : end;
        at = mcp_json_get_n(at, part, (size_t)(stop - part));
        if (!at)
            return part == name ? MCP_E_NOT_FOUND : MCP_OK;
        part = stop + 1;
    }
    *out = at;
    return MCP_OK;
}
