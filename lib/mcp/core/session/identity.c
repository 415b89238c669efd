/*
 * identity.c - the server's Implementation object, in the opening of a session and in results without one.
 */
#include "mcp/core/session/identity.h"

#include <string.h>

#include "mcp/core/fields.h"

static void write_known(mcp_json_writer *writer, const char *member, const char *text,
                        mcp_revision revision)
{
    if (text && mcp__field_is_known("Implementation", member, revision))
        mcp_write_member_string(writer, member, text);
}

void mcp__write_identity(mcp_json_writer *writer, const mcp_server_options *options,
                         mcp_revision revision)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "name", options->name);
    mcp_write_member_string(writer, "version", options->version);
    write_known(writer, "title", options->title, revision);
    write_known(writer, "description", options->description, revision);
    write_known(writer, "websiteUrl", options->website_url, revision);
    if (options->icons && mcp__field_is_known("Implementation", "icons", revision)) {
        mcp_write_name(writer, "icons");
        mcp_write_raw(writer, options->icons, strlen(options->icons));
    }
    mcp_write_end(writer);
}
