/*
 * ask.c - tools and a prompt that ask the client: its user by a form, its model, its roots.
 *
 * Such a handler is run from the top each time that answers have come. It reads as "given these
 * answers, go on": whatever has no answer yet is asked, and mcp_call_input_required says what to
 * return.
 */
#include <string.h>

#include "everything.h"

/* ---- questions ------------------------------------------------------------------------------- */

/* A form whose schema is one of forms/. */
static const mcp_json *ask_user(mcp_call *call, const char *key, const char *message,
                                const char *form)
{
    const mcp_file *file = mcp_files_find(everything_files, form);
    char *schema = mcp_arena_strndup(mcp_call_arena(call), file->bytes, file->length);

    return schema ? mcp_call_elicit_form(call, key, message, schema) : NULL;
}

/* One text of the user's for the client's model. */
static const mcp_json *ask_model(mcp_call *call, const char *key, const char *prompt, int tokens)
{
    const mcp_json *answer = NULL;
    mcp_json_writer writer;
    mcp_buf params;

    mcp_buf_init(&params, 1024 * 1024);
    mcp_json_writer_init(&writer, &params);
    mcp_write_object(&writer);
    mcp_write_member_array(&writer, "messages");
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "role", "user");
    mcp_write_member_object(&writer, "content");
    mcp_write_member_string(&writer, "type", "text");
    mcp_write_member_string(&writer, "text", prompt);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp_write_member_int(&writer, "maxTokens", tokens);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        answer = mcp_call_request_input(call, key, "sampling/createMessage", params.data);
    mcp_buf_clear(&params);
    return answer;
}

static const mcp_json *ask_roots(mcp_call *call)
{
    return mcp_call_request_input(call, "client_roots", "roots/list", NULL);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* A field of an accepted form; NULL where the user declined. */
static const char *field(const mcp_json *answer, const char *name)
{
    return mcp_json_get_string(mcp_json_get(answer, "content"), name);
}

/* What the model said: its content is one block, or from 2025-11-25 a list of them. */
static const char *said(const mcp_json *answer)
{
    const mcp_json *content = mcp_json_get(answer, "content");
    const char *text = mcp_json_get_string(
        mcp_json_is_array(content) ? mcp_json_item(content, 0) : content, "text");

    return text ? text : "nothing";
}

static mcp_status tell(mcp_call *call, const char *before, const char *what, const char *after)
{
    char *text = mcp_arena_printf(mcp_call_arena(call), "%s%s%s", before, what, after);

    return text ? mcp_call_text(call, text) : MCP_E_NOMEM;
}

/* The whole answer as JSON. */
static mcp_status tell_answer(mcp_call *call, const char *before, const mcp_json *answer)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 1024 * 1024);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, answer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_buf_putc(&text, '\0');
    if (st == MCP_OK)
        st = tell(call, before, text.data, "");
    mcp_buf_clear(&text);
    return st;
}

static mcp_status tell_form(mcp_call *call, const mcp_json *answer)
{
    return answer ? tell_answer(call, "The user answered: ", answer)
                  : mcp_call_input_required(call);
}

static mcp_status greet_user(mcp_call *call, const mcp_json *answer)
{
    if (!answer)
        return mcp_call_input_required(call);
    const char *name = field(answer, "name");
    return tell(call, "Hello, ", name ? name : "stranger", "!");
}

/* ---- tools ----------------------------------------------------------------------------------- */

mcp_status test_sampling(mcp_call *call, void *data)
{
    const char *prompt = mcp_arg_string(call, "prompt");

    (void)data;
    if (!prompt)
        return mcp_call_tool_error(call, "A prompt holds no NUL byte.");
    const mcp_json *answer = ask_model(call, "answer", prompt, 100);
    return answer ? tell(call, "LLM response: ", said(answer), "") : mcp_call_input_required(call);
}

mcp_status test_elicitation(mcp_call *call, void *data)
{
    const char *message = mcp_arg_string(call, "message");

    (void)data;
    if (!message)
        return mcp_call_tool_error(call, "A message holds no NUL byte.");
    return tell_form(call, ask_user(call, "user", message, "forms/user.json"));
}

mcp_status test_elicitation_sep1034_defaults(mcp_call *call, void *data)
{
    (void)data;
    return tell_form(call, ask_user(call, "defaults", "Is this you?", "forms/defaults.json"));
}

mcp_status test_elicitation_sep1330_enums(mcp_call *call, void *data)
{
    (void)data;
    return tell_form(call, ask_user(call, "choices", "Please choose", "forms/choices.json"));
}

mcp_status test_streaming_elicitation(mcp_call *call, void *data)
{
    mcp_progress progress = { .progress = 1, .total = 2, .message = "asking", .every = true };

    (void)data;
    mcp_call_progress(call, &progress);
    return greet_user(call, ask_user(call, "user_name", "What is your name?", "forms/name.json"));
}

mcp_status test_input_required_result_elicitation(mcp_call *call, void *data)
{
    (void)data;
    return greet_user(call, ask_user(call, "user_name", "What is your name?", "forms/name.json"));
}

mcp_status test_input_required_result_sampling(mcp_call *call, void *data)
{
    const mcp_json *answer = ask_model(call, "capital_question", "What is the capital of France?",
                                       100);

    (void)data;
    return answer ? tell(call, "The model says: ", said(answer), "")
                  : mcp_call_input_required(call);
}

mcp_status test_input_required_result_list_roots(mcp_call *call, void *data)
{
    const mcp_json *answer = ask_roots(call);

    (void)data;
    return answer ? tell_answer(call, "The roots: ", mcp_json_get(answer, "roots"))
                  : mcp_call_input_required(call);
}

/* What is kept comes back with the answer, and nobody has changed it on the way. */
static mcp_status confirm(mcp_call *call, const char *kept)
{
    const mcp_json *answer = ask_user(call, "confirm", "Please confirm", "forms/ok.json");
    const char *back = mcp_call_request_state(call);

    if (!answer) {
        mcp_status st = mcp_call_set_request_state(call, kept);
        return st == MCP_OK ? mcp_call_input_required(call) : st;
    }
    if (!back || strcmp(back, kept) != 0)
        return mcp_call_tool_error(call, "What was kept did not come back.");
    return mcp_call_text(call, "state-ok");
}

mcp_status test_input_required_result_request_state(mcp_call *call, void *data)
{
    (void)data;
    return confirm(call, "what was asked");
}

mcp_status test_input_required_result_tampered_state(mcp_call *call, void *data)
{
    (void)data;
    return confirm(call, "what nobody may change");
}

mcp_status test_input_required_result_multiple_inputs(mcp_call *call, void *data)
{
    const mcp_json *name = ask_user(call, "user_name", "What is your name?", "forms/name.json");
    const mcp_json *greeting = ask_model(call, "greeting", "Generate a greeting", 50);
    const mcp_json *roots = ask_roots(call);

    (void)data;
    if (!name || !greeting || !roots) {
        mcp_status st = mcp_call_set_request_state(call, "three questions");
        return st == MCP_OK ? mcp_call_input_required(call) : st;
    }
    const char *who = field(name, "name");
    mcp_status st = tell(call, said(greeting), " ", who ? who : "stranger");
    if (st == MCP_OK)
        st = tell_answer(call, "The roots: ", mcp_json_get(roots, "roots"));
    return st;
}

/* The second question follows from the answer to the first. */
mcp_status test_input_required_result_multi_round(mcp_call *call, void *data)
{
    const mcp_json *first = ask_user(call, "step1", "Step 1: What is your name?",
                                     "forms/name.json");
    const mcp_json *second = first ? ask_user(call, "step2", "Step 2: What is your favorite color?",
                                              "forms/color.json")
                                   : NULL;

    (void)data;
    if (!second) {
        mcp_status st = mcp_call_set_request_state(call, first ? "step 2" : "step 1");
        return st == MCP_OK ? mcp_call_input_required(call) : st;
    }
    const char *name = field(first, "name");
    const char *color = field(second, "color");
    return tell(call, name ? name : "somebody", " likes ", color ? color : "no color");
}

mcp_status test_input_required_result_capabilities(mcp_call *call, void *data)
{
    const mcp_json *name = NULL;
    const mcp_json *answer = NULL;
    bool has_user = mcp_call_client_can(call, MCP_CLIENT_ELICITATION);
    bool has_model = mcp_call_client_can(call, MCP_CLIENT_SAMPLING);

    (void)data;
    if (has_user)
        name = ask_user(call, "user_name", "What is your name?", "forms/name.json");
    if (has_model)
        answer = ask_model(call, "capital_question", "What is the capital of France?", 100);
    if (!has_user && !has_model)
        return mcp_call_tool_error(call, "This client can neither ask a user nor a model.");
    if ((has_user && !name) || (has_model && !answer))
        return mcp_call_input_required(call);
    return tell(call, "The model says: ", answer ? said(answer) : "nothing", "");
}

/* ---- a prompt -------------------------------------------------------------------------------- */

mcp_status fill_with_context(mcp_call *call, void *data)
{
    const mcp_json *answer = ask_user(call, "user_context", "What context should the prompt use?",
                                      "forms/context.json");

    (void)data;
    if (!answer)
        return mcp_call_input_required(call);
    const char *context = field(answer, "context");
    return mcp_call_set_placeholder(call, "context", context ? context : "none");
}
