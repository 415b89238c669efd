/*
 * ast.c - see ast.h.
 */
#include "columns/sealed/ast.h"

#include <stdint.h>
#include <string.h>

struct ast_reader {
    const char *at, *end;
    mcp_arena *arena;
    mcp_status st;
    size_t depth;
};

static void fail(struct ast_reader *in, mcp_status st)
{
    if (in->st == MCP_OK)
        in->st = st;
}

static void skip_space(struct ast_reader *in)
{
    while (in->at < in->end && (*in->at == ' ' || (*in->at >= '\t' && *in->at <= '\r')))
        in->at++;
}

static bool take(struct ast_reader *in, char sign)
{
    skip_space(in);
    if (in->at == in->end || *in->at != sign)
        return false;
    in->at++;
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four digits of \uXXXX; -1: they are not there. */
static int32_t take_unit(struct ast_reader *in)
{
    int32_t unit = 0;

    for (int i = 0; i < 4; i++) {
        int digit = in->at < in->end ? digit_of(*in->at++) : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static size_t put_utf8(char *out, int32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (char)((0xF00 >> length) | c);
    return length;
}

/* After a backslash. @return how many bytes were written; 0: no escape */
static size_t take_escape(struct ast_reader *in, char *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char c = in->at < in->end ? *in->at++ : '\0';
    const char *found = c ? strchr(from, c) : NULL;

    if (found) {
        *out = to[found - from];
        return 1;
    }
    int32_t unit = c == 'u' ? take_unit(in) : -1;
    if (unit >= 0xD800 && unit < 0xDC00 && in->end - in->at >= 6 && in->at[0] == '\\' &&
        in->at[1] == 'u') {
        in->at += 2;
        int32_t low = take_unit(in);
        unit = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
                                             : -1;
    }
    return unit >= 0 ? put_utf8(out, unit) : 0;
}

/* A text; what is escaped is never longer than its escape. NULL: it failed. */
static char *take_text(struct ast_reader *in, size_t *length)
{
    bool is_open = take(in, '"');
    const char *end = in->at;
    size_t used = 0;

    while (is_open && end < in->end && *end != '"')
        end += *end == '\\' ? 2 : 1;
    if (!is_open || end >= in->end) {
        fail(in, MCP_E_PARSE);
        return NULL;
    }
    char *text = mcp_arena_alloc(in->arena, (size_t)(end - in->at) + 1);
    if (!text)
        fail(in, MCP_E_NOMEM);
    while (text && in->at < end) {
        size_t written = 1;
        char c = *in->at++;
        if (c == '\\')
            written = take_escape(in, text + used);
        else
            text[used] = c;
        if (written == 0) {
            fail(in, MCP_E_PARSE);
            return NULL;
        }
        used += written;
    }
    in->at = end + 1;
    *length = used;
    return text;
}

static struct ast *read_value(struct ast_reader *in);

/* Items or members until `close`. */
static void read_inside(struct ast_reader *in, struct ast *self, char close)
{
    struct ast **end = &self->first;

    if (take(in, close))
        return;
    do {
        size_t length = 0;
        const char *name = NULL;
        skip_space(in);
        if (close == '}') {
            name = take_text(in, &length);
            if (!name || !take(in, ':')) {
                fail(in, MCP_E_PARSE);
                return;
            }
        }
        struct ast *value = read_value(in);
        if (!value)
            return;
        value->name = name;
        *end = value;
        end = &value->next;
    } while (take(in, ','));
    if (!take(in, close))
        fail(in, MCP_E_PARSE);
}

/* A number or a word. */
static void read_other(struct ast_reader *in, struct ast *self)
{
    const char *from = in->at;

    while (in->at < in->end && !strchr(",]} \t\n\v\f\r", *in->at))
        in->at++;
    self->is_true = in->at - from == 4 && memcmp(from, "true", 4) == 0;
    if (in->at == from)
        fail(in, MCP_E_PARSE);
}

static struct ast *read_value(struct ast_reader *in)
{
    struct ast *self = mcp_arena_alloc(in->arena, sizeof *self);

    if (!self || in->depth == AST_DEPTH_MAX) {
        fail(in, self ? MCP_E_LIMIT : MCP_E_NOMEM);
        return NULL;
    }
    in->depth++;
    skip_space(in);
    if (in->at < in->end && *in->at == '"') {
        self->kind = AST_TEXT;
        self->text = take_text(in, &self->length);
    } else if (take(in, '[')) {
        self->kind = AST_LIST;
        read_inside(in, self, ']');
    } else if (take(in, '{')) {
        self->kind = AST_OBJECT;
        read_inside(in, self, '}');
    } else {
        read_other(in, self);
    }
    in->depth--;
    return in->st == MCP_OK ? self : NULL;
}

mcp_status ast_read(const struct ast **out, mcp_arena *arena, const char *json, size_t length,
                    mcp_error *err)
{
    struct ast_reader in = { json, json + length, arena, MCP_OK, 0 };
    struct ast *root = read_value(&in);

    skip_space(&in);
    if (root && in.at != in.end)
        in.st = MCP_E_PARSE;
    if (in.st == MCP_E_LIMIT)
        return mcp_error_set(err, MCP_E_LIMIT, "the statement is nested too deep");
    if (in.st == MCP_E_NOMEM)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the parse of a statement");
    if (in.st != MCP_OK)
        return mcp_error_set(err, MCP_E_PARSE, "the engine's parse of a statement is no JSON");
    *out = root;
    return MCP_OK;
}

const struct ast *ast_get(const struct ast *object, const char *name)
{
    if (!object || object->kind != AST_OBJECT)
        return NULL;
    for (const struct ast *member = object->first; member; member = member->next)
        if (strcmp(member->name, name) == 0)
            return member;
    return NULL;
}

const char *ast_text(const struct ast *object, const char *name)
{
    const struct ast *member = ast_get(object, name);
    return member && member->kind == AST_TEXT ? member->text : NULL;
}
