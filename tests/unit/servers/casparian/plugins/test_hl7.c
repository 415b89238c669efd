/*
 * test_hl7.c - the shipped hl7_v2 over its sample and over messages that no sample has.
 */
#include "rig.h"

static rig all;

static int set_up(void **state)
{
    rig_open(&all);
    rig_module(&all, "");
    all.plugin.dir = mcp_arena_printf(all.arena, "%s/servers/casparian/parsers/hl7_v2",
                                      getenv("CAUSEWAY_SOURCE"));
    all.plugin.entrypoint = mcp_arena_printf(all.arena, "%s/hl7_v2.py", all.plugin.dir);
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

static void parse_text(rig *self, const char *text, size_t length)
{
    scratch_write(&self->folder, "inputs/log.hl7", text, length);
    rig_parse(self, "log.hl7");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
}

static void has(const rig *self, const char *text)
{
    if (!strstr(rig_rows(self), text))
        fail_msg("no \"%s\" in\n%s", text, rig_rows(self));
}

static size_t count_of(const rig *self, const char *text)
{
    size_t count = 0;
    for (const char *at = strstr(rig_rows(self), text); at; at = strstr(at + 1, text))
        count++;
    return count;
}

/* Eight messages: A01 A02 A03 A08, two results, an order, and one without an id. */
static void the_sample_has_its_rows(void **state)
{
    static char text[64 << 10];
    rig *self = *state;
    const char *path = mcp_arena_printf(self->arena, "%s/examples/casparian/samples/hl7/clinic.hl7",
                                        getenv("CAUSEWAY_SOURCE"));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    parse_text(self, text, length);
    assert_int_equal(count_of(self, "hl7_messages: "), 7);
    assert_int_equal(count_of(self, "hl7_patients: "), 7);
    assert_int_equal(count_of(self, "hl7_visits: "), 4);
    assert_int_equal(count_of(self, "hl7_orders: "), 3);
    assert_int_equal(count_of(self, "hl7_observations: "), 5);
    assert_int_equal(count_of(self, "hl7_errors: "), 1);
    has(self, "birth_date=date:1971-04-23 birth_date_raw=string:19710423");
    has(self, "birth_date=null birth_date_raw=string:1985");
    has(self, "death_indicator=boolean:true death_datetime=null");
    has(self, "ssn=string:999-12-3456");
    has(self, "name_family=string:O&Neil");
    has(self, "discharge_datetime=timestamp:2024-03-06T13:45:00 ");
    has(self, "value_numeric=float64:5.4 value_string=string:5.4");
    has(self, "value_numeric=null value_string=string:>150");
    has(self, "value_coded=string:A value_coded_text=string:Group A");
    has(self, "value_string=string:haemolysis\nrepeat & confirm");
    has(self, "patient_id=string:P-1003 patient_id_type=string:MR"); /* the first repetition */
    has(self, "error_type=string:PARSE_ERROR error_message=string:MSH-10");
}

static void framing_and_line_ends_do_not_matter(void **state)
{
    static const char text[] =
        "\x0bMSH|^~\\&|A||B||20240101||ADT^A01|1|P|2.3\r\n"
        "PID|1||P-1\r\n\x1c\r\n"
        "\x0bMSH|^~\\&|A||B||202401011230||ADT^A01|2|P|2.3\nPID|1||P-2\n\x1c\n";
    rig *self = *state;
    parse_text(self, text, sizeof text - 1);
    assert_int_equal(count_of(self, "hl7_messages: "), 2);
    assert_int_equal(count_of(self, "segment_count=int64:2"), 2);
    has(self, "message_datetime=timestamp:2024-01-01T00:00:00");
    has(self, "message_datetime=timestamp:2024-01-01T12:30:00");
    assert_int_equal(count_of(self, "hl7_errors: "), 0);
}

static void a_message_names_its_separators(void **state)
{
    static const char text[] = "MSH#!*?@#A##B##20240101##ADT!A01#1#P#2.3\r"
                               "PID#1##P-1!!!X!MR*P-2##One!Two?F?Three";
    rig *self = *state;
    parse_text(self, text, sizeof text - 1);
    has(self, "patient_id=string:P-1 patient_id_type=string:MR");
    has(self, "name_given=string:Two#Three");
}

static void segments_without_a_message_are_errors(void **state)
{
    static const char text[] = "PID|1||P-1\rPV1|1\rMSH|^\rMSH\rPID|1";
    rig *self = *state;
    parse_text(self, text, sizeof text - 1);
    assert_int_equal(count_of(self, "error_type=string:MISSING_MSH"), 1);
    assert_int_equal(count_of(self, "error_type=string:PARSE_ERROR"), 2);
    assert_int_equal(count_of(self, "hl7_messages: "), 0);
}

static void bytes_that_are_no_text_are_an_error(void **state)
{
    static const char text[] = "MSH|^~\\&|A||B||20240101||ADT^A01|1|P|2.3\rPID|1||P-1||M\xfcller";
    rig *self = *state;
    parse_text(self, text, sizeof text - 1);
    has(self, "error_type=string:ENCODING_ERROR");
    has(self, "name_family=string:M\xef\xbf\xbdller");
}

static void an_observation_has_all_its_values(void **state)
{
    static const char text[] = "MSH|^~\\&|A||B||20240101||ORU^R01|1|P|2.3\r"
                               "OBX|1|TX|N^Note||one\\R\\half~two^x~\\T\\three||||||F\r"
                               "OBX|2|NM|K^K||5.4~5.6||||||F\r"
                               "OBX|3|TX|N^Note||\"\"||||||F\r";
    rig *self = *state;
    parse_text(self, text, sizeof text - 1);
    has(self, "value_string=string:one~half~two^x~&three value_coded=string:one~half");
    has(self, "value_numeric=float64:5.4 value_string=string:5.4~5.6");
    has(self, "value_string=null value_coded=null");
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(the_sample_has_its_rows),
        WITH_RIG(framing_and_line_ends_do_not_matter),
        WITH_RIG(a_message_names_its_separators),
        WITH_RIG(segments_without_a_message_are_errors),
        WITH_RIG(bytes_that_are_no_text_are_an_error),
        WITH_RIG(an_observation_has_all_its_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
