/*
 * dialect.c - rewriting SQL word by word.
 *
 * A text is cut into pieces: a word, a quoted run (string, name, comment, dollar quote), or one
 * other byte. Only words are compared, so nothing inside quotes is changed.
 */
#include "db/dialect.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct piece {
    const char *at;
    size_t length; /* 0: the end */
    bool is_word;
    bool is_blank; /* white space or comment */
};

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* After the closing quote; a doubled quote does not close. Unclosed: the end. */
static const char *after_quoted(const char *at, char quote)
{
    for (at++; *at; at++) {
        if (*at != quote)
            continue;
        if (at[1] != quote)
            return at + 1;
        at++;
    }
    return at;
}

static const char *after_comment(const char *at)
{
    const char *end = at[0] == '-' ? strchr(at, '\n') : strstr(at + 2, "*/");

    if (!end)
        return at + strlen(at);
    return at[0] == '-' ? end + 1 : end + 2;
}

/* After "$tag$ ... $tag$"; NULL when no dollar quote begins here ("$1" is a parameter). */
static const char *after_dollar_quoted(const char *at)
{
    const char *tag_end = at + 1;

    if (isdigit((unsigned char)*tag_end))
        return NULL;
    while (isalnum((unsigned char)*tag_end) || *tag_end == '_')
        tag_end++;
    if (*tag_end != '$')
        return NULL;
    size_t length = (size_t)(tag_end + 1 - at);
    for (const char *end = strchr(tag_end + 1, '$'); end; end = strchr(end + 1, '$'))
        if (strncmp(end, at, length) == 0)
            return end + length;
    return at + strlen(at);
}

static struct piece piece_at(const char *at)
{
    const char *end = at;
    bool is_comment = strncmp(at, "--", 2) == 0 || strncmp(at, "/*", 2) == 0;
    bool is_word = false;

    if (*at == '\'' || *at == '"')
        end = after_quoted(at, *at);
    else if (is_comment)
        end = after_comment(at);
    else if (*at == '$' && after_dollar_quoted(at))
        end = after_dollar_quoted(at);
    else if (is_word_byte(*at))
        for (is_word = true; is_word_byte(*end); end++)
            ;
    else if (*at)
        end = at + 1;
    bool is_blank = is_comment || (*at && isspace((unsigned char)*at));
    return (struct piece){ at, (size_t)(end - at), is_word, is_blank };
}

static bool is_this(const struct piece *piece, const char *word)
{
    return piece->is_word && strlen(word) == piece->length &&
           strncasecmp(piece->at, word, piece->length) == 0;
}

/* The next piece after `at` that is not blank. */
static struct piece next_solid(const char *at)
{
    struct piece piece = piece_at(at);

    while (piece.is_blank)
        piece = piece_at(piece.at + piece.length);
    return piece;
}

/* Whether that word is next; then `at` moves past it. */
static bool skip_word(const char **at, const char *word)
{
    struct piece piece = next_solid(*at);

    if (!is_this(&piece, word))
        return false;
    *at = piece.at + piece.length;
    return true;
}

/* "OF t, s.u" */
static void skip_tables(const char **at)
{
    struct piece piece;

    if (!skip_word(at, "of"))
        return;
    do {
        piece = next_solid(*at);
        *at = piece.at + piece.length;
        piece = next_solid(*at);
        if (piece.length == 1 && (*piece.at == ',' || *piece.at == '.'))
            *at = piece.at + 1;
    } while (piece.length == 1 && (*piece.at == ',' || *piece.at == '.'));
}

/* After a row lock that begins here; NULL when none does. */
static const char *after_lock(const char *at)
{
    if (!skip_word(&at, "for"))
        return NULL;
    if (skip_word(&at, "no"))
        skip_word(&at, "key");
    else
        skip_word(&at, "key");
    if (!skip_word(&at, "update") && !skip_word(&at, "share"))
        return NULL;
    skip_tables(&at);
    if (skip_word(&at, "skip"))
        skip_word(&at, "locked");
    else
        skip_word(&at, "nowait");
    return at;
}

/* "$1", "$2", ... */
static bool is_parameter(const struct piece *piece)
{
    if (!piece->is_word || piece->length < 2 || piece->at[0] != '$' || piece->at[1] == '0')
        return false;
    for (size_t i = 1; i < piece->length; i++) {
        if (!isdigit((unsigned char)piece->at[i]))
            return false;
    }
    return true;
}

mcp_status db_dialect_of_sqlite(mcp_buf *out, const char *sql)
{
    struct piece piece;

    for (const char *at = sql; *at;) {
        piece = piece_at(at);
        const char *end = is_this(&piece, "for") ? after_lock(at) : NULL;
        if (*at == '?')
            mcp_buf_puts(out, "?0"); /* which SQLite refuses */
        else if (is_parameter(&piece))
            mcp_buf_printf(out, "?%.*s", (int)piece.length - 1, at + 1);
        else if (!end)
            mcp_buf_append(out, at, piece.length);
        at = end ? end : at + piece.length;
    }
    return out->status;
}

mcp_status db_dialect_of_postgres(mcp_buf *out, const char *sql)
{
    struct piece piece;

    for (const char *at = sql; *at; at += piece.length) {
        piece = piece_at(at);
        if (is_this(&piece, "blob"))
            mcp_buf_puts(out, "BYTEA");
        else
            mcp_buf_append(out, at, piece.length);
    }
    return out->status;
}
