/*
 * page.c - the routes of the page.
 */
#include "page.h"

#include "mcp/call.h"
#include "page/page.h"

static const page universe = { .files = universe_page_files };

mcp_status universe_page(mcp_call *call, void *data)
{
    (void)data;
    return page_send(call, &universe);
}

mcp_status universe_page_asset(mcp_call *call, void *data)
{
    (void)data;
    return page_send_asset(call, &universe, mcp_arg_string(call, "name"));
}
