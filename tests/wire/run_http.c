/*
 * run_http.c - plays the transcripts of tests/wire/http/ (tests/support/transcript.h has their
 * form) against a server over HTTP: the fixture's features and the tools of
 * tests/support/web_rig.h.
 *
 *     -> POST /mcp                 a request; Host, Content-Type, Accept and Content-Length are added
 *     -> Mcp-Session-Id: $id       unless a line names them; "Accept: -" leaves Accept out
 *     > {"jsonrpc":"2.0",...}      its body
 *     <- 200                       the answer's status
 *     <- Content-Type: text*       a field it must have; "-" for one that must be absent
 *     < {"jsonrpc":"2.0",...}      its body; or in a stream the next event's data
 *     <= event: message            a field of that event, told before it; "-" for an absent one
 *     <= data: messages?*         the data of an event that is no message
 *     <= comment: *                a comment; where none is asked for they are skipped
 *     <= body: *                   a body that is no message; "-" for none
 *     <= end                       here the stream ends        <= closed   the server closes
 *
 * After 101 the connection is a WebSocket: `>` and `<` are text frames, and
 *
 *     >= ping|pong|close|binary|text|part|more|last|bare TEXT     (text in parts; unmasked)
 *     <= ping|pong TEXT, <= close CODE
 *
 * `@ NAME` continues on another connection, made when it is new; `@ NAME hangs up` closes it. What
 * an answer has beyond what was asked for is a fault, found by the next request or at the end.
 *
 * `!` at the top says how the server is made: see tests/support/web_setup.c. Further on `! release`
 * lets one waiting handler go, `! stop` is SIGTERM. CAUSEWAY_WIRE_LOG is as for run_wire.c.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "transcript.h"
#include "web_client.h"
#include "web_rig.h"
#include "web_setup.h"

enum { TRANSCRIPTS_MAX = 300, LINES_MAX = 16, SHOWN_MAX = 600, TEXT_MAX = 16 << 20 };

/* One connection, and what is said on it. */
struct line {
    const char *name;
    web_client client;
    mcp_buf asking; /* a request's line and fields, not sent yet; empty: none */
    const transcript_step *body;
    bool wants_head; /* the answer's head was not looked at */
    bool is_head;    /* the request was HEAD */
    bool has_event;  /* `event` was read and not taken */
    web_event event;
};

struct talk {
    const char *path;
    FILE *log; /* NULL: nothing is written */
    mcp_arena *arena;
    transcript script;
    transcript_memory memory;
    web_setup setup;

    web_rig *rig;
    struct line lines[LINES_MAX];
    size_t line_count;
    struct line *line; /* the one that is spoken on */
};

static struct talk talk; /* one at a time; outlives a test that fails */

/* ---- the log --------------------------------------------------------------------------------- */

static void write_log(const char *mark, const char *text, size_t length)
{
    if (!talk.log)
        return;
    fputs(mark, talk.log);
    fwrite(text, 1, length, talk.log);
    fputc('\n', talk.log);
}

static FILE *open_log(const char *path)
{
    const char *folder = getenv("CAUSEWAY_WIRE_LOG");
    const char *name = path ? strrchr(path, '/') : NULL;
    char file[4096];

    if (!folder || !name)
        return NULL;
    snprintf(file, sizeof file, "%s/http.%s", folder, name + 1);
    return fopen(file, "w");
}

/* ---- asking ---------------------------------------------------------------------------------- */

static const char *text_of(const transcript_step *step)
{
    return transcript_text(step, &talk.memory, talk.arena);
}

/* "Name: value" split; NULL: there is no such field, and `*value` is the whole. */
static const char *field_name(const char *text, const char **value)
{
    size_t length = strcspn(text, ": ");

    *value = text;
    if (text[length] != ':')
        return NULL;
    *value = text + length + 1 + strspn(text + length + 1, " ");
    return mcp_arena_strndup(talk.arena, text, length);
}

static bool has_field(const struct line *line, const char *name)
{
    return line->asking.data &&
           strcasestr(line->asking.data, mcp_arena_printf(talk.arena, "\r\n%s:", name));
}

/* What every request of such a kind has, unless the transcript says it itself. */
static void add_field(struct line *line, const char *name, const char *value)
{
    if (!has_field(line, name))
        mcp_buf_printf(&line->asking, "%s: %s\r\n", name, value);
}

/* "Name: -" stands for no such field. */
static void drop_absent(struct line *line)
{
    char *at;

    for (at = strstr(line->asking.data, ": -\r\n"); at != NULL;
         at = strstr(line->asking.data, ": -\r\n")) {
        char *from = at;
        while (from > line->asking.data && from[-1] != '\n')
            from--;
        memmove(from, at + 5, strlen(at + 5) + 1);
    }
    line->asking.length = strlen(line->asking.data);
}

static void send_request(struct line *line)
{
    size_t length = 0;
    const char *body = line->body ? transcript_line(line->body, &talk.memory, talk.arena, &length)
                                  : NULL;

    add_field(line, "Host", "localhost");
    if (body) {
        add_field(line, "Content-Type", "application/json");
        add_field(line, "Accept", "application/json, text/event-stream");
        add_field(line, "Content-Length", mcp_arena_printf(talk.arena, "%zu", length));
    }
    mcp_buf_puts(&line->asking, "\r\n");
    mcp_buf_putc(&line->asking, '\0');
    assert_int_equal(line->asking.status, MCP_OK);
    drop_absent(line);
    if (body)
        write_log("> ", body, length);
    if (body)
        mcp_buf_append(&line->asking, body, length);
    line->is_head = strncmp(line->asking.data, "HEAD ", 5) == 0;
    line->wants_head = true;
    web_client_connect(&line->client, web_port(talk.rig));
    web_client_send(&line->client, line->asking.data, line->asking.length);
    mcp_buf_reset(&line->asking);
    line->body = NULL;
}

static void flush(void)
{
    if (talk.line->asking.length > 0)
        send_request(talk.line);
}

/* ---- what an answer has ---------------------------------------------------------------------- */

/* The next event; comments are skipped unless they are asked for. NULL: the stream has ended. */
static web_event *next_event(struct line *line, bool or_comment)
{
    while (!line->has_event) {
        if (!web_client_read_event(&line->client, &line->event))
            return NULL;
        line->has_event = or_comment || !line->event.comment;
    }
    return &line->event;
}

static void need_head(const transcript_step *step, struct line *line)
{
    if (line->wants_head)
        fail_msg("%s:%d: the status was not asked for", talk.path, step->line);
}

/* Nothing may be left of the answer before: before the transcript continues, it has been read. */
static void finish_answer(struct line *line, int number)
{
    web_client *client = &line->client;
    size_t length = 0;
    const char *rest = "";
    web_frame frame;

    if (line->wants_head)
        fail_msg("%s:%d: nobody asked for the answer before", talk.path, number);
    if (client->body == WEB_BODY_FRAMES) {
        if (web_client_read_frame(client, &frame))
            fail_msg("%s:%d: before this came a frame: %s", talk.path, number, frame.bytes);
    } else if (client->is_events && client->fd >= 0) {
        const web_event *event = next_event(line, false);
        if (event)
            fail_msg("%s:%d: before this came: %s", talk.path, number, event->data);
    } else if (client->fd >= 0) {
        rest = web_client_read_body(client, &length);
    }
    if (length > 0)
        fail_msg("%s:%d: before this came: %.*s", talk.path, number, SHOWN_MAX, rest);
    if (client->is_last)
        web_client_close(client);
}

static void ask(const transcript_step *step)
{
    struct line *line = talk.line;
    const char *text = text_of(step);
    const char *value = NULL;
    const char *name = field_name(text, &value);

    if (!name && line->asking.length > 0)
        flush();
    if (!name && line->client.fd >= 0)
        finish_answer(line, step->line);
    if (name && line->asking.length == 0)
        fail_msg("%s:%d: a field before its request", talk.path, step->line);
    if (name && strcasecmp(name, "MCP-Protocol-Version") == 0)
        write_log("! ", value, strlen(value));
    mcp_buf_printf(&line->asking, name ? "%s\r\n" : "%s HTTP/1.1\r\n", text);
}

static void answer_status(const transcript_step *step)
{
    struct line *line = talk.line;

    if (!line->wants_head)
        fail_msg("%s:%d: nothing was asked", talk.path, step->line);
    web_client_read_head(&line->client, line->is_head);
    line->wants_head = false;
    line->has_event = false;
    if (line->client.status != (int)strtol(step->text, NULL, 10)) {
        size_t length = 0;
        const char *body = line->client.is_events || line->client.body == WEB_BODY_FRAMES
                               ? ""
                               : web_client_read_body(&line->client, &length);
        fail_msg("%s:%d: %d came: %s", talk.path, step->line, line->client.status, body);
    }
}

static void fit_text(const transcript_step *step, const char *pattern, const char *text)
{
    bool is_absent = strcmp(pattern, "-") == 0;

    if (is_absent ? text != NULL
                  : !text || !transcript_text_fits(pattern, text, &talk.memory, talk.arena))
        fail_msg("%s:%d: came: %s", talk.path, step->line, text ? text : "(nothing)");
}

static void answer(const transcript_step *step)
{
    const char *value = NULL;
    const char *name = field_name(step->text, &value);
    mcp_buf text;

    flush();
    if (!name) {
        answer_status(step);
        return;
    }
    need_head(step, talk.line);
    mcp_buf_init(&text, TEXT_MAX);
    bool is_there = web_client_field(&talk.line->client, name, &text);
    const char *copy = is_there ? mcp_arena_strdup(talk.arena, text.data) : NULL;
    mcp_buf_clear(&text);
    fit_text(step, value, copy);
}

/* ---- messages -------------------------------------------------------------------------------- */

static const char *next_message(const transcript_step *step, size_t *length)
{
    web_client *client = &talk.line->client;
    web_frame frame;
    web_event *event;

    if (client->body == WEB_BODY_FRAMES) {
        if (!web_client_read_frame(client, &frame))
            fail_msg("%s:%d: the server has closed", talk.path, step->line);
        if (!frame.is_final || frame.opcode != 1)
            fail_msg("%s:%d: a frame of kind %d came", talk.path, step->line, frame.opcode);
        *length = frame.length;
        return frame.bytes;
    }
    if (!client->is_events)
        return web_client_read_body(client, length);
    event = next_event(talk.line, false);
    if (!event || !event->data) {
        fail_msg("%s:%d: %s", talk.path, step->line,
                 event ? "an event without data" : "the stream has ended");
        return "";
    }
    talk.line->has_event = false;
    *length = strlen(event->data);
    return event->data;
}

static void expect(const transcript_step *step)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;
    size_t length = 0;
    char place[256];

    flush();
    need_head(step, talk.line);
    const char *text = next_message(step, &length);
    if (mcp_json_read(&value, talk.arena, text, length, &err) != MCP_OK)
        fail_msg("%s:%d: not JSON (%s): %.*s", talk.path, step->line, err.message, SHOWN_MAX, text);
    write_log("< ", text, length);
    if (!transcript_fits(step->pattern, value, &talk.memory, place, sizeof place))
        fail_msg("%s:%d: differs at '%s'; came: %.*s", talk.path, step->line, place, SHOWN_MAX * 4,
                 text);
}

static void send_body(const transcript_step *step)
{
    struct line *line = talk.line;
    size_t length = 0;
    const char *text;

    if (line->asking.length == 0 && line->client.body != WEB_BODY_FRAMES)
        fail_msg("%s:%d: a body without a request", talk.path, step->line);
    if (line->client.body != WEB_BODY_FRAMES) {
        line->body = step;
        return;
    }
    text = transcript_line(step, &talk.memory, talk.arena, &length);
    write_log("> ", text, length);
    web_client_send_frame(&line->client, 0x81, text, length);
}

/* ---- other lines ----------------------------------------------------------------------------- */

/* The first word of a text; the rest begins behind the blank. */
static const char *first_word(const char *text, const char **rest)
{
    size_t length = strcspn(text, " ");

    *rest = text + length + (text[length] ? 1 : 0);
    return mcp_arena_strndup(talk.arena, text, length);
}

static const struct {
    const char *name;
    unsigned first; /* byte of the frame */
} frames[] = {
    { "text", 0x81 },   { "part", 0x01 }, { "more", 0x00 }, { "last", 0x80 },
    { "binary", 0x82 }, { "ping", 0x89 }, { "pong", 0x8a }, { "rsv", 0xc1 },
};

/* "CODE WORDS", in the form that a close frame has. */
static const char *close_bytes(const char *text, size_t *length)
{
    long code = strtol(text, NULL, 10);
    const char *words;

    (void)first_word(text, &words);
    *length = text[0] ? 2 + strlen(words) : 0;
    return mcp_arena_printf(talk.arena, "%c%c%s", (int)(code >> 8), (int)(code & 0xff), words);
}

static void act_on_frames(const transcript_step *step)
{
    const char *rest;
    const char *kind = first_word(text_of(step), &rest);
    web_client *client = &talk.line->client;
    size_t length = strlen(rest);

    if (strcmp(kind, "close") == 0) {
        const char *bytes = close_bytes(rest, &length);
        web_client_send_frame(client, 0x88, bytes, length);
        return;
    }
    if (strcmp(kind, "bare") == 0) { /* without a mask */
        const char *bytes = mcp_arena_printf(talk.arena, "\x81%c%s", (int)length, rest);
        web_client_send(client, bytes, length + 2);
        return;
    }
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        if (strcmp(kind, frames[i].name) == 0) {
            web_client_send_frame(client, frames[i].first, rest, length);
            return;
        }
    }
    fail_msg("%s:%d: there is no '%s'", talk.path, step->line, kind);
}

static void see_frame(const transcript_step *step)
{
    const char *rest;
    const char *kind = first_word(step->text, &rest);
    web_frame frame = { .opcode = 0 };
    int opcode = strcmp(kind, "ping") == 0 ? 9 : strcmp(kind, "pong") == 0 ? 10 : 8;
    char code[8];

    if (!web_client_read_frame(&talk.line->client, &frame) || frame.opcode != opcode)
        fail_msg("%s:%d: a frame of kind %d came: %s", talk.path, step->line, frame.opcode,
                 frame.bytes ? frame.bytes : "");
    if (opcode != 8) {
        fit_text(step, rest, frame.bytes);
        return;
    }
    assert_true(frame.length >= 2);
    snprintf(code, sizeof code, "%d",
             (unsigned char)frame.bytes[0] << 8 | (unsigned char)frame.bytes[1]);
    fit_text(step, rest, code);
}

static void see_event(const transcript_step *step, const char *name, const char *pattern)
{
    bool of_comment = strcmp(name, "comment") == 0;
    const web_event *event = next_event(talk.line, of_comment);
    const char *value;

    if (!event) {
        fail_msg("%s:%d: the stream has ended", talk.path, step->line);
        return;
    }
    value = of_comment                   ? event->comment
            : strcmp(name, "event") == 0 ? event->event
            : strcmp(name, "id") == 0    ? event->id
            : strcmp(name, "retry") == 0 ? event->retry
                                         : event->data;
    if (of_comment || strcmp(name, "data") == 0)
        talk.line->has_event = false; /* taken */
    fit_text(step, pattern, value);
}

static void see_body(const transcript_step *step, const char *pattern)
{
    size_t length = 0;
    const char *body = web_client_read_body(&talk.line->client, &length);

    fit_text(step, pattern, length > 0 ? body : NULL);
}

static void see_end(const transcript_step *step)
{
    const web_event *event = next_event(talk.line, false);

    if (event)
        fail_msg("%s:%d: this came: %s", talk.path, step->line, event->data);
}

static void see_closed(const transcript_step *step)
{
    if (!web_client_is_closed(&talk.line->client))
        fail_msg("%s:%d: it is open, and sends", talk.path, step->line);
    web_client_close(&talk.line->client);
}

static void see(const transcript_step *step)
{
    const char *value = NULL;
    const char *name = field_name(step->text, &value);

    flush();
    if (strcmp(step->text, "closed") == 0) {
        see_closed(step);
        return;
    }
    need_head(step, talk.line);
    if (talk.line->client.body == WEB_BODY_FRAMES)
        see_frame(step);
    else if (strcmp(step->text, "end") == 0)
        see_end(step);
    else if (name && strcmp(name, "body") == 0)
        see_body(step, value);
    else if (name)
        see_event(step, name, value);
    else
        fail_msg("%s:%d: there is no '%s'", talk.path, step->line, step->text);
}

/* ---- connections ----------------------------------------------------------------------------- */

static struct line *line_named(const char *name)
{
    struct line *line = talk.lines;

    for (size_t i = 0; i < talk.line_count; i++, line++) {
        if (strcmp(line->name, name) == 0)
            return line;
    }
    assert_true(talk.line_count < LINES_MAX);
    talk.line_count++;
    line->name = name;
    web_client_init(&line->client);
    mcp_buf_init(&line->asking, TEXT_MAX);
    return line;
}

static void go_to(const transcript_step *step)
{
    const char *rest;
    const char *name = first_word(step->text, &rest);

    flush();
    talk.line = line_named(name);
    if (strcmp(rest, "hangs up") == 0) {
        web_client_close(&talk.line->client);
        talk.line->wants_head = talk.line->has_event = false;
    } else if (rest[0]) {
        fail_msg("%s:%d: '@ NAME' or '@ NAME hangs up'", talk.path, step->line);
    }
}

static void act(const transcript_step *step)
{
    flush();
    if (strcmp(step->text, "release") == 0)
        web_release();
    else if (strcmp(step->text, "stop") == 0)
        web_stop(talk.rig);
    else
        fail_msg("%s:%d: only '! release' and '! stop' can stand here", talk.path, step->line);
}

static void play(size_t first)
{
    static void (*const acts[])(const transcript_step *step) = {
        [TRANSCRIPT_OPTION] = act,       [TRANSCRIPT_SEND] = send_body,
        [TRANSCRIPT_EXPECT] = expect,    [TRANSCRIPT_REPEAT] = NULL,
        [TRANSCRIPT_ASK] = ask,          [TRANSCRIPT_ANSWER] = answer,
        [TRANSCRIPT_DO] = act_on_frames, [TRANSCRIPT_SEE] = see,
        [TRANSCRIPT_AT] = go_to,
    };

    talk.line = line_named("main");
    for (size_t i = first; i < talk.script.step_count; i++) {
        const transcript_step *step = &talk.script.steps[i];
        if (!acts[step->kind])
            fail_msg("%s:%d: '<+' is not for HTTP", talk.path, step->line);
        else
            acts[step->kind](step);
    }
    flush();
    for (size_t i = 0; i < talk.line_count; i++) {
        if (talk.lines[i].client.fd >= 0 || talk.lines[i].wants_head)
            finish_answer(&talk.lines[i], 0);
        web_client_close(&talk.lines[i].client);
    }
}

/* ---- the tests ------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    memset(&talk, 0, sizeof talk);
    talk.path = *state;
    talk.log = open_log(talk.path);
    talk.arena = mcp_arena_new((size_t)256 << 20);
    web_setup_init(&talk.setup, talk.arena);
    return talk.arena ? 0 : -1;
}

static int tear_down(void **state)
{
    mcp_status st = MCP_OK;

    (void)state;
    for (size_t i = 0; i < talk.line_count; i++) {
        web_client_close(&talk.lines[i].client);
        mcp_buf_clear(&talk.lines[i].asking);
    }
    if (talk.rig)
        st = web_end(talk.rig);
    if (talk.log)
        fclose(talk.log);
    web_setup_clear(&talk.setup);
    mcp_arena_free(talk.arena);
    return st == MCP_OK ? 0 : -1;
}

static void set_option(const transcript_step *step)
{
    if (!web_setup_option(&talk.setup, step->text))
        fail_msg("%s:%d: no option '%s'", talk.path, step->line, step->text);
}

static void test_transcript(void **state)
{
    const transcript_word words[] = { { 0 } };
    size_t first = 0;

    transcript_read(&talk.script, talk.arena, *state, words);
    while (first < talk.script.step_count && talk.script.steps[first].kind == TRANSCRIPT_OPTION)
        set_option(&talk.script.steps[first++]);
    talk.rig = web_setup_start(&talk.setup);
    play(first);
}

/* A runner whose patterns took anything would let every conversation pass. */
static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *fits, *does_not;
    } rows[] = {
        { "text/event-stream", "text/event-stream", "text/event-stream;" },
        { "text/*", "text/plain", "application/json" },
        { "a*c*", "abcd", "abd" },
        { "/messages?id=$id", "/messages?id=1", "/message?id=1" },
        { "$id-0", "7-0", "7-1" },
        { "*", "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(transcript_text_fits(rows[i].pattern, rows[i].fits, &talk.memory, talk.arena));
        if (rows[i].does_not &&
            transcript_text_fits(rows[i].pattern, rows[i].does_not, &talk.memory, talk.arena))
            fail_msg("%s fits %s", rows[i].does_not, rows[i].pattern);
    }
}

/* Arguments name transcripts; without any, all of them are played. */
int main(int argc, char **argv)
{
    static char no_path[] = "patterns";
    static struct CMUnitTest tests[TRANSCRIPTS_MAX + 1] = { { no_path, test_patterns, set_up,
                                                              tear_down, no_path } };
    glob_t all = { 0 };
    size_t count = 0;

    if (argc < 2 && glob("tests/wire/http/*.txt", 0, NULL, &all) != 0) {
        fprintf(stderr, "no transcripts: run this from the top of the source tree\n");
        return 1;
    }
    size_t given = argc < 2 ? all.gl_pathc : (size_t)argc - 1;
    for (; count < given && count < TRANSCRIPTS_MAX; count++) {
        char *path = argc < 2 ? all.gl_pathv[count] : argv[count + 1];
        tests[count + 1] = (struct CMUnitTest){ path, test_transcript, set_up, tear_down, path };
    }
    int failed = _cmocka_run_group_tests("http", tests, count + 1, NULL, NULL);
    globfree(&all);
    return failed;
}
