/*
 * test_python.c - what a Python plugin may give, and every way in which it may fail by itself.
 */
#include "../rig.h"

static int set_up(void **state)
{
    static rig all;
    rig_open(&all);
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

/* ---- what parse gives ------------------------------------------------------------------------ */

static void rows_are_dicts(void **state)
{
    rig_gives(*state,
              "def parse(path):\n"
              "    for number, line in enumerate(open(path), 1):\n"
              "        yield {'line': number, 'text': line.strip()}\n",
              "[demo]\n"
              "demo: line=int64:1 text=string:alpha\n"
              "demo: line=int64:2 text=string:beta\n");
}

static void one_dict_may_serve_for_all_rows(void **state)
{
    rig_gives(*state,
              "def parse(path):\n"
              "    row = {}\n"
              "    for number in range(3):\n"
              "        row['n'] = number\n"
              "        yield row\n",
              "[demo]\ndemo: n=int64:0\ndemo: n=int64:1\ndemo: n=int64:2\n");
}

static void outputs_have_names(void **state)
{
    rig_gives(*state,
              "from casparian_types import Output\n"
              "def rows():\n"
              "    yield {'a': 1}\n"
              "    yield {'a': 2}\n"
              "def parse(path):\n"
              "    return [Output('first', rows()), ('second', {'b': True}), Output('none', []),\n"
              "            Output('first', [{'a': 3}])]\n",
              "[first]\n[second]\n[none]\n"
              "first: a=int64:1\nfirst: a=int64:2\nfirst: a=int64:3\n"
              "second: b=boolean:true\n");
}

static void a_dict_of_outputs(void **state)
{
    rig *self = *state;
    self->outputs[0] = "x";
    self->outputs[1] = "y";
    rig_module(self, "def parse(path):\n"
                     "    return {'x': [{'a': 1}], 'y': []}\n");
    self->plugin.output_count = 2;
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_string_equal(rig_rows(self), "[x]\n[y]\nx: a=int64:1\n");
    assert_int_equal(self->outcome.rows, 1);
}

static void nothing_is_no_rows(void **state)
{
    rig_gives(*state, "def parse(path):\n    return None\n", "");
}

static void a_default_output_is_the_topic(void **state)
{
    rig_gives(*state, "TOPIC = 'events'\ndef parse(path):\n    return {'a': None}\n",
              "[events]\nevents: a=null\n");
}

static void the_older_style_is_a_class(void **state)
{
    rig_gives(*state,
              "class Handler:\n"
              "    TOPIC = 'old'\n"
              "    def transform(self, path):\n"
              "        return [{'a': 1}]\n",
              "[old]\nold: a=int64:1\n");
}

static void rows_with_other_keys_lack_columns(void **state)
{
    rig_gives(*state,
              "def parse(path):\n"
              "    return [{'a': 1}, {'b': 2}, {'b': 3, 'a': None}]\n",
              "[demo]\ndemo: a=int64:1\ndemo: b=int64:2\ndemo: a=null b=int64:3\n");
}

static const char cells[] =
    "import datetime as d, decimal, enum, zoneinfo\n"
    "class Color(enum.Enum):\n"
    "    RED = 'red'\n"
    "class Word(str):\n"
    "    def __str__(self): return 'another'\n"
    "UTC = d.timezone.utc\n"
    "VALUES = [None, True, -5, 2**63 - 1, 2**63, 10**38, 1.5, float('nan'), float('-inf'), 'x\\n',\n"
    "          '\\ud800', Word('word'), decimal.Decimal('-1.2300'), decimal.Decimal('1E+3'),\n"
    "          decimal.Decimal('NaN'), decimal.Decimal(1) / 3, decimal.Decimal('1E-50'),\n"
    "          decimal.Decimal('0E-38'), b'ab', memoryview(b'a'), d.date(1969, 12, 31),\n"
    "          d.datetime(1970, 1, 1, 0, 0, 1, 5), d.datetime(1970, 1, 1, 1, tzinfo=UTC),\n"
    "          d.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')),\n"
    "          d.datetime(1970, 1, 1, tzinfo=d.timezone(-d.timedelta(hours=3, minutes=30))),\n"
    "          d.time(1, 2, 3, 4), d.timedelta(seconds=-1), {'$n': 1}, [1, 'a'], {3}, Color.RED,\n"
    "          {'a': [float('nan'), 1.5], 'b': {'c': (float('-inf'), float('inf'))}}]\n"
    "def parse(path):\n"
    "    for value in VALUES:\n"
    "        yield {'v': value}\n";

/* The table of the specification, 2.2. */
static void every_cell_has_its_form(void **state)
{
    rig *self = *state;
    rig_gives(self, cells,
              "[demo]\ndemo: v=null\ndemo: v=boolean:true\ndemo: v=int64:-5\n"
              "demo: v=int64:9223372036854775807\ndemo: v=decimal:9223372036854775808\n"
              "demo: v=string:100000000000000000000000000000000000000\n"
              "demo: v=float64:1.5\ndemo: v=float64:nan\ndemo: v=float64:-inf\n"
              "demo: v=string:x\n\ndemo: v=string:\xEF\xBF\xBD\ndemo: v=string:word\n"
              "demo: v=decimal:-1.2300\ndemo: v=decimal:1000\ndemo: v=null\n"
              "demo: v=decimal:0.3333333333333333333333333333\n"
              "demo: v=string:0.00000000000000000000000000000000000000000000000001\n"
              "demo: v=decimal:0.00000000000000000000000000000000000000\n"
              "demo: v=binary:YWI=\ndemo: v=binary:YQ==\n"
              "demo: v=date:1969-12-31\ndemo: v=timestamp:1970-01-01T00:00:01.000005\n"
              "demo: v=timestamp_tz:1970-01-01T01:00:00Z\n"
              "demo: v=timestamp_tz:2024-07-01T10:00:00Z\n"
              "demo: v=timestamp_tz:1970-01-01T03:30:00Z\n"
              "demo: v=time:01:02:03.000004\ndemo: v=duration:-PT1S\n"
              "demo: v=string:{\"$n\":1}\ndemo: v=string:[1,\"a\"]\ndemo: v=string:[3]\n"
              "demo: v=string:red\n"
              "demo: v=string:{\"a\":[\"nan\",1.5],\"b\":{\"c\":[\"-inf\",\"inf\"]}}\n");
    assert_non_null(strstr(rig_log(self), "nested values are sent as JSON text"));
    assert_non_null(strstr(rig_log(self), "not finite"));
}

static void whole_columns_convert_alike(void **state)
{
    rig_gives(*state,
              "import datetime, decimal\n"
              "def parse(path):\n"
              "    for i in range(3):\n"
              "        yield {'price': decimal.Decimal(i) + decimal.Decimal('0.5'),\n"
              "               'at': datetime.datetime(2024, 1, 1 + i), 'name': f'n{i}'}\n",
              "[demo]\n"
              "demo: price=decimal:0.5 at=timestamp:2024-01-01T00:00:00 name=string:n0\n"
              "demo: price=decimal:1.5 at=timestamp:2024-01-02T00:00:00 name=string:n1\n"
              "demo: price=decimal:2.5 at=timestamp:2024-01-03T00:00:00 name=string:n2\n");
}

static void columns_of_one_type_have_nulls(void **state)
{
    rig_gives(
        *state,
        "FLAGS = [True, None, False, None, True, True, None, None, True]\n"
        "NUMBERS = [None, 1.5, float('nan'), -0.0, float('inf'), 2.0, 1e300, None, 3.5]\n"
        "TEXTS = ['a', '', None, 'bc', 'Gr\\u00f6\\u00dfe', '\\ud800', '\\U0001f600', 'd', None]\n"
        "def parse(path):\n"
        "    for i, row in enumerate(zip(FLAGS, NUMBERS, TEXTS)):\n"
        "        yield {'i': -i, 'f': row[0], '\u00fc': row[1], 't': row[2], 'n': None}\n",
        "[demo]\n"
        "demo: i=int64:0 f=boolean:true \u00fc=null t=string:a n=null\n"
        "demo: i=int64:-1 f=null \u00fc=float64:1.5 t=string: n=null\n"
        "demo: i=int64:-2 f=boolean:false \u00fc=float64:nan t=null n=null\n"
        "demo: i=int64:-3 f=null \u00fc=float64:-0 t=string:bc n=null\n"
        "demo: i=int64:-4 f=boolean:true \u00fc=float64:inf t=string:Gr\u00f6\u00dfe n=null\n"
        "demo: i=int64:-5 f=boolean:true \u00fc=float64:2 t=string:\xEF\xBF\xBD n=null\n"
        "demo: i=int64:-6 f=null \u00fc=float64:1e+300 t=string:\U0001f600 n=null\n"
        "demo: i=int64:-7 f=null \u00fc=null t=string:d n=null\n"
        "demo: i=int64:-8 f=boolean:true \u00fc=float64:3.5 t=null n=null\n");
}

/* The columns of a table that are packed, with nulls, at the ends of their ranges. */
static void columns_of_every_type_have_nulls(void **state)
{
    rig_gives(*state,
              "from datetime import date, datetime, time, timedelta, timezone\n"
              "from decimal import Decimal as D\n"
              "MOMENTS = [datetime.min, None, datetime.max, datetime(1970, 1, 1, 0, 0, 0, 1)]\n"
              "EVEN = [D('-0.50'), None, D('99.99'), D('0.00')]\n"
              "UNEVEN = [None, D('1.5'), D('-2.125'), D('1E+3')]\n"
              "LONG = [D('-12345678901234567890123456789012345678'), D(1), None, D(0)]\n"
              "def parse(path):\n"
              "    for i, at in enumerate(MOMENTS):\n"
              "        yield {'at': at, 'utc': at and at.replace(tzinfo=timezone.utc),\n"
              "               'day': at and at.date(), 'time': at and at.time(),\n"
              "               'since': at and timedelta(microseconds=-i), 'even': EVEN[i],\n"
              "               'uneven': UNEVEN[i], 'long': LONG[i], 'bytes': at and b'ab'[:i]}\n",
              "[demo]\n"
              "demo: at=timestamp:0001-01-01T00:00:00 utc=timestamp_tz:0001-01-01T00:00:00Z "
              "day=date:0001-01-01 time=time:00:00:00 since=duration:PT0S even=decimal:-0.50 "
              "uneven=null long=decimal:-12345678901234567890123456789012345678 bytes=binary:\n"
              "demo: at=null utc=null day=null time=null since=null even=null "
              "uneven=decimal:1.500 long=decimal:1 bytes=null\n"
              "demo: at=timestamp:9999-12-31T23:59:59.999999 "
              "utc=timestamp_tz:9999-12-31T23:59:59.999999Z day=date:9999-12-31 "
              "time=time:23:59:59.999999 since=duration:-PT0.000002S even=decimal:99.99 "
              "uneven=decimal:-2.125 long=null bytes=binary:YWI=\n"
              "demo: at=timestamp:1970-01-01T00:00:00.000001 "
              "utc=timestamp_tz:1970-01-01T00:00:00.000001Z day=date:1970-01-01 "
              "time=time:00:00:00.000001 since=duration:-PT0.000003S even=decimal:0.00 "
              "uneven=decimal:1000.000 long=decimal:0 bytes=binary:YWI=\n");
}

/* Columns of one type that cannot be packed. */
static void columns_that_are_not_packed_come_as_json(void **state)
{
    rig_gives(*state,
              "from datetime import datetime, timedelta, timezone, tzinfo\n"
              "from decimal import Decimal as D\n"
              "class Zone(tzinfo):\n"
              "    __hash__ = None\n"
              "    def utcoffset(self, at): return None\n"
              "ROWS = [(D('1E-38'), D('NaN'), D('1' * 39), datetime(1970, 1, 1)),\n"
              "        (D('-9.5'), D('1.0'), D('2'), datetime(1970, 1, 2, tzinfo=Zone()))]\n"
              "def parse(path):\n"
              "    for a, b, c, at in ROWS:\n"
              "        yield {'a': a, 'b': b, 'c': c, 'at': at}\n",
              "[demo]\n"
              "demo: a=decimal:0.00000000000000000000000000000000000001 b=null "
              "c=string:111111111111111111111111111111111111111 at=timestamp:1970-01-01T00:00:00\n"
              "demo: a=decimal:-9.5 b=decimal:1.0 c=decimal:2 at=timestamp:1970-01-02T00:00:00\n");
}

/* Whether a column has one type may differ from one payload to the next. */
static void rows_stay_in_order(void **state)
{
    enum { ROWS = 6000 };
    rig *self = *state;
    mcp_buf expected;
    mcp_buf_init(&expected, 1 << 20);
    mcp_buf_puts(&expected, "[demo]\n");
    for (int i = 0; i < ROWS; i++)
        mcp_buf_printf(&expected,
                       i / 2000 % 2 && i % 100 == 0 ? "demo: i=int64:%d v=string:x%d\n"
                                                    : "demo: i=int64:%d v=int64:%d\n",
                       i, i);
    rig_gives(self,
              "def parse(path):\n"
              "    for i in range(6000):\n"
              "        yield {'i': i, 'v': f'x{i}' if i // 2000 % 2 and i % 100 == 0 else i}\n",
              expected.data);
    mcp_buf_clear(&expected);
}

/* Rows that are alike are taken in a loop of their own, which others end. */
static void other_things_may_come_between_rows(void **state)
{
    rig_gives(*state,
              "from casparian_types import Output\n"
              "class Row(dict): pass\n"
              "def parse(path):\n"
              "    row = {}\n"
              "    for i in range(3):\n"
              "        row['i'], row['v'] = i, -i\n"
              "        yield row\n"
              "    yield {'v': 3, 'i': 3}\n"
              "    yield {'i': 4, 'v': 4}\n"
              "    yield Output('other', [{'n': 1}, {'n': 2}, ({'n': 3}, {'n': 4})])\n"
              "    yield {'i': 5, 'v': 5}\n"
              "    yield {'i': [6], 'v': 6}\n"
              "    yield {'demo': [{'i': 7, 'v': 7}]}\n"
              "    yield Row(i=8, v=8)\n"
              "    yield ('other', [{'n': [5]}, {'n': 6}])\n"
              "    yield [{'i': 9, 'v': 9}, {}, {'i': 10, 'v': 10}]\n",
              "[demo]\n[other]\n"
              "demo: i=int64:0 v=int64:0\ndemo: i=int64:1 v=int64:-1\n"
              "demo: i=int64:2 v=int64:-2\ndemo: i=int64:3 v=int64:3\n"
              "demo: i=int64:4 v=int64:4\ndemo: i=int64:5 v=int64:5\n"
              "demo: i=string:[6] v=int64:6\n"
              "demo: demo=string:[{\"i\":7,\"v\":7}]\n"
              "demo: i=int64:8 v=int64:8\ndemo: i=int64:9 v=int64:9\ndemo:\n"
              "demo: i=int64:10 v=int64:10\n"
              "other: n=int64:1\nother: n=int64:2\nother: n=int64:3\nother: n=int64:4\n"
              "other: n=string:[5]\nother: n=int64:6\n");
}

/* numpy.datetime64 of nanoseconds: its item() is an int, and of microseconds a datetime. */
static void times_of_nanoseconds_are_times(void **state)
{
    rig_gives(*state,
              "import datetime\n"
              "class datetime64:\n"
              "    def __init__(self, ns, unit='ns'): self.ns, self.unit = ns, unit\n"
              "    def astype(self, to): return datetime64(self.ns, to[-3:-1])\n"
              "    def item(self):\n"
              "        if self.unit == 'ns': return self.ns\n"
              "        return datetime.datetime(1970, 1, 1) + datetime.timedelta(\n"
              "            microseconds=self.ns // 1000)\n"
              "datetime64.__module__ = 'numpy'\n"
              "def parse(path):\n"
              "    yield {'at': datetime64(86400 * 10 ** 9)}\n",
              "[demo]\ndemo: at=timestamp:1970-01-02T00:00:00\n");
}

static void a_row_limit_ends_an_endless_iterator(void **state)
{
    rig *self = *state;
    self->row_limit = 3;
    rig_gives(self,
              "import itertools\n"
              "def parse(path):\n"
              "    for i in itertools.count():\n"
              "        yield {'i': i}\n",
              "[demo]\ndemo: i=int64:0\ndemo: i=int64:1\ndemo: i=int64:2\n");
    assert_true(self->outcome.stopped_at_row_limit);
}

static void many_rows_come_in_batches(void **state)
{
    rig *self = *state;
    rig_module(self, "def parse(path):\n"
                     "    for i in range(50001):\n"
                     "        yield {'i': i, 'text': 'x' * (i % 50)}\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(self->outcome.rows, 50001);
}

static void a_row_may_be_large(void **state)
{
    rig *self = *state;
    rig_module(self, "def parse(path):\n"
                     "    for i in range(3):\n"
                     "        yield {'text': 'x' * (8 << 20)}\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(self->outcome.rows, 3);
    assert_true(self->outcome.bytes > 24 << 20);
}

/* More than a payload has room for, before it is known how large a row is: packed, and as JSON. */
static void many_rows_may_be_large(void **state)
{
    rig *self = *state;
    rig_module(self, "def parse(path):\n"
                     "    for i in range(120):\n"
                     "        yield {'text': 'x' * (2 << 20), 'n': i if i < 60 else [i]}\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(self->outcome.rows, 120);
}

/* Longer than Python makes a text of an integer. */
static void a_decimal_may_have_thousands_of_digits(void **state)
{
    rig *self = *state;
    rig_module(self, "from decimal import Decimal\n"
                     "def parse(path):\n"
                     "    yield {'d': Decimal('1' * 5000)}\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_int_equal(strlen(rig_rows(self)), strlen("[demo]\ndemo: d=string:\n") + 5000);
    assert_non_null(strstr(rig_log(self), "more than 38 digits"));
}

/* ---- the environment ------------------------------------------------------------------------- */

static void it_has_the_environment_of_the_contract(void **state)
{
    rig *self = *state;
    const char *env[] = { "FIX_TZ=Europe/Berlin" };
    self->options.env = env;
    self->options.env_count = 1;
    setenv("CASPARIAN_TEST_TOKEN", "secret", 1);
    rig_gives(
        self,
        "import os, sys\n"
        "def parse(path):\n"
        "    names = ('CF_JOB_ID', 'CF_FILE_ID', 'BRIDGE_JOB_ID', 'TZ', 'PYTHONHASHSEED', 'FIX_TZ',\n"
        "             'CASPARIAN_TEST_TOKEN')\n"
        "    yield {name: os.environ.get(name) for name in names}\n"
        "    assert os.environ['CF_FILE_PATH'] == path\n"
        "    assert os.environ['HOME'] == os.environ['TMPDIR'] == os.getcwd()\n"
        "    assert sys.stdin.read() == ''\n"
        "    open('made-here', 'w').write('x')\n",
        "[demo]\ndemo: CF_JOB_ID=string:7 CF_FILE_ID=string:3 BRIDGE_JOB_ID=string:7 "
        "TZ=string:UTC PYTHONHASHSEED=string:0 FIX_TZ=string:Europe/Berlin "
        "CASPARIAN_TEST_TOKEN=null\n");
}

static void what_it_prints_is_logged(void **state)
{
    rig *self = *state;
    rig_gives(self,
              "import logging, os, sys\n"
              "def parse(path):\n"
              "    print('to out')\n"
              "    print('to err', file=sys.stderr)\n"
              "    logging.warning('careful')\n"
              "    os.write(1, b'\\xff no newline')\n"
              "    yield {'a': 1}\n",
              "[demo]\ndemo: a=int64:1\n");
    assert_non_null(strstr(rig_log(self), "0: to out\n"));
    assert_non_null(strstr(rig_log(self), "1: to err\n"));
    assert_non_null(strstr(rig_log(self), "4: careful\n"));
    assert_non_null(strstr(rig_log(self), "0: \xEF\xBF\xBD no newline\n"));
}

static void the_log_of_a_file_is_cut(void **state)
{
    rig *self = *state;
    self->options.limits.log_bytes = 100000;
    rig_gives(self,
              "def parse(path):\n"
              "    for i in range(20000):\n"
              "        print('a line of text', i)\n"
              "    yield {'a': 1}\n",
              "[demo]\ndemo: a=int64:1\n");
    assert_true(self->log.length < 200000);
    assert_non_null(strstr(rig_log(self), "the rest is dropped"));
    assert_true(self->outcome.log_bytes > 300000);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void an_exception_comes_with_its_frames(void **state)
{
    rig *self = *state;
    rig_module(self, "def inner():\n"
                     "    raise ValueError('bad line 3')\n"
                     "def parse(path):\n"
                     "    yield {'a': 1}\n"
                     "    inner()\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_PARSE_ERROR);
    assert_string_equal(self->outcome.error, "ValueError: bad line 3");
    assert_string_equal(self->outcome.category, "parse_error");
    assert_non_null(strstr(self->outcome.traceback, "in inner"));
    assert_null(strstr(self->outcome.traceback, "shim.py"));
    assert_false(self->outcome.is_retryable);
}

static void a_busy_file_may_be_tried_again(void **state)
{
    rig *self = *state;
    rig_module(self, "import errno\n"
                     "def parse(path):\n"
                     "    raise OSError(errno.EBUSY, 'busy')\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_PARSE_ERROR);
    assert_true(self->outcome.is_retryable);
}

static void fails(rig *self, const char *source, casparian_failure failure, const char *error)
{
    rig_module(self, source);
    rig_parse(self, "one.txt");
    rig_expect(self, failure);
    if (!strstr(self->outcome.error, error))
        fail_msg("\"%s\" is not in \"%s\"", error, self->outcome.error);
}

static void a_module_that_cannot_be_imported(void **state)
{
    rig *self = *state;
    fails(self, "import no_such_module_anywhere\ndef parse(path): pass\n",
          CASPARIAN_FAILURE_IMPORT_ERROR, "No module named 'no_such_module_anywhere'");
    rig_parse(self, "two.txt"); /* the same for the next file */
    rig_expect(self, CASPARIAN_FAILURE_IMPORT_ERROR);
}

static void a_module_without_parse(void **state)
{
    fails(*state, "x = 1\n", CASPARIAN_FAILURE_IMPORT_ERROR, "no function parse");
}

static void a_module_that_is_no_python(void **state)
{
    fails(*state, "def parse(:\n", CASPARIAN_FAILURE_IMPORT_ERROR, "SyntaxError");
}

static void a_cell_without_a_form(void **state)
{
    fails(*state, "def parse(path):\n    yield {'a': object()}\n",
          CASPARIAN_FAILURE_UNSUPPORTED_VALUE, "column a: a value of type object");
}

static void a_reserved_column(void **state)
{
    fails(*state, "def parse(path):\n    yield {'_cf_job_id': 1}\n",
          CASPARIAN_FAILURE_RESERVED_COLUMN, "_cf_job_id");
}

static void columns_that_plugins_may_add(void **state)
{
    rig_gives(*state, "def parse(path):\n    yield {'__cf_row_id': 4, '_cf_row_error': 'bad'}\n",
              "[demo]\ndemo: __cf_row_id=int64:4 _cf_row_error=string:bad\n");
}

static void something_that_is_no_row(void **state)
{
    fails(*state, "def parse(path):\n    return 5\n", CASPARIAN_FAILURE_PARSE_ERROR,
          "parse gave a int");
}

static void a_name_of_a_column_that_is_no_text(void **state)
{
    fails(*state, "def parse(path):\n    yield {None: 5}\n", CASPARIAN_FAILURE_UNSUPPORTED_VALUE,
          "column None: the name is a NoneType");
}

static void a_name_of_an_output_that_is_none(void **state)
{
    fails(*state, "def parse(path):\n    yield ('../x', [{'a': 1}])\n",
          CASPARIAN_FAILURE_PARSE_ERROR, "no name of an output");
}

static void it_leaves_without_an_answer(void **state)
{
    fails(*state, "import os\ndef parse(path):\n    os._exit(3)\n", CASPARIAN_FAILURE_CRASHED,
          "code 3");
}

static void it_crashes(void **state)
{
    rig *self = *state;
    fails(self, "import ctypes\ndef parse(path):\n    ctypes.string_at(0)\n",
          CASPARIAN_FAILURE_CRASHED, "signal 11");
    assert_int_equal(self->outcome.signal, 11);
}

static void sys_exit_is_an_error(void **state)
{
    fails(*state, "import sys\ndef parse(path):\n    sys.exit(0)\n", CASPARIAN_FAILURE_PARSE_ERROR,
          "SystemExit");
}

/* ---- from file to file ----------------------------------------------------------------------- */

static void a_guest_survives_a_failure(void **state)
{
    rig *self = *state;
    rig_module(self, "import os\n"
                     "count = 0\n"
                     "def parse(path):\n"
                     "    global count\n"
                     "    count += 1\n"
                     "    if path.endswith('two.txt'):\n"
                     "        raise ValueError('two')\n"
                     "    yield {'count': count, 'parent': os.getppid()}\n");
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    char *first = strdup(rig_rows(self));
    assert_non_null(strstr(first, "count=int64:1 "));
    rig_parse(self, "two.txt");
    rig_expect(self, CASPARIAN_FAILURE_PARSE_ERROR);
    assert_true(casparian_guest_is_warm(self->guest));
    rig_parse(self, "one.txt"); /* in the same process: the same parent, and its state */
    assert_string_equal(rig_rows(self), first);
    free(first);
}

static void a_module_may_keep_its_state(void **state)
{
    rig *self = *state;
    rig_module(self, "count = 0\n"
                     "def parse(path):\n"
                     "    global count\n"
                     "    count += 1\n"
                     "    yield {'count': count}\n");
    self->plugin.settings.isolation = CASPARIAN_PER_JOB;
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_string_equal(rig_rows(self), "[demo]\ndemo: count=int64:2\n");
}

static void a_module_may_be_imported_for_each_file(void **state)
{
    rig *self = *state;
    rig_module(self, "import os\n"
                     "parent = os.getpid()\n"
                     "def parse(path):\n"
                     "    yield {'is_child': os.getppid() == parent}\n");
    self->plugin.settings.isolation = CASPARIAN_PER_EXEC;
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_false(casparian_guest_is_warm(self->guest));
    rig_parse(self, "one.txt");
    assert_string_equal(rig_rows(self), "[demo]\ndemo: is_child=boolean:true\n");
}

static void nothing_is_left_open(void **state)
{
    rig *self = *state;
    rig_module(self, "def parse(path):\n    yield {'a': 1}\n");
    rig_parse(self, "one.txt");
    casparian_guest_free(self->guest);
    self->guest = NULL;
    size_t before = scratch_open_descriptors();
    for (int i = 0; i < 3; i++)
        rig_parse(self, "one.txt");
    casparian_guest_free(self->guest);
    self->guest = NULL;
    assert_int_equal(scratch_open_descriptors(), before);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(rows_are_dicts),
        WITH_RIG(one_dict_may_serve_for_all_rows),
        WITH_RIG(outputs_have_names),
        WITH_RIG(a_dict_of_outputs),
        WITH_RIG(nothing_is_no_rows),
        WITH_RIG(a_default_output_is_the_topic),
        WITH_RIG(the_older_style_is_a_class),
        WITH_RIG(rows_with_other_keys_lack_columns),
        WITH_RIG(every_cell_has_its_form),
        WITH_RIG(whole_columns_convert_alike),
        WITH_RIG(columns_of_one_type_have_nulls),
        WITH_RIG(columns_of_every_type_have_nulls),
        WITH_RIG(columns_that_are_not_packed_come_as_json),
        WITH_RIG(rows_stay_in_order),
        WITH_RIG(other_things_may_come_between_rows),
        WITH_RIG(times_of_nanoseconds_are_times),
        WITH_RIG(a_row_limit_ends_an_endless_iterator),
        WITH_RIG(many_rows_come_in_batches),
        WITH_RIG(a_row_may_be_large),
        WITH_RIG(many_rows_may_be_large),
        WITH_RIG(a_decimal_may_have_thousands_of_digits),
        WITH_RIG(it_has_the_environment_of_the_contract),
        WITH_RIG(what_it_prints_is_logged),
        WITH_RIG(the_log_of_a_file_is_cut),
        WITH_RIG(an_exception_comes_with_its_frames),
        WITH_RIG(a_busy_file_may_be_tried_again),
        WITH_RIG(a_module_that_cannot_be_imported),
        WITH_RIG(a_module_without_parse),
        WITH_RIG(a_module_that_is_no_python),
        WITH_RIG(a_cell_without_a_form),
        WITH_RIG(a_reserved_column),
        WITH_RIG(columns_that_plugins_may_add),
        WITH_RIG(something_that_is_no_row),
        WITH_RIG(a_name_of_a_column_that_is_no_text),
        WITH_RIG(a_name_of_an_output_that_is_none),
        WITH_RIG(it_leaves_without_an_answer),
        WITH_RIG(it_crashes),
        WITH_RIG(sys_exit_is_an_error),
        WITH_RIG(a_guest_survives_a_failure),
        WITH_RIG(a_module_may_keep_its_state),
        WITH_RIG(a_module_may_be_imported_for_each_file),
        WITH_RIG(nothing_is_left_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
