/*
 * fixture_more.c - handlers that use what came after the first revisions.
 */
#include "fixture_more.h"

#include <stdatomic.h>
#include <string.h>

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
#define PLAIN_TOOL(name)                                                                           \
    "{\"name\":\"" name "\",\"description\":\"More\",\"inputSchema\":{\"type\":\"object\"}}"
/* clang-format on */

static const char value_json[] = "{\"name\":\"more/value\",\"description\":\"Gives an array\","
                                 "\"inputSchema\":{\"type\":\"object\"},"
                                 "\"outputSchema\":{\"type\":\"array\"}}";

static const char page_json[] =
    "{\"name\":\"more/page\",\"description\":\"Shown as a page\",\"inputSchema\":{\"type\":\"object\"},"
    "\"_meta\":{\"ui\":{\"resourceUri\":\"ui://more/page\"},\"ui/resourceUri\":\"ui://more/page\",\"own\":1}}";

static mcp_status give_value(mcp_call *call, void *data)
{
    mcp_json_writer *value = mcp_call_value(call);

    (void)data;
    mcp_write_array(value);
    mcp_write_int(value, 1);
    mcp_write_double(value, 2.5);
    mcp_write_null(value);
    mcp_write_end(value);
    return MCP_OK;
}

static mcp_status need_sampling(mcp_call *call, void *data)
{
    mcp_status st = mcp_call_require(call, MCP_CLIENT_SAMPLING);

    (void)data;
    if (st == MCP_OK)
        mcp_write_member_bool(mcp_call_result(call), "can", true);
    return st;
}

/* Three log messages, a progress report between them. */
static mcp_status log_some(mcp_call *call, void *data)
{
    mcp_progress progress = { .progress = 1 };

    (void)data;
    mcp_call_log(call, MCP_LEVEL_DEBUG, NULL, "gentle");
    mcp_call_log(call, MCP_LEVEL_INFO, "more", "step %d", 1);
    mcp_call_progress(call, &progress);
    mcp_call_log_json(call, MCP_LEVEL_ERROR, NULL, "{\"left\":0.5}");
    return mcp_call_text(call, "logged");
}

/* ---- asking ---------------------------------------------------------------------------------- */

static const char name_form[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1}},"
    "\"required\":[\"name\"]}";

/* Clients may answer what they like. */
static const char *text_of(const mcp_json *value)
{
    const char *text = mcp_json_string(value, NULL);

    return text ? text : "-";
}

static const char *name_of(const mcp_json *answer)
{
    const char *name = mcp_json_get_string(mcp_json_get(answer, "content"), "name");

    return name ? name : mcp_json_get_string(answer, "action");
}

/* Two questions at once. */
static mcp_status ask_two(mcp_call *call, void *data)
{
    const mcp_json *who = mcp_call_elicit_form(call, "who", "Who?", name_form);
    const mcp_json *mood = mcp_call_request_input(call, "mood", "sampling/createMessage",
                                                  "{\"messages\":[],\"maxTokens\":10}");

    (void)data;
    if (!who || !mood)
        return mcp_call_input_required(call);
    return mcp_call_text(call, mcp_arena_printf(mcp_call_arena(call), "%s: %s", name_of(who),
                                                text_of(mcp_json_get(mood, "model"))));
}

/* One question, and another that depends on it. */
static mcp_status ask_steps(mcp_call *call, void *data)
{
    const mcp_json *first = mcp_call_elicit_form(call, "first", "First?", name_form);
    const mcp_json *second;

    (void)data;
    mcp_call_set_request_state(call, first ? "two" : "one");
    if (!first)
        return mcp_call_input_required(call);
    second = mcp_call_elicit_form(call, "second", name_of(first), name_form);
    if (!second)
        return mcp_call_input_required(call);
    return mcp_call_text(
        call,
        mcp_arena_printf(mcp_call_arena(call), "%s, %s, kept %s", name_of(first), name_of(second),
                         mcp_call_request_state(call) ? mcp_call_request_state(call) : "-"));
}

static mcp_status ask_roots(mcp_call *call, void *data)
{
    const mcp_json *roots = mcp_call_request_input(call, "roots", "roots/list", NULL);

    (void)data;
    if (!roots)
        return mcp_call_input_required(call);
    return mcp_call_text(call, text_of(mcp_json_pointer(roots, "/roots/0/uri")));
}

#define PAY "https://pay.example/7"

/* Whether the user will go. */
static mcp_status ask_visit(mcp_call *call, void *data)
{
    const mcp_json *answer = mcp_call_elicit_url(call, "pay", "Pay there", PAY, "errand-7");

    (void)data;
    return answer ? mcp_call_text(call, name_of(answer)) : mcp_call_input_required(call);
}

static atomic_bool is_paid;

/* Cannot go on before more/paid was called; forgets it then. */
static mcp_status require_visits(mcp_call *call, void *data)
{
    (void)data;
    if (atomic_exchange(&is_paid, false))
        return mcp_call_text(call, "paid");
    (void)mcp_call_require_url_elicitation(call, "Sign in there", "https://as.example/in",
                                           "errand-8");
    return mcp_call_require_url_elicitation(call, "Pay there", PAY, "errand-7");
}

/* All errands are done, and one that nobody was sent on. */
static mcp_status end_visits(mcp_call *call, void *data)
{
    static const char *const ids[] = { "errand-7", "errand-8", "errand-9" };
    mcp_status st = MCP_OK;

    (void)data;
    atomic_store(&is_paid, true);
    for (size_t i = 0; i < 3 && st == MCP_OK; i++)
        st = mcp_server_elicitation_complete(mcp_call_server(call), ids[i], mcp_call_error(call));
    return st == MCP_OK ? mcp_call_text(call, "thanks") : st;
}

static mcp_status ask_nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_E_INPUT_REQUIRED;
}

static mcp_status fill_asked(mcp_call *call, void *data)
{
    const mcp_json *answer = mcp_call_elicit_form(call, "topic", "About what?", name_form);

    (void)data;
    return answer ? mcp_call_set_placeholder(call, "topic", name_of(answer))
                  : mcp_call_input_required(call);
}

static mcp_status read_asked(mcp_call *call, void *data)
{
    const mcp_json *answer = mcp_call_elicit_form(call, "topic", "About what?", name_form);

    (void)data;
    if (!answer)
        return mcp_call_input_required(call);
    return mcp_call_contents_text(call, NULL, "text/plain", name_of(answer),
                                  strlen(name_of(answer)));
}

/* ---- changing -------------------------------------------------------------------------------- */

static mcp_status change_lists(mcp_call *call, void *data);

/* More than the fixture changes: resources of its own, to be heard of. */
static mcp_status touch(mcp_call *call, void *data)
{
    mcp_status st = mcp_server_resource_updated(mcp_call_server(call), "more://kept",
                                                mcp_call_error(call));

    (void)data;
    if (st == MCP_OK)
        st = mcp_server_resource_updated(mcp_call_server(call), "more://kept",
                                         mcp_call_error(call));
    return st == MCP_OK ? mcp_call_text(call, "touched") : st;
}

static mcp_status read_kept(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_cache(call, 60000, false);
    return mcp_call_contents_text(call, NULL, NULL, "kept", 4);
}

static const mcp_tool tools[] = {
    { "more/value", give_value, MCP_READS, 0, 0 },
    { "more/sampling", need_sampling, MCP_READS, 0, 0 },
    { "more/log", log_some, MCP_READS, 0, 0 },
    { "more/ask", ask_two, MCP_READS, 0, 0 },
    { "more/steps", ask_steps, MCP_READS, 0, 0 },
    { "more/roots", ask_roots, MCP_READS, 0, 0 },
    { "more/visit", ask_visit, MCP_READS, 0, 0 },
    { "more/visits", require_visits, MCP_READS, 0, 0 },
    { "more/paid", end_visits, MCP_READS, 0, 0 },
    { "more/silent", ask_nothing, MCP_READS, 0, 0 },
    { "more/change", change_lists, MCP_READS, 0, 0 },
    { "more/touch", touch, MCP_READS, 0, 0 },
    { 0 },
};

static const char resources_json[] =
    "{\"resources\":[{\"uri\":\"more://kept\",\"name\":\"kept\",\"mimeType\":\"text/plain\"},"
    "{\"uri\":\"more://asked\",\"name\":\"asked\"}],"
    "\"resourceTemplates\":[{\"uriTemplate\":\"more://city/{city}\",\"name\":\"city\"}]}";

static const mcp_resource resources[] = {
    { "more://kept", read_kept, MCP_READS, 0 },
    { "more://asked", read_asked, MCP_READS, 0 },
    { "more://city/{city}", read_kept, MCP_READS, 0 },
    { 0 },
};

static const char trip_md[] = "---\n"
                              "name: more/trip\n"
                              "argument: country, required, Where\n"
                              "argument: city, required, Where exactly\n"
                              "---\n"
                              "Go to {{city}} in {{country}}.\n";

static const char asked_md[] = "---\nname: more/asked\n---\nWrite about {{topic}}.\n";

static const mcp_prompt prompts[] = {
    { "more/trip", NULL, MCP_READS, 0 },
    { "more/asked", fill_asked, MCP_READS, 0 },
    { 0 },
};

static mcp_status complete_city(mcp_call *call, void *data)
{
    static const char *const cities[] = { "Paris", "Pau", "Padua", "Lyon" };
    const char *country = mcp_arg_string(call, "country");
    const char *typed = mcp_call_completion_value(call);

    (void)data;
    for (size_t i = 0; i < 4; i++) {
        bool is_there = !country || (strcmp(country, "Italy") == 0) == (i == 2);
        if (is_there && strncmp(cities[i], typed, strlen(typed)) == 0)
            mcp_call_add_completion(call, cities[i]);
    }
    return MCP_OK;
}

static mcp_status complete_many(mcp_call *call, void *data)
{
    (void)data;
    for (int i = 0; i < 101; i++)
        mcp_call_add_completion(call, mcp_arena_printf(mcp_call_arena(call), "%d", i));
    return MCP_OK;
}

static const mcp_completion completions[] = {
    { "more/trip", "city", complete_city },
    { "more://city/{city}", "city", complete_many },
    { 0 },
};

static const mcp_file files[] = {
    FILE_OF("tools/value.json", value_json),
    FILE_OF("tools/sampling.json", PLAIN_TOOL("more/sampling")),
    FILE_OF("tools/log.json", PLAIN_TOOL("more/log")),
    FILE_OF("tools/ask.json", PLAIN_TOOL("more/ask")),
    FILE_OF("tools/steps.json", PLAIN_TOOL("more/steps")),
    FILE_OF("tools/roots.json", PLAIN_TOOL("more/roots")),
    FILE_OF("tools/visit.json", PLAIN_TOOL("more/visit")),
    FILE_OF("tools/visits.json", PLAIN_TOOL("more/visits")),
    FILE_OF("tools/paid.json", PLAIN_TOOL("more/paid")),
    FILE_OF("tools/silent.json", PLAIN_TOOL("more/silent")),
    FILE_OF("tools/change.json", PLAIN_TOOL("more/change")),
    FILE_OF("tools/touch.json", PLAIN_TOOL("more/touch")),
    FILE_OF("prompts/asked.md", asked_md),
    FILE_OF("prompts/trip.md", trip_md),
    FILE_OF("resources.json", resources_json),
    { 0 },
};

const mcp_features fixture_more = { .files = files,
                                    .tools = tools,
                                    .resources = resources,
                                    .prompts = prompts,
                                    .completions = completions };

/* ---- what is shown as a page ----------------------------------------------------------------- */

static const mcp_tool page_tools[] = { { "more/page", give_value, MCP_READS, 0, 0 }, { 0 } };

static const mcp_file page_files[] = { FILE_OF("tools/page.json", page_json), { 0 } };

const mcp_features fixture_page = { .files = page_files, .tools = page_tools };

/* ---- what comes and goes --------------------------------------------------------------------- */

static const mcp_tool guest_tools[] = { { "more/guest", touch, MCP_READS, 0, 0 }, { 0 } };

static const mcp_prompt guest_prompts[] = { { "more/guest", NULL, MCP_READS, 0 }, { 0 } };

static const mcp_file guest_files[] = {
    FILE_OF("tools/guest.json", PLAIN_TOOL("more/guest")),
    FILE_OF("prompts/guest.md", "---\nname: more/guest\n---\nHello.\n"),
    { 0 },
};

static const mcp_features guest = { .files = guest_files,
                                    .tools = guest_tools,
                                    .prompts = guest_prompts };

/* Offers the guest, or withdraws it where it is offered. */
static mcp_status change_lists(mcp_call *call, void *data)
{
    mcp_server *server = mcp_call_server(call);
    mcp_status st = mcp_server_add_features(server, &guest, mcp_call_error(call));

    (void)data;
    if (st == MCP_E_PARAMS)
        st = mcp_server_remove_features(server, &guest, mcp_call_error(call));
    return st == MCP_OK ? mcp_call_text(call, "changed") : st;
}
