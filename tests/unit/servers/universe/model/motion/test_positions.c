/*
 * Positions: the vectors of section 4, angles against the C library, walks, formats, and where
 * groups put systems.
 */
#include "../../world.h"

#include <math.h>

#include "model/motion/motion.h"

typedef struct place {
    char id[UNIVERSE_ID_MAX + 1];
    double xyz[3];
} place;

typedef struct places {
    place items[64];
    size_t count;
} places;

static mcp_status gather(const universe_places *batch, void *data, mcp_error *err)
{
    places *all = data;
    (void)err;

    for (size_t i = 0; i < batch->count; i++) {
        place *to = &all->items[all->count++];
        size_t length = universe_place_id(batch, i, to->id);
        to->id[length] = '\0';
        memcpy(to->xyz, batch->xyz[i], sizeof to->xyz);
    }
    return MCP_OK;
}

static places places_at(world *w, double time, const universe_which *which)
{
    places all = { .count = 0 };
    universe_view *view = NULL;

    assert_int_equal(universe_state_freeze(&view, w->state, NULL), MCP_OK);
    assert_int_equal(universe_view_places(view, time, which, gather, &all, NULL), MCP_OK);
    universe_view_free(view);
    return all;
}

static void assert_place(const places *all, size_t index, const char *id, double x, double y,
                         double z)
{
    const double expected[3] = { x, y, z };

    assert_true(index < all->count);
    assert_string_equal(all->items[index].id, id);
    for (int i = 0; i < 3; i++)
        if (!(fabs(all->items[index].xyz[i] - expected[i]) <= 1e-12 * fmax(1, fabs(expected[i]))))
            fail_msg("%s: axis %d is %.17g and not %.17g", id, i, all->items[index].xyz[i],
                     expected[i]);
}

#define ORBIT ",'orbitalPhase':30"

/* Distance 10, speed 5, phase 30, t = 12 (section 4). */
static void test_bound_bodies(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "sun", NULL, "");
    add_star(&w, "circle", "sun", ORBIT);
    add_star(&w, "ellipse", "sun", ORBIT ",'eccentricity':0.5");
    add_star(&w, "turned", "sun",
             ORBIT
             ",'semiMajorAxis':8,'eccentricity':0.3,'orbitRotX':10,'orbitRotY':20,'orbitRotZ':40,"
             "'orbitOffsetX':1,'orbitOffsetY':2,'orbitOffsetZ':3");
    add_star(&w, "moon", "circle", ORBIT);
    accept(
        &w,
        "{'type':'addStar','id':'centre','payload':{'name':'','mass':1,'radius':1,'color':'','parentId':"
        "'circle','orbitalDistance':0,'orbitalSpeed':5,'semiMajorAxis':7}}",
        NULL);
    places all = places_at(&w, 12, NULL);
    assert_int_equal(all.count, 6);
    assert_place(&all, 0, "sun", 0, 0, 0); /* a root stands still, whatever its own orbit says */
    assert_place(&all, 1, "circle", 0, 0, 10);
    assert_place(&all, 2, "moon", 0, 0, 20);
    assert_place(&all, 3, "centre", 0, 0, 10);
    assert_place(&all, 4, "ellipse", 0, 0, 8.660254037844386);
    assert_place(&all, 5, "turned", 3.6101313791407823, 0.7547208128905067, 10.062329214202391);
    world_free(&w);
}

#define ROGUE                                                                                      \
    ",'isRoguePlanet':true,'roguePlanet':{'seed':1,'initialPosition':{'x':1,'y':2,'z':3},"         \
    "'velocity':{'x':0.1,'y':0,'z':-0.2}"

static void test_rogues(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "straight", NULL, ROGUE "}");
    add_star(
        &w, "curved", NULL,
        ROGUE
        ",'pathCurvature':0.5,'semiMajorAxis':100,'eccentricity':0.4,'pathPeriod':300,'orbitRotX':5,"
        "'orbitRotY':90,'orbitRotZ':45}");
    add_star(&w, "lost", NULL, ",'isRoguePlanet':true");
    places all = places_at(&w, 50, NULL);
    assert_place(&all, 0, "straight", 6, 2, -7);
    assert_place(&all, 1, "curved", 80.3725393319377, 40.30222215594891, -29.139380484326978);
    world_free(&w);
}

/* Speeds and periods are any finite numbers; what they make of time may not be. */
static void test_angles_beyond_a_double(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "sun", NULL, "");
    add_star(&w, "fast", "sun", "");
    accept(&w, "{'type':'updateStar','id':'fast','payload':{'orbitalSpeed':1e300}}", NULL);
    add_star(&w, "turned", "sun", ORBIT ",'orbitRotX':1e308");
    add_star(&w, "still", NULL, ROGUE ",'pathCurvature':0.5,'pathPeriod':0}");
    add_star(&w, "point", NULL, ROGUE ",'pathCurvature':0.5,'semiMajorAxis':0}");
    add_star(&w, "short", NULL, ROGUE ",'pathCurvature':0.5,'pathPeriod':1e-310}");
    for (double time = 0; time <= 1e15; time += 5e14) {
        places all = places_at(&w, time, NULL);
        assert_int_equal(all.count, 6);
        for (size_t i = 0; i < all.count; i++)
            for (int axis = 0; axis < 3; axis++)
                if (!isfinite(all.items[i].xyz[axis]))
                    fail_msg("%s is nowhere at %g", all.items[i].id, time);
        assert_place(&all, 3, "still", 101, 2, 3); /* as at the angle 0 */
    }
    world_free(&w);
}

static void test_angles(void **unused)
{
    (void)unused;
    for (double degrees = -1000; degrees <= 1000; degrees += 0.37) {
        double s;
        double c;
        universe_sincos(degrees, &s, &c);
        assert_true(fabs(s - (double)sinl((long double)degrees * 3.14159265358979323846L / 180)) <
                    4e-16);
        assert_true(fabs(c - (double)cosl((long double)degrees * 3.14159265358979323846L / 180)) <
                    4e-16);
    }
    static const double quarters[][3] = { { 0, 0, 1 },     { 90, 1, 0 },  { 180, 0, -1 },
                                          { 270, -1, 0 },  { 360, 0, 1 }, { -90, -1, 0 },
                                          { 3.6e11, 0, 1 } };
    for (size_t i = 0; i < 7; i++) {
        double s;
        double c;
        universe_sincos(quarters[i][0], &s, &c);
        assert_true(s == quarters[i][1] && c == quarters[i][2]);
    }
    double s;
    double c;
    universe_sincos(3.6e18 + 1024, &s, &c); /* 1024 mod 360 = 304 */
    assert_true(fabs(s - sin(304 * 3.14159265358979323846 / 180)) < 1e-12);
    universe_sincos(HUGE_VAL, &s, &c); /* no crash, no number */
    assert_true(isnan(s));
}

static void test_which(void **unused)
{
    universe_id ids[] = { { "c", 1 }, { "nobody", 6 }, { "a", 1 } };
    universe_which by_ids = { .ids = ids, .id_count = 3 };
    universe_which below = { .root = "b", .root_length = 1 };
    universe_which nobody = { .root = "zz", .root_length = 2 };
    universe_view *view = NULL;
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, "");
    add_star(&w, "b", "a", ORBIT);
    add_star(&w, "c", "b", ORBIT);
    add_star(&w, "d", "a", ORBIT);
    places all = places_at(&w, 12, &by_ids);
    assert_int_equal(all.count, 2);
    assert_place(&all, 0, "c", 0, 0, 20);
    assert_place(&all, 1, "a", 0, 0, 0);
    all = places_at(&w, 12, &below);
    assert_int_equal(all.count, 2);
    assert_place(&all, 0, "b", 0, 0, 10);
    assert_place(&all, 1, "c", 0, 0, 20);
    universe_state_freeze(&view, w.state, NULL);
    assert_int_equal(universe_view_places(view, 0, &nobody, gather, &all, NULL), MCP_E_NOT_FOUND);
    assert_int_equal(universe_view_places(view, NAN, NULL, gather, &all, NULL), MCP_E_PARAMS);
    universe_view_free(view);
    world_free(&w);
}

static void test_formats(void **unused)
{
    static const unsigned char ten[] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x41
    }; /* 0, 0, 10.0f */
    universe_which below = { .root = "b", .root_length = 1 };
    universe_view *view = NULL;
    world w = world_new();
    mcp_buf out;
    (void)unused;

    add_star(&w, "a", NULL, "");
    add_star(&w, "b", "a", ORBIT);
    universe_state_freeze(&view, w.state, NULL);
    mcp_buf_init(&out, 1 << 20);
    assert_int_equal(
        universe_view_write_places(view, 12, NULL, UNIVERSE_PLACES_JSON, collect, &out, NULL),
        MCP_OK);
    assert_json(&w, json_of(w.arena, out.data, out.length),
                "{'time':12,'ids':['a','b'],'positions':[[0,0,0],[0,0,10]]}");
    mcp_buf_reset(&out);
    assert_int_equal(
        universe_view_write_places(view, 12, NULL, UNIVERSE_PLACES_IDS, collect, &out, NULL),
        MCP_OK);
    assert_json(&w, json_of(w.arena, out.data, out.length), "['a','b']");
    mcp_buf_reset(&out);
    assert_int_equal(
        universe_view_write_places(view, 12, &below, UNIVERSE_PLACES_F32, collect, &out, NULL),
        MCP_OK);
    assert_int_equal(out.length, 12);
    assert_memory_equal(out.data, ten, 12);
    mcp_buf_clear(&out);
    universe_view_free(view);
    world_free(&w);
}

/* Section 12.2: edge = 8 + 2 sqrt(n), g = ceil(sqrt(n)), spacing = 0.7 edge / g. */
static void test_groups(void **unused)
{
    world w = world_new();
    (void)unused;

    for (int i = 0; i < 8; i++)
        add_star(&w, (char[]){ 's', (char)('0' + i), '\0' }, NULL, "");
    for (int i = 0; i < 6; i++)
        add_group(&w, (char[]){ 'g', (char)('0' + i), '\0' }, NULL, "");
    accept(&w, "{'type':'updateGroup','id':'g1','payload':{'position':{'x':100,'y':7,'z':-3}}}",
           NULL);
    accept(&w, "{'type':'moveToGroup','childId':'s1','childType':'system','targetGroupId':'g0'}",
           NULL);
    accept(&w, "{'type':'moveToGroup','childId':'s2','childType':'system','targetGroupId':'g1'}",
           NULL);
    accept(&w, "{'type':'moveToGroup','childId':'s3','childType':'system','targetGroupId':'g1'}",
           NULL);
    accept(&w, "{'type':'moveToGroup','childId':'s4','childType':'system','targetGroupId':'g5'}",
           NULL);
    add_group(&w, "in", "g5", "{'id':'s5','type':'system'}");
    places all = places_at(&w, 3, NULL);
    assert_place(&all, 0, "s0", 0, 0, 0);
    assert_place(&all, 1, "s1", -40 - 3.5, 0, -3.5); /* n 1: edge 10, i 0 */
    double edge = 8 + 2 * sqrt(2);
    assert_place(&all, 2, "s2", 100 - 0.35 * edge, 7, -3 - 0.35 * edge);
    assert_place(&all, 3, "s3", 100 - 0.35 * edge + 0.35 * edge, 7, -3 - 0.35 * edge);
    assert_place(&all, 4, "s4", -40 - 0.35 * edge, 0,
                 20 - 0.35 * edge); /* g5 is the sixth: second row */
    assert_place(&all, 5, "s5", -40 - 3.5, 0, 20 - 0.35 * edge - 3.5);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_bodies),
        cmocka_unit_test(test_rogues),
        cmocka_unit_test(test_angles_beyond_a_double),
        cmocka_unit_test(test_angles),
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
