/*
 * fixture_native.c - a plugin for tests: CF_FIXTURE_MODE says how it behaves, or the name of its
 * file up to the first dot.
 *
 * It emits CF_FIXTURE_ROWS rows (3) of columns id and value to the output `fixture`, whatever the
 * file holds. CF_FIXTURE_EVERY (10) is how often a row is different in the modes nulls and
 * row_errors. A hostile mode makes its attempt first and emits one row, how the attempt ended; with
 * import_bomb it is made before the plugin says hello.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "casparian_plugin.h"
#include "parsers/fixture_native/hostile.h"

enum { HUGE_CELL_BYTES = 8 << 20, MANY_LINES = 1000000, STEM_SIZE = 64, LONG_BYTES = 1000 };

static const cf_column columns[] = { { "id", CF_INT64, 0, 0, NULL },
                                     { "value", CF_STRING, 0, 0, NULL },
                                     { "_cf_job_id", CF_STRING, 0, 0, NULL } };
static const cf_schema plain = { columns, 2, NULL, false };
static const cf_schema reserved = { columns, 3, NULL, false };

struct fixture {
    cf_sink *sink;
    int64_t rows;
    int64_t every;
};

static int64_t number_of(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

static void set_text(cf_output *output, size_t column, const char *text)
{
    cf_set_str(output, column, text, strlen(text));
}

static void begin_row(cf_output *output, int64_t id)
{
    char value[32];

    cf_row_new(output);
    cf_set_i64(output, 0, id);
    snprintf(value, sizeof value, "row-%lld", (long long)id);
    set_text(output, 1, value);
}

static int emit_normal(struct fixture *fixture)
{
    cf_output *output = cf_output_open(fixture->sink, "fixture", &plain);

    for (int64_t id = 1; id <= fixture->rows; id++) {
        begin_row(output, id);
        cf_row_commit(output);
    }
    cf_output_close(output);
    return 0;
}

static int emit_slowly(struct fixture *fixture)
{
    sleep((unsigned)number_of("CF_FIXTURE_SLEEP_SECS", 1));
    return emit_normal(fixture);
}

static int emit_reserved(struct fixture *fixture)
{
    cf_output *output = cf_output_open(fixture->sink, "fixture", &reserved);

    for (int64_t id = 1; id <= fixture->rows; id++) {
        begin_row(output, id);
        set_text(output, 2, "mine");
        cf_row_commit(output);
    }
    return 0;
}

static int fail(struct fixture *fixture)
{
    const char *message = getenv("CF_FIXTURE_ERROR_MSG");

    cf_error(fixture->sink, message ? message : "the fixture fails, as it was asked to");
    return 1;
}

static int crash(struct fixture *fixture)
{
    emit_normal(fixture);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

static int hang(struct fixture *fixture)
{
    int result = emit_normal(fixture);

    while (result == 0)
        pause();
    return result;
}

/* Bytes that are no batch, within an output that was begun. */
static int emit_bad_frame(struct fixture *fixture)
{
    static const char frame[] = "\0\0\0\x08"
                                "NOBATCH!";

    emit_normal(fixture);
    fputs(
        "{\"type\":\"output_begin\",\"output\":\"fixture\",\"schema_hash\":\"*\",\"stream_index\":1}\n",
        stderr);
    return write(STDOUT_FILENO, frame, sizeof frame - 1) < 0;
}

static int emit_some_bad(struct fixture *fixture)
{
    cf_output *output = cf_output_open(fixture->sink, "fixture", &plain);

    for (int64_t id = 1; id <= fixture->rows; id++) {
        begin_row(output, id);
        if (id % fixture->every == 0)
            cf_row_error(output, "the fixture does not like this row");
        cf_row_id(output, id);
        cf_row_commit(output);
    }
    return 0;
}

static int emit_nulls(struct fixture *fixture)
{
    cf_output *output = cf_output_open(fixture->sink, "fixture", &plain);

    for (int64_t id = 1; id <= fixture->rows; id++) {
        begin_row(output, id);
        if (id % fixture->every == 0)
            cf_set_null(output, 1);
        cf_row_commit(output);
    }
    return 0;
}

static int emit_wrong_type(struct fixture *fixture)
{
    static const cf_column wrong[] = { { "id", CF_STRING, 0, 0, NULL },
                                       { "value", CF_STRING, 0, 0, NULL } };
    static const cf_schema schema = { wrong, 2, NULL, false };
    cf_output *output = cf_output_open(fixture->sink, "fixture", &schema);

    for (int64_t id = 1; id <= fixture->rows; id++) {
        cf_row_new(output);
        set_text(output, 0, "not a number");
        set_text(output, 1, "row");
        cf_row_commit(output);
    }
    return 0;
}

static int emit_huge_row(struct fixture *fixture)
{
    cf_output *output = cf_output_open(fixture->sink, "fixture", &plain);
    char *text = malloc(HUGE_CELL_BYTES);

    if (!text)
        return 1;
    memset(text, 'x', HUGE_CELL_BYTES);
    cf_row_new(output);
    cf_set_i64(output, 0, 1);
    cf_set_str(output, 1, text, HUGE_CELL_BYTES);
    free(text);
    return cf_row_commit(output) == CF_OK ? 0 : 1;
}

static int emit_stray_lines(struct fixture *fixture)
{
    fputs("a library greets\n", stderr);
    emit_normal(fixture);
    fputs("{\"a\": \"line that is not for the host\"}\n[1,2]\nand says goodbye", stderr);
    return 0;
}

static int emit_two_outputs(struct fixture *fixture)
{
    cf_output *outputs[2] = { cf_output_open(fixture->sink, "fixture", &plain),
                              cf_output_open(fixture->sink, "fixture_other", &plain) };

    for (int64_t id = 1; id <= fixture->rows; id++) {
        begin_row(outputs[id % 2], id);
        cf_row_commit(outputs[id % 2]);
    }
    return 0;
}

static int emit_endless_rows(struct fixture *fixture)
{
    cf_output *output = cf_output_open(fixture->sink, "fixture", &plain);
    cf_status status = CF_OK;
    char text[LONG_BYTES + 1];

    memset(text, 'x', LONG_BYTES);
    text[LONG_BYTES] = '\0';
    for (int64_t id = 1; status == CF_OK; id++) {
        begin_row(output, id);
        set_text(output, 1, text);
        status = cf_row_commit(output);
    }
    return 1;
}

static int emit_endless_log(struct fixture *fixture)
{
    emit_normal(fixture);
    while (fputs("the log of the fixture has no end\n", stderr) >= 0)
        ;
    return 1;
}

/* 10^6 lines, of which every hundredth is a message. */
static int emit_many_lines(struct fixture *fixture)
{
    static char buffer[64 << 10];

    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
    for (int i = 0; i < MANY_LINES; i++) {
        if (i % 100)
            fputs("a line that is no message\n", stderr);
        else
            fprintf(stderr, "{\"type\":\"warning\",\"message\":\"message %d\"}\n", i);
    }
    fflush(stderr);
    return emit_normal(fixture);
}

/* Rows when there is no memory left. */
static int emit_without_memory(struct fixture *fixture)
{
    static char text[HUGE_CELL_BYTES];
    cf_output *output = cf_output_open(fixture->sink, "fixture", &plain);
    char attempt[256];

    casparian_hostile_find("oom")(attempt, sizeof attempt);
    memset(text, 'x', sizeof text);
    cf_row_new(output);
    cf_set_i64(output, 0, 1);
    cf_set_str(output, 1, text, sizeof text);
    return cf_row_commit(output) == CF_OK ? 0 : 1;
}

static const struct {
    const char *mode;
    int (*run)(struct fixture *fixture);
} modes[] = {
    { "normal", emit_normal },
    { "slow", emit_slowly },
    { "collision", emit_reserved },
    { "reserved_column", emit_reserved },
    { "error", fail },
    { "crash", crash },
    { "hang", hang },
    { "bad_frame", emit_bad_frame },
    { "row_errors", emit_some_bad },
    { "nulls", emit_nulls },
    { "wrong_type", emit_wrong_type },
    { "huge_row", emit_huge_row },
    { "stray_stderr", emit_stray_lines },
    { "two_outputs_interleaved", emit_two_outputs },
    { "endless_rows", emit_endless_rows },
    { "endless_log", emit_endless_log },
    { "many_lines", emit_many_lines },
    { "no_memory", emit_without_memory },
};

static int report(struct fixture *fixture, const char *text)
{
    cf_output *output = cf_output_open(fixture->sink, "fixture", &plain);

    cf_row_new(output);
    cf_set_i64(output, 0, 1);
    set_text(output, 1, text);
    return cf_row_commit(output) == CF_OK ? 0 : 1;
}

static int run(struct fixture *fixture, const char *mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].mode, mode) == 0)
            return modes[i].run(fixture);
    cf_error(fixture->sink, "CF_FIXTURE_MODE names no mode of the fixture");
    return 1;
}

static bool is_mode(const char *word)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].mode, word) == 0)
            return true;
    return casparian_hostile_find(word) != NULL;
}

/* @param stem room for the name of the file */
static const char *mode_of(const char *path, char stem[STEM_SIZE])
{
    const char *mode = getenv("CF_FIXTURE_MODE");
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (mode && *mode)
        return mode;
    snprintf(stem, STEM_SIZE, "%.*s", (int)strcspn(name, "."), name);
    return is_mode(stem) ? stem : "normal";
}

int main(int argc, char **argv)
{
    char text[256] = "", stem[STEM_SIZE];
    const char *mode = mode_of(argc > 1 ? argv[1] : "", stem);

    casparian_attempt *attempt = casparian_hostile_find(mode);
    bool is_early = strcmp(mode, "import_bomb") == 0;
    if (is_early)
        attempt(text, sizeof text);
    struct fixture fixture = { .sink = cf_begin("fixture_native", "1.0.0", "cfb"),
                               .rows = number_of("CF_FIXTURE_ROWS", 3),
                               .every = number_of("CF_FIXTURE_EVERY", 10) };
    if (fixture.every < 1)
        fixture.every = 1;
    if (attempt && !is_early)
        attempt(text, sizeof text);
    int result = attempt ? report(&fixture, text) : run(&fixture, mode);
    return cf_finish(fixture.sink, result);
}
