/*
 * judge.c - see judge.h.
 *
 * The parse is a tree of objects. A node of a query, a table and an expression have a "type", an
 * expression also a "class". The walk visits every member of every object, so nothing is skipped
 * because its place is unknown; constants alone are not entered, since what is in them is the
 * user's. The names of common table expressions hold where the engine finds them, in what follows
 * them and in the query that has them: they are on a list that grows and shrinks with the walk.
 */
#include "columns/sealed/judge.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A name that a WITH gives, for the queries inside. */
struct cte {
    const char *name;
    const struct cte *outer;
};

struct judge {
    columns_sealed_end *end;
    const columns_sealed_request *request;
    mcp_error *err;
    bool has_view, has_attached_view, has_system_table;
};

/* Queries, tables, and what orders and limits them. */
static const char *const node_types[] = {
    "SELECT_NODE",
    "SET_OPERATION_NODE",
    "RECURSIVE_CTE_NODE",
    "CTE_NODE",
    "BASE_TABLE",
    "SUBQUERY",
    "JOIN",
    "TABLE_FUNCTION",
    "EMPTY",
    "EXPRESSION_LIST",
    "LIMIT_MODIFIER",
    "ORDER_MODIFIER",
    "DISTINCT_MODIFIER",
    "LIMIT_PERCENT_MODIFIER",
    "PIVOT",
    "ORDER_DEFAULT",
    "ASCENDING",
    "DESCENDING",
};

static const char *const expression_classes[] = {
    "CASE",
    "CAST",
    "COLUMN_REF",
    "COMPARISON",
    "CONJUNCTION",
    "CONSTANT",
    "FUNCTION",
    "OPERATOR",
    "STAR",
    "SUBQUERY",
    "WINDOW",
    "PARAMETER",
    "COLLATE",
    "LAMBDA",
    "BETWEEN",
    "LAMBDA_REF",
    "POSITIONAL_REFERENCE",
    "DEFAULT",
};

/* Another answer at another time. */
static const char *const volatile_functions[] = {
    "random",
    "gen_random_uuid",
    "uuid",
    "uuidv4",
    "uuidv7",
    "now",
    "today",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_localtime",
    "current_localtimestamp",
    "localtime",
    "localtimestamp",
    "get_current_time",
    "get_current_timestamp",
    "transaction_timestamp",
    "age",
};

static bool is_in(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(name, list[i]) == 0)
            return true;
    return false;
}

#define IS_IN(name, list) is_in(name, list, sizeof(list) / sizeof(list)[0])

/* The message is: before "name" after. */
static mcp_status refuse(struct judge *self, mcp_status st, const char *before, const char *name,
                         const char *after)
{
    columns_sealed_end *end = self->end;

    snprintf(end->name, sizeof end->name, "%s", name);
    snprintf(end->message, sizeof end->message, "%s \"%s\" %s", before, end->name, after);
    return mcp_error_set(self->err, st, "%s", end->message);
}

static mcp_status deny(struct judge *self, const char *what, const char *name)
{
    return refuse(self, MCP_E_DENIED, what, name, "is not allowed");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool is_cte(const struct cte *ctes, const char *name)
{
    for (; ctes; ctes = ctes->outer)
        if (strcasecmp(ctes->name, name) == 0)
            return true;
    return false;
}

/* Of a name without a schema the search path decides: any view of that name counts. */
static bool is_view(struct judge *self, const char *schema, const char *name)
{
    bool is_found = false;

    for (size_t i = 0; i < self->request->view_count; i++) {
        const columns_sealed_view *view = &self->request->views[i];
        if (strcasecmp(view->name, name) == 0 &&
            (!schema[0] || strcasecmp(view->schema, schema) == 0)) {
            is_found = true;
            self->has_attached_view = self->has_attached_view || view->is_attached;
        }
    }
    return is_found;
}

/* "table", or "schema.*" for all of a schema. */
static bool is_system_table(const struct judge *self, const char *schema, const char *name)
{
    const columns_sealed_rules *rules = self->request->rules;

    for (size_t i = 0; i < rules->system_table_count; i++) {
        const char *rule = rules->system_tables[i];
        const char *dot = strchr(rule, '.');
        size_t length = dot ? (size_t)(dot - rule) : 0;
        if (!dot && strcasecmp(rule, name) == 0 && (!schema[0] || strcasecmp(schema, "main") == 0))
            return true;
        if (dot && strlen(schema) == length && strncasecmp(rule, schema, length) == 0)
            return true;
    }
    return false;
}

/* A file, a folder or an address stands where a table does. */
static bool is_place(const char *name)
{
    return strpbrk(name, "/\\:*?") || strchr(name, '.');
}

static mcp_status judge_table(struct judge *self, const struct ast *table, const struct cte *ctes)
{
    const char *name = ast_text(table, "table_name");
    const char *schema = ast_text(table, "schema_name");
    const char *catalog = ast_text(table, "catalog_name");
    const struct ast *at = ast_get(table, "at_clause");

    if (!name || !schema || !catalog || (at && at->kind == AST_OBJECT))
        return deny(self, "a version of the table", name ? name : "");
    if (catalog[0] && strcasecmp(catalog, "memory") != 0)
        return deny(self, "the database", catalog);
    if (!schema[0] && !catalog[0] && is_cte(ctes, name))
        return MCP_OK;
    bool is_system = is_system_table(self, schema, name);
    bool is_a_view = is_view(self, schema, name);
    self->has_view = self->has_view || is_a_view;
    self->has_system_table = self->has_system_table || is_system;
    if (is_a_view || is_system)
        return MCP_OK;
    if (is_place(name))
        return deny(self, "a file as a table:", name);
    return refuse(self, MCP_E_NOT_FOUND, "Table with name", name, "does not exist");
}

/* A function or a type by a qualified name. A name before a function may also be that of a column,
 * "name.upper()". */
static mcp_status judge_qualified(struct judge *self, const struct ast *node)
{
    const columns_sealed_request *request = self->request;
    const char *catalog = ast_text(node, "catalog");
    const char *schema = ast_text(node, "schema");

    if (catalog && catalog[0] && strcasecmp(catalog, "memory") != 0 &&
        strcasecmp(catalog, "system") != 0)
        return deny(self, "the database", catalog);
    if (schema && is_in(schema, request->databases, request->database_count))
        return deny(self, "the database", schema);
    return MCP_OK;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static mcp_status judge_function(struct judge *self, const struct ast *function, bool is_table)
{
    const columns_sealed_rules *rules = self->request->rules;
    const char *name = ast_text(function, "function_name");

    if (!name)
        return deny(self, "a function without a name:", "");
    self->end->is_volatile = self->end->is_volatile || IS_IN(name, volatile_functions);
    if (is_table && !is_in(name, rules->table_functions, rules->table_function_count))
        return deny(self, "the table function", name);
    if (!is_table && !is_in(name, rules->functions, rules->function_count))
        return deny(self, "the function", name);
    return judge_qualified(self, function);
}

/* current_date and others are columns to the parser. */
static void note_column(struct judge *self, const struct ast *expression)
{
    const struct ast *names = ast_get(expression, "column_names");
    const struct ast *name = names ? names->first : NULL;

    if (name && !name->next && name->kind == AST_TEXT && IS_IN(name->text, volatile_functions))
        self->end->is_volatile = true;
}

static mcp_status judge_expression(struct judge *self, const char *class, const struct ast *node,
                                   bool is_table)
{
    if (!IS_IN(class, expression_classes))
        return deny(self, "an expression of the kind", class);
    if (strcmp(class, "COLUMN_REF") == 0)
        note_column(self, node);
    if (strcmp(class, "FUNCTION") == 0 || strcmp(class, "WINDOW") == 0)
        return judge_function(self, node, is_table);
    return MCP_OK;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static mcp_status walk(struct judge *self, const struct ast *node, const struct cte *ctes);

static mcp_status walk_all(struct judge *self, const struct ast *first, const struct cte *ctes)
{
    mcp_status st = MCP_OK;

    for (const struct ast *node = first; st == MCP_OK && node; node = node->next)
        st = walk(self, node, ctes);
    return st;
}

/* The members of a node, without the entries of its WITH ("map" of "cte_map"). The engine knows
 * the name of a recursive query in its second part alone: elsewhere it is one of its catalog. */
static mcp_status walk_members(struct judge *self, const struct ast *node, const struct cte *ctes)
{
    const char *name = ast_text(node, "cte_name");
    struct cte inner = { name ? name : "", ctes };
    mcp_status st = MCP_OK;

    for (const struct ast *member = node->first; st == MCP_OK && member; member = member->next) {
        bool is_inside = name &&
                         (strcmp(member->name, "right") == 0 || strcmp(member->name, "child") == 0);
        if (strcmp(member->name, "map") != 0 ||
            strcmp(node->name ? node->name : "", "cte_map") != 0)
            st = walk(self, member, is_inside ? &inner : ctes);
    }
    return st;
}

/* The entries of a WITH in their order, then the node. An entry sees those before it: the engine
 * looks for a name that comes later, or for that of the entry itself, in its own catalog. Each
 * entry is a frame of the stack, so its name ends with it; there are not more of them than the
 * parser allows. */
static mcp_status walk_named(struct judge *self, const struct ast *node, const struct ast *entry,
                             const struct cte *ctes)
{
    const char *name = ast_text(entry, "key");
    struct cte inner = { name ? name : "", ctes };

    if (!entry)
        return walk_members(self, node, ctes);
    if (is_place(inner.name))
        return deny(self, "the name of a WITH", inner.name);
    mcp_status st = walk_all(self, entry->first, ctes);
    return st == MCP_OK ? walk_named(self, node, entry->next, &inner) : st;
}

static mcp_status walk_node(struct judge *self, const struct ast *node, const struct cte *ctes)
{
    const struct ast *map = ast_get(ast_get(node, "cte_map"), "map");

    return walk_named(self, node, map ? map->first : NULL, ctes);
}

/* What its type and its class say. */
static mcp_status judge_object(struct judge *self, const struct ast *node, const struct cte *ctes,
                               bool is_table_function)
{
    const char *type = ast_text(node, "type");
    const char *class = ast_text(node, "class");

    if (class)
        return judge_expression(self, class, node, is_table_function);
    if (!type)
        return MCP_OK;
    if (!IS_IN(type, node_types))
        return deny(self, "a clause of the kind", type);
    return strcmp(type, "BASE_TABLE") == 0 ? judge_table(self, node, ctes) : MCP_OK;
}

/* Of a type, which may have others in it, the names alone count. */
static mcp_status walk_type(struct judge *self, const struct ast *node)
{
    mcp_status st = ast_get(node, "user_type_name") ? judge_qualified(self, node) : MCP_OK;

    for (const struct ast *member = node->first; st == MCP_OK && member; member = member->next)
        st = walk_type(self, member);
    return st;
}

static bool is_type(const struct ast *node)
{
    return node->name && strcmp(node->name, "cast_type") == 0;
}

static mcp_status walk(struct judge *self, const struct ast *node, const struct cte *ctes)
{
    if (node->kind == AST_LIST)
        return walk_all(self, node->first, ctes);
    if (node->kind == AST_OBJECT && is_type(node))
        return walk_type(self, node);
    if (node->kind != AST_OBJECT || ast_get(node, "is_null")) /* a value, which is the user's */
        return MCP_OK;
    bool is_table_function = node->name && strcmp(node->name, "function") == 0;
    mcp_status st = judge_object(self, node, ctes, is_table_function);
    return st == MCP_OK ? walk_node(self, node, ctes) : st;
}

/* The serializer of the parse knows SELECT alone. */
static mcp_status not_parsed(struct judge *self, const struct ast *parse)
{
    const char *words = ast_text(parse, "error_message");
    columns_sealed_end *end = self->end;

    if (words && strstr(words, "Only SELECT")) {
        snprintf(end->message, sizeof end->message,
                 "only one SELECT is allowed; a PIVOT needs "
                 "its values: PIVOT (... FOR column IN (1, 2))");
        return mcp_error_set(self->err, MCP_E_DENIED, "%s", end->message);
    }
    snprintf(end->message, sizeof end->message, "Parser Error: %s",
             words ? words : "the engine cannot parse it");
    return mcp_error_set(self->err, MCP_E_PARSE, "%s", end->message);
}

mcp_status judge_statement(bool *has_system_table, columns_sealed_end *end, const struct ast *parse,
                           const columns_sealed_request *request, mcp_error *err)
{
    struct judge self = { .end = end, .request = request, .err = err };
    const struct ast *error = ast_get(parse, "error");
    const struct ast *statements = ast_get(parse, "statements");

    if (!error || error->is_true || !statements || !statements->first)
        return not_parsed(&self, parse);
    if (statements->first->next)
        return mcp_error_set(err, MCP_E_DENIED, "Multiple statements are not allowed");
    mcp_status st = walk(&self, statements->first, NULL);
    end->is_of_catalog = self.has_system_table && !self.has_view;
    *has_system_table = self.has_system_table;
    if (st != MCP_OK || !self.has_system_table || !self.has_attached_view)
        return st;
    snprintf(end->message, sizeof end->message,
             "information_schema or sqlite_master together with a table that is in a DuckDB file: "
             "ask in two statements");
    return mcp_error_set(err, MCP_E_DENIED, "%s", end->message);
}
