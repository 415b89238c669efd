/*
 * rows.c - the columns of the outputs, from the elements of an event.
 *
 * The elements of System have the columns that Windows' event schema names. The data of an event
 * are names and values, each a row with the value as text and, where the text is of a known form,
 * as a value of that type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsers/evtx_native/form.h"
#include "parsers/evtx_native/json.h"
#include "parsers/evtx_native/rows.h"

enum { KEY_MAX = 512, DATA_MAX = 1024 };

#define TEXT(name)                                                                                 \
    {                                                                                              \
        name, CF_STRING, 0, 0, NULL                                                                \
    }
#define NUMBER(name)                                                                               \
    {                                                                                              \
        name, CF_INT64, 0, 0, NULL                                                                 \
    }
#define INSTANT(name)                                                                              \
    {                                                                                              \
        name, CF_TIMESTAMP_TZ, 0, 0, "UTC"                                                         \
    }

static const cf_column event_columns[] = {
    NUMBER("event_record_id"),
    INSTANT("timestamp"),
    TEXT("provider_name"),
    TEXT("provider_guid"),
    TEXT("provider_event_source_name"),
    TEXT("channel"),
    TEXT("computer"),
    NUMBER("event_id"),
    NUMBER("event_qualifiers"),
    NUMBER("version"),
    NUMBER("level"),
    NUMBER("task"),
    NUMBER("opcode"),
    TEXT("keywords_hex"),
    NUMBER("execution_process_id"),
    NUMBER("execution_thread_id"),
    TEXT("security_user_id"),
    TEXT("correlation_activity_id"),
    TEXT("correlation_related_activity_id"),
    TEXT("raw_event_json"),
    TEXT("raw_event_xml"),
};
static const cf_column data_columns[] = {
    NUMBER("event_record_id"),
    TEXT("section"),
    TEXT("key"),
    NUMBER("idx"),
    TEXT("value_raw"),
    TEXT("value_type"),
    NUMBER("value_int64"),
    { "value_bool", CF_BOOLEAN, 0, 0, NULL },
    INSTANT("value_ts"),
    { "value_bytes", CF_BINARY, 0, 0, NULL },
};
static const cf_column annotation_columns[] = { NUMBER("event_record_id"), TEXT("note_type"),
                                                TEXT("note_key"), TEXT("note_value"),
                                                NUMBER("severity") };
static const cf_column file_columns[] = { TEXT("file_path"),      TEXT("file_hash"),
                                          NUMBER("file_size"),    INSTANT("file_mtime"),
                                          NUMBER("record_count"), TEXT("parser_output_version") };

enum { EVENT_RECORD_ID, TIMESTAMP, RAW_EVENT_JSON = 19 };
enum {
    DATA_RECORD,
    SECTION,
    KEY,
    IDX,
    VALUE_RAW,
    VALUE_TYPE,
    VALUE_INT64,
    VALUE_BOOL,
    VALUE_TS,
    VALUE_BYTES
};

/* Columns from System: an element, and its attribute or (NULL) its text. */
static const struct {
    size_t column;
    bool is_number;
    const char *element;
    const char *attribute;
} system_fields[] = {
    { 2, false, "Provider", "Name" },
    { 3, false, "Provider", "Guid" },
    { 4, false, "Provider", "EventSourceName" },
    { 5, false, "Channel", NULL },
    { 6, false, "Computer", NULL },
    { 7, true, "EventID", NULL },
    { 8, true, "EventID", "Qualifiers" },
    { 9, true, "Version", NULL },
    { 10, true, "Level", NULL },
    { 11, true, "Task", NULL },
    { 12, true, "Opcode", NULL },
    { 13, false, "Keywords", NULL },
    { 14, true, "Execution", "ProcessID" },
    { 15, true, "Execution", "ThreadID" },
    { 16, false, "Security", "UserID" },
    { 17, false, "Correlation", "ActivityID" },
    { 18, false, "Correlation", "RelatedActivityID" },
};

static cf_output *open_output(cf_sink *sink, const char *name, const cf_column *columns,
                              size_t count)
{
    cf_schema schema = { columns, count, NULL, false };

    return cf_output_open(sink, name, &schema);
}

void casparian_evtx_rows_open(struct casparian_evtx_rows *rows, cf_sink *sink)
{
    rows->events = open_output(sink, "evtx_events", event_columns, 21);
    rows->event_data = open_output(sink, "evtx_eventdata_kv", data_columns, 10);
    rows->user_data = open_output(sink, "evtx_userdata_kv", data_columns, 10);
    rows->annotations = open_output(sink, "evtx_record_annotations", annotation_columns, 5);
    rows->files = open_output(sink, "evtx_files", file_columns, 6);
}

static void set_text(cf_output *output, size_t column, const char *text)
{
    cf_set_str(output, column, text, strlen(text));
}

void casparian_evtx_annotate(struct casparian_evtx_rows *rows, int64_t record, const char *type,
                             const char *key, const char *value, int64_t severity)
{
    cf_row_new(rows->annotations);
    cf_set_i64(rows->annotations, 0, record);
    set_text(rows->annotations, 1, type);
    set_text(rows->annotations, 2, key);
    set_text(rows->annotations, 3, value);
    cf_set_i64(rows->annotations, 4, severity);
    cf_row_commit(rows->annotations);
}

static void set_system(struct casparian_evtx_rows *rows, const struct casparian_node *system,
                       int64_t record)
{
    for (size_t i = 0; i < sizeof system_fields / sizeof system_fields[0]; i++) {
        const char *element = system_fields[i].element, *attribute = system_fields[i].attribute;
        const struct casparian_node *node = casparian_node_find(system->children, element);
        size_t column = system_fields[i].column;
        int64_t number = 0;
        if (node && attribute)
            node = casparian_node_find(node->attributes, attribute);
        if (!node || node->is_dropped || node->text.length == 0)
            continue;
        if (!system_fields[i].is_number)
            cf_set_str(rows->events, column, node->text.bytes, node->text.length);
        else if (casparian_form_integer(node->text, &number))
            cf_set_i64(rows->events, column, number);
        else
            casparian_evtx_annotate(rows, record, "conversion_failed", event_columns[column].name,
                                    "the value is no integer", CASPARIAN_EVTX_WARN);
    }
}

/* A name and a value of the data: `json` where the value is nested. */
static void add_datum(cf_output *output, int64_t record, const char *section,
                      struct casparian_text key, int64_t index, const struct casparian_node *node,
                      struct casparian_text text, bool is_nested)
{
    struct casparian_form form = casparian_form_of(text);

    cf_row_new(output);
    cf_set_i64(output, DATA_RECORD, record);
    set_text(output, SECTION, section);
    cf_set_str(output, KEY, key.bytes, key.length);
    if (index >= 0)
        cf_set_i64(output, IDX, index);
    cf_set_str(output, VALUE_RAW, text.bytes, text.length);
    set_text(output, VALUE_TYPE, is_nested ? "json" : form.name);
    if (!is_nested && form.has_integer)
        cf_set_i64(output, VALUE_INT64, form.integer);
    if (!is_nested && form.has_boolean)
        cf_set_bool(output, VALUE_BOOL, form.boolean);
    if (!is_nested && form.has_micros)
        cf_set_ts(output, VALUE_TS, form.micros);
    if (node->binary)
        cf_set_bin(output, VALUE_BYTES, node->binary, node->binary_length);
    cf_row_commit(output);
}

/* An element of the data that is named: its key and its place in the event. */
struct datum {
    struct casparian_text key;
    size_t place;
    const struct casparian_node *node;
};

static int by_key(const void *one, const void *other)
{
    const struct datum *a = one, *b = other;
    size_t least = a->key.length < b->key.length ? a->key.length : b->key.length;
    int order = memcmp(a->key.bytes, b->key.bytes, least);

    if (order == 0 && a->key.length != b->key.length)
        order = a->key.length < b->key.length ? -1 : 1;
    return order ? order : a->place < b->place ? -1 : 1;
}

static void add_node(cf_output *output, struct casparian_tree *tree, int64_t record,
                     struct casparian_text key, int64_t index, const struct casparian_node *node)
{
    bool is_nested = node->children != NULL;
    struct casparian_text text = is_nested ? casparian_json_of(tree, node) : node->text;

    if (!node->is_dropped)
        add_datum(output, record, "EventData", key, index, node, text, is_nested);
}

/* Named data sorted by name, then the others in their order. */
static void add_event_data(struct casparian_evtx_rows *rows, struct casparian_tree *tree,
                           const struct casparian_node *data, int64_t record)
{
    struct datum *named = casparian_tree_take(tree, DATA_MAX * sizeof *named);
    static const struct casparian_text unnamed = { "Data", 4 };
    size_t count = 0;
    int64_t index = 0;

    if (!named) {
        casparian_evtx_annotate(rows, record, "parse_warning", "EventData",
                                "the event is too large", CASPARIAN_EVTX_ERROR);
        return;
    }
    for (const struct casparian_node *node = data->children; node; node = node->next) {
        const struct casparian_node *name = casparian_node_find(node->attributes, "Name");
        bool is_data = node->name.length == 4 && memcmp(node->name.bytes, "Data", 4) == 0;
        bool is_named = (name && name->text.length > 0) || !is_data;
        if (is_named && count < DATA_MAX)
            named[count] = (struct datum){ name && is_data ? name->text : node->name, count, node };
        count += is_named;
    }
    if (count > DATA_MAX) {
        casparian_evtx_annotate(rows, record, "parse_warning", "EventData",
                                "the event has more than 1024 named data; the others are left out",
                                CASPARIAN_EVTX_ERROR);
        count = DATA_MAX;
    }
    if (count > 0)
        qsort(named, count, sizeof *named, by_key);
    for (size_t i = 0; i < count; i++)
        add_node(rows->event_data, tree, record, named[i].key, -1, named[i].node);
    for (const struct casparian_node *node = data->children; node; node = node->next) {
        const struct casparian_node *name = casparian_node_find(node->attributes, "Name");
        bool is_data = node->name.length == 4 && memcmp(node->name.bytes, "Data", 4) == 0;
        if (is_data && !(name && name->text.length > 0))
            add_node(rows->event_data, tree, record, unnamed, index++, node);
    }
}

/* The key of a part: `stem.name`, cut where it is too long. */
static struct casparian_text join(char *out, struct casparian_text stem, const char *between,
                                  struct casparian_text name)
{
    int length = snprintf(out, KEY_MAX, "%.*s%s%.*s", (int)stem.length, stem.bytes, between,
                          (int)name.length, name.bytes);

    return (struct casparian_text){ out, length < KEY_MAX ? (size_t)length : KEY_MAX - 1 };
}

static void add_user_data(cf_output *output, int64_t record, struct casparian_text key,
                          const struct casparian_node *node)
{
    static const struct casparian_text text = { "#text", 5 };
    bool is_plain = !node->children && !node->attributes;
    char part[KEY_MAX];

    if (node->is_dropped)
        return;
    for (const struct casparian_node *one = node->attributes; one; one = one->next)
        if (!one->is_dropped)
            add_datum(output, record, "UserData", join(part, key, ".#attributes.", one->name), -1,
                      one, one->text, false);
    if (is_plain)
        add_datum(output, record, "UserData", key, -1, node, node->text, false);
    else if (node->text.length > 0)
        add_datum(output, record, "UserData", join(part, key, ".", text), -1, node, node->text,
                  false);
    for (const struct casparian_node *one = node->children; one; one = one->next)
        add_user_data(output, record, join(part, key, ".", one->name), one);
}

void casparian_evtx_rows_add(struct casparian_evtx_rows *rows, struct casparian_tree *tree,
                             const struct casparian_node *root, int64_t record, int64_t micros)
{
    const struct casparian_node *event = casparian_node_find(root->children, "Event");
    const struct casparian_node *system = event ? casparian_node_find(event->children, "System")
                                                : NULL;

    if (!system) {
        casparian_evtx_annotate(rows, record, "field_shape_variant", "System",
                                "the record has no Event with a System", CASPARIAN_EVTX_ERROR);
        return;
    }
    cf_row_new(rows->events);
    cf_set_i64(rows->events, EVENT_RECORD_ID, record);
    cf_set_ts(rows->events, TIMESTAMP, micros);
    set_system(rows, system, record);
    struct casparian_text json = casparian_json_of(tree, root);
    if (json.length > 0)
        cf_set_str(rows->events, RAW_EVENT_JSON, json.bytes, json.length);
    cf_row_commit(rows->events);
    const struct casparian_node *data = casparian_node_find(event->children, "EventData");
    const struct casparian_node *user = casparian_node_find(event->children, "UserData");
    if (data)
        add_event_data(rows, tree, data, record);
    for (const struct casparian_node *one = user ? user->children : NULL; one; one = one->next)
        add_user_data(rows->user_data, record, one->name, one);
}
