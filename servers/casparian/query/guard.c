/*
 * guard.c - the words of a statement, and which of them refuse it.
 *
 * The tokens are those of the engine: '...' and E'...', "...", $tag$...$tag$, comments to the end
 * of a line and nested ones. Everything else that is not a word is a sign of its own. A byte of
 * 0x80 or more belongs to a word: a character that only looks like a semicolon separates nothing.
 */
#include "query/guard.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "query/query.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_QUOTED, /* "..." */
    TOKEN_STRING, /* '...', $$...$$ */
    TOKEN_NUMBER,
    TOKEN_SIGN,
    TOKEN_OPEN /* a quote or comment without end */
} token_kind;

typedef struct token {
    token_kind kind;
    size_t from, until;
} token;

typedef struct scan {
    const char *sql;
    size_t length, at;
} scan;

/* Anywhere outside quotes. */
static const char *const forbidden[] = {
    "INSERT",  "UPDATE",  "DELETE",     "DROP",         "CREATE", "ALTER",  "TRUNCATE", "COPY",
    "ATTACH",  "DETACH",  "INSTALL",    "LOAD",         "EXPORT", "IMPORT", "CALL",     "PRAGMA",
    "RESET",   "USE",     "VACUUM",     "CHECKPOINT",   "BEGIN",  "COMMIT", "ROLLBACK", "ABORT",
    "PREPARE", "EXECUTE", "DEALLOCATE", "REPLACE_SCAN", "MERGE",  "GRANT",
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_in_word(char c)
{
    return begins_word(c) || is_digit(c) || c == '$';
}

static char peek(const scan *s, size_t ahead)
{
    return s->at + ahead < s->length ? s->sql[s->at + ahead] : '\0';
}

/* The bytes of a white space here, 0: none. The engine takes these of Unicode, too. */
static size_t space_here(const scan *s)
{
    static const char *const wide[] = { "\xC2\xA0",     "\xE2\x80\xAF", "\xE2\x81\x9F",
                                        "\xE2\x81\xA0", "\xE3\x80\x80", "\xEF\xBB\xBF" };
    size_t left = s->length - s->at;
    const char *here = s->sql + s->at;

    if (left > 0 && is_space(*here))
        return 1;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (left >= strlen(wide[i]) && memcmp(here, wide[i], strlen(wide[i])) == 0)
            return strlen(wide[i]);
    if (left >= 3 && memcmp(here, "\xE2\x80", 2) == 0 && (unsigned char)here[2] <= 0x8D)
        return 3;
    return 0;
}

/* Past a quoted text, whose quote is doubled inside it. @return false: it does not end */
static bool skip_quoted(scan *s, bool has_escapes)
{
    char quote = s->sql[s->at++];

    while (s->at < s->length) {
        char c = s->sql[s->at++];
        if (c == '\\' && has_escapes) {
            if (s->at == s->length)
                return false;
            s->at++;
        } else if (c == quote && peek(s, 0) == quote) {
            s->at++;
        } else if (c == quote) {
            return true;
        }
    }
    return false;
}

/* The length of "$tag$" here; 0: there is none. */
static size_t dollar_tag(const scan *s)
{
    size_t length = 1;

    if (is_digit(peek(s, 1)))
        return 0;
    while (is_in_word(peek(s, length)) && peek(s, length) != '$')
        length++;
    return peek(s, length) == '$' ? length + 1 : 0;
}

static bool skip_dollars(scan *s, size_t tag)
{
    const char *end = memmem(s->sql + s->at + tag, s->length - s->at - tag, s->sql + s->at, tag);

    if (!end)
        return false;
    s->at = (size_t)(end - s->sql) + tag;
    return true;
}

/* Past a comment, which may have others in it. */
static bool skip_comment(scan *s)
{
    size_t depth = 0;

    while (s->at < s->length) {
        if (peek(s, 0) == '/' && peek(s, 1) == '*') {
            depth++;
            s->at += 2;
        } else if (peek(s, 0) == '*' && peek(s, 1) == '/') {
            s->at += 2;
            if (--depth == 0)
                return true;
        } else {
            s->at++;
        }
    }
    return false;
}

/* Past white space and comments. */
static bool skip_blank(scan *s)
{
    while (s->at < s->length) {
        size_t space = space_here(s);
        if (space > 0) {
            s->at += space;
        } else if (peek(s, 0) == '-' && peek(s, 1) == '-') {
            while (s->at < s->length && peek(s, 0) != '\n' && peek(s, 0) != '\r')
                s->at++;
        } else if (peek(s, 0) == '/' && peek(s, 1) == '*') {
            if (!skip_comment(s))
                return false;
        } else {
            return true;
        }
    }
    return true;
}

static token_kind skip_token(scan *s)
{
    char c = peek(s, 0);
    size_t tag = c == '$' ? dollar_tag(s) : 0;

    if (tag > 0)
        return skip_dollars(s, tag) ? TOKEN_STRING : TOKEN_OPEN;
    if (c == '\'')
        return skip_quoted(s, false) ? TOKEN_STRING : TOKEN_OPEN;
    if (c == '"')
        return skip_quoted(s, false) ? TOKEN_QUOTED : TOKEN_OPEN;
    if ((c == 'e' || c == 'E') && peek(s, 1) == '\'') {
        s->at++;
        return skip_quoted(s, true) ? TOKEN_STRING : TOKEN_OPEN;
    }
    s->at++;
    if (begins_word(c)) {
        while (is_in_word(peek(s, 0)) && space_here(s) == 0)
            s->at++;
        return TOKEN_WORD;
    }
    return is_digit(c) ? TOKEN_NUMBER : TOKEN_SIGN;
}

static token next_token(scan *s)
{
    token t = { TOKEN_OPEN, 0, 0 };

    if (!skip_blank(s))
        return t;
    t.from = s->at;
    t.kind = s->at < s->length ? skip_token(s) : TOKEN_END;
    t.until = s->at;
    return t;
}

static bool is_word(const scan *s, token t, const char *word)
{
    return t.kind == TOKEN_WORD && t.until - t.from == strlen(word) &&
           strncasecmp(s->sql + t.from, word, strlen(word)) == 0;
}

static bool is_sign(const scan *s, token t, char sign)
{
    return t.kind == TOKEN_SIGN && s->sql[t.from] == sign;
}

static mcp_status refuse_word(const char *word, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_DENIED, "Query contains forbidden keyword: %s", word);
}

static mcp_status refuse_open(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_DENIED, "Query has a quote or a comment without an end");
}

/* What may not be in any SQL. */
static mcp_status check_bytes(const char *sql, size_t length, mcp_error *err)
{
    if (length > CASPARIAN_QUERY_SQL_MAX)
        return mcp_error_set(err, MCP_E_DENIED, "Query is longer than %zu bytes",
                             CASPARIAN_QUERY_SQL_MAX);
    if (length > 0 && memchr(sql, '\0', length))
        return mcp_error_set(err, MCP_E_DENIED, "Query contains a NUL byte");
    return MCP_OK;
}

/* The first words: EXPLAIN at most once, then SELECT or WITH. */
static mcp_status check_start(casparian_guarded *out, scan *s, mcp_error *err)
{
    token t = next_token(s);

    if (t.kind == TOKEN_END || is_sign(s, t, ';'))
        return mcp_error_set(err, MCP_E_DENIED, "Query is empty");
    out->is_explain = is_word(s, t, "EXPLAIN");
    if (out->is_explain)
        t = next_token(s);
    if (out->is_explain && is_word(s, t, "ANALYZE"))
        return refuse_word("ANALYZE", err);
    if (t.kind == TOKEN_OPEN)
        return refuse_open(err);
    if (!is_word(s, t, "SELECT") && !is_word(s, t, "WITH"))
        return mcp_error_set(err, MCP_E_DENIED, "Query must start with SELECT, WITH, or EXPLAIN");
    out->from = t.from;
    out->until = t.until;
    return MCP_OK;
}

static mcp_status check_word(const scan *s, token t, mcp_error *err)
{
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        if (is_word(s, t, forbidden[i]))
            return refuse_word(forbidden[i], err);
    return MCP_OK;
}

/* The words after the first. A name after a dot is that of a column or a function. */
static mcp_status check_rest(casparian_guarded *out, scan *s, mcp_error *err)
{
    bool is_after_dot = false;
    bool has_ended = false;
    bool has_more = false;

    for (token t = next_token(s); t.kind != TOKEN_END; t = next_token(s)) {
        mcp_status st = MCP_OK;
        if (t.kind == TOKEN_OPEN)
            return refuse_open(err);
        if (!is_after_dot || has_ended)
            st = check_word(s, t, err);
        if (st != MCP_OK)
            return st;
        is_after_dot = is_sign(s, t, '.');
        has_more = has_more || has_ended;
        has_ended = has_ended || is_sign(s, t, ';');
        if (!has_ended)
            out->until = t.until;
    }
    if (has_more)
        return mcp_error_set(err, MCP_E_DENIED, "Multiple statements are not allowed");
    return MCP_OK;
}

mcp_status casparian_guard(casparian_guarded *out, const char *sql, size_t length, mcp_error *err)
{
    casparian_guarded found = { false, 0, 0 };
    scan s = { sql, length, 0 };
    mcp_status st = check_bytes(sql, length, err);

    if (st == MCP_OK)
        st = check_start(&found, &s, err);
    if (st == MCP_OK)
        st = check_rest(&found, &s, err);
    if (st == MCP_OK)
        *out = found;
    return st;
}

void casparian_guard_names(const char *sql, size_t length, casparian_guard_visit *visit, void *data)
{
    scan s = { sql, length, 0 };

    for (token t = next_token(&s); t.kind != TOKEN_END && t.kind != TOKEN_OPEN;
         t = next_token(&s)) {
        bool is_quoted = t.kind == TOKEN_QUOTED || t.kind == TOKEN_STRING;
        size_t quote = is_quoted && t.until - t.from >= 2 ? 1 : 0;
        if (t.kind != TOKEN_WORD && !is_quoted)
            continue;
        casparian_guard_name name = { sql + t.from + quote, t.until - t.from - 2 * quote,
                                      is_quoted };
        visit(data, &name);
    }
}
