/*
 * test_tables.c - DataFrames and Arrow tables of Python plugins: classes with the members that
 * count, and pandas itself where it is installed.
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

/* A DataFrame has columns, iloc and columns by their names; a Series has a dtype and tolist. */
#define DATA_FRAME                                                                                 \
    "class Dtype:\n"                                                                               \
    "    def __init__(self, kind): self.kind = kind\n"                                             \
    "class Series(list):\n"                                                                        \
    "    def __init__(self, kind, cells):\n"                                                       \
    "        super().__init__(cells)\n"                                                            \
    "        self.dtype = Dtype(kind)\n"                                                           \
    "    def tolist(self): return list(self)\n"                                                    \
    "class DataFrame:\n"                                                                           \
    "    def __init__(self, *pairs): self.pairs = pairs\n"                                         \
    "    columns = property(lambda self: [name for name, _ in self.pairs])\n"                      \
    "    iloc = property(lambda self: Part(self))\n"                                               \
    "    def __len__(self): return len(self.pairs[0][1])\n"                                        \
    "    def __getitem__(self, name): return dict(self.pairs)[name]\n"                             \
    "class Part:\n"                                                                                \
    "    def __init__(self, frame): self.frame = frame\n"                                          \
    "    def __getitem__(self, rows):\n"                                                           \
    "        return DataFrame(*((name, Series(column.dtype.kind, column[rows]))\n"                 \
    "                           for name, column in self.frame.pairs))\n"

/* An Arrow table has a schema, batches of columns with a type, and to_pylist. */
#define ARROW_TABLE                                                                                \
    "class Column:\n"                                                                              \
    "    def __init__(self, type, cells): self.type, self.cells = type, cells\n"                   \
    "    def to_pylist(self):\n"                                                                   \
    "        if self.cells is None: raise ValueError('1 is not safely convertible')\n"             \
    "        return self.cells\n"                                                                  \
    "class Schema:\n"                                                                              \
    "    def __init__(self, names): self.names = names\n"                                          \
    "class Batch:\n"                                                                               \
    "    def __init__(self, *pairs):\n"                                                            \
    "        self.schema = Schema([name for name, _ in pairs])\n"                                  \
    "        self.columns = [column for _, column in pairs]\n"                                     \
    "    def to_pylist(self): raise AssertionError('columns are enough')\n"                        \
    "class Table(Batch):\n"                                                                        \
    "    def to_batches(self, max_chunksize):\n"                                                   \
    "        return [Batch(*zip(self.schema.names, self.columns))]\n"

static void gives_none(rig *self, const char *source, const char *words)
{
    rig_module(self, source);
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_UNSUPPORTED_VALUE);
    if (!strstr(self->outcome.error, words))
        fail_msg("no '%s' in: %s", words, self->outcome.error);
}

static void tables_are_rows(void **state)
{
    rig_gives(
        *state,
        DATA_FRAME ARROW_TABLE
        "class Structs:\n"
        "    def to_pylist(self): return [{'a': 7}]\n"
        "def parse(path):\n"
        "    return [DataFrame(('a', Series('i', [1, 2])), ('b', Series('O', ['x', None]))),\n"
        "            ('table', Table(('a', Column('int64', [9])))),\n"
        "            ('table', Batch(('a', Column('string', ['y'])))), ('table', Structs())]\n",
        "[demo]\n[table]\ndemo: a=int64:1 b=string:x\ndemo: a=int64:2 b=null\n"
        "table: a=int64:9\ntable: a=string:y\ntable: a=int64:7\n");
}

/* A column of floats may have numbers that are none; what a text is missing is no number. */
static void what_is_missing_is_null_but_for_floats(void **state)
{
    rig_gives(*state,
              DATA_FRAME "nan = float('nan')\n"
                         "def parse(path):\n"
                         "    return DataFrame(('text', Series('O', ['x', nan])),\n"
                         "                     ('number', Series('f', [1.5, nan])),\n"
                         "                     ('mixed', Series('O', [2.5, nan])))\n",
              "[demo]\ndemo: text=string:x number=float64:1.5 mixed=float64:2.5\n"
              "demo: text=null number=float64:nan mixed=null\n");
}

static void a_dictionary_of_arrow_has_nulls(void **state)
{
    rig_gives(*state,
              ARROW_TABLE "def parse(path):\n"
                          "    type = 'dictionary<values=string, indices=int32, ordered=0>'\n"
                          "    return Table(('a', Column(type, ['x', None, 'x'])))\n",
              "[demo]\ndemo: a=string:x\ndemo: a=null\ndemo: a=string:x\n");
}

static void nested_values_are_json_texts(void **state)
{
    rig *self = *state;
    rig_gives(self,
              ARROW_TABLE "def parse(path):\n"
                          "    return Table(('l', Column('list<item: int64>', [[1, None]])),\n"
                          "                 ('s', Column('struct<x: int64>', [{'x': 1}])))\n",
              "[demo]\ndemo: l=string:[1,null] s=string:{\"x\":1}\n");
    assert_non_null(strstr(rig_log(self), "column l: nested values are sent as JSON text"));
}

static void two_columns_of_one_name(void **state)
{
    gives_none(*state,
               DATA_FRAME "def parse(path):\n"
                          "    return DataFrame(('b', Series('i', [1])), ('a', Series('i', [1])),\n"
                          "                     ('a', Series('i', [2])))\n",
               "output demo, column a: the table has two columns of this name; rename one");
}

static void two_arrow_columns_of_one_name(void **state)
{
    gives_none(*state,
               ARROW_TABLE "def parse(path):\n"
                           "    return ('t', Table(('a', Column('int64', [1])),\n"
                           "                       ('a', Column('int64', [2]))))\n",
               "output t, column a: the table has two columns of this name; rename one");
}

static void arrow_values_that_python_lacks(void **state)
{
    rig *self = *state;
    gives_none(self,
               ARROW_TABLE "def parse(path):\n"
                           "    return Table(('at', Column('timestamp[ns]', None)))\n",
               "output demo, column at: Python has no form for values of type timestamp[ns] "
               "(ValueError); cast the column");
    assert_null(strstr(self->outcome.error, "convertible")); /* it may have the value */
}

static void an_array_in_a_cell(void **state)
{
    gives_none(*state,
               "class ndarray:\n"
               "    def item(self): raise ValueError('only arrays of size 1')\n"
               "    def tolist(self): return [1, 2]\n"
               "ndarray.__module__ = 'numpy'\n"
               "def parse(path):\n"
               "    yield {'id': 1, 'points': ndarray()}\n",
               "output demo, column points: an array of numpy; its tolist() is sent as JSON text");
}

/* ---- pandas ---------------------------------------------------------------------------------- */

#define PANDAS "import numpy as np, pandas as pd\n"

/* @return false: it is not installed */
static bool has_pandas(rig *self)
{
    rig_module(self, PANDAS "def parse(path): pass\n");
    rig_parse(self, "one.txt");
    if (self->outcome.failure == CASPARIAN_FAILURE_IMPORT_ERROR &&
        strstr(self->outcome.error, "No module named 'numpy'"))
        return false;
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    casparian_guest_free(self->guest);
    self->guest = NULL;
    return true;
}

/* The dtypes that a file's reader makes; a missing value of each but the floats is null. */
static void pandas_columns_are_what_they_are(void **state)
{
    rig *self = *state;
    if (!has_pandas(self))
        skip();
    rig_gives(self,
              PANDAS "def parse(path):\n"
                     "    return pd.DataFrame({\n"
                     "        'cat': pd.Series(['x', None], dtype='category'),\n"
                     "        'numbers': pd.Series([1.5, None], dtype='category'),\n"
                     "        'text': pd.Series(['a', np.nan], dtype='object'),\n"
                     "        'string': pd.Series(['b', None], dtype='string'),\n"
                     "        'int': pd.Series([1, None], dtype='Int64'),\n"
                     "        'flag': pd.Series([True, None], dtype='boolean'),\n"
                     "        'float': pd.Series([0.5, np.nan]),\n"
                     "        'at': pd.to_datetime(pd.Series(['2020-01-02 03:04:05', None]))})\n",
              "[demo]\n"
              "demo: cat=string:x numbers=float64:1.5 text=string:a string=string:b int=int64:1 "
              "flag=boolean:true float=float64:0.5 at=timestamp:2020-01-02T03:04:05\n"
              "demo: cat=null numbers=null text=null string=null int=null flag=null "
              "float=float64:nan at=null\n");
}

static void pandas_tables_that_are_none(void **state)
{
    rig *self = *state;
    if (!has_pandas(self))
        skip();
    gives_none(self,
               PANDAS "def parse(path):\n"
                      "    return pd.DataFrame([[1, 2]], columns=['a', 'a'])\n",
               "output demo, column a: the table has two columns");
    casparian_guest_free(self->guest);
    self->guest = NULL;
    gives_none(self,
               PANDAS "def parse(path):\n"
                      "    return pd.DataFrame({'a': [np.array([1, 2]), np.array([3])]})\n",
               "output demo, column a: an array of numpy");
    casparian_guest_free(self->guest);
    self->guest = NULL;
    gives_none(self, PANDAS "def parse(path):\n    return pd.DataFrame([[1, 2]])\n",
               "output demo, column 0: the name is a int; names of columns are strings");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(tables_are_rows),
        TEST(what_is_missing_is_null_but_for_floats),
        TEST(a_dictionary_of_arrow_has_nulls),
        TEST(nested_values_are_json_texts),
        TEST(two_columns_of_one_name),
        TEST(two_arrow_columns_of_one_name),
        TEST(arrow_values_that_python_lacks),
        TEST(an_array_in_a_cell),
        TEST(pandas_columns_are_what_they_are),
        TEST(pandas_tables_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
