/*
 * uri_template.c - which URIs a template (RFC 6570) could have been expanded to, and from what
 * values.
 *
 * Compiling turns a template into a row of atoms: literal text, a variable with the bytes that end
 * it, and a query with its keys. `{/a,b}` becomes "/" a "/" b, so that matching knows three things
 * only. Template literals and URIs are first brought to one spelling (escapes in upper case, bytes
 * beyond ASCII escaped), after which bytes can be compared.
 *
 * Matching walks the atoms from the last to the first and marks every place of the URI from which
 * the rest of the template fits; then it walks from the first to the last and takes, for each
 * variable, the nearest marked place. Each byte is looked at once an atom and there is nothing to
 * go back to, so no URI makes it slow, and it finds a match wherever there is one.
 *
 * Clients that forget to escape a path send cobre://case//data/a/config. With MCP__SLASHES_RAW the
 * first `{x}` may hold raw slashes and takes the farthest place instead, which is what trying the
 * text behind it from the right comes to.
 *
 * `{;x}` and `{x:3}` are refused: the table of what we match has no such rows, and a cut value
 * cannot be read back.
 */
#include "mcp/feature/uri_template.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "mcp/buf.h"

enum {
    /* each variable with the text before it, and the text around the expressions */
    ATOMS_MAX = 2 * MCP__URI_VARIABLES_MAX + MCP__URI_EXPRESSIONS_MAX + 1,
    /* a value's byte takes six at most as JSON; a list's values need quotes and commas */
    VALUES_MAX = 8 * MCP__URI_MAX
};

enum atom_kind { LITERAL, VARIABLE, QUERY };

struct name {
    const char *text; /* ends in NUL */
    size_t length;
    bool is_exploded;
};

struct atom {
    enum atom_kind kind;
    const char *text; /* LITERAL: its bytes */
    size_t length;
    size_t first_name; /* VARIABLE, QUERY: into the template's names */
    size_t name_count; /* VARIABLE: 1 */
    const char *stops; /* VARIABLE: the bytes that it cannot hold */
    size_t least;      /* VARIABLE: how many bytes it needs */
    char separator;    /* VARIABLE: between the values of an exploded one. QUERY: '?' or '&' */
    bool may_widen;    /* VARIABLE: the only one of a plain `{x}` */
};

struct mcp__uri_template {
    struct atom atoms[ATOMS_MAX];
    size_t atom_count;
    struct name names[MCP__URI_VARIABLES_MAX];
    size_t name_count;
    size_t expression_count;
};

/* How each operator lays out its variables, and what ends a value. */
struct operator_row {
    char symbol;       /* 0: none written */
    const char *lead;  /* before the first value */
    char separator;    /* between values */
    const char *alone; /* what a value cannot hold: of the only variable, */
    const char *among; /* of one of several, */
    const char *list;  /* of an exploded one, all its values together */
    size_t least;
};

/* clang-format off */
static const struct operator_row operators[] = {
    /* symbol lead separator alone  among    list   least */
    { '\0', "",  ',',      "/?#",  "/?#,",  "/?#", 1 },
    { '+',  "",  ',',      "",     "",      "",    1 },
    { '#',  "#", ',',      "",     "",      "",    0 },
    { '.',  ".", '.',      "/?#.", "/?#.",  "/?#", 0 },
    { '/',  "/", '/',      "/?#",  "/?#",   "?#",  0 },
    { '?',  "?", '&',      "",     "",      "",    0 },
    { '&',  "&", '&',      "",     "",      "",    0 },
};
/* clang-format on */

bool mcp__uri_is_template(const char *text)
{
    return strchr(text, '{') != NULL;
}

/* ---- one spelling --------------------------------------------------------------------------- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bring text to one spelling, in the arena. */
static mcp_status spell(const char **out, size_t *out_length, mcp_arena *arena, const char *text,
                        size_t length, mcp_error *err)
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = mcp_arena_alloc(arena, 3 * length + 1);
    size_t used = 0;

    if (!to)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a URI");
    for (size_t i = 0; i < length; i++) {
        unsigned byte = (unsigned char)text[i];
        bool is_escape = byte == '%';
        if (is_escape) {
            int high = i + 1 < length ? hex_value(text[i + 1]) : -1;
            int low = i + 2 < length ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return mcp_error_set(err, MCP_E_PARAMS, "a '%%' without two hexadecimal digits");
            byte = (unsigned)(high * 16 + low);
            i += 2;
        }
        if (byte == 0)
            return mcp_error_set(err, MCP_E_PARAMS, "a NUL in a URI");
        if (is_escape || byte >= 0x80) {
            to[used++] = '%';
            to[used++] = digits[byte >> 4];
            to[used++] = digits[byte & 15];
        } else {
            to[used++] = (char)byte;
        }
    }
    to[used] = '\0';
    *out_length = used;
    *out = to;
    return MCP_OK;
}

/* ---- compiling ------------------------------------------------------------------------------ */

static struct atom *add_atom(mcp__uri_template *t, enum atom_kind kind)
{
    struct atom *atom = &t->atoms[t->atom_count];

    assert(t->atom_count < ATOMS_MAX);
    t->atom_count++;
    *atom = (struct atom){ .kind = kind, .stops = "" };
    return atom;
}

static bool follows(const mcp__uri_template *t, enum atom_kind kind)
{
    return t->atom_count > 0 && t->atoms[t->atom_count - 1].kind == kind;
}

static void add_byte(mcp__uri_template *t, const char *byte)
{
    struct atom *atom = add_atom(t, LITERAL);

    atom->text = byte;
    atom->length = 1;
}

/* RFC 6570 section 2.1: what may stand outside expressions. */
static bool is_literal_byte(char c)
{
    return (unsigned char)c > 0x20 && c != 0x7f && !strchr("\"'<>\\^`|}", c);
}

static mcp_status compile_literal(mcp__uri_template *t, mcp_arena *arena, const char *text,
                                  size_t length, mcp_error *err)
{
    for (size_t i = 0; i < length; i++) {
        if (!is_literal_byte(text[i]))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "byte 0x%02x cannot stand in a URI template outside braces",
                                 (unsigned)(unsigned char)text[i]);
    }
    if (follows(t, QUERY) && text[0] != '#')
        return mcp_error_set(err, MCP_E_PARAMS,
                             "only a fragment can follow a query in a URI template");
    struct atom *atom = add_atom(t, LITERAL);
    return spell(&atom->text, &atom->length, arena, text, length, err);
}

static const struct operator_row *find_operator(char symbol)
{
    for (size_t i = 1; i < sizeof operators / sizeof operators[0]; i++) {
        if (operators[i].symbol == symbol)
            return &operators[i];
    }
    return &operators[0];
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

static bool has_name(const mcp__uri_template *t, const char *text, size_t length)
{
    for (size_t i = 0; i < t->name_count; i++) {
        if (t->names[i].length == length && memcmp(t->names[i].text, text, length) == 0)
            return true;
    }
    return false;
}

bool mcp__uri_template_has(const mcp__uri_template *template, const char *variable)
{
    return has_name(template, variable, strlen(variable));
}

/* Take one name of an expression; *at moves behind it and behind its '*'. */
static mcp_status add_name(mcp__uri_template *t, mcp_arena *arena, const char **at, const char *end,
                           mcp_error *err)
{
    struct name *name = &t->names[t->name_count];
    const char *text = *at;
    const char *p = text;
    size_t length;

    while (p < end && is_name_byte(*p))
        p++;
    length = (size_t)(p - text);
    if (length == 0 || (p < end && *p != ',' && *p != '*'))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a URI template's braces hold no name, or an operator or a length "
                             "(':n') that cannot be matched");
    if (has_name(t, text, length))
        return mcp_error_set(err, MCP_E_PARAMS, "duplicate variable '%.*s' in a URI template",
                             (int)length, text);
    if (t->name_count == MCP__URI_VARIABLES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "more than %d variables in a URI template",
                             MCP__URI_VARIABLES_MAX);
    name->text = mcp_arena_strndup(arena, text, length);
    if (!name->text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a URI template");
    name->length = length;
    name->is_exploded = p < end && *p == '*';
    t->name_count++;
    *at = name->is_exploded ? p + 1 : p;
    return MCP_OK;
}

/* The names between the operator and the closing brace. */
static mcp_status add_names(mcp__uri_template *t, mcp_arena *arena, const char *at, const char *end,
                            mcp_error *err)
{
    mcp_status st = add_name(t, arena, &at, end, err);

    while (st == MCP_OK && at < end) {
        if (*at != ',')
            return mcp_error_set(err, MCP_E_PARAMS, "names in a URI template need ',' between");
        at++;
        st = add_name(t, arena, &at, end, err);
    }
    return st;
}

/* `{?...}` and `{&...}`: one atom; a second query right behind the first adds its names to it. */
static mcp_status add_query(mcp__uri_template *t, char symbol, size_t first, mcp_error *err)
{
    if (!follows(t, QUERY)) {
        struct atom *atom = add_atom(t, QUERY);
        atom->separator = symbol;
        atom->first_name = first;
    } else if (symbol == '?') {
        return mcp_error_set(err, MCP_E_PARAMS, "a second '{?' in a URI template");
    }
    t->atoms[t->atom_count - 1].name_count += t->name_count - first;
    return MCP_OK;
}

static void add_variable(mcp__uri_template *t, const struct operator_row *op, size_t name,
                         bool is_alone)
{
    struct atom *atom = add_atom(t, VARIABLE);
    bool is_exploded = t->names[name].is_exploded;

    atom->first_name = name;
    atom->name_count = 1;
    atom->separator = op->separator;
    atom->least = op->least;
    atom->stops = is_exploded ? op->list : is_alone ? op->alone : op->among;
    atom->may_widen = is_alone && !is_exploded && op->symbol == '\0';
}

static mcp_status add_path(mcp__uri_template *t, const struct operator_row *op, size_t first,
                           mcp_error *err)
{
    bool is_alone = t->name_count - first == 1;

    if (follows(t, QUERY) && op->symbol != '#')
        return mcp_error_set(err, MCP_E_PARAMS,
                             "only a fragment can follow a query in a URI template");
    if (follows(t, VARIABLE) && !op->lead[0])
        return mcp_error_set(err, MCP_E_PARAMS,
                             "two adjacent variables in a URI template are ambiguous");
    if (op->lead[0])
        add_byte(t, op->lead);
    for (size_t i = first; i < t->name_count; i++) {
        if (t->names[i].is_exploded && !is_alone)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "an exploded variable ('*') must be alone in its braces");
        if (i > first)
            add_byte(t, &op->separator);
        add_variable(t, op, i, is_alone);
    }
    return MCP_OK;
}

/* The text between two braces. */
static mcp_status compile_expression(mcp__uri_template *t, mcp_arena *arena, const char *text,
                                     size_t length, mcp_error *err)
{
    const struct operator_row *op = find_operator(length > 0 ? text[0] : '\0');
    size_t first = t->name_count;
    mcp_status st;

    if (++t->expression_count > MCP__URI_EXPRESSIONS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "more than %d expressions in a URI template",
                             MCP__URI_EXPRESSIONS_MAX);
    st = add_names(t, arena, op->symbol ? text + 1 : text, text + length, err);
    if (st != MCP_OK)
        return st;
    if (op->separator == '&')
        return add_query(t, op->symbol, first, err);
    return add_path(t, op, first, err);
}

static mcp_status compile(mcp__uri_template *t, mcp_arena *arena, const char *text, mcp_error *err)
{
    mcp_status st = MCP_OK;

    while (*text && st == MCP_OK) {
        size_t literal = strcspn(text, "{");
        const char *close = strchr(text, '}');
        if (literal > 0) {
            st = compile_literal(t, arena, text, literal, err);
            text += literal;
        } else if (close) {
            st = compile_expression(t, arena, text + 1, (size_t)(close - text - 1), err);
            text = close + 1;
        } else {
            st = mcp_error_set(err, MCP_E_PARAMS, "a '{' without its '}' in a URI template");
        }
    }
    return st;
}

mcp_status mcp__uri_template_compile(const mcp__uri_template **out, mcp_arena *arena,
                                     const char *text, mcp_error *err)
{
    mcp__uri_template *t;
    mcp_status st;

    if (strlen(text) > MCP__URI_TEMPLATE_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a URI template longer than %d bytes",
                             MCP__URI_TEMPLATE_MAX);
    t = mcp_arena_alloc(arena, sizeof *t);
    if (!t)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a URI template");
    st = compile(t, arena, text, err);
    if (st == MCP_OK)
        *out = t;
    return st;
}

/* ---- matching ------------------------------------------------------------------------------- */

struct match {
    const mcp__uri_template *template;
    const struct atom *wide; /* the variable that takes raw slashes, or NULL */
    const char *uri;         /* in one spelling */
    size_t length;
    uint8_t *marks;               /* a row an atom and one for the end, a byte a place */
    size_t starts[ATOMS_MAX + 1]; /* where each atom's part begins */
    mcp_arena *arena;
    mcp_json_writer writer;
};

static uint8_t *marks_of(const struct match *m, size_t atom)
{
    return m->marks + atom * (m->length + 1);
}

static bool stops(const struct match *m, const struct atom *atom, size_t place)
{
    const char *all = atom == m->wide ? "?#" : atom->stops;

    return place == m->length || (all[0] && strchr(all, m->uri[place]));
}

static bool is_at(const struct match *m, const struct atom *literal, size_t place)
{
    return place + literal->length <= m->length &&
           memcmp(m->uri + place, literal->text, literal->length) == 0;
}

static void mark_literal(const struct match *m, const struct atom *atom, uint8_t *row,
                         const uint8_t *next)
{
    for (size_t p = 0; p + atom->length <= m->length; p++)
        row[p] = next[p + atom->length] && is_at(m, atom, p);
}

static void mark_variable(const struct match *m, const struct atom *atom, uint8_t *row,
                          const uint8_t *next)
{
    bool reaches = false; /* a marked place lies between p and the end of its run */

    for (size_t p = m->length + 1; p-- > 0;) {
        bool ends = stops(m, atom, p);
        row[p] = atom->least > 0 && !ends ? reaches : false;
        reaches = next[p] || (!ends && reaches);
        if (atom->least == 0)
            row[p] = reaches;
    }
}

static void mark_query(const struct match *m, const struct atom *atom, uint8_t *row,
                       const uint8_t *next)
{
    size_t end = m->length;

    for (size_t p = m->length + 1; p-- > 0;) {
        if (m->uri[p] == '#')
            end = p;
        row[p] = next[p] || (m->uri[p] == atom->separator && next[end]);
    }
}

/* No part may begin or end within an escape. */
static void unmark_escapes(const struct match *m, uint8_t *row)
{
    for (size_t p = 0; p < m->length; p++) {
        if (m->uri[p] == '%')
            row[p + 1] = row[p + 2] = 0;
    }
}

static void mark(const struct match *m)
{
    const mcp__uri_template *t = m->template;

    marks_of(m, t->atom_count)[m->length] = 1;
    for (size_t i = t->atom_count; i-- > 0;) {
        const struct atom *atom = &t->atoms[i];
        uint8_t *row = marks_of(m, i);
        if (atom->kind == LITERAL)
            mark_literal(m, atom, row, marks_of(m, i + 1));
        else if (atom->kind == VARIABLE)
            mark_variable(m, atom, row, marks_of(m, i + 1));
        else
            mark_query(m, atom, row, marks_of(m, i + 1));
        unmark_escapes(m, row);
    }
}

static size_t variable_end(const struct match *m, const struct atom *atom, size_t p,
                           const uint8_t *next)
{
    size_t last = p;

    for (size_t q = p;; q++) {
        if (q >= p + atom->least && next[q]) {
            last = q;
            if (atom != m->wide)
                break;
        }
        if (stops(m, atom, q))
            break;
    }
    return last;
}

static size_t query_end(const struct match *m, const struct atom *atom, size_t p,
                        const uint8_t *next)
{
    size_t end = p + strcspn(m->uri + p, "#");

    return m->uri[p] == atom->separator && next[end] ? end : p;
}

/* Say where each atom's part begins; false when the URI does not fit. */
static bool divide(struct match *m)
{
    size_t p = 0;

    if (!marks_of(m, 0)[0])
        return false;
    for (size_t i = 0; i < m->template->atom_count; i++) {
        const struct atom *atom = &m->template->atoms[i];
        const uint8_t *next = marks_of(m, i + 1);
        m->starts[i] = p;
        if (atom->kind == LITERAL)
            p += atom->length;
        else if (atom->kind == VARIABLE)
            p = variable_end(m, atom, p, next);
        else
            p = query_end(m, atom, p, next);
    }
    m->starts[m->template->atom_count] = p;
    return true;
}

/* ---- the values ----------------------------------------------------------------------------- */

/* Percent-decode one value and write it as a string. */
static mcp_status write_value(struct match *m, const char *text, size_t length, mcp_error *err)
{
    char *to = mcp_arena_alloc(m->arena, length + 1);
    size_t used = 0;

    if (!to)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a URI's variable");
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            c = (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        }
        to[used++] = c;
    }
    if (!mcp__utf8_valid(to, used, NULL))
        return mcp_error_set(err, MCP_E_PARAMS, "a part of the URI is not UTF-8");
    mcp_write_string_n(&m->writer, to, used);
    return MCP_OK;
}

static mcp_status write_list(struct match *m, const char *text, size_t length, char separator,
                             mcp_error *err)
{
    const char *end = text + length;
    const char *next = text;
    mcp_status st = MCP_OK;

    mcp_write_array(&m->writer);
    while (st == MCP_OK && next) {
        next = memchr(text, separator, (size_t)(end - text));
        st = write_value(m, text, (size_t)((next ? next : end) - text), err);
        text = next ? next + 1 : end;
    }
    mcp_write_end(&m->writer);
    return st;
}

static mcp_status write_variable(struct match *m, size_t index, mcp_error *err)
{
    const struct atom *atom = &m->template->atoms[index];
    const struct name *name = &m->template->names[atom->first_name];
    const char *text = m->uri + m->starts[index];
    size_t length = m->starts[index + 1] - m->starts[index];

    mcp_write_name(&m->writer, name->text);
    if (name->is_exploded)
        return write_list(m, text, length, atom->separator, err);
    return write_value(m, text, length, err);
}

/* One key=value of a query. */
struct pair {
    const char *key;
    size_t key_length;
    const char *value;
    size_t value_length;
};

/* Read the pair at `*at`, which moves behind it and its '&'; false when there is none left. */
static bool next_pair(struct pair *pair, const char **at, const char *end)
{
    const char *text = *at;
    const char *stop, *equals;

    if (text >= end)
        return false;
    stop = memchr(text, '&', (size_t)(end - text));
    if (!stop)
        stop = end;
    equals = memchr(text, '=', (size_t)(stop - text));
    pair->key = text;
    pair->key_length = (size_t)((equals ? equals : stop) - text);
    pair->value = equals ? equals + 1 : stop;
    pair->value_length = (size_t)(stop - pair->value);
    *at = stop + 1;
    return true;
}

static bool is_key(const struct pair *pair, const struct name *name)
{
    return pair->key_length == name->length && memcmp(pair->key, name->text, name->length) == 0;
}

/* Write what the query says of one name. `*found` counts its pairs. */
static mcp_status write_key(struct match *m, const struct name *name, const char *at,
                            const char *end, size_t *found, mcp_error *err)
{
    struct pair pair;
    size_t count = 0;
    mcp_status st = MCP_OK;

    while (st == MCP_OK && next_pair(&pair, &at, end)) {
        if (!is_key(&pair, name))
            continue;
        if (count == 1 && !name->is_exploded)
            return mcp_error_set(err, MCP_E_PARAMS, "duplicate variable '%s' in the URI",
                                 name->text);
        if (count++ == 0) {
            mcp_write_name(&m->writer, name->text);
            if (name->is_exploded)
                mcp_write_array(&m->writer);
        }
        st = write_value(m, pair.value, pair.value_length, err);
    }
    if (count > 0 && name->is_exploded)
        mcp_write_end(&m->writer);
    *found += count;
    return st;
}

static mcp_status write_query(struct match *m, size_t index, mcp_error *err)
{
    const struct atom *atom = &m->template->atoms[index];
    const char *at = m->uri + m->starts[index];
    const char *end = m->uri + m->starts[index + 1];
    struct pair pair;
    size_t pairs = 0, found = 0;
    mcp_status st = MCP_OK;

    if (at == end)
        return MCP_OK;
    at++;
    for (const char *p = at; next_pair(&pair, &p, end);)
        pairs++;
    for (size_t i = 0; i < atom->name_count && st == MCP_OK; i++)
        st = write_key(m, &m->template->names[atom->first_name + i], at, end, &found, err);
    if (st == MCP_OK && found != pairs)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "the query has a key that the template has not");
    return st;
}

static mcp_status write_variables(struct match *m, mcp_error *err)
{
    mcp_status st = MCP_OK;

    mcp_write_object(&m->writer);
    for (size_t i = 0; i < m->template->atom_count && st == MCP_OK; i++) {
        if (m->template->atoms[i].kind == VARIABLE)
            st = write_variable(m, i, err);
        else if (m->template->atoms[i].kind == QUERY)
            st = write_query(m, i, err);
    }
    if (st != MCP_OK)
        return st;
    mcp_write_end(&m->writer);
    st = mcp_json_writer_status(&m->writer);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no room for the URI's variables");
}

static mcp_status collect(const mcp_json **out, struct match *m, mcp_error *err)
{
    mcp_buf buf;
    mcp_status st;

    mcp_buf_init(&buf, VALUES_MAX);
    mcp_json_writer_init(&m->writer, &buf);
    st = write_variables(m, err);
    if (st == MCP_OK)
        st = mcp_json_read(out, m->arena, buf.data, buf.length, err);
    mcp_buf_clear(&buf);
    return st;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The variable that may take raw slashes: the template's first, when it is a plain one with text
 * behind it. Without that text nothing would say where it ends. */
static const struct atom *find_wide(const mcp__uri_template *t)
{
    for (size_t i = 0; i + 1 < t->atom_count; i++) {
        if (t->atoms[i].kind == VARIABLE)
            return t->atoms[i].may_widen && t->atoms[i + 1].kind == LITERAL ? &t->atoms[i] : NULL;
    }
    return NULL;
}

/* A look at both ends first: most URIs that do not fit are seen here, before memory is spent. */
static bool ends_fit(const struct match *m)
{
    const mcp__uri_template *t = m->template;

    if (t->atom_count == 0)
        return m->length == 0;
    const struct atom *last = &t->atoms[t->atom_count - 1];
    return (t->atoms[0].kind != LITERAL || is_at(m, &t->atoms[0], 0)) &&
           (last->kind != LITERAL ||
            (m->length >= last->length && is_at(m, last, m->length - last->length)));
}

mcp_status mcp__uri_template_match(const mcp_json **out, const mcp__uri_template *template,
                                   const char *uri, size_t length, mcp__uri_slashes slashes,
                                   mcp_arena *arena, mcp_error *err)
{
    struct match m = { .template = template, .arena = arena };
    mcp_status st;

    if (length > MCP__URI_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a URI longer than %d bytes", MCP__URI_MAX);
    if (slashes == MCP__SLASHES_RAW) {
        m.wide = find_wide(template);
        if (!m.wide)
            return mcp_error_set(err, MCP_E_NOT_FOUND, "the URI has another form");
    }
    st = spell(&m.uri, &m.length, arena, uri, length, err);
    if (st != MCP_OK)
        return st;
    assert(m.uri);
    if (ends_fit(&m)) {
        m.marks = mcp_arena_array(arena, template->atom_count + 1, m.length + 1);
        if (!m.marks)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory to match a URI");
        mark(&m);
    }
    if (!m.marks || !divide(&m))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the URI has another form");
    return collect(out, &m, err);
}
