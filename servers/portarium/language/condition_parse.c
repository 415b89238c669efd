/*
 * condition_parse.c - text into a tree, by recursive descent.
 *
 * Binary operators are in a table with their rank; one function climbs the ranks, so the depth of
 * the recursion is bounded by the number of ranks times the nesting, and the text is short.
 */
#include <string.h>

#include "language/condition_int.h"

enum { RANK_COUNT = 4, CHARACTER_BYTES = 4 };

typedef struct parser {
    const char *text;
    size_t length;
    size_t at;
    unsigned depth;
    mcp_arena *arena;
    const char **names;
    size_t name_count;
    mcp_error *err;
} parser;

/* The longer text first where one begins with the other. */
static const struct operator_row {
    const char *text;
    unsigned rank;
    portarium_node_kind kind;
} operators[] = {
    { "||", 0, PORTARIUM_NODE_OR },
    { "&&", 1, PORTARIUM_NODE_AND },
    { "===", 2, PORTARIUM_NODE_EQUAL },
    { "==", 2, PORTARIUM_NODE_EQUAL },
    { "!==", 2, PORTARIUM_NODE_UNEQUAL },
    { "!=", 2, PORTARIUM_NODE_UNEQUAL },
    { "<=", 3, PORTARIUM_NODE_LESS_EQUAL },
    { "<", 3, PORTARIUM_NODE_LESS },
    { ">=", 3, PORTARIUM_NODE_GREATER_EQUAL },
    { ">", 3, PORTARIUM_NODE_GREATER },
    { "in", 3, PORTARIUM_NODE_IN },
    { "contains", 3, PORTARIUM_NODE_CONTAINS },
};

static mcp_status parse_rank(portarium_node **out, parser *self, unsigned rank);

static mcp_status fail(const parser *self, const char *what)
{
    return mcp_error_at(self->err, MCP_E_PARSE, (int64_t)self->at, "condition, byte %zu: %s",
                        self->at + 1, what);
}

static mcp_status no_memory(const parser *self)
{
    return mcp_error_set(self->err, MCP_E_NOMEM, "out of memory for a condition");
}

static char peek(const parser *self)
{
    return self->at < self->length ? self->text[self->at] : '\0';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_part(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static void skip_space(parser *self)
{
    while (peek(self) == ' ' || peek(self) == '\t' || peek(self) == '\n' || peek(self) == '\r')
        self->at++;
}

/* True when the operator is next; a word must end there. */
static bool is_next(const parser *self, const char *text)
{
    size_t length = strlen(text);

    if (self->length - self->at < length || memcmp(self->text + self->at, text, length) != 0)
        return false;
    char after = self->at + length < self->length ? self->text[self->at + length] : '\0';
    return !is_letter(text[0]) || !(is_name_part(after) || after == '.');
}

static mcp_status new_node(portarium_node **out, parser *self, portarium_node_kind kind)
{
    portarium_node *node = mcp_arena_alloc(self->arena, sizeof *node);

    if (!node)
        return no_memory(self);
    node->kind = kind;
    *out = node;
    return MCP_OK;
}

static mcp_status new_literal(portarium_node **out, parser *self, const char *json, size_t length)
{
    portarium_node *node = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = new_node(&node, self, PORTARIUM_NODE_LITERAL);

    if (st == MCP_OK)
        st = mcp_json_read(&node->literal, self->arena, json, length, &err);
    if (st == MCP_E_PARSE)
        return fail(self, "invalid literal");
    if (st == MCP_OK)
        *out = node;
    else if (st != MCP_E_NOMEM)
        return mcp_error_set(self->err, st, "%s", err.message);
    else
        return no_memory(self);
    return MCP_OK;
}

/* A string becomes one of JSON: the content, with what JSON needs escaped. */
static mcp_status parse_string(portarium_node **out, parser *self)
{
    char json[6 * PORTARIUM_CONDITION_MAX * CHARACTER_BYTES + 2];
    static const char hex[] = "0123456789abcdef";
    char quote = peek(self);
    size_t length = 0;
    size_t begin = self->at;

    json[length++] = '"';
    for (self->at++; peek(self) != quote; self->at++) {
        if (self->at >= self->length) {
            self->at = begin;
            return fail(self, "the string does not end");
        }
        if (peek(self) == '\\') {
            self->at++;
            if (peek(self) != '\\' && peek(self) != '"' && peek(self) != '\'')
                return fail(self, "a backslash stands only before a quote or a backslash");
        }
        unsigned char c = (unsigned char)peek(self);
        if (c < 0x20) {
            memcpy(json + length, "\\u00", 4);
            json[length + 4] = hex[c >> 4];
            json[length + 5] = hex[c & 15];
            length += 6;
            continue;
        }
        if (c == '"' || c == '\\')
            json[length++] = '\\';
        json[length++] = (char)c;
    }
    self->at++;
    json[length++] = '"';
    return new_literal(out, self, json, length);
}

static mcp_status parse_number(portarium_node **out, parser *self)
{
    size_t begin = self->at;

    while (is_name_part(peek(self)) || peek(self) == '.' ||
           (peek(self) == '+' && (self->text[self->at - 1] | 0x20) == 'e'))
        self->at++;
    size_t end = self->at;
    self->at = begin;
    mcp_status st = new_literal(out, self, self->text + begin, end - begin);
    if (st == MCP_OK)
        self->at = end;
    return st;
}

static mcp_status parse_name(portarium_node **out, parser *self)
{
    size_t begin = self->at;

    while (is_name_part(peek(self)) || peek(self) == '.') {
        bool is_dot = peek(self) == '.';
        self->at++;
        if (is_dot && !is_name_part(peek(self)))
            return fail(self, "a name ends in a dot");
    }
    const char *name = self->text + begin;
    size_t length = self->at - begin;
    for (size_t i = 0; i < 3; i++) {
        static const char *const words[] = { "true", "false", "null" };
        if (strlen(words[i]) == length && memcmp(words[i], name, length) == 0)
            return new_literal(out, self, name, length);
    }
    mcp_status st = new_node(out, self, PORTARIUM_NODE_NAME);
    if (st != MCP_OK)
        return st;
    (*out)->name = mcp_arena_strndup(self->arena, name, length);
    (*out)->length = length;
    if (!(*out)->name)
        return no_memory(self);
    self->names[self->name_count++] = (*out)->name;
    return MCP_OK;
}

static mcp_status parse_group(portarium_node **out, parser *self)
{
    self->at++;
    mcp_status st = parse_rank(out, self, 0);
    if (st != MCP_OK)
        return st;
    skip_space(self);
    if (peek(self) != ')')
        return fail(self, "missing ')'");
    self->at++;
    return MCP_OK;
}

static mcp_status parse_operand(portarium_node **out, parser *self);

static mcp_status parse_not(portarium_node **out, parser *self)
{
    portarium_node *operand = NULL;

    self->at++;
    mcp_status st = parse_operand(&operand, self);
    if (st == MCP_OK)
        st = new_node(out, self, PORTARIUM_NODE_NOT);
    if (st == MCP_OK)
        (*out)->left = operand;
    return st;
}

static mcp_status parse_operand(portarium_node **out, parser *self)
{
    mcp_status st;

    skip_space(self);
    char c = peek(self);
    if (c == '"' || c == '\'')
        return parse_string(out, self);
    if (c == '-' || (c >= '0' && c <= '9'))
        return parse_number(out, self);
    if (is_letter(c))
        return parse_name(out, self);
    if (c != '(' && c != '!')
        return fail(self, "a value is missing");
    if (self->depth == PORTARIUM_CONDITION_DEPTH_MAX)
        return mcp_error_set(self->err, MCP_E_LIMIT, "condition: nested deeper than %d",
                             PORTARIUM_CONDITION_DEPTH_MAX);
    self->depth++;
    st = c == '(' ? parse_group(out, self) : parse_not(out, self);
    self->depth--;
    return st;
}

static const struct operator_row *find_operator(parser *self, unsigned rank)
{
    skip_space(self);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (is_next(self, operators[i].text))
            return operators[i].rank == rank ? &operators[i] : NULL;
    return NULL;
}

static mcp_status parse_rank(portarium_node **out, parser *self, unsigned rank)
{
    portarium_node *left = NULL;

    if (rank == RANK_COUNT)
        return parse_operand(out, self);
    mcp_status st = parse_rank(&left, self, rank + 1);
    while (st == MCP_OK) {
        portarium_node *node = NULL;
        portarium_node *right = NULL;
        const struct operator_row *row = find_operator(self, rank);
        if (!row)
            break;
        self->at += strlen(row->text);
        st = parse_rank(&right, self, rank + 1);
        if (st == MCP_OK)
            st = new_node(&node, self, row->kind);
        if (st != MCP_OK)
            return st;
        node->left = left;
        node->right = right;
        left = node;
    }
    if (st == MCP_OK)
        *out = left;
    return st;
}

static size_t characters(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

mcp_status portarium_condition_parse(const portarium_condition **out, mcp_arena *arena,
                                     const char *text, size_t length, mcp_error *err)
{
    parser self = { .text = text, .length = length, .arena = arena, .err = err };
    portarium_node *root = NULL;

    if (length > PORTARIUM_CONDITION_MAX * CHARACTER_BYTES ||
        characters(text, length) > PORTARIUM_CONDITION_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "condition: longer than %d characters",
                             PORTARIUM_CONDITION_MAX);
    if (length > 0 && memchr(text, '\0', length))
        return mcp_error_at(err, MCP_E_PARSE, 0, "condition: contains NUL");
    portarium_condition *condition = mcp_arena_alloc(arena, sizeof *condition);
    self.names = mcp_arena_array(arena, length + 1, sizeof *self.names);
    if (!condition || !self.names)
        return no_memory(&self);
    mcp_status st = parse_rank(&root, &self, 0);
    if (st != MCP_OK)
        return st;
    skip_space(&self);
    if (self.at < self.length)
        return fail(&self, "an operator is missing");
    condition->root = root;
    condition->names = self.names;
    *out = condition;
    return MCP_OK;
}

const char *portarium_condition_name(const portarium_condition *condition, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!condition->names[i])
            return NULL;
    return condition->names[index];
}
