/*
 * Texts kept with leaves: their bound, and memory given back.
 */
#include "../../world.h"

#include "model/pages/kept.h"
#include "model/pages/memory.h"

enum { TEXT_BYTES = 1 << 20, MOST = (int)(UNIVERSE_KEPT_MAX / TEXT_BYTES) };

static void test_a_copy(void **unused)
{
    char text[] = "abc";
    (void)unused;

    universe_kept *kept = universe_kept_new(1, text, 3);
    text[0] = 'x';
    assert_non_null(kept);
    assert_int_equal(kept->form, 1);
    assert_int_equal(kept->length, 3);
    assert_memory_equal(kept->text, "abc", 3);
    assert_true(universe_kept_bytes() >= 3);
    assert_true(universe_memory_used() >= universe_kept_bytes());
    universe_kept_free(kept);
    universe_kept_free(NULL);
    assert_int_equal(universe_kept_bytes(), 0);
    assert_int_equal(universe_memory_used(), 0);
}

/* No more is kept than may be; what is given back can be kept again. */
static void test_the_bound(void **unused)
{
    char *text = calloc(1, TEXT_BYTES);
    universe_kept *list = NULL;
    int count = 0;
    (void)unused;

    assert_non_null(text);
    for (universe_kept *kept = universe_kept_new(0, text, TEXT_BYTES); kept;
         kept = universe_kept_new(0, text, TEXT_BYTES)) {
        kept->next = list;
        list = kept;
        count++;
    }
    assert_true(count < MOST && count >= MOST - 1); /* each has a head, so one text does not fit */
    assert_true(universe_kept_bytes() <= UNIVERSE_KEPT_MAX);
    assert_null(universe_kept_new(0, text, TEXT_BYTES));
    universe_kept_free(list);
    assert_int_equal(universe_kept_bytes(), 0);
    list = universe_kept_new(0, text, TEXT_BYTES);
    assert_non_null(list);
    universe_kept_free(list);
    free(text);
    assert_int_equal(universe_memory_used(), 0);
}

static void test_no_memory(void **unused)
{
    (void)unused;
    universe_memory_refuse_after(0);
    assert_null(universe_kept_new(0, "abc", 3));
    universe_memory_refuse_after(-1);
    assert_int_equal(universe_kept_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy),
        cmocka_unit_test(test_the_bound),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
