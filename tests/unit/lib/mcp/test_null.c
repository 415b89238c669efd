/*
 * Every public function takes NULL for every pointer but the object that it works on, `out` and
 * formats (mcp.h): it returns NULL, an error status, or does as its header says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "mcp/mcp.h"
#include "web_rig.h"

/* Hidden from the compiler, which would warn. */
static void *volatile nothing = NULL;

#define NONE ((void *)nothing)

/* ---- calls ---------------------------------------------------------------------------------- */

static mcp_status writes_nothing(mcp_call *call)
{
    return mcp_call_text(call, NONE);
}

static mcp_status text_adds_nothing(mcp_call *call)
{
    (void)mcp_call_text_begin(call, 0);
    (void)mcp_call_text_add(call, NONE, 5);
    (void)mcp_call_text_add_escaped(call, NONE, 5);
    return mcp_call_text_end(call);
}

static mcp_status image_without_bytes(mcp_call *call)
{
    return mcp_call_image(call, NONE, 1, "image/png");
}

static mcp_status image_without_type(mcp_call *call)
{
    return mcp_call_image(call, "x", 1, NONE);
}

static mcp_status audio_without_bytes(mcp_call *call)
{
    return mcp_call_audio(call, NONE, 1, "audio/wav");
}

static mcp_status audio_without_type(mcp_call *call)
{
    return mcp_call_audio(call, "x", 1, NONE);
}

static mcp_status link_without_uri(mcp_call *call)
{
    return mcp_call_link(call, NONE, "name", "text/plain");
}

static mcp_status link_without_name(mcp_call *call)
{
    return mcp_call_link(call, "file:///x", NONE, NONE);
}

static mcp_status link_without_type(mcp_call *call)
{
    return mcp_call_link(call, "file:///x", "x", NONE);
}

static mcp_status result_without_content(mcp_call *call)
{
    return mcp_call_tool_result(call, NONE);
}

static mcp_status embeds_without_uri(mcp_call *call)
{
    return mcp_call_embed(call, NONE, NONE, "text");
}

static mcp_status embeds_without_text(mcp_call *call)
{
    return mcp_call_embed(call, "file:///x", NONE, NONE);
}

static mcp_status refuses_without_text(mcp_call *call)
{
    return mcp_call_tool_error_text(call, NONE, 5);
}

static mcp_status places_nothing(mcp_call *call)
{
    return mcp_call_set_placeholder(call, NONE, "text");
}

static mcp_status places_no_text(mcp_call *call)
{
    return mcp_call_set_placeholder(call, "place", NONE);
}

static mcp_status completes_outside(mcp_call *call)
{
    return mcp_call_add_completion(call, "text");
}

static mcp_status reads_outside(mcp_call *call)
{
    return mcp_call_contents_text(call, NONE, NONE, "text", 4);
}

static mcp_status reads_bytes_outside(mcp_call *call)
{
    return mcp_call_contents_blob(call, NONE, NONE, "text", 4);
}

static mcp_status has_no_contents_meta(mcp_call *call)
{
    return mcp_call_contents_meta(call, NONE);
}

static mcp_status reports_nothing(mcp_call *call)
{
    return mcp_call_progress(call, NONE);
}

static mcp_status reports_without_texts(mcp_call *call)
{
    return mcp_call_progress(call, &(mcp_progress){ .progress = 1 });
}

static mcp_status logs_without_logger(mcp_call *call)
{
    return mcp_call_log(call, MCP_LEVEL_ERROR, NONE, "text");
}

static mcp_status logs_nothing(mcp_call *call)
{
    return mcp_call_log_json(call, MCP_LEVEL_ERROR, NONE, NONE);
}

static mcp_status requires_no_scopes(mcp_call *call)
{
    assert_true(mcp_call_has_scopes(call, NONE));
    return mcp_call_require_scopes(call, NONE);
}

static mcp_status keeps_nothing(mcp_call *call)
{
    return mcp_call_set_request_state(call, NONE);
}

static mcp_status requires_input_for_nothing(mcp_call *call)
{
    return mcp_call_input_required(call);
}

/* A request for input that lacks something gives no answer, and the status is E_PARAMS. */
#define REQUEST(name, request)                                                                     \
    static mcp_status name(mcp_call *call)                                                         \
    {                                                                                              \
        assert_null(request);                                                                      \
        return mcp_call_input_required(call);                                                      \
    }
REQUEST(requests_without_key, mcp_call_request_input(call, NONE, "roots/list", NONE))
REQUEST(requests_without_method, mcp_call_request_input(call, "key", NONE, NONE))
REQUEST(form_without_key, mcp_call_elicit_form(call, NONE, "message", "{}"))
REQUEST(form_without_message, mcp_call_elicit_form(call, "key", NONE, "{}"))
REQUEST(form_without_schema, mcp_call_elicit_form(call, "key", "message", NONE))
REQUEST(url_without_key, mcp_call_elicit_url(call, NONE, "message", "https://x", "id"))
REQUEST(url_without_message, mcp_call_elicit_url(call, "key", NONE, "https://x", "id"))
REQUEST(url_without_url, mcp_call_elicit_url(call, "key", "message", NONE, "id"))
REQUEST(url_without_id, mcp_call_elicit_url(call, "key", "message", "https://x", NONE))
REQUEST(samples_without_key, mcp_call_sample(call, NONE, "{}"))
REQUEST(lists_roots_without_key, mcp_call_list_roots(call, NONE))

static mcp_status requires_no_message(mcp_call *call)
{
    return mcp_call_require_url_elicitation(call, NONE, "https://x", "id");
}

static mcp_status requires_no_url(mcp_call *call)
{
    return mcp_call_require_url_elicitation(call, "message", NONE, "id");
}

static mcp_status requires_no_id(mcp_call *call)
{
    return mcp_call_require_url_elicitation(call, "message", "https://x", NONE);
}

static mcp_status reads_arguments_without_name(mcp_call *call)
{
    assert_null(mcp_arg_json(call, NONE));
    assert_null(mcp_arg_string(call, NONE));
    assert_int_equal(mcp_arg_int(call, NONE, 7), 7);
    assert_true(mcp_arg_double(call, NONE, 7) == 7);
    assert_true(mcp_arg_bool(call, NONE, true));
    return MCP_OK;
}

/* Outside a route these have nothing, whatever they are given. */
static mcp_status is_no_route(mcp_call *call)
{
    mcp_stream *stream = NULL;

    assert_null(mcp_call_body(call, NONE));
    assert_null(mcp_call_body_json(call, NONE));
    assert_null(mcp_call_header(call, NONE));
    assert_int_equal(mcp_call_header_set(call, NONE, NONE), MCP_E_UNSUPPORTED);
    assert_int_equal(mcp_call_send(call, NONE, NONE, 0), MCP_E_UNSUPPORTED);
    assert_int_equal(mcp_call_send_buf(call, NONE, NONE), MCP_E_UNSUPPORTED);
    assert_int_equal(mcp_call_send_from(call, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_call_stream(&stream, call, NONE, NONE), MCP_E_UNSUPPORTED);
    return MCP_OK;
}

static const struct {
    mcp_status (*run)(mcp_call *call);
    mcp_status status;
} uses[] = {
    { writes_nothing, MCP_E_PARAMS },
    { text_adds_nothing, MCP_OK },
    { image_without_bytes, MCP_E_PARAMS },
    { image_without_type, MCP_E_PARAMS },
    { audio_without_bytes, MCP_E_PARAMS },
    { audio_without_type, MCP_E_PARAMS },
    { link_without_uri, MCP_E_PARAMS },
    { link_without_name, MCP_E_PARAMS },
    { link_without_type, MCP_OK },
    { result_without_content, MCP_E_PARAMS },
    { embeds_without_uri, MCP_E_PARAMS },
    { embeds_without_text, MCP_E_PARAMS },
    { refuses_without_text, MCP_OK },
    { places_nothing, MCP_E_PARAMS },
    { places_no_text, MCP_OK },
    { completes_outside, MCP_E_UNSUPPORTED },
    { reads_outside, MCP_E_INTERNAL },
    { reads_bytes_outside, MCP_E_INTERNAL },
    { has_no_contents_meta, MCP_OK },
    { reports_nothing, MCP_E_PARAMS },
    { reports_without_texts, MCP_OK },
    { logs_without_logger, MCP_OK },
    { logs_nothing, MCP_E_PARAMS },
    { requires_no_scopes, MCP_OK },
    { keeps_nothing, MCP_OK },
    { requires_input_for_nothing, MCP_E_INTERNAL },
    { requests_without_key, MCP_E_PARAMS },
    { requests_without_method, MCP_E_PARAMS },
    { form_without_key, MCP_E_PARAMS },
    { form_without_message, MCP_E_PARAMS },
    { form_without_schema, MCP_E_PARAMS },
    { url_without_key, MCP_E_PARAMS },
    { url_without_message, MCP_E_PARAMS },
    { url_without_url, MCP_E_PARAMS },
    { url_without_id, MCP_E_PARAMS },
    { samples_without_key, MCP_E_PARAMS },
    { lists_roots_without_key, MCP_E_PARAMS },
    { requires_no_message, MCP_E_PARAMS },
    { requires_no_url, MCP_E_PARAMS },
    { requires_no_id, MCP_E_PARAMS },
    { reads_arguments_without_name, MCP_OK },
    { is_no_route, MCP_OK },
};

enum { USES = sizeof uses / sizeof uses[0] };

static mcp_status got[USES];
static char message[USES][240];

/* Each call of the tool is one use. */
static mcp_status use(mcp_call *call, void *data)
{
    int64_t i = mcp_arg_int(call, "use", 0);

    (void)data;
    got[i] = uses[i].run(call);
    memcpy(message[i], mcp_call_error(call)->message, sizeof message[i]);
    return got[i];
}

/* clang-format off */
static const char use_json[] =
    "{\"name\":\"use\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"use\":{\"type\":\"integer\"}}}}";
/* clang-format on */
static const mcp_file files[] = { { "tools/use.json", use_json, sizeof use_json - 1 }, { 0 } };
static const mcp_tool tools[] = { { "use", use, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

static void a_handlers_functions_take_null(void **state)
{
    static const mcp_server_options options = { .name = "n", .version = "1", .logging = true };
    static const char *const revisions[] = { "2024-11-05", "2025-11-25" };
    conversation c;

    (void)state;
    for (size_t r = 0; r < 2; r++) {
        conversation_open(&c, &options, &features);
        conversation_initialize(&c, revisions[r]);
        for (int i = 0; i < USES; i++) {
            char call[200];
            got[i] = MCP_E_TIMEOUT;
            (void)snprintf(call, sizeof call,
                           "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":"
                           "{\"name\":\"use\",\"arguments\":{\"use\":%d},"
                           "\"_meta\":{\"progressToken\":%d}}}",
                           i + 1, i, i + 1);
            conversation_say(&c, call);
            if (got[i] != uses[i].status)
                fail_msg("use %d, %s: %s (%s)", i, revisions[r], mcp_status_name(got[i]),
                         message[i]);
            if (got[i] != MCP_OK)
                assert_true(message[i][0] != '\0');
        }
        conversation_close(&c);
    }
}

/* ---- routes --------------------------------------------------------------------------------- */

static mcp_status next_piece(mcp_buf *piece, bool *is_last, void *data, mcp_error *err)
{
    (void)data;
    (void)err;
    *is_last = true;
    return mcp_buf_puts(piece, "x");
}

static mcp_status route(mcp_call *call, void *data)
{
    mcp_body_source source = { .next = next_piece };

    (void)data;
    assert_null(mcp_call_header(call, NONE));
    (void)mcp_call_body(call, NONE);
    assert_int_equal(mcp_call_header_set(call, NONE, "value"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_header_set(call, "X-Absent", NONE), MCP_OK);
    assert_int_equal(mcp_call_send(call, NONE, "x", 1), MCP_E_PARAMS);
    assert_int_equal(mcp_call_send_buf(call, "text/plain", NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_call_send_from(call, "text/plain", NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_call_send_from(call, "text/plain", &source), MCP_E_PARAMS);
    assert_int_equal(mcp_call_send(call, "text/plain", NONE, 1), MCP_E_PARAMS);
    return mcp_call_send(call, "text/plain", NONE, 0);
}

static void a_routes_functions_take_null(void **state)
{
    static const mcp_route routes[] = { { "POST", "/null", route, MCP_READS, 0 }, { 0 } };
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    static web_answer answer;

    (void)state;
    http.routes = routes;
    web_rig *rig = web_start(NULL, &http);
    web_ask(&answer, web_port(rig), "POST", "/null", NULL, "{}");
    assert_int_equal(answer.status, 200);
    assert_int_equal(web_end(rig), MCP_OK);
}

static void streams_and_events_take_null(void **state)
{
    mcp_event *event = NULL;

    (void)state;
    assert_int_equal(mcp_event_new(&event, NONE, NONE, NONE, 5, NONE), MCP_OK);
    assert_int_equal(mcp_stream_send(NONE, event, NONE), MCP_E_PARAMS);
    mcp_event_release(event);
    assert_int_equal(mcp_event_comment(&event, NONE, NONE), MCP_E_PARAMS);
    assert_null(mcp_event_retain(NONE));
    assert_null(mcp_stream_retain(NONE));
    mcp_event_release(NONE);
    mcp_stream_release(NONE);
    mcp_stream_close(NONE);
}

/* ---- servers -------------------------------------------------------------------------------- */

static void servers_take_null(void **state)
{
    mcp_server_options options = { .name = "n", .version = "1", .list_changed = true };
    mcp_server *server = NULL;

    (void)state;
    assert_int_equal(mcp_server_new(&server, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_server_new(&server, &options, NONE), MCP_OK);
    assert_int_equal(mcp_server_add(server, &features, NONE), MCP_OK);
    assert_int_equal(mcp_server_add(server, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_server_add(server, &(mcp_features){ 0 }, NONE), MCP_OK);
    assert_int_equal(mcp_server_add(server, &(mcp_features){ .tools = tools }, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_server_add_features(server, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_server_remove_features(server, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_server_replace_features(server, NONE, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_server_resource_updated(server, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_server_elicitation_complete(server, NONE, NONE), MCP_E_PARAMS);
    mcp_server_stop(NONE);
    mcp_server_free(server);
    mcp_server_free(NONE);
    assert_false(mcp_host_is_loopback(NONE));
    assert_int_equal(mcp_socket_address(NONE, NONE, 0, NONE), MCP_E_PARAMS);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void arenas_take_null(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    assert_null(mcp_arena_strdup(arena, NONE));
    assert_null(mcp_arena_strndup(arena, NONE, 3));
    assert_string_equal(mcp_arena_strndup(arena, NONE, 0), "");
    assert_null(mcp_arena_alloc(NONE, 1));
    assert_null(mcp_arena_array(NONE, 1, 1));
    assert_null(mcp_arena_array(NONE, SIZE_MAX, 2));
    assert_null(mcp_arena_strdup(NONE, "text"));
    assert_null(mcp_arena_strndup(NONE, "text", 4));
    assert_null(mcp_arena_printf(NONE, "text"));
    assert_int_equal(mcp_arena_used(NONE), 0);
    mcp_arena_free(arena);
    mcp_arena_free(NONE);
}

static void buffers_take_null(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 100);
    assert_int_equal(mcp_buf_append(&buf, NONE, 0), MCP_OK);
    assert_int_equal(mcp_buf_append(&buf, NONE, 3), MCP_E_PARAMS);
    mcp_buf_reset(&buf);
    assert_int_equal(mcp_buf_puts(&buf, NONE), MCP_E_PARAMS);
    mcp_buf_reset(&buf);
    assert_null(mcp_buf_take(&buf, NONE));
    mcp_buf_clear(&buf);
}

static void hashes_and_files_take_null(void **state)
{
    uint8_t digest[MCP_SHA256_SIZE];

    (void)state;
    assert_int_equal(mcp_sha256(digest, NONE, 0, NONE), MCP_OK);
    assert_int_equal(mcp_sha256(digest, NONE, 1, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_hmac_sha256(digest, NONE, 0, NONE, 0, NONE), MCP_OK);
    assert_int_equal(mcp_hmac_sha256(digest, NONE, 1, "x", 1, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_hmac_sha256(digest, "x", 1, NONE, 1, NONE), MCP_E_PARAMS);
    assert_true(mcp_hash_equal(NONE, NONE, 0));
    assert_false(mcp_hash_equal(NONE, "x", 1));
    assert_null(mcp_files_find(NONE, "x"));
    assert_null(mcp_files_find(files, NONE));
    mcp_log_write(NONE, MCP_LOG_ERROR, "text");
    assert_int_equal(mcp_error_set(NONE, MCP_E_IO, "text"), MCP_E_IO);
    assert_int_equal(mcp_error_at(NONE, MCP_E_IO, 1, "text"), MCP_E_IO);
    assert_int_equal(mcp_error_errno(NONE, 0, "text"), MCP_E_IO);
    assert_int_equal(mcp_level_find(NONE), MCP_LEVEL_NONE);
    assert_int_equal(mcp_revision_find(NONE), MCP_REVISION_NONE);
    assert_int_equal(mcp_random_bytes(NONE, 0, NONE), MCP_OK);
    assert_int_equal(mcp_siphash13((const uint64_t[2]){ 1, 2 }, NONE, 0),
                     mcp_siphash13((const uint64_t[2]){ 1, 2 }, "", 0));
    assert_int_equal(mcp_fnv1a(NONE), mcp_fnv1a(""));
    assert_null(mcp_alloc_strdup(NONE));
    mcp_log_stderr(MCP_LOG_DEBUG, NONE, NONE);
}

static void json_takes_null(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_buf buf;
    bool flag = false;
    int64_t integer = 0;
    uint64_t natural = 0;
    double number = 0;

    (void)state;
    assert_int_equal(mcp_json_read(&value, arena, NONE, 0, NONE), MCP_E_PARSE);
    assert_int_equal(mcp_json_read(&value, arena, NONE, 1, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_json_read(&value, NONE, "1", 1, NONE), MCP_E_PARAMS);
    assert_null(mcp_json_duplicate(NONE));
    assert_int_equal(mcp_json_type_of(NONE), MCP_JSON_ABSENT);
    assert_false(mcp_json_is_null(NONE) || mcp_json_is_string(NONE) || mcp_json_is_number(NONE) ||
                 mcp_json_is_array(NONE) || mcp_json_is_object(NONE));
    assert_false(mcp_json_bool(NONE, &flag) || mcp_json_int(NONE, &integer) ||
                 mcp_json_uint(NONE, &natural) || mcp_json_double(NONE, &number));
    assert_int_equal(mcp_json_count(NONE), 0);
    assert_null(mcp_json_string(NONE, NONE));
    assert_null(mcp_json_item(NONE, 0));
    assert_null(mcp_json_name(NONE, 0, NONE));
    assert_null(mcp_json_get(NONE, "x"));
    assert_null(mcp_json_get_n(NONE, NONE, 1));
    assert_null(mcp_json_get_string(NONE, NONE));
    assert_null(mcp_json_pointer(NONE, "/x"));
    assert_int_equal(mcp_json_read(&value, arena, "{\"a\":1}", 7, NONE), MCP_OK);
    assert_null(mcp_json_get(value, NONE));
    assert_null(mcp_json_get_n(value, NONE, 1));
    assert_null(mcp_json_pointer(value, NONE));
    assert_true(mcp_json_equal(NONE, NONE));
    assert_false(mcp_json_equal(value, NONE));
    mcp_buf_init(&buf, 1000);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_array(&writer);
    mcp_write_string(&writer, NONE);
    mcp_write_string_n(&writer, NONE, 0);
    mcp_write_value(&writer, NONE);
    mcp_write_end(&writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_string_equal(buf.data, "[null,\"\",null]");
    mcp_json_writer_init(&writer, &buf);
    mcp_write_string_n(&writer, NONE, 1);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_E_PARAMS);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_raw(&writer, NONE, 1);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_E_PARAMS);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_name(&writer, NONE);
    mcp_write_member_string(&writer, NONE, NONE);
    mcp_write_member_int(&writer, NONE, 1);
    mcp_write_member_double(&writer, NONE, 1);
    mcp_write_member_bool(&writer, NONE, true);
    mcp_write_member_null(&writer, NONE);
    mcp_write_member_value(&writer, NONE, NONE);
    mcp_write_member_object(&writer, NONE);
    mcp_write_member_array(&writer, NONE);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_E_PARAMS);
    mcp_buf_clear(&buf);
    mcp_arena_free(arena);
}

static void schemas_take_null(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp_schema *schema = NULL;

    (void)state;
    assert_int_equal(mcp_json_read(&value, arena, "{}", 2, NONE), MCP_OK);
    assert_int_equal(mcp_schema_compile(&schema, NONE, NONE, NONE), MCP_E_SCHEMA);
    assert_int_equal(mcp_schema_compile(&schema, value, NONE, NONE), MCP_OK);
    assert_int_equal(mcp_schema_check(schema, value, arena, NONE, NONE), MCP_OK);
    assert_int_equal(mcp_schema_check(NONE, value, arena, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_schema_check(schema, NONE, arena, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_schema_check(schema, value, NONE, NONE, NONE), MCP_E_PARAMS);
    assert_int_equal(mcp_schema_check_within(schema, value, NONE, arena, NONE, NONE), MCP_OK);
    mcp_schema_free(schema);
    mcp_schema_free(NONE);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handlers_functions_take_null),
        cmocka_unit_test(a_routes_functions_take_null),
        cmocka_unit_test(streams_and_events_take_null),
        cmocka_unit_test(servers_take_null),
        cmocka_unit_test(arenas_take_null),
        cmocka_unit_test(buffers_take_null),
        cmocka_unit_test(hashes_and_files_take_null),
        cmocka_unit_test(json_takes_null),
        cmocka_unit_test(schemas_take_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
