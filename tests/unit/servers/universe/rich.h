/*
 * rich.h - a small universe that has one of everything.
 */
#ifndef TESTS_UNIVERSE_RICH_H
#define TESTS_UNIVERSE_RICH_H

#include "world.h"

static inline world rich_world(void)
{
    world w = world_new();

    add_star(&w, "sun", NULL, ",'bodyType':'star'");
    add_star(
        &w, "0f8fad5b-d9cb-469f-a165-70867728950e", "sun",
        ",'bodyType':'planet','semiMajorAxis':1.7976931348623157e308,'eccentricity':0.1,'orbitRotZ':5e-324,"
        "'orbitOffsetY':0.30000000000000004,'ring':" RING);
    add_star(&w, "moon", "0f8fad5b-d9cb-469f-a165-70867728950e",
             ",'bodyType':'moon','u':{'v':[1,null,'w']}");
    add_star(&w, "mark", "sun", MARKER("sun", "0f8fad5b-d9cb-469f-a165-70867728950e"));
    add_star(&w, "trojan", "sun",
             ",'lagrangeHostId':'mark','bodyType':'asteroid','isRoguePlanet':false");
    add_star(&w, "\xc3\xa4 \\\\ /", NULL, "");
    add_star(
        &w, "rogue", NULL,
        ",'isRoguePlanet':true,'roguePlanet':{'seed':'s','initialPosition':{'x':1,'y':2,'z':3},"
        "'velocity':{'x':0,'y':0,'z':1}}");
    accept(&w, "{'type':'updateStar','id':'sun','payload':{'color':'#ffD2a1','name':''}}", NULL);
    accept(&w, "{'type':'updateStar','id':'moon','payload':{'color':'#ffd2a1'}}", NULL);
    add_group(&w, "g", NULL, "{'id':'sun','type':'system'}");
    add_group(&w, "h", "g", "");
    add_group(&w, "i", "h", "");
    add_group(&w, "j", "g", "");
    add_group(&w, "k", NULL, "");
    accept(
        &w,
        "{'type':'moveToGroup','childId':'\xc3\xa4 \\\\ /','childType':'system','targetGroupId':'g'}",
        NULL);
    accept(&w, "{'type':'updateGroup','id':'h','payload':{'position':{'x':1,'y':2,'z':3},'q':0}}",
           NULL);
    accept(&w,
           "{'type':'setSmallBodyFields','fields':{'f':" FIELD("f", "sun") ",'e':" FIELD(
               "e", "moon") "}}",
           NULL);
    accept(&w, "{'type':'addProtoplanetaryDisk','disk':" DISK("d", "sun") "}", NULL);
    accept(&w, "{'type':'setNebulae','nebulae':{'n':" NEBULA("n") "}}", NULL);
    accept(&w, "{'type':'tick','dt':12.25}", NULL);
    return w;
}

#endif
