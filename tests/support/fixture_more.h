/*
 * fixture_more.h - a second set of features beside the fixture's, for what the first revisions did not know.
 *
 * tools      more/value     gives an array; its output schema says so
 *            more/sampling  needs a client that can sample
 *            more/log       logs at debug, info and error, and reports progress once
 *            more/ask       asks a form and for sampling at once; more/steps one form after another;
 *                           more/roots for roots; more/silent waits without asking
 *            more/visit     asks to send the user to an address; more/visits needs two visits before it
 *                           answers, until more/paid was called, which says that errands are done
 *            more/change    offers more/guest, a tool and a prompt, or withdraws them
 *            more/touch     says twice that more://kept was updated
 *            more/asked, more://asked (a prompt, a resource) ask a form
 * resources  more://kept    may be kept for a minute by its reader; more://city/{city} has 101 completions
 * prompts    more/trip      its city is completed by what is typed and the country chosen
 */
#ifndef FIXTURE_MORE_H
#define FIXTURE_MORE_H

#include "mcp/server.h"

/** Its features; constant. */
extern const mcp_features fixture_more;

/** One tool, more/page, whose result is shown as a page. */
extern const mcp_features fixture_page;

#endif
