/*
 * source.c - see source.h.
 */
#include "query/source.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/quote.h"
#include "columns/sealed/sealed.h"

enum { CSV_LINE_MIN = 8 << 20, CSV_LINE_MAX = 40 << 20 }; /* bytes of a line of CSV */

/* Files that one function call reads, or one table. */
typedef struct casparian_source_part {
    const casparian_catalog_file *first; /* says how they are read */
    bool has_condition;                  /* superseded rows are left out: it has one file */
    int *numbers;
    size_t count, capacity;
    int64_t longest;      /* bytes of the longest of the files */
    int database;         /* of a DuckDB file: its number */
    const int64_t **jobs; /* of its table */
} part;

/* Columns of a quarantine table besides the declared ones. */
static const struct {
    const char *name, *type;
} quarantine_columns[] = {
    { "_error_msg", "VARCHAR" }, { "_violation_type", "VARCHAR" },  { "_violations", "VARCHAR" },
    { "_source_row", "BIGINT" }, { "_output_row_index", "BIGINT" }, { "_source_path", "VARCHAR" },
    { "_raw_row", "VARCHAR" },
};

static const char *const lineage_columns[] = { "_cf_source_hash", "_cf_job_id", "_cf_processed_at",
                                               "_cf_parser_version" };

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the views of a query");
}

static bool is_format(const casparian_catalog_file *file, const char *format)
{
    return strcmp(file->format, format) == 0;
}

/* ---- open files ------------------------------------------------------------------------------ */

mcp_status casparian_sources_init(casparian_sources *self, const casparian_catalog *catalog,
                                  size_t files_max, mcp_arena *arena, mcp_error *err)
{
    size_t count = catalog->count + 1;

    memset(self, 0, sizeof *self);
    self->catalog = catalog;
    self->arena = arena;
    self->files_max = files_max;
    self->numbers = mcp_arena_array(arena, count, sizeof *self->numbers);
    self->fds = mcp_arena_array(arena, count, sizeof *self->fds);
    self->locations = mcp_arena_array(arena, count, sizeof *self->locations);
    self->setup = mcp_arena_array(arena, count, sizeof *self->setup);
    self->databases = mcp_arena_array(arena, count, sizeof *self->databases);
    if (!self->numbers || !self->fds || !self->locations || !self->setup || !self->databases)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        self->numbers[i] = CASPARIAN_SOURCE_UNKNOWN;
    return MCP_OK;
}

void casparian_sources_clear(casparian_sources *self)
{
    for (size_t i = 0; i < self->fd_count; i++)
        close(self->fds[i]);
    self->fd_count = 0;
}

int casparian_source_refusal(const casparian_sources *self, size_t file)
{
    int number = self->numbers[file];
    return number == CASPARIAN_SOURCE_MISSING || number == CASPARIAN_SOURCE_DENIED ? number : 0;
}

/* A regular file and no link. O_NONBLOCK: a FIFO is refused, not waited for. */
static int open_plain(const char *location)
{
    struct stat file;
    int fd = open(location, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd >= 0 && (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

int casparian_source_open(const casparian_catalog *catalog, const casparian_catalog_file *file)
{
    return file->open      ? file->open(file->data, file->location)
           : catalog->open ? catalog->open(catalog->data, file->location)
                           : open_plain(file->location);
}

/* The same file may hold tables of many jobs. */
static int find_open(const casparian_sources *self, const char *location)
{
    for (size_t i = 0; i < self->fd_count; i++)
        if (strcmp(self->locations[i], location) == 0)
            return (int)i;
    return CASPARIAN_SOURCE_UNKNOWN;
}

static mcp_status attach(casparian_sources *self, int number, mcp_error *err)
{
    char *name = mcp_arena_printf(self->arena, "sink_%d", number);
    char *sql = mcp_arena_printf(self->arena, "ATTACH '/proc/self/fd/%d' AS sink_%d (READ_ONLY)",
                                 COLUMNS_SEALED_FIRST_FD + number, number);

    if (!name || !sql)
        return no_memory(err);
    self->databases[self->setup_count] = name;
    self->setup[self->setup_count++] = sql;
    return MCP_OK;
}

static mcp_status open_file(casparian_sources *self, size_t index, mcp_error *err)
{
    const casparian_catalog *catalog = self->catalog;
    const casparian_catalog_file *file = &catalog->files[index];
    bool is_database = is_format(file, "duckdb");
    int number = is_database ? find_open(self, file->location) : CASPARIAN_SOURCE_UNKNOWN;

    if (number == CASPARIAN_SOURCE_UNKNOWN) {
        int fd = casparian_source_open(catalog, file);
        if (fd < 0) {
            self->numbers[index] = fd == CASPARIAN_CATALOG_DENIED ? CASPARIAN_SOURCE_DENIED
                                                                  : CASPARIAN_SOURCE_MISSING;
            return MCP_OK;
        }
        if (self->fd_count == self->files_max) {
            close(fd);
            return mcp_error_set(err, MCP_E_LIMIT,
                                 "a query can read at most %zu files; name the "
                                 "output of one schema (x__schema_...)",
                                 self->files_max);
        }
        number = (int)self->fd_count;
        self->locations[number] = file->location;
        self->fds[self->fd_count++] = fd;
        if (is_database && attach(self, number, err) != MCP_OK)
            return MCP_E_NOMEM;
    }
    self->numbers[index] = number;
    return MCP_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

mcp_status casparian_source_begin(casparian_source_text *self, mcp_arena *arena, mcp_error *err)
{
    memset(self, 0, sizeof *self);
    self->arena = arena;
    self->capacity = 16;
    self->parts = mcp_arena_array(arena, self->capacity, sizeof *self->parts);
    return self->parts ? MCP_OK : no_memory(err);
}

static bool is_alike(const part *self, const casparian_catalog_file *file, int number)
{
    const casparian_catalog_file *first = self->first;

    if (self->has_condition || strcmp(first->format, file->format) != 0)
        return false;
    if (is_format(file, "csv"))
        return strcmp(first->schema_hash, file->schema_hash) == 0 &&
               first->csv_delimiter == file->csv_delimiter &&
               first->csv_headerless == file->csv_headerless;
    if (is_format(file, "duckdb"))
        return self->database == number && strcmp(first->table, file->table) == 0;
    return true;
}

/* NULL: no memory */
static part *find_part(casparian_source_text *self, const casparian_catalog_file *file, int number,
                       bool has_condition)
{
    for (size_t i = 0; !has_condition && i < self->count; i++)
        if (is_alike(&self->parts[i], file, number))
            return &self->parts[i];
    if (self->count == self->capacity) {
        part *more = mcp_arena_array(self->arena, 2 * self->capacity, sizeof *more);
        if (!more)
            return NULL;
        memcpy(more, self->parts, self->count * sizeof *more);
        self->parts = more;
        self->capacity *= 2;
    }
    part *added = &self->parts[self->count++];
    *added = (part){ .first = file, .has_condition = has_condition, .database = number };
    return added;
}

static bool add_number(part *self, mcp_arena *arena, int number, const int64_t *job)
{
    if (self->count == self->capacity) {
        size_t wanted = self->capacity > 0 ? 2 * self->capacity : 4;
        int *numbers = mcp_arena_array(arena, wanted, sizeof *numbers);
        const int64_t **jobs = mcp_arena_array(arena, wanted, sizeof *jobs);
        if (!numbers || !jobs)
            return false;
        if (self->count > 0) {
            memcpy(numbers, self->numbers, self->count * sizeof *numbers);
            memcpy(jobs, self->jobs, self->count * sizeof *jobs);
        }
        self->numbers = numbers;
        self->jobs = jobs;
        self->capacity = wanted;
    }
    self->numbers[self->count] = number;
    self->jobs[self->count++] = job;
    return true;
}

mcp_status casparian_source_add(casparian_source_text *self, casparian_sources *sources,
                                size_t index, bool has_superseded, mcp_error *err)
{
    const casparian_catalog_file *file = &sources->catalog->files[index];
    mcp_status st = MCP_OK;

    if (sources->numbers[index] == CASPARIAN_SOURCE_UNKNOWN)
        st = open_file(sources, index, err);
    int number = sources->numbers[index];
    if (st != MCP_OK || number < 0)
        return st;
    part *of = find_part(self, file, number, !has_superseded && file->superseded_count > 0);
    struct stat about;
    if (of && fstat(sources->fds[number], &about) == 0 && about.st_size > of->longest)
        of->longest = about.st_size;
    return of && add_number(of, self->arena, number, &file->job_id) ? MCP_OK : no_memory(err);
}

/* ---- SQL ------------------------------------------------------------------------------------- */

static void put_list(mcp_buf *out, const part *self)
{
    mcp_buf_putc(out, '[');
    for (size_t i = 0; i < self->count; i++)
        mcp_buf_printf(out, "%s'/proc/self/fd/%d'", i > 0 ? ", " : "",
                       COLUMNS_SEALED_FIRST_FD + self->numbers[i]);
    mcp_buf_putc(out, ']');
}

static void put_parquet(mcp_buf *out, const part *self)
{
    mcp_buf_puts(out, "SELECT * FROM read_parquet(");
    put_list(out, self);
    mcp_buf_puts(out, ", union_by_name = true, hive_partitioning = false)");
}

/* The type of a column as a CSV file has it. */
static void put_csv_type(mcp_buf *out, const casparian_type *type)
{
    static const char *const names[CASPARIAN_KIND_COUNT] = {
        [CASPARIAN_KIND_BOOLEAN] = "BOOLEAN",     [CASPARIAN_KIND_INT64] = "BIGINT",
        [CASPARIAN_KIND_FLOAT64] = "DOUBLE",      [CASPARIAN_KIND_DATE] = "DATE",
        [CASPARIAN_KIND_TIMESTAMP] = "TIMESTAMP", [CASPARIAN_KIND_TIMESTAMP_TZ] = "TIMESTAMPTZ",
        [CASPARIAN_KIND_TIME] = "TIME",
    };

    if (type->kind == CASPARIAN_KIND_DECIMAL)
        mcp_buf_printf(out, "'DECIMAL(%d,%d)'", type->decimal.precision, type->decimal.scale);
    else
        columns_quote(out, names[type->kind] ? names[type->kind] : "VARCHAR", '\'');
}

static void put_column(mcp_buf *out, const char *name, const char *type, bool is_first)
{
    mcp_buf_puts(out, is_first ? "" : ", ");
    columns_quote(out, name, '\'');
    mcp_buf_puts(out, ": ");
    if (type)
        columns_quote(out, type, '\'');
}

static void put_csv_columns(mcp_buf *out, const casparian_catalog_file *file)
{
    const casparian_definition *definition = file->definition;

    mcp_buf_puts(out, ", auto_detect = false, columns = {");
    for (size_t i = 0; i < definition->count; i++) {
        put_column(out, definition->columns[i].name, NULL, i == 0);
        put_csv_type(out, &definition->columns[i].type);
    }
    for (size_t i = 0; file->is_quarantine && i < 7; i++)
        put_column(out, quarantine_columns[i].name, quarantine_columns[i].type, false);
    for (size_t i = 0; !file->is_control && i < 4; i++)
        put_column(out, lineage_columns[i], "VARCHAR", false);
    mcp_buf_putc(out, '}');
}

/* Binary is base64, and a duration is PT1.5S, in a CSV file; in other files they are bytes and
 * microseconds. */
static void put_csv_select(mcp_buf *out, const casparian_definition *definition)
{
    bool is_first = true;

    mcp_buf_puts(out, "SELECT *");
    for (size_t i = 0; definition && i < definition->count; i++) {
        const casparian_column *column = &definition->columns[i];
        bool is_binary = column->type.kind == CASPARIAN_KIND_BINARY;
        if (!is_binary && column->type.kind != CASPARIAN_KIND_DURATION)
            continue;
        mcp_buf_puts(out, is_first ? " REPLACE (" : ", ");
        mcp_buf_puts(out, is_binary ? "from_base64(" : "CAST(CAST(regexp_replace(");
        columns_quote(out, column->name, '"');
        mcp_buf_puts(out, is_binary ? ") AS "
                                    : ", '^(-?)PT(.*)S$', '\\1\\2') AS DECIMAL(30,6)) * 1000000 "
                                      "AS BIGINT) AS ");
        columns_quote(out, column->name, '"');
        is_first = false;
    }
    mcp_buf_puts(out, is_first ? " FROM " : ") FROM ");
}

/* The engine has a buffer of two lines for each thread, so it is not told more than there can be.
 * Longer lines than CSV_LINE_MAX have values that no query can show. */
static int64_t line_max(const part *self)
{
    return self->longest < CSV_LINE_MIN   ? CSV_LINE_MIN
           : self->longest > CSV_LINE_MAX ? CSV_LINE_MAX
                                          : self->longest;
}

static void put_csv(mcp_buf *out, const part *self)
{
    const casparian_catalog_file *file = self->first;
    char delimiter[2] = { file->csv_delimiter ? file->csv_delimiter : ',', '\0' };

    put_csv_select(out, file->definition);
    mcp_buf_puts(out, "read_csv(");
    put_list(out, self);
    mcp_buf_puts(out, ", delim = ");
    columns_quote(out, delimiter, '\'');
    mcp_buf_printf(out,
                   ", quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
                   "new_line = '\\n', max_line_size = %" PRId64 ", buffer_size = %" PRId64
                   ", header = %s",
                   line_max(self), 2 * line_max(self), file->csv_headerless ? "false" : "true");
    if (file->definition)
        put_csv_columns(out, file);
    else
        mcp_buf_puts(out, ", all_varchar = true");
    mcp_buf_putc(out, ')');
}

/* One table has the rows of several jobs. */
static void put_table(mcp_buf *out, const part *self)
{
    mcp_buf_printf(out, "SELECT * FROM sink_%d.main.", self->database);
    columns_quote(out, self->first->table, '"');
    mcp_buf_puts(out, " WHERE _cf_job_id IN (");
    for (size_t i = 0; i < self->count; i++)
        mcp_buf_printf(out, "%s'%" PRId64 "'", i > 0 ? ", " : "", *self->jobs[i]);
    mcp_buf_putc(out, ')');
}

static void put_condition(mcp_buf *out, const casparian_catalog_file *file, bool has_where)
{
    mcp_buf_printf(out, " %s _cf_source_hash NOT IN (", has_where ? "AND" : "WHERE");
    for (size_t i = 0; i < file->superseded_count; i++) {
        mcp_buf_puts(out, i > 0 ? ", " : "");
        columns_quote(out, file->superseded_hashes[i], '\'');
    }
    mcp_buf_putc(out, ')');
}

static void put_part(mcp_buf *out, const part *self)
{
    bool is_table = is_format(self->first, "duckdb");

    if (is_table)
        put_table(out, self);
    else if (is_format(self->first, "csv"))
        put_csv(out, self);
    else
        put_parquet(out, self);
    if (self->has_condition)
        put_condition(out, self->first, is_table);
}

bool casparian_source_is_attached(const casparian_source_text *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (is_format(self->parts[i].first, "duckdb"))
            return true;
    return false;
}

mcp_status casparian_source_end(mcp_buf *out, const casparian_source_text *self, mcp_error *err)
{
    for (size_t i = 0; i < self->count; i++) {
        mcp_buf_puts(out, i > 0 ? " UNION ALL BY NAME " : "");
        put_part(out, &self->parts[i]);
    }
    if (out->status != MCP_OK)
        return mcp_error_set(err, out->status, "a view of a query has too many files");
    return MCP_OK;
}
