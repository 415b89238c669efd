/*
 * work.h - the parts of an app that run plugins and queries; private to the gateway.
 */
#ifndef CASPARIAN_GATEWAY_WORK_H
#define CASPARIAN_GATEWAY_WORK_H

#include "gateway/app.h"

/* Open what CASPARIAN_NEEDS_DRIVER and CASPARIAN_NEEDS_QUERY ask for. */
mcp_status casparian_work_open(casparian_app *app, unsigned parts, mcp_error *err);

void casparian_work_close(casparian_app *app);

#endif
