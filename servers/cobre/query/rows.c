/*
 * rows.c - opens the files of a table in batches, selects from each batch, and hands the rows on.
 *
 * A batch has as many files as are likely to give BATCH_ROWS rows, judged by the batches before it,
 * and at most FILES_MAX, which are open at once. When the limit is reached the rest of the files
 * are only counted, which needs no column but those of the conditions.
 *
 * A scenario whose file vanishes between the listing and the opening was removed by a new run; it
 * has no rows. A new run removes the marker first: while the marker stands, a missing file is lost.
 */
#include "query/rows.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/json.h"
#include "query/entities.h"

#define CONVERGENCE "training/convergence.parquet"
#define MARKER "simulation/_SUCCESS"
#define METADATA "simulation/metadata.json"
#define METADATA_MAX ((size_t)1 << 20)
#define FILES_MAX 64
#define BATCH_ROWS ((uint64_t)200000)
#define BATCH_ROWS_MAX ((uint64_t)10000000)
#define BATCH_ARENA_MAX ((size_t)3 << 30)
#define SCENARIOS_MAX ((size_t)10000000)

struct partition {
    int32_t scenario;
    char name[44]; /* "scenario_id=0007" */
};

struct reading {
    const query_question *question;
    const query_sink *sink;
    columns *engine;
    int out_fd;
    int folder_fd;
    mcp_arena *arena;
    query_answer *answer;
    struct partition *partitions;
    size_t partition_count;
    size_t scenario_count; /* folders of scenarios, also of those that are not in question */
    int fds[FILES_MAX];
    const struct partition *opened[FILES_MAX];
    size_t open_count;
    size_t files;   /* of the next batch */
    uint64_t given; /* rows that the sink has */
};

/* ---- the files ------------------------------------------------------------------------------- */

static bool read_scenario(int32_t *scenario, const char *name)
{
    const char *digits = name + strlen(QUERY_SCENARIO "=");
    size_t length = strlen(name);

    if (strncmp(name, QUERY_SCENARIO "=", strlen(QUERY_SCENARIO "=")) != 0 ||
        length >= sizeof((struct partition *)NULL)->name || !digits[0] ||
        digits[strspn(digits, "0123456789")])
        return false;
    errno = 0;
    long long number = strtoll(digits, NULL, 10);
    if (errno != 0 || number > INT32_MAX)
        return false;
    *scenario = (int32_t)number;
    return true;
}

static bool is_in(const query_range *range, int64_t value)
{
    return !range->is_set || (value >= range->first && value <= range->last);
}

static int by_scenario(const void *a, const void *b)
{
    const struct partition *first = a;
    const struct partition *second = b;

    if (first->scenario != second->scenario)
        return first->scenario < second->scenario ? -1 : 1;
    return strcmp(first->name, second->name);
}

static mcp_status keep_partition(struct reading *reading, size_t *room, const char *name,
                                 int32_t scenario, mcp_error *err)
{
    if (reading->partition_count == *room) {
        size_t more = *room > 0 ? 2 * *room : 256;
        struct partition *grown = more <= SCENARIOS_MAX
                                      ? mcp_arena_array(reading->arena, more, sizeof *grown)
                                      : NULL;
        if (!grown)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu scenarios", more);
        if (reading->partition_count > 0)
            memcpy(grown, reading->partitions, reading->partition_count * sizeof *grown);
        reading->partitions = grown;
        *room = more;
    }
    struct partition *one = &reading->partitions[reading->partition_count++];
    one->scenario = scenario;
    memcpy(one->name, name, strlen(name) + 1); /* read_scenario() has looked at its length */
    return MCP_OK;
}

/* The directories of the scenarios in question; takes `fd`. */
static mcp_status list_partitions(struct reading *reading, int fd, mcp_error *err)
{
    DIR *folder = fdopendir(fd);
    size_t room = 0;
    int32_t scenario = 0;
    mcp_status st = MCP_OK;

    if (!folder) {
        close(fd);
        return mcp_error_set(err, MCP_E_IO, "the directory cannot be read: %s", strerror(errno));
    }
    for (struct dirent *entry = readdir(folder); entry && st == MCP_OK; entry = readdir(folder))
        if (read_scenario(&scenario, entry->d_name)) {
            reading->scenario_count++;
            if (is_in(&reading->question->scenarios, scenario))
                st = keep_partition(reading, &room, entry->d_name, scenario, err);
        }
    closedir(folder);
    if (reading->partition_count > 1)
        qsort(reading->partitions, reading->partition_count, sizeof *reading->partitions,
              by_scenario);
    return st;
}

static const char *file_name(const struct reading *reading, const struct partition *partition)
{
    const char *name = mcp_arena_printf(reading->arena, "simulation/%s/%s/data.parquet",
                                        reading->question->table->folder, partition->name);
    return name ? name : "simulation";
}

static mcp_status open_partition(struct reading *reading, const struct partition *partition,
                                 mcp_error *err)
{
    char name[64];
    int fd = -1;

    snprintf(name, sizeof name, "%s/data.parquet", partition->name);
    mcp_status st = guard_open_file(&fd, reading->folder_fd, name, err);
    if (st == MCP_E_NOT_FOUND && !guard_exists(reading->out_fd, MARKER))
        return MCP_OK;
    if (st == MCP_E_NOT_FOUND)
        st = mcp_error_set(err, MCP_E_PARSE, "the simulation is complete, but it is missing");
    if (st != MCP_OK) {
        reading->answer->file = file_name(reading, partition);
        return st;
    }
    reading->fds[reading->open_count] = fd;
    reading->opened[reading->open_count] = partition;
    reading->open_count++;
    return MCP_OK;
}

static void close_files(struct reading *reading)
{
    while (reading->open_count > 0)
        close(reading->fds[--reading->open_count]);
}

/* ---- one batch ------------------------------------------------------------------------------- */

/* The columns in the order of the question: the scenario's is made from the index of the file. */
static mcp_status arrange(columns_table *out, const struct reading *reading,
                          const columns_table *found, mcp_arena *arena, mcp_error *err)
{
    const query_question *question = reading->question;
    columns_column *all = mcp_arena_array(arena, question->name_count, sizeof *all);
    int32_t *scenarios = mcp_arena_array(arena, found->rows, sizeof *scenarios);
    const uint64_t *files = found->columns[0].values;
    size_t next = 1;

    if (!all || !scenarios)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the rows");
    if (found->columns[0].type != COLUMNS_U64)
        return mcp_error_set(err, MCP_E_INTERNAL, "the index of a file has an unknown type");
    for (size_t i = 0; reading->opened[0] && i < found->rows; i++)
        scenarios[i] = reading->opened[files[i]]->scenario;
    for (size_t i = 0; i < question->name_count; i++) {
        if (strcmp(question->names[i], QUERY_SCENARIO) == 0) {
            all[i] = (columns_column){ .name = QUERY_SCENARIO,
                                       .type = COLUMNS_I32,
                                       .values = scenarios };
            continue;
        }
        all[i] = found->columns[next++];
        all[i].name = question->names[i];
    }
    *out = (columns_table){ .rows = found->rows,
                            .column_count = question->name_count,
                            .columns = all };
    return MCP_OK;
}

static size_t put_conditions(columns_condition conditions[2], const query_question *question)
{
    size_t count = 0;

    if (question->stages.is_set)
        conditions[count++] = (columns_condition){ .column = "stage_id",
                                                   .least = question->stages.first,
                                                   .most = question->stages.last };
    if (question->ids)
        conditions[count++] = (columns_condition){ .column = question->table->entity,
                                                   .values = question->ids,
                                                   .count = question->id_count };
    return count;
}

static size_t put_order(const char *order[3], const query_table *table)
{
    size_t count = 0;

    if (!table->folder) {
        order[count++] = "iteration";
        return count;
    }
    order[count++] = "stage_id";
    if (table->entity)
        order[count++] = table->entity;
    order[count++] = "block_id";
    return count;
}

/* Select from `count` of the open files, from the `first`. */
static mcp_status select_from(const columns_table **found, uint64_t *total,
                              const struct reading *reading, size_t first, size_t count,
                              uint64_t rows_max, mcp_arena *arena, mcp_error *err)
{
    const query_question *question = reading->question;
    const char *names[QUERY_COLUMNS_MAX];
    columns_condition conditions[2];
    const char *order[3];
    size_t name_count = 0;

    for (size_t i = 0; i < question->name_count; i++)
        if (strcmp(question->names[i], QUERY_SCENARIO) != 0)
            names[name_count++] = question->names[i];
    if (name_count == 0) /* no name would select all */
        names[name_count++] = order[0] = "stage_id";
    const columns_selection selection = {
        .fds = reading->fds + first,
        .fd_count = count,
        .names = names,
        .name_count = name_count,
        .conditions = conditions,
        .condition_count = put_conditions(conditions, question),
        .order = order,
        .order_count = put_order(order, question->table),
        .rows_max = rows_max,
    };
    return columns_select(found, total, reading->engine, &selection, arena, err);
}

/* Which of the open files it is that cannot be read. */
static void blame(struct reading *reading, uint64_t rows_max, mcp_error *err)
{
    const columns_table *found = NULL;
    uint64_t total = 0;

    for (size_t i = 0; i < reading->open_count; i++) {
        mcp_error why = MCP_ERROR_INIT;
        mcp_arena *scratch = mcp_arena_new(BATCH_ARENA_MAX);
        mcp_status st = scratch
                            ? select_from(&found, &total, reading, i, 1, rows_max, scratch, &why)
                            : MCP_OK;
        mcp_arena_free(scratch);
        if (st == MCP_OK)
            continue;
        *err = why;
        if (reading->opened[i])
            reading->answer->file = file_name(reading, reading->opened[i]);
        return;
    }
}

/* The next batch has so many files that about BATCH_ROWS rows are to be expected. */
static void judge(struct reading *reading, uint64_t total)
{
    uint64_t each = total / reading->open_count + 1;
    uint64_t files = BATCH_ROWS / each + 1;

    if (files > 2 * reading->files)
        files = 2 * reading->files;
    reading->files = files < FILES_MAX ? (size_t)files : FILES_MAX;
}

static mcp_status read_batch(struct reading *reading, mcp_arena *arena, mcp_error *err)
{
    uint64_t left = reading->question->rows_max - reading->given;
    uint64_t rows_max = left < BATCH_ROWS_MAX ? left : BATCH_ROWS_MAX;
    const columns_table *found = NULL;
    columns_table rows = { 0 };
    uint64_t total = 0;

    mcp_status st = select_from(&found, &total, reading, 0, reading->open_count, rows_max, arena,
                                err);
    if (st == MCP_E_PARSE)
        blame(reading, rows_max, err);
    if (st == MCP_OK && left > rows_max && total > rows_max)
        st = mcp_error_set(err, MCP_E_LIMIT, "a file has more than %zu rows",
                           (size_t)BATCH_ROWS_MAX);
    if (st != MCP_OK)
        return st;
    reading->answer->total += total;
    judge(reading, total);
    if (found->rows == 0)
        return MCP_OK;
    reading->given += found->rows;
    st = arrange(&rows, reading, found, arena, err);
    if (st == MCP_OK)
        st = reading->sink->take(&rows, reading->sink->data, err);
    if (st != MCP_OK)
        reading->answer->file = NULL; /* no file is at fault */
    return st;
}

static mcp_status read_open_files(struct reading *reading, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(BATCH_ARENA_MAX);
    mcp_status st = arena ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for the rows");

    if (st == MCP_OK && reading->open_count > 0)
        st = read_batch(reading, arena, err);
    close_files(reading);
    mcp_arena_free(arena);
    return st;
}

/* ---- a table --------------------------------------------------------------------------------- */

static mcp_status read_partitions(struct reading *reading, mcp_error *err)
{
    const query_sink *sink = reading->sink;
    size_t next = 0;
    mcp_status st = MCP_OK;

    reading->files = 1;
    while (st == MCP_OK && next < reading->partition_count) {
        if (sink->should_stop && sink->should_stop(sink->data))
            return mcp_error_set(err, MCP_E_STOPPED, "stopped");
        bool only_counts = reading->given >= reading->question->rows_max;
        size_t files = only_counts ? FILES_MAX : reading->files;
        for (; st == MCP_OK && files > 0 && next < reading->partition_count; files--)
            st = open_partition(reading, &reading->partitions[next++], err);
        if (st == MCP_OK)
            st = read_open_files(reading, err);
    }
    close_files(reading);
    return st;
}

/* The scenarios of a complete simulation by its metadata; -1: it does not say. */
static int64_t recorded_scenarios(int out_fd, mcp_arena *arena)
{
    mcp_error why = MCP_ERROR_INIT;
    const mcp_json *metadata = NULL;
    const char *bytes = NULL;
    size_t length = 0;
    int64_t count = -1;

    if (!guard_exists(out_fd, MARKER) ||
        guard_read_file(&bytes, &length, out_fd, METADATA, METADATA_MAX, arena, &why) != MCP_OK ||
        mcp_json_read(&metadata, arena, bytes, length, &why) != MCP_OK)
        return -1;
    const char *status = mcp_json_get_string(metadata, "status");
    if (!status || strcmp(status, "complete") != 0 ||
        !mcp_json_int(mcp_json_pointer(metadata, "/scenarios/completed"), &count))
        return -1;
    return count;
}

/* A new run may have begun since the folders were counted; then there is no marker. */
static mcp_status check_count(struct reading *reading, mcp_error *err)
{
    int64_t recorded = recorded_scenarios(reading->out_fd, reading->arena);

    if (recorded < 0 || (uint64_t)recorded == reading->scenario_count)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARSE, "it has %zu scenarios, but " METADATA " has %lld",
                         reading->scenario_count, (long long)recorded);
}

bool query_is_lost(const query_table *table, int out_fd, mcp_arena *arena)
{
    mcp_error why = MCP_ERROR_INIT;
    query_entities entities = { 0 };

    if (!table->folder || recorded_scenarios(out_fd, arena) <= 0)
        return false;
    if (!table->entity)
        return true;
    if (query_entities_read(&entities, out_fd, arena, &why) != MCP_OK)
        return false;
    for (size_t i = 0; i < entities.count; i++)
        if (entities.items[i].code == table->entity_code)
            return true;
    return false;
}

static mcp_status read_simulation(struct reading *reading, int out_fd, mcp_error *err)
{
    char name[64];
    int list_fd = -1;

    snprintf(name, sizeof name, "simulation/%s", reading->question->table->folder);
    reading->answer->file = mcp_arena_strdup(reading->arena, name);
    mcp_status st = guard_open_subdir(&reading->folder_fd, out_fd, name, err);
    if (st == MCP_E_NOT_FOUND && query_is_lost(reading->question->table, out_fd, reading->arena))
        return mcp_error_set(err, MCP_E_PARSE, "it is missing");
    /* A simulated study may have no entity of a sort. */
    if (st == MCP_E_NOT_FOUND && guard_exists(out_fd, "simulation/costs"))
        return MCP_OK;
    if (st != MCP_OK)
        return st;
    st = guard_open_subdir(&list_fd, out_fd, name, err);
    if (st == MCP_OK)
        st = list_partitions(reading, list_fd, err);
    if (st == MCP_OK)
        st = check_count(reading, err);
    if (st == MCP_OK)
        st = read_partitions(reading, err);
    close(reading->folder_fd);
    return st;
}

static mcp_status read_convergence(struct reading *reading, int out_fd, mcp_error *err)
{
    reading->answer->file = CONVERGENCE;
    mcp_status st = guard_open_file(&reading->fds[0], out_fd, CONVERGENCE, err);
    if (st == MCP_E_NOT_FOUND && guard_is_taken(out_fd, CONVERGENCE))
        st = mcp_error_set(err, MCP_E_PARSE, "it is not a regular file");
    if (st != MCP_OK)
        return st;
    reading->open_count = 1;
    return read_open_files(reading, err);
}

mcp_status query_rows(query_answer *out, columns *engine, int out_fd,
                      const query_question *question, const query_sink *sink, mcp_arena *arena,
                      mcp_error *err)
{
    struct reading *reading = mcp_arena_alloc(arena, sizeof *reading);
    bool is_simulation = question->table->folder != NULL;

    if (!reading)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a question");
    memset(reading, 0, sizeof *reading);
    memset(out, 0, sizeof *out);
    reading->question = question;
    reading->sink = sink;
    reading->engine = engine;
    reading->out_fd = out_fd;
    reading->folder_fd = -1;
    reading->arena = arena;
    reading->answer = out;
    out->is_complete = guard_exists(out_fd, is_simulation ? MARKER : "training/_SUCCESS");
    return is_simulation ? read_simulation(reading, out_fd, err)
                         : read_convergence(reading, out_fd, err);
}
