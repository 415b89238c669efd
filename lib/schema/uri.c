/*
 * uri.c - resolving URI references (RFC 3986 section 5.2).
 *
 * A reference is split into its five parts by the delimiters alone (appendix B of the RFC):
 * whether the characters are legal is no matter here. Nothing is normalised but dot segments, so
 * two URIs are the same when their bytes are. A URN has no authority and no hierarchy, and needs
 * none: all that is ever resolved against it is a fragment.
 */
#include "schema/compile.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

typedef struct span {
    const char *start; /* NULL: the part is absent, which is not the same as empty */
    size_t length;
} span;

typedef struct parts {
    span scheme;
    span authority;
    span path; /* never absent */
    span query;
    span fragment;
} parts;

static span take(const char **cursor, const char *stops)
{
    span part = { *cursor, strcspn(*cursor, stops) };

    *cursor += part.length;
    return part;
}

/* A scheme is a letter and what may follow one, up to a colon that comes before any '/', '?' or
 * '#'. */
static bool is_scheme(span text)
{
    if (text.length == 0 || !isalpha((unsigned char)text.start[0]))
        return false;
    for (size_t i = 1; i < text.length; i++) {
        unsigned char c = (unsigned char)text.start[i];
        if (!isalnum(c) && c != '+' && c != '-' && c != '.')
            return false;
    }
    return true;
}

static parts split(const char *uri)
{
    parts out = { 0 };
    const char *cursor = uri;
    span first = take(&cursor, ":/?#");

    if (*cursor == ':' && is_scheme(first)) {
        out.scheme = first;
        cursor++;
    } else {
        cursor = uri;
    }
    if (cursor[0] == '/' && cursor[1] == '/') {
        cursor += 2;
        out.authority = take(&cursor, "/?#");
    }
    out.path = take(&cursor, "?#");
    if (*cursor == '?') {
        cursor++;
        out.query = take(&cursor, "#");
    }
    if (*cursor == '#')
        out.fragment = (span){ cursor + 1, strlen(cursor + 1) };
    return out;
}

/* RFC 3986 5.2.3: the base's path up to its last slash, then the reference's. */
static span merge(mcp_arena *arena, const parts *base, span path)
{
    size_t kept = base->path.length;
    bool needs_slash = base->authority.start && kept == 0;

    while (kept > 0 && base->path.start[kept - 1] != '/')
        kept--;
    char *text = mcp_arena_alloc(arena, kept + path.length + 2);
    if (!text)
        return (span){ 0 };
    size_t length = 0;
    if (needs_slash)
        text[length++] = '/';
    memcpy(text + length, base->path.start, kept);
    length += kept;
    memcpy(text + length, path.start, path.length);
    return (span){ text, length + path.length };
}

static size_t drop_last_segment(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] != '/')
        length--;
    return length > 0 ? length - 1 : 0;
}

/* RFC 3986 5.2.4, segment by segment; the result is never longer than the input. */
static span remove_dots(mcp_arena *arena, span path)
{
    char *out = mcp_arena_alloc(arena, path.length + 2);
    size_t length = 0;
    size_t at = 0;

    if (!out)
        return (span){ 0 };
    while (at < path.length) {
        size_t begin = at;
        size_t slash = path.start[at] == '/' ? 1 : 0;
        at += slash;
        while (at < path.length && path.start[at] != '/')
            at++;
        const char *segment = path.start + begin + slash;
        size_t size = at - begin - slash;
        bool is_dot = size == 1 && segment[0] == '.';
        bool is_dots = size == 2 && segment[0] == '.' && segment[1] == '.';
        if (is_dots)
            length = drop_last_segment(out, length);
        if (!is_dot && !is_dots) {
            memcpy(out + length, path.start + begin, at - begin);
            length += at - begin;
        } else if (slash == 0) {
            at += at < path.length ? 1 : 0; /* "./x" and "../x" with no base: just x */
        } else if (at == path.length) {
            out[length++] = '/';
        }
    }
    return (span){ out, length };
}

static parts resolve(mcp_arena *arena, const parts *base, parts reference)
{
    parts out = reference;

    if (reference.scheme.start) {
        out.path = remove_dots(arena, reference.path);
        return out;
    }
    out.scheme = base->scheme;
    if (reference.authority.start) {
        out.path = remove_dots(arena, reference.path);
        return out;
    }
    out.authority = base->authority;
    if (reference.path.length == 0) {
        out.path = base->path;
        if (!reference.query.start)
            out.query = base->query;
        return out;
    }
    if (reference.path.start[0] != '/')
        out.path = merge(arena, base, reference.path);
    if (out.path.start)
        out.path = remove_dots(arena, out.path);
    return out;
}

static char *put(char *at, const char *before, span part, const char *after)
{
    if (!part.start)
        return at;
    at = stpcpy(at, before);
    memcpy(at, part.start, part.length);
    return stpcpy(at + part.length, after);
}

char *mcp__uri_resolve(mcp_arena *arena, const char *base, const char *reference)
{
    parts from = split(base);
    parts uri = resolve(arena, &from, split(reference));
    size_t length = uri.scheme.length + uri.authority.length + uri.path.length + uri.query.length +
                    uri.fragment.length + sizeof "://?#";
    char *out = uri.path.start ? mcp_arena_alloc(arena, length) : NULL;

    if (!out)
        return NULL;
    char *end = put(out, "", uri.scheme, ":");
    end = put(end, "//", uri.authority, "");
    end = put(end, "", uri.path, "");
    end = put(end, "?", uri.query, "");
    end = put(end, "#", uri.fragment, "");
    *end = '\0';
    return out;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *mcp__uri_split(char *uri)
{
    char *hash = strchr(uri, '#');

    if (!hash)
        return uri + strlen(uri);
    *hash = '\0';
    char *to = hash + 1;
    for (const char *from = to; *from; from++) {
        char c = *from;
        if (c == '%') {
            int high = hex_digit(from[1]);
            int low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0 || high + low == 0)
                return NULL;
            c = (char)(high * 16 + low);
            from += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return hash + 1;
}
