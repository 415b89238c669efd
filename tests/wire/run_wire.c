/*
 * run_wire.c - plays the transcripts of tests/wire/ (tests/support/transcript.h has their form);
 * those over HTTP are for run_http.c.
 *
 * A transcript talks to the fixture server (tests/support/fixture.h) over a peer in memory, its
 * handlers run at once on this thread; or, with `! program`, to a program of ours over stdio. Lines
 * at the top say how the server is made:
 *
 *     ! revision R       speaks R alone          ! oldest R, ! newest R    narrows on one side
 *     ! without-initialize R                     ! strict-version
 *     ! offers R                                 ! bare-capabilities
 *     ! tool-names canonical|safe|auto           ! allow-write
 *     ! more             the second fixture, tests/support/fixture_more.h
 *     ! tasks            the fixture of tasks, tests/support/fixture_task.h
 *     ! page             a tool whose result is shown as a page, and the extension declared
 *     ! changes          lists change, and clients may hear of resources
 *     ! logging          handlers may log to the client
 *     ! many N           N further resources     ! running N               calls_max_running
 *     ! message-max N, ! reply-max N             bytes
 *     ! hold             handlers wait until a line `! run`; `! stop` has the server go down
 *     ! program NAME ARGUMENT...   {cases} and {tmp} are folders; {tmp} is fresh and empty
 *     ! exit N           what the program ends with, 0 unless said
 *     ! case NAME        {tmp}/NAME is a copy of examples/cases/NAME
 *     ! file PATH TEXT   {tmp}/PATH holds the text; ! link PATH TARGET  is a symbolic link
 *
 * In memory every message must be asked for before the next line is sent, so that silence is proved
 * by going on. A program must have said nothing more at its end.
 *
 * Where CAUSEWAY_WIRE_LOG names a folder, what passes is written there, a file a transcript, for
 * tests/conformance/wire.mjs to hold against the official schemas.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "fixture.h"
#include "fixture_more.h"
#include "fixture_task.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/task/task.h"
#include "mcp/server_int.h"
#include "peer_memory.h"
#include "scratch.h"
#include "transcript.h"

enum { ARGUMENTS_MAX = 16, TRANSCRIPTS_MAX = 500, HELD_MAX = 64, SHOWN_MAX = 600 };

/* Runs work at once, or keeps it until told. */
struct executor {
    mcp__executor face; /* first */
    bool holds;
    mcp__task *held[HELD_MAX];
    size_t held_count;
};

struct talk {
    const char *path;
    FILE *log; /* NULL: nothing is written */
    mcp_arena *arena;
    transcript script;
    transcript_memory memory;
    scratch tmp;

    /* how the server is made */
    mcp_server_options options;
    int many;
    bool more, page, tasks;
    char *arguments[ARGUMENTS_MAX + 1]; /* of the program; [0] NULL: in memory */
    int exit_code;

    /* in memory */
    mcp_server *server;
    mcp__task_table *table;
    mcp__session session;
    mcp__peer_memory peer;
    struct executor executor;
    size_t read; /* how much of peer.text was looked at */

    /* a program */
    child program;
};

static struct talk talk; /* one at a time; outlives a test that fails */

/* ---- an executor ----------------------------------------------------------------------------- */

static void run_task(mcp__task *task)
{
    if (task->work(task))
        task->done(task);
}

static mcp_status submit(mcp__executor *face, mcp__task *task, mcp__lane lane, mcp_error *err)
{
    struct executor *self = (struct executor *)face;

    (void)lane;
    (void)err;
    if (self->holds) {
        assert_true(self->held_count < HELD_MAX);
        self->held[self->held_count++] = task;
        return MCP_OK;
    }
    run_task(task);
    return MCP_OK;
}

static void again(mcp__executor *face, mcp__task *task)
{
    (void)face;
    run_task(task);
}

static void adopt(mcp__executor *face, mcp__task *task, mcp__lane lane)
{
    (void)face, (void)task, (void)lane;
}

static void post(mcp__executor *face, mcp__node *node)
{
    (void)face;
    node->run(node);
}

static void end(mcp__executor *face, mcp__task *task)
{
    (void)face;
    task->done(task);
}

static void run_held(struct executor *self)
{
    self->holds = false;
    for (size_t i = 0; i < self->held_count; i++)
        run_task(self->held[i]);
    self->held_count = 0;
}

/* ---- how the server is made ------------------------------------------------------------------ */

static mcp_revision revision_of(const char *name)
{
    mcp_revision revision = mcp_revision_find(name);

    if (revision == MCP_REVISION_NONE)
        fail_msg("%s: no revision '%s'", talk.path, name);
    return revision;
}

static void set_revision(const char *value)
{
    talk.options.oldest = talk.options.newest = revision_of(value);
}

static void set_oldest(const char *value)
{
    talk.options.oldest = revision_of(value);
}

static void set_newest(const char *value)
{
    talk.options.newest = revision_of(value);
}

static void set_without_initialize(const char *value)
{
    talk.options.default_revision = revision_of(value);
}

static void set_offers(const char *value)
{
    talk.options.offered_revision = revision_of(value);
}

static void set_bare_capabilities(const char *value)
{
    (void)value;
    talk.options.bare_capabilities = true;
}

static void set_strict_version(const char *value)
{
    (void)value;
    talk.options.strict_version = true;
}

static void set_tool_names(const char *value)
{
    talk.options.tool_names = strcmp(value, "safe") == 0   ? MCP_NAMES_SAFE
                              : strcmp(value, "auto") == 0 ? MCP_NAMES_AUTO
                                                           : MCP_NAMES_CANONICAL;
}

static void set_allow_write(const char *value)
{
    (void)value;
    talk.options.allow_write = true;
}

static void set_more(const char *value)
{
    (void)value;
    talk.more = true;
}

static void set_tasks(const char *value)
{
    (void)value;
    talk.tasks = true;
}

static void set_logging(const char *value)
{
    (void)value;
    talk.options.logging = true;
}

static void set_changes(const char *value)
{
    (void)value;
    talk.options.list_changed = true;
    talk.options.subscriptions = true;
}

static void set_page(const char *value)
{
    (void)value;
    talk.page = true;
    talk.options.extensions = "{\"io.modelcontextprotocol/ui\":{}}";
}

static void set_many(const char *value)
{
    talk.many = atoi(value);
}

static void set_running(const char *value)
{
    talk.options.limits.calls_max_running = atoi(value);
}

static void set_message_max(const char *value)
{
    talk.options.limits.message_max_bytes = (size_t)atoi(value);
}

static void set_reply_max(const char *value)
{
    talk.options.limits.reply_max_bytes = (size_t)atoi(value);
}

static void set_hold(const char *value)
{
    (void)value;
    talk.executor.holds = true;
}

static void set_program(const char *value)
{
    const char *bin = getenv("CAUSEWAY_BIN");
    char *words = mcp_arena_strdup(talk.arena, value);
    char *rest = NULL;
    size_t count = 0;

    assert_non_null(words);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < ARGUMENTS_MAX);
        talk.arguments[count++] = word;
    }
    assert_true(count > 0);
    talk.arguments[0] = mcp_arena_printf(talk.arena, "%s/%s", bin ? bin : "build/bin",
                                         talk.arguments[0]);
}

static void set_exit(const char *value)
{
    talk.exit_code = atoi(value);
}

static void set_case(const char *value)
{
    scratch_copy(&talk.tmp, value, mcp_arena_printf(talk.arena, "examples/cases/%s", value));
}

/* The first word of an option's value; the rest begins behind the blank. */
static const char *first_word(const char *value, const char **rest)
{
    size_t length = strcspn(value, " ");

    *rest = value + length + strspn(value + length, " ");
    return mcp_arena_strndup(talk.arena, value, length);
}

static void set_file(const char *value)
{
    const char *text;
    const char *path = first_word(value, &text);

    scratch_write(&talk.tmp, path, text, strlen(text));
}

static void set_link(const char *value)
{
    const char *target;
    const char *path = first_word(value, &target);

    assert_int_equal(symlinkat(target, talk.tmp.fd, path), 0);
}

static const struct {
    const char *name;
    void (*set)(const char *value);
} settings[] = {
    { "revision", set_revision },
    { "oldest", set_oldest },
    { "newest", set_newest },
    { "without-initialize", set_without_initialize },
    { "offers", set_offers },
    { "bare-capabilities", set_bare_capabilities },
    { "strict-version", set_strict_version },
    { "tool-names", set_tool_names },
    { "allow-write", set_allow_write },
    { "more", set_more },
    { "tasks", set_tasks },
    { "logging", set_logging },
    { "changes", set_changes },
    { "page", set_page },
    { "many", set_many },
    { "running", set_running },
    { "message-max", set_message_max },
    { "reply-max", set_reply_max },
    { "hold", set_hold },
    { "program", set_program },
    { "exit", set_exit },
    { "case", set_case },
    { "file", set_file },
    { "link", set_link },
};

static void set_option(const transcript_step *step)
{
    size_t length = strcspn(step->text, " ");
    const char *value = step->text + length + strspn(step->text + length, " ");

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strlen(settings[i].name) == length &&
            strncmp(settings[i].name, step->text, length) == 0) {
            settings[i].set(value);
            return;
        }
    }
    fail_msg("%s:%d: no option '%s'", talk.path, step->line, step->text);
}

static void open_server(void)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp_server_new(&talk.server, &talk.options, &err);

    talk.executor.face = (mcp__executor){
        .submit = submit, .post = post, .again = again, .adopt = adopt, .end = end
    };
    mcp__peer_memory_init(&talk.peer);
    if (st == MCP_OK)
        st = mcp_server_add(talk.server, &fixture_features, &err);
    if (st == MCP_OK && talk.more)
        st = mcp_server_add(talk.server, &fixture_more, &err);
    if (st == MCP_OK && talk.tasks)
        st = mcp_server_add(talk.server, &fixture_task, &err);
    if (st == MCP_OK && talk.page)
        st = mcp_server_add(talk.server, &fixture_page, &err);
    if (st == MCP_OK && talk.many > 0) {
        mcp_features many = fixture_many(talk.arena, talk.many);
        st = mcp_server_add(talk.server, &many, &err);
    }
    if (st == MCP_OK) {
        mcp__context setup = mcp__server_context(talk.server, &talk.executor.face);
        st = mcp__task_table_new(&talk.table, &setup, &err);
        setup.tasks = talk.table;
        if (st == MCP_OK)
            st = mcp__session_init(&talk.session, &setup, &err);
        talk.session.listener = &talk.peer.peer;
    }
    if (st != MCP_OK)
        fail_msg("%s: %s", talk.path, err.message);
}

/* ---- talking --------------------------------------------------------------------------------- */

static bool is_program(void)
{
    return talk.arguments[0] != NULL;
}

/* The next message; NULL: there is none. */
static const char *next_message(size_t *length)
{
    const char *text = talk.peer.text.data + talk.read;
    const char *line = NULL;

    if (is_program())
        return child_next(&talk.program, &line, length) ? line : NULL;
    if (talk.read == talk.peer.text.length)
        return NULL;
    *length = strcspn(text, "\n");
    talk.read += *length + 1;
    return text;
}

/* Look at the next message without taking it: a program is not asked, it may have no more to
 * say. */
static const char *waiting_message(void)
{
    return !is_program() && talk.read < talk.peer.text.length ? talk.peer.text.data + talk.read
                                                              : NULL;
}

static void write_log(const char *mark, const char *text, size_t length)
{
    if (!talk.log)
        return;
    fputs(mark, talk.log);
    fwrite(text, 1, length, talk.log);
    fputc('\n', talk.log);
}

static void send_line(const transcript_step *step)
{
    const char *waiting = waiting_message();
    size_t length = 0;
    const char *line = transcript_line(step, &talk.memory, talk.arena, &length);

    if (waiting)
        fail_msg("%s:%d: before this came: %.*s", talk.path, step->line, SHOWN_MAX, waiting);
    write_log("> ", line, length);
    if (is_program())
        child_send(&talk.program, line, length);
    else if (length > talk.options.limits.message_max_bytes &&
             talk.options.limits.message_max_bytes > 0)
        mcp__dispatch_overlong(&talk.session, &talk.peer.peer, NULL);
    else
        mcp__dispatch_message(&talk.session, &talk.peer.peer, line, length);
}

static const mcp_json *parsed(const transcript_step *step, const char *text, size_t length)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_json_read(&value, talk.arena, text, length, &err) != MCP_OK)
        fail_msg("%s:%d: not JSON (%s): %.*s", talk.path, step->line, err.message, SHOWN_MAX, text);
    return value;
}

static const mcp_json *take_message(const transcript_step *step)
{
    size_t length = 0;
    const char *text = next_message(&length);

    if (!text) {
        fail_msg("%s:%d: nothing came. %s", talk.path, step->line,
                 is_program() ? child_complaints(&talk.program) : "");
        return NULL;
    }
    write_log("< ", text, length);
    return parsed(step, text, length);
}

static void fail_message(const transcript_step *step, const mcp_json *value, const char *place)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 1 << 24);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, value);
    fprintf(stderr, "came: %.*s\n", 4000, text.data ? text.data : "");
    mcp_buf_clear(&text);
    fail_msg("%s:%d: differs at '%s'", talk.path, step->line, place);
}

/* A message that ends a run of repeated ones belongs to the step that follows. */
static void expect(const transcript_step *step, const mcp_json **pending)
{
    const mcp_json *value = *pending ? *pending : take_message(step);
    char place[256];

    *pending = NULL;
    if (!transcript_fits(step->pattern, value, &talk.memory, place, sizeof place))
        fail_message(step, value, place);
    while (step->kind == TRANSCRIPT_REPEAT && !*pending) {
        if (!is_program() && !waiting_message())
            return;
        value = take_message(step);
        if (!transcript_fits(step->pattern, value, &talk.memory, place, sizeof place))
            *pending = value;
    }
}

static void act(const transcript_step *step)
{
    if (strcmp(step->text, "run") == 0)
        run_held(&talk.executor);
    else if (strcmp(step->text, "stop") == 0)
        mcp__dispatch_stop(&talk.session, MCP_STOP_SHUTDOWN);
    else
        fail_msg("%s:%d: only '! run' and '! stop' can stand here", talk.path, step->line);
}

static void play(size_t first)
{
    const mcp_json *pending = NULL;

    for (size_t i = first; i < talk.script.step_count; i++) {
        const transcript_step *step = &talk.script.steps[i];
        bool expects = step->kind == TRANSCRIPT_EXPECT || step->kind == TRANSCRIPT_REPEAT;
        if (pending && !expects)
            fail_message(step, pending, "(a message too many)");
        if (expects)
            expect(step, &pending);
        else if (step->kind == TRANSCRIPT_SEND)
            send_line(step);
        else
            act(step);
    }
    if (pending)
        fail_msg("%s: a message too many at the end", talk.path);
}

static void finish(void)
{
    const char *waiting = waiting_message();

    if (waiting)
        fail_msg("%s: at the end came: %.*s", talk.path, SHOWN_MAX, waiting);
    if (is_program()) {
        assert_int_equal(child_end(&talk.program), talk.exit_code);
        return;
    }
    assert_int_equal(talk.executor.held_count, 0);
    assert_true(mcp__dispatch_is_idle(&talk.session));
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* "library/cancel.txt" is written to "library.cancel.txt". */
static FILE *open_log(const char *path)
{
    const char *folder = getenv("CAUSEWAY_WIRE_LOG");
    const char *name = path ? strrchr(path, '/') : NULL;
    char file[4096];

    if (!folder || !name)
        return NULL;
    while (name > path && name[-1] != '/')
        name--;
    snprintf(file, sizeof file, "%s/%s", folder, name);
    *strrchr(file, '/') = '.';
    return fopen(file, "w");
}

static int set_up(void **state)
{
    memset(&talk, 0, sizeof talk);
    talk.path = *state;
    talk.log = open_log(talk.path);
    talk.program = (child){ .to = -1, .from = -1, .complaints = -1 };
    talk.options = (mcp_server_options)MCP_SERVER_OPTIONS_INIT;
    talk.options.name = "fixture";
    talk.options.version = "1.2.3";
    talk.arena = mcp_arena_new((size_t)256 << 20);
    scratch_open(&talk.tmp);
    return talk.arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    if (talk.log)
        fclose(talk.log);
    child_clear(&talk.program);
    if (talk.server) {
        run_held(&talk.executor);
        mcp__dispatch_stop(&talk.session, MCP_STOP_CANCELLED);
        mcp__dispatch_tasks_stop(talk.table, MCP_STOP_CANCELLED);
        mcp__session_clear(&talk.session);
        mcp__task_table_free(talk.table);
        mcp__peer_memory_clear(&talk.peer);
    }
    mcp_server_free(talk.server);
    scratch_close(&talk.tmp);
    mcp_arena_free(talk.arena);
    return 0;
}

static void test_transcript(void **state)
{
    char *cases = realpath("examples/cases", NULL);
    const transcript_word words[] = { { "{cases}", cases ? cases : "examples/cases" },
                                      { "{tmp}", talk.tmp.path },
                                      { 0 } };
    size_t first = 0;

    (void)state;
    transcript_read(&talk.script, talk.arena, talk.path, words);
    free(cases);
    for (; first < talk.script.step_count && talk.script.steps[first].kind == TRANSCRIPT_OPTION;
         first++)
        set_option(&talk.script.steps[first]);
    if (is_program())
        child_start(&talk.program, talk.arguments);
    else
        open_server();
    play(first);
    finish();
}

/* A runner whose patterns took anything would let every conversation pass. */
static void test_patterns(void **state)
{
    static const char rows[] = /* pattern, value that fits, value that does not */
        "> 1\n< 1\n! 1.0\n> {\"a\":*}\n< {\"a\":null}\n! {}\n> {\"a\":1}\n< {\"a\":1}\n"
        "! {\"a\":1,\"b\":2}\n> {\"a\":1,\"*\":*}\n< {\"b\":2,\"a\":1}\n! {\"b\":2}\n"
        "> ~\"ell\"\n< \"hello\"\n! \"help\"\n> [*,2]\n< [1,2]\n! [1,2,3]\n> \"*\"\n< \"*\"\n"
        "! \"x\"\n> {\"a\":{\"b\":[$x]}}\n< {\"a\":{\"b\":[7]}}\n! {\"a\":{\"b\":[]}}\n";
    const transcript_word no_words[] = { { 0 } };
    const mcp_json *pattern = NULL, *value = NULL;
    const char *path = scratch_path(&talk.tmp, "rows");
    char place[64];

    (void)state;
    for (const char *at = rows; *at;) {
        size_t length = strcspn(at, "\n");
        char *line = mcp_arena_printf(talk.arena, "< %.*s\n", (int)length - 2, at + 2);
        if (at[0] == '>') {
            scratch_write(&talk.tmp, "rows", line, strlen(line));
            transcript_read(&talk.script, talk.arena, path, no_words);
            pattern = talk.script.steps[0].pattern;
        } else {
            assert_int_equal(mcp_json_read(&value, talk.arena, at + 2, length - 2, NULL), MCP_OK);
            if (transcript_fits(pattern, value, &talk.memory, place, sizeof place) !=
                (at[0] == '<'))
                fail_msg("wrong about %.*s", (int)length, at);
        }
        at += length + 1;
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

    if (argc < 2 && glob("tests/wire/*/*.txt", 0, NULL, &all) != 0) {
        fprintf(stderr, "no transcripts: run this from the top of the source tree\n");
        return 1;
    }
    size_t given = argc < 2 ? all.gl_pathc : (size_t)argc - 1;
    for (size_t i = 0; i < given && count < TRANSCRIPTS_MAX; i++) {
        char *path = argc < 2 ? all.gl_pathv[i] : argv[i + 1];
        if (strstr(path, "wire/http/"))
            continue; /* run_http.c's */
        tests[++count] = (struct CMUnitTest){ path, test_transcript, set_up, tear_down, path };
    }
    int failed = _cmocka_run_group_tests("wire", tests, count + 1, NULL, NULL);
    globfree(&all);
    return failed;
}
