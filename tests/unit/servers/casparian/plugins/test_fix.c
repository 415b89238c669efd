/*
 * test_fix.c - the shipped fix_parser over the samples, against the counts of the specification,
 * and over lines that no sample has.
 */
#include "rig.h"

static rig all;

/* The shipped module, as a guest runs it. */
static void use_parser(rig *self, const char *env)
{
    static const char *variables[1];
    const char *source = getenv("CAUSEWAY_SOURCE");
    variables[0] = env;
    self->options.env = variables;
    self->options.env_count = env ? 1 : 0;
    self->plugin = (casparian_plugin){ .id = "fix_parser",
                                       .version = "1.2.0",
                                       .display = "fix_parser@1.2.0",
                                       .origin = CASPARIAN_SHIPPED,
                                       .python = rig_python(self->arena),
                                       .default_output = "fix_order_lifecycle" };
    self->plugin.dir = mcp_arena_printf(self->arena, "%s/servers/casparian/parsers/fix_parser",
                                        source);
    self->plugin.entrypoint = mcp_arena_printf(self->arena, "%s/fix_parser.py", self->plugin.dir);
}

static int set_up(void **state)
{
    rig_open(&all);
    use_parser(&all, NULL);
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

static size_t count_of(const rig *self, const char *text)
{
    size_t count = 0;
    for (const char *at = strstr(rig_rows(self), text); at; at = strstr(at + 1, text))
        count++;
    return count;
}

static void parse_lines(rig *self, const char *lines)
{
    scratch_write(&self->folder, "inputs/log.fix", lines, strlen(lines));
    rig_parse(self, "log.fix");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
}

/* Orders, sessions, errors: the table of the specification; the prefixed file is our own. */
static void samples_have_the_rows_of_the_specification(void **state)
{
    static const struct {
        const char *file;
        size_t orders, sessions, errors;
    } rows[] = {
        { "order_lifecycle.fix", 13, 0, 0 }, { "session_events.fix", 0, 12, 0 },
        { "mixed_messages.fix", 3, 6, 0 },   { "prefixed_logs.fix", 5, 3, 5 },
        { "decimal_rounding.fix", 1, 0, 2 }, { "soh_delimiter.fix", 2, 0, 0 },
    };
    rig *self = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char from[600];
        static char text[64 << 10];
        snprintf(from, sizeof from, "%s/examples/casparian/samples/fix/%s",
                 getenv("CAUSEWAY_SOURCE"), rows[i].file);
        FILE *file = fopen(from, "rb");
        assert_non_null(file);
        size_t length = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[length] = '\0';
        parse_lines(self, text);
        assert_int_equal(count_of(self, "\nfix_order_lifecycle: "), rows[i].orders);
        assert_int_equal(count_of(self, "\nfix_session_events: "), rows[i].sessions);
        assert_int_equal(count_of(self, "\nfix_parse_errors: "), rows[i].errors);
        assert_non_null(strstr(rig_rows(self),
                               "[fix_order_lifecycle]\n[fix_session_events]\n"
                               "[fix_parse_errors]\n")); /* also those without rows */
        assert_null(strstr(rig_rows(self), "[fix_tags]"));
    }
}

static void an_order_has_its_columns(void **state)
{
    rig *self = *state;
    parse_lines(self, "8=FIX.4.2|9=5|35=D|34=7|52=20240513-08:00:07.5|11=A|38=1.5|44=2|54=1\n");
    const char *row = strstr(rig_rows(self), "fix_order_lifecycle: ");
    assert_non_null(row);
    assert_int_equal(count_of(self, "="), 53); /* one a column */
    assert_non_null(strstr(row, " line_number=int64:1 message_index=int64:0 "));
    assert_non_null(strstr(row, " __cf_row_id=int64:1 begin_string=string:FIX.4.2 "));
    assert_non_null(strstr(row, " msg_seq_num=int64:7 sending_time="
                                "timestamp_tz:2024-05-13T08:00:07.500000Z "));
    assert_non_null(strstr(row, " order_qty=decimal:1.5000000000 price=decimal:2.0000000000 "));
    assert_non_null(strstr(row, " lifecycle_event=string:new_order "));
    /* sha256 of the line without its end, by sha256sum */
    assert_non_null(strstr(row, "string:831728c3783c79d6"));
}

/* What Python reads as numbers, too: digits of other scripts, and '_' between digits. */
static void decimals_are_of_ascii_digits_alone(void **state)
{
    rig *self = *state;
    parse_lines(self, "8=FIX.4.4|35=D|38=1_000|44=\xD9\xA3|14=0x10|151= 5 |32=1e3|31=.5|6=-5.\n");
    assert_int_equal(count_of(self, "\nfix_parse_errors: "), 3);
    assert_non_null(strstr(rig_rows(self), "Invalid decimal: field=order_qty value=1_000 "));
    assert_non_null(strstr(rig_rows(self), "Invalid decimal: field=price value=\xD9\xA3 "));
    assert_non_null(strstr(rig_rows(self), " order_qty=null price=null "));
    assert_non_null(strstr(rig_rows(self), " leaves_qty=decimal:5.0000000000 "
                                           "last_qty=decimal:1000.0000000000 "
                                           "last_px=decimal:0.5000000000 "
                                           "avg_px=decimal:-5.0000000000 "));
}

static void times_are_of_the_zone_of_the_environment(void **state)
{
    rig *self = *state;
    use_parser(self, "FIX_TZ=Europe/Berlin");
    parse_lines(self, "8=FIX.4.4|35=D|52=20240713-08:00:07|60=20240731-24:00:00|34=x\n");
    assert_non_null(strstr(rig_rows(self), "sending_time=timestamp_tz:2024-07-13T06:00:07Z"));
    assert_non_null(strstr(rig_rows(self), "transact_time=null"));
    assert_non_null(strstr(rig_rows(self), "msg_seq_num=null"));
}

static void tags_of_the_allowlist_are_an_output(void **state)
{
    rig *self = *state;
    use_parser(self, "FIX_TAGS_ALLOWLIST=58,x, 9001");
    parse_lines(self, "8=FIX.4.4|35=AE|9001=a|58=b|58=c|55=d\n");
    assert_int_equal(count_of(self, "\nfix_tags: "), 3);
    assert_non_null(strstr(rig_rows(self), "tag=string:9001 value=string:a position=int64:3\n"));
    assert_non_null(strstr(rig_rows(self), "tag=string:58 value=string:c position=int64:5\n"));
}

static void an_allowlist_without_numbers_is_unset(void **state)
{
    rig *self = *state;
    use_parser(self, "FIX_TAGS_ALLOWLIST=x,y");
    parse_lines(self, "8=FIX.4.4|35=D|58=b\n");
    assert_null(strstr(rig_rows(self), "fix_tags"));
}

static void delimiters_are_found(void **state)
{
    rig *self = *state;
    parse_lines(self, "8=FIX.4.4^A35=0^A49=A\n8=FIX.4.4 35=0 49=A\n8=FIX.4.4\x01"
                      "35=0\x01"
                      "49=A|B\n");
    assert_int_equal(count_of(self, "\nfix_session_events: "), 3);
    assert_int_equal(count_of(self, " sender_comp_id=string:A "), 2);
    assert_int_equal(count_of(self, " sender_comp_id=string:A|B "), 1);
}

static void a_last_duplicate_wins_and_a_trade_is_a_report(void **state)
{
    rig *self = *state;
    parse_lines(self, "8=FIX.4.4|35=8|150=F|55=A|55=B|39=2\n8=FIX.4.4|35=8|150=x|39=8\n");
    assert_int_equal(count_of(self, " symbol=string:B "), 1);
    assert_int_equal(count_of(self, "lifecycle_event=string:exec_report"), 1);
    assert_int_equal(count_of(self, "lifecycle_event=string:reject"), 1);
}

static void a_zone_that_there_is_not_fails_the_file(void **state)
{
    rig *self = *state;
    use_parser(self, "FIX_TZ=No/Where");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_PARSE_ERROR);
    assert_non_null(strstr(self->outcome.error, "No/Where"));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(samples_have_the_rows_of_the_specification),
        WITH_RIG(an_order_has_its_columns),
        WITH_RIG(decimals_are_of_ascii_digits_alone),
        WITH_RIG(times_are_of_the_zone_of_the_environment),
        WITH_RIG(tags_of_the_allowlist_are_an_output),
        WITH_RIG(an_allowlist_without_numbers_is_unset),
        WITH_RIG(delimiters_are_found),
        WITH_RIG(a_last_duplicate_wins_and_a_trade_is_a_report),
        WITH_RIG(a_zone_that_there_is_not_fails_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
