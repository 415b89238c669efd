/*
 * test_damage.c - everything that a plugin sends, damaged at every byte: cut there, every bit
 * flipped, and set to bytes that mean something elsewhere.
 *
 * The host reads what is left, or fails the file with a kind and a reason. Bytes are handed over in
 * buffers of their exact size, so that the address sanitizer sees a read beyond them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/utf8.h"
#include "plugins/run/json_rows.h"
#include "plugins/run/native_stream.h"
#include "plugins/run/python_stream.h"

enum { ARENA_MAX = 4 << 20, SAMPLE_MAX = 4096, BITS = 8 };

/* In place of a byte, besides its own bits: ends of texts and lines, brackets, digits. */
static const uint8_t others[] = { 0x00, 0xFF, 0x7F, 0x80, '\n', '"', '\\', '{', '}', '[', '9' };

enum { OTHERS = sizeof others / sizeof *others, CHANGES = BITS + OTHERS };

typedef struct sample {
    uint8_t bytes[SAMPLE_MAX];
    size_t length;
} sample;

static void put(sample *self, const void *bytes, size_t length)
{
    assert_true(self->length + length <= SAMPLE_MAX);
    memcpy(self->bytes + self->length, bytes, length);
    self->length += length;
}

static void put_text(sample *self, const char *text)
{
    put(self, text, strlen(text));
}

static void put_u32(sample *self, uint32_t number)
{
    const uint8_t bytes[] = { (uint8_t)(number >> 24), (uint8_t)(number >> 16),
                              (uint8_t)(number >> 8), (uint8_t)number };
    put(self, bytes, sizeof bytes);
}

/* A copy of the exact size. */
static uint8_t *copy_of(const void *bytes, size_t length)
{
    uint8_t *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

static uint8_t changed(uint8_t byte, size_t change)
{
    return change < BITS ? byte ^ (uint8_t)(1U << change) : others[change - BITS];
}

/* Every cell can be read. */
static void touch(const casparian_batch *batch)
{
    size_t sum = 0;

    assert_true(batch->rows <= CASPARIAN_BATCH_ROWS_MAX);
    assert_true(batch->count <= CASPARIAN_BATCH_COLUMNS_MAX);
    for (size_t i = 0; i < batch->count; i++) {
        assert_true(
            casparian_utf8_is_valid(batch->columns[i].name, strlen(batch->columns[i].name)));
        for (size_t row = 0; row < batch->rows; row++) {
            casparian_cell cell = casparian_vector_cell(&batch->columns[i], row);
            bool is_string = cell.kind == CASPARIAN_KIND_STRING;
            if (!is_string && cell.kind != CASPARIAN_KIND_BINARY)
                continue;
            for (size_t k = 0; k < cell.text.length; k++)
                sum += (uint8_t)cell.text.bytes[k];
            assert_true(!is_string || casparian_utf8_is_valid(cell.text.bytes, cell.text.length));
        }
    }
    assert_true(sum < SIZE_MAX);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void encode_all_kinds(sample *out)
{
    static const uint8_t booleans[] = { 1, 0, 0 }, valid[] = { 5 };
    static const int64_t integers[] = { INT64_MIN, 0, INT64_MAX };
    static const double numbers[] = { -0.5, 0, 1e300 };
    static const int32_t dates[] = { -719162, 0, 2932896 };
    static const uint32_t offsets[] = { 0, 2, 2, 3 };
    static const casparian_int128 decimals[] = { -5, 0, 12345 };
    const casparian_vector columns[] = {
        { .name = "b", .type = { .kind = CASPARIAN_KIND_BOOLEAN }, .values = booleans },
        { .name = "i", .type = { .kind = CASPARIAN_KIND_INT64 }, .values = integers },
        { .name = "f",
          .type = { .kind = CASPARIAN_KIND_FLOAT64 },
          .values = numbers,
          .valid = valid },
        { .name = "d",
          .type = { .kind = CASPARIAN_KIND_DECIMAL, .decimal = { 38, 4 } },
          .values = decimals },
        { .name = "s",
          .type = { .kind = CASPARIAN_KIND_STRING },
          .offsets = offsets,
          .bytes = "\xC3\xA9z",
          .valid = valid },
        { .name = "x",
          .type = { .kind = CASPARIAN_KIND_BINARY },
          .offsets = offsets,
          .bytes = "\xFF\0z" },
        { .name = "day", .type = { .kind = CASPARIAN_KIND_DATE }, .values = dates },
        { .name = "tz",
          .type = { .kind = CASPARIAN_KIND_TIMESTAMP_TZ, .zone = "Europe/Berlin" },
          .values = integers },
        { .name = "t", .type = { .kind = CASPARIAN_KIND_TIME }, .values = integers },
        { .name = "n", .type = { .kind = CASPARIAN_KIND_NULL } },
    };
    const casparian_batch batch = { .rows = 3,
                                    .count = sizeof columns / sizeof *columns,
                                    .columns = columns };
    mcp_buf text;

    mcp_buf_init(&text, SAMPLE_MAX);
    assert_int_equal(casparian_batch_encode(&text, &batch, NULL), MCP_OK);
    *out = (sample){ .length = 0 };
    put(out, text.data, text.length);
    mcp_buf_clear(&text);
}

/* What the decoders give of these bytes: a batch, or why it is none. No payload that short takes
 * more than the arena has. */
static mcp_status read_payload(const uint8_t *bytes, size_t length, bool is_json)
{
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    mcp_error err = MCP_ERROR_INIT;
    casparian_batch batch = { .rows = 0 };
    uint8_t *copy = copy_of(bytes, length);
    mcp_status st = is_json ? casparian_json_rows_read(&batch, arena, (char *)copy, length, &err)
                            : casparian_batch_decode(&batch, NULL, arena, copy, length, &err);

    assert_true(st == MCP_OK || st == MCP_E_PARSE || st == MCP_E_LIMIT);
    if (st == MCP_OK)
        touch(&batch);
    else
        assert_true(err.message[0]);
    free(copy);
    mcp_arena_free(arena);
    return st;
}

static void damage_payload(sample *self, bool is_json)
{
    size_t taken = 0;

    assert_int_equal(read_payload(self->bytes, self->length, is_json), MCP_OK);
    for (size_t at = 0; at < self->length; at++) {
        uint8_t byte = self->bytes[at];
        assert_int_not_equal(read_payload(self->bytes, at, is_json), MCP_OK);
        for (size_t change = 0; change < CHANGES; change++) {
            self->bytes[at] = changed(byte, change);
            taken += read_payload(self->bytes, self->length, is_json) == MCP_OK;
        }
        self->bytes[at] = byte;
    }
    assert_true(taken > 0); /* another value is a batch, too */
}

static void a_binary_batch_is_damaged(void **state)
{
    sample batch;

    (void)state;
    encode_all_kinds(&batch);
    damage_payload(&batch, false);
}

static void rows_of_json_are_damaged(void **state)
{
    static const char *const texts[] = {
        "{\"c\":[\"i\",\"s\"],\"r\":[[1,\"\\u00e9\\ud83d\\ude00\"],[null,\"a\\nb\"],[2.5,true]]}",
        "{\"d\":[{\"n\":{\"$n\":\"-1.2300\"},\"b\":{\"$b\":\"/wA=\"}},{\"d\":{\"$d\":-1}},"
        "{\"f\":{\"$f\":\"-inf\"}},{\"ts\":{\"$ts\":5}},{\"tz\":{\"$tz\":[5,\"Europe/Berlin\"]}},"
        "{\"t\":{\"$t\":5},\"u\":{\"$dur\":-5}}]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sample text = { .length = 0 };
        put_text(&text, texts[i]);
        damage_payload(&text, true);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct host {
    casparian_guest_limits limits;
    casparian_guest_events events;
    casparian_guest_outcome outcome;
    casparian_intake intake;
} host;

static mcp_status take_batch(void *data, const char *output, const casparian_batch *batch,
                             mcp_error *err)
{
    (void)data, (void)err;
    assert_true(casparian_plugin_id_is_valid(output));
    touch(batch);
    return MCP_OK;
}

static void take_log(void *data, casparian_log_level level, const char *text, size_t length)
{
    (void)data;
    assert_true(level <= CASPARIAN_LOG_ERROR && length <= CASPARIAN_LOG_LINE_MAX);
    assert_true(casparian_utf8_is_valid(text, length));
}

static void host_open(host *self)
{
    self->limits = (casparian_guest_limits){ .output_bytes = 1 << 20, .log_bytes = 1 << 20 };
    self->events = (casparian_guest_events){ .batch = take_batch, .log = take_log };
    casparian_intake_init(&self->intake, &self->outcome, &self->limits, &self->events, NULL);
}

/* A failure has a kind that damage can have, and a reason; the host itself never fails. */
static casparian_failure host_close(host *self)
{
    casparian_failure failure = self->outcome.failure;
    size_t length = strlen(self->outcome.error);

    casparian_intake_clear(&self->intake);
    assert_int_equal(self->intake.status, MCP_OK);
    assert_true(failure == CASPARIAN_FAILURE_NONE || length > 0);
    assert_true(casparian_utf8_is_valid(self->outcome.error, length));
    assert_null(strchr(self->outcome.error, '\n'));
    assert_true(failure < CASPARIAN_FAILURE_SANDBOX_FAILED && failure != CASPARIAN_FAILURE_CRASHED);
    return failure;
}

/* Give bytes to a reader of frames, in pieces of its space. */
static void fill(casparian_frames *frames, const uint8_t *bytes, size_t length)
{
    while (length) {
        size_t room;
        char *at = casparian_frames_space(frames, &room);
        assert_non_null(at);
        assert_true(room <= (size_t)CASPARIAN_PAYLOAD_MAX + SAMPLE_MAX);
        size_t part = length < room ? length : room;
        memcpy(at, bytes, part);
        casparian_frames_filled(frames, part);
        bytes += part;
        length -= part;
    }
}

/* What comes of a file whose child sends these bytes and is gone then. */
static casparian_failure read_python(const uint8_t *bytes, size_t length)
{
    host host;
    casparian_python_stream stream;
    casparian_frame frame;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st;

    host_open(&host);
    casparian_python_init(&stream, &host.intake);
    fill(&stream.frames, bytes, length);
    do {
        st = casparian_frames_next(&frame, &stream.frames, &why);
        if (st == MCP_OK && frame.kind != CASPARIAN_FRAME_NONE)
            casparian_python_take(&stream, &frame);
    } while (st == MCP_OK && frame.kind != CASPARIAN_FRAME_NONE);
    if (st != MCP_OK || !stream.has_answered)
        casparian_intake_fail(&host.intake, CASPARIAN_FAILURE_PROTOCOL_ERROR, "%s",
                              st == MCP_OK ? "no answer" : why.message);
    casparian_python_clear(&stream);
    return host_close(&host);
}

static void put_json(sample *self, uint32_t signal, const char *json)
{
    put_u32(self, signal);
    put_u32(self, (uint32_t)strlen(json));
    put_text(self, json);
}

/* Rows of JSON and a binary batch, in two outputs, with a log. */
static void python_file(sample *out)
{
    static const char rows[] = "CFJ1{\"c\":[\"id\",\"value\"],\"r\":[[1,\"a\"],[2,null]]}";
    sample batch;

    encode_all_kinds(&batch);
    *out = (sample){ .length = 0 };
    put_json(out, 0xFFFFFFFA, "{\"index\":1,\"name\":\"one\",\"table\":null}");
    put_u32(out, 0xFFFFFFFD), put_u32(out, 1);
    put_u32(out, sizeof rows - 1), put_text(out, rows);
    put_u32(out, 0xFFFFFFFC), put_u32(out, 1);
    put_u32(out, 0xFFFFFFFE), put(out, "\4", 1), put_u32(out, 3), put_text(out, "log");
    put_json(out, 0xFFFFFFFA, "{\"index\":2,\"name\":\"two\"}");
    put_u32(out, 0xFFFFFFFD), put_u32(out, 2);
    put_u32(out, (uint32_t)batch.length), put(out, batch.bytes, batch.length);
    put_u32(out, 0xFFFFFFFC), put_u32(out, 2);
    put_json(out, 0xFFFFFFFB, "{\"rows_published\":5,\"status\":\"ok\"}");
    put_u32(out, 0);
}

static void damage_file(sample *self, casparian_failure whole,
                        casparian_failure read(const uint8_t *bytes, size_t length))
{
    assert_int_equal(read(self->bytes, self->length), whole);
    for (size_t at = 0; at < self->length; at++) {
        uint8_t byte = self->bytes[at];
        assert_int_equal(read(self->bytes, at), CASPARIAN_FAILURE_PROTOCOL_ERROR);
        for (size_t change = 0; change < CHANGES; change++) {
            self->bytes[at] = changed(byte, change);
            read(self->bytes, self->length);
        }
        self->bytes[at] = byte;
    }
}

static void the_frames_of_a_file_are_damaged(void **state)
{
    sample file;

    (void)state;
    python_file(&file);
    damage_file(&file, CASPARIAN_FAILURE_NONE, read_python);
}

static void the_frame_of_an_error_is_damaged(void **state)
{
    sample file = { .length = 0 };

    (void)state;
    put_json(&file, 0xFFFFFFFF,
             "{\"error\":\"ValueError: no\\u00e9\",\"retryable\":true,\"kind\":\"parse_error\","
             "\"traceback\":\"a\\nb\"}");
    damage_file(&file, CASPARIAN_FAILURE_PARSE_ERROR, read_python);
}

/* A signal of each kind in the place of another, with every index. */
static void frames_come_in_any_order(void **state)
{
    static const uint32_t signals[] = { 0xFFFFFFFD, 0xFFFFFFFC, 0 };
    static const uint32_t indices[] = { 0, 1, 2, 65, 0x7FFFFFFF, 0xFFFFFFFF };
    static const char rows[] = "CFJ1{\"c\":[\"a\"],\"r\":[[1]]}";

    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        for (size_t k = 0; k < sizeof indices / sizeof *indices; k++) {
            sample file = { .length = 0 };
            put_json(&file, 0xFFFFFFFA, "{\"index\":1,\"name\":\"one\"}");
            put_u32(&file, signals[i]), put_u32(&file, indices[k]);
            put_u32(&file, sizeof rows - 1), put_text(&file, rows);
            put_u32(&file, signals[i]), put_u32(&file, indices[k]);
            assert_int_equal(read_python(file.bytes, file.length),
                             CASPARIAN_FAILURE_PROTOCOL_ERROR);
        }
    }
}

/* ---- native plugins -------------------------------------------------------------------------- */

static sample control, data;

/* What comes of a file whose program writes these bytes and exits with 0. */
static casparian_failure read_native(const uint8_t *lines, size_t length, const uint8_t *rows,
                                     size_t rows_length)
{
    static const casparian_plugin plugin = { .id = "demo",
                                             .version = "1.0.0",
                                             .origin = CASPARIAN_INSTALLED };
    host host;
    casparian_native_stream stream;

    host_open(&host);
    casparian_native_init(&stream, &plugin, &host.intake);
    assert_true(length <= casparian_native_room(&stream));
    uint8_t *copy = copy_of(lines, length);
    casparian_native_control(&stream, (const char *)copy, length);
    casparian_native_control_end(&stream);
    free(copy);
    fill(&stream.blocks, rows, rows_length);
    casparian_native_advance(&stream);
    casparian_native_finish(&stream);
    casparian_native_clear(&stream);
    return host_close(&host);
}

static casparian_failure read_control(const uint8_t *bytes, size_t length)
{
    return read_native(bytes, length, data.bytes, data.length);
}

static casparian_failure read_data(const uint8_t *bytes, size_t length)
{
    return read_native(control.bytes, control.length, bytes, length);
}

static void native_file(void)
{
    sample batch;

    encode_all_kinds(&batch);
    control = data = (sample){ .length = 0 };
    put_text(&control,
             "{\"type\":\"hello\",\"protocol\":\"0.1\",\"parser_id\":\"demo\","
             "\"parser_version\":\"1.0.0\",\"capabilities\":{\"multi_output\":true},"
             "\"encoding\":\"cfb\"}\n"
             "{\"type\":\"output_begin\",\"output\":\"one\",\"schema_hash\":\"*\","
             "\"stream_index\":0}\n"
             "{\"type\":\"warning\",\"message\":\"a \\\"b\\\" \\u00e9\"}\n"
             "a library says something\n"
             "{\"type\":\"progress\",\"bytes_done\":5,\"bytes_total\":11,\"rows\":3}\n"
             "{\"type\":\"output_end\",\"output\":\"one\",\"rows_emitted\":6,\"stream_index\":0}");
    for (int i = 0; i < 2; i++)
        put_u32(&data, (uint32_t)batch.length), put(&data, batch.bytes, batch.length);
    put_u32(&data, 0);
}

static void control_lines_are_damaged(void **state)
{
    (void)state;
    native_file();
    damage_file(&control, CASPARIAN_FAILURE_NONE, read_control);
}

static void blocks_of_rows_are_damaged(void **state)
{
    (void)state;
    native_file();
    damage_file(&data, CASPARIAN_FAILURE_NONE, read_data);
}

static void a_line_of_an_error_is_damaged(void **state)
{
    sample rest;

    (void)state;
    native_file();
    rest = control;
    control.length = 0;
    put(&control, rest.bytes, (size_t)((uint8_t *)strchr((char *)rest.bytes, '\n') - rest.bytes));
    data.length = 0;
    put_text(&control, "\n{\"type\":\"error\",\"message\":\"the disk\\nis \\u00e9\"}");
    assert_int_equal(read_control(control.bytes, control.length), CASPARIAN_FAILURE_PARSE_ERROR);
    for (size_t at = 0; at < control.length; at++) {
        uint8_t byte = control.bytes[at];
        read_control(control.bytes, at);
        for (size_t change = 0; change < CHANGES; change++) {
            control.bytes[at] = changed(byte, change);
            read_control(control.bytes, control.length);
        }
        control.bytes[at] = byte;
    }
}

/* A reason of any length is cut between two characters. */
static void a_long_reason_is_cut_at_a_character(void **state)
{
    sample hello;

    (void)state;
    native_file();
    hello = control;
    hello.length = (size_t)((uint8_t *)strchr((char *)control.bytes, '\n') - control.bytes) + 1;
    data.length = 0;
    for (size_t length = 250; length < 530; length++) {
        control = hello;
        put_text(&control, "{\"type\":\"error\",\"message\":\"");
        for (size_t i = 0; i < length; i++)
            put_text(&control, i % 3 == length % 3 ? "\xF0\x9F\x98\x80" : "a");
        put_text(&control, "\"}\n");
        assert_int_equal(read_control(control.bytes, control.length),
                         CASPARIAN_FAILURE_PARSE_ERROR);
    }
}

/* Messages about outputs without their data: the queue takes them while there is room, and asks for
 * no more then. */
static void the_queue_of_messages_is_bounded(void **state)
{
    static const char message[] = "{\"type\":\"output_end\"}\n";
    static const casparian_plugin plugin = { .origin = CASPARIAN_DEV };
    static const char hello[] = "{\"type\":\"hello\",\"protocol\":\"0.1\",\"parser_id\":\"a\","
                                "\"parser_version\":\"1\",\"encoding\":\"cfb\"}\n";
    host host;
    casparian_native_stream stream;
    size_t at = 0;

    (void)state;
    host_open(&host);
    casparian_native_init(&stream, &plugin, &host.intake);
    casparian_native_control(&stream, hello, sizeof hello - 1);
    for (size_t room = casparian_native_room(&stream); room;
         room = casparian_native_room(&stream)) {
        char *bytes = malloc(room);
        assert_non_null(bytes);
        for (size_t i = 0; i < room; i++)
            bytes[i] = message[at++ % (sizeof message - 1)];
        casparian_native_control(&stream, bytes, room);
        free(bytes);
        assert_true(stream.mark_count <= CASPARIAN_MARKS_MAX);
    }
    casparian_native_advance(&stream);
    casparian_native_clear(&stream);
    assert_int_equal(host_close(&host), CASPARIAN_FAILURE_PROTOCOL_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binary_batch_is_damaged),
        cmocka_unit_test(rows_of_json_are_damaged),
        cmocka_unit_test(the_frames_of_a_file_are_damaged),
        cmocka_unit_test(the_frame_of_an_error_is_damaged),
        cmocka_unit_test(frames_come_in_any_order),
        cmocka_unit_test(control_lines_are_damaged),
        cmocka_unit_test(blocks_of_rows_are_damaged),
        cmocka_unit_test(a_line_of_an_error_is_damaged),
        cmocka_unit_test(a_long_reason_is_cut_at_a_character),
        cmocka_unit_test(the_queue_of_messages_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
