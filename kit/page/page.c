/*
 * page.c - hands out a page and its assets.
 *
 * They are embedded, with a gzip of each and an ETag made of its bytes, so a browser that has them
 * asks once and gets 304 from then on. The fields keep the page to its own server: nobody frames
 * it, and the policy lets it ask nobody else.
 */
#include "page/page.h"

#include <stdio.h>
#include <string.h>

#include "mcp/route.h"
#include "page/tags.h"

enum { NAME_MAX_LENGTH = 64 };

struct media {
    const char *suffix;
    const char *mime_type;
};

/* A file with another suffix is not served. */
static const struct media medias[] = {
    { ".html", "text/html; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },
    { ".svg", "image/svg+xml" },
};

static const char *mime_type_of(const char *path)
{
    const char *suffix = strrchr(path, '.');

    for (size_t i = 0; suffix && i < sizeof medias / sizeof medias[0]; i++)
        if (strcmp(suffix, medias[i].suffix) == 0)
            return medias[i].mime_type;
    return NULL;
}

/* The file of the path with something after it: ".gz", ".etag". */
static const mcp_file *with_suffix(const page *self, const char *path, const char *suffix)
{
    char name[NAME_MAX_LENGTH + 16];

    snprintf(name, sizeof name, "%s%s", path, suffix);
    return mcp_files_find(self->files, name);
}

/* Whether a list of codings names this one and does not refuse it. */
static bool accepts(const char *list, const char *coding)
{
    const char *at = list ? strcasestr(list, coding) : NULL;

    if (!at)
        return false;
    at += strlen(coding);
    at += strspn(at, " ");
    return strncmp(at, ";q=0", 4) != 0 ||
           (at[4] == '.' && strspn(at + 5, "0") < strcspn(at + 5, ", "));
}

struct field {
    const char *name;
    const char *value;
};

static const struct field fields[] = {
    { "Cache-Control",
      "no-cache" }, /* kept, and asked after by its ETag: a new server has a new page */
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Referrer-Policy", "no-referrer" },
    { "Vary", "Accept-Encoding" },
    { "X-Content-Type-Options", "nosniff" },
};

static mcp_status put_fields(mcp_call *call, const page *self, const char *etag, bool is_gzip)
{
    const char *policy = self->policy ? self->policy : PAGE_POLICY;
    mcp_status st = mcp_call_header_set(call, "ETag", etag);

    if (st == MCP_OK)
        st = mcp_call_header_set(call, "Content-Security-Policy", policy);
    for (size_t i = 0; st == MCP_OK && i < sizeof fields / sizeof fields[0]; i++)
        st = mcp_call_header_set(call, fields[i].name, fields[i].value);
    if (st == MCP_OK && is_gzip)
        st = mcp_call_header_set(call, "Content-Encoding", "gzip");
    return st;
}

static mcp_status send_file(mcp_call *call, const page *self, const mcp_file *file)
{
    char etag[64];
    const char *mime_type = mime_type_of(file->path);
    const char *known = mcp_call_header(call, "If-None-Match");
    const mcp_file *gzip = accepts(mcp_call_header(call, "Accept-Encoding"), "gzip")
                               ? with_suffix(self, file->path, ".gz")
                               : NULL;
    const mcp_file *tag = with_suffix(self, file->path, ".etag");

    /* The two forms have different bytes, so a strong ETag tells them apart. */
    snprintf(etag, sizeof etag, "\"%.*s%s\"", tag ? (int)tag->length : 0, tag ? tag->bytes : "",
             gzip ? "-gzip" : "");
    mcp_status st = put_fields(call, self, etag, gzip != NULL);
    if (st != MCP_OK)
        return mcp_error_set(mcp_call_error(call), st, "no memory for the page's header");
    if (known && page_tags_find(known, etag, false) == PAGE_TAGS_WITH) {
        mcp_call_status(call, 304);
        return mcp_call_send(call, mime_type, "", 0);
    }
    if (gzip)
        file = gzip;
    return mcp_call_send(call, mime_type, file->bytes, file->length);
}

mcp_status page_send(mcp_call *call, const page *self)
{
    const mcp_file *file = mcp_files_find(self->files, "index.html");

    if (!file)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND,
                             "this program was built without the page");
    return send_file(call, self, file);
}

mcp_status page_send_asset(mcp_call *call, const page *self, const char *name)
{
    char path[NAME_MAX_LENGTH];
    int length = snprintf(path, sizeof path, "assets/%s", name ? name : "");
    const mcp_file *file = length < (int)sizeof path && mime_type_of(path)
                               ? mcp_files_find(self->files, path)
                               : NULL;

    if (!file)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "the page has no such part");
    return send_file(call, self, file);
}
