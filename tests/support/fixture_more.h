/*
 * fixture_more.h - a second set of features, for what the first revisions did not know.
 *
 * tools      more/value     returns an array; its output schema says so
 *            more/sampling  requires a client that can sample
 *            more/log       logs at debug, info and error, and reports progress once
 *            more/ask       requests a form and sampling at once; more/steps one form after another;
 *                           more/roots the roots; more/silent waits without a request
 *            more/visit     sends the user to a URL; more/visits requires two visits before it
 *                           answers, until more/paid was called, which completes them
 *            more/change    adds more/guest, a tool and a prompt, or removes them
 *            more/touch     notifies twice that more://kept was updated
 *            more/asked, more://asked (a prompt, a resource) request a form
 * resources  more://kept    may be cached for a minute; more://city/{city} has 101 completions
 * prompts    more/trip      its city is completed from the typed text and the chosen country
 */
#ifndef FIXTURE_MORE_H
#define FIXTURE_MORE_H

#include "mcp/server.h"

/** Its features; constant. */
extern const mcp_features fixture_more;

/** One tool, more/page, whose result is shown as a page. */
extern const mcp_features fixture_page;

#endif
