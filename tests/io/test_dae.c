/* test_dae.c - COLLADA: faces of every kind, nodes, units; good and bad. */
#include "io/mesh/mesh_file.h"
#include "support/near.h"

#include <stdio.h>
#include <string.h>

static const tabi_place place = {"r.urdf", 3};

/* A unit cube from the origin; the numbers begin one late, and have one unused in between. */
#define SOURCE                                                                                     \
  "<source id='p'><float_array id='a' count='33'>7 0 0 9 0 1 0 9 0 1 1 9 0 0 1 9 0 0 0 9 1 1 0 9 " \
  "1 1 1 9 1 0 1 9 1</float_array><technique_common><accessor source='#a' count='8' offset='1' "   \
  "stride='4'><param name='X' type='float'/><param name='Y' type='float'/><param type='float'/>"   \
  "<param name='Z' type='float'/></accessor></technique_common></source>"                          \
  "<vertices id='v'><input semantic='NORMAL' source='#none'/><input semantic='POSITION' "          \
  "source='#p'/></vertices>"
#define INPUT "<input semantic='VERTEX' source='#v' offset='0'/>"
#define INPUT2                                                                             \
  "<input semantic='NORMAL' source='#n' offset='0'/><input semantic='VERTEX' source='#v' " \
  "offset='1'/>"
#define POLYLIST               \
  "<polylist count='6'>" INPUT \
  "<vcount>4 4 4 4 4 4</vcount><p>0 3 2 1 4 5 6 7\n0 1 5 4 1 2 6 5 2 3 7 6 3 0 4 7</p></polylist>"
#define GEOMETRY(faces)                                      \
  "<library_geometries><geometry id='g'><mesh>" SOURCE faces \
  "</mesh></geometry></library_geometries>"
#define SCENE(nodes)                                                                             \
  "<library_visual_scenes><visual_scene id='s'>" nodes "</visual_scene></library_visual_scenes>" \
  "<scene><instance_visual_scene url='#s'/></scene>"
#define COLLADA(text)                                                                        \
  "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema'>" text \
  "</COLLADA>"
#define NODE(inner) "<node>" inner "</node>"
#define INSTANCE    "<instance_geometry url='#g'/>"

static tbi_solid read_solid(const char *text) {
  tbi_mesh mesh;
  tbi_solid solid;
  tabi_error err = {0};
  if (tbi_dae_parse(text, strlen(text), "m.dae", place, &mesh, &err) != TABI_OK)
    fail_msg("%s", err.message);
  assert_int_equal(mesh.nvertex % 8, 0);
  assert_int_equal(mesh.nface % 12, 0);
  assert_int_equal(tbi_mesh_solid(&mesh, "m", place, &solid, &err), TABI_OK);
  tbi_mesh_free(&mesh);
  return solid;
}

/* All of it must look outwards: a mirrored node turns faces over, twice. */
static void check(const char *text, double volume, double x, double y, double z) {
  tbi_solid solid = read_solid(text);
  assert_near(solid.volume, volume, 1e-14 * volume);
  assert_near(solid.com[0], x, 1e-14);
  assert_near(solid.com[1], y, 1e-14);
  assert_near(solid.com[2], z, 1e-14);
}

static void test_faces(void **state) {
  (void)state;
  check(COLLADA(GEOMETRY(POLYLIST)), 1, 0.5, 0.5, 0.5);
  check(COLLADA(
            GEOMETRY("<triangles>" INPUT2 "<p>9 0 9 3 9 2 9 0 9 2 9 1 9 4 9 5 9 6 9 4 9 6 9 7 9 0 "
                     "9 1 9 5 9 0 9 5 9 4 9 1 9 2 9 6 9 1 9 6 9 5 9 2 9 3 9 7 9 2 9 7 9 6 9 3 9 0 "
                     "9 4 9 3 9 4 9 7</p></triangles><lines>" INPUT "<p>0 99</p></lines>")),
        1, 0.5, 0.5, 0.5);
  check(COLLADA(GEOMETRY("<polygons>" INPUT
                         "<p>0 3 2 1</p><ph><p>4 5 6 7</p><h>0 1 2</h></ph><p>0 1 5 "
                         "4</p><p>1 2 6 5</p></polygons><trifans>" INPUT
                         "<p>2 3 7 6</p></trifans><tristrips>" INPUT "<p>3 0 7 4</p></tristrips>")),
        1, 0.5, 0.5, 0.5);
}

static void test_nodes(void **state) {
  (void)state;
  check(COLLADA(GEOMETRY(POLYLIST) SCENE(NODE(INSTANCE))), 1, 0.5, 0.5, 0.5);
  check(COLLADA(GEOMETRY(POLYLIST) SCENE(
            NODE("<translate>1 0 0</translate><rotate>0 0 2 90</rotate><scale>2 1 1</scale>" NODE(
                "<matrix>1 0 0 0 0 1 0 0 0 0 1 2 0 0 0 1</matrix>" INSTANCE)))),
        2, 0.5, 1, 2.5);
  // seen in a mirror, and far away twice
  check(COLLADA(GEOMETRY(POLYLIST) SCENE(NODE("<scale>-1 1 1</scale>" INSTANCE))), 1, -0.5, 0.5,
        0.5);
  check(COLLADA("<library_nodes><node id='n'>" INSTANCE "</node></library_nodes>" GEOMETRY(POLYLIST)
                    SCENE(NODE("<instance_node url='#n'/>")
                              NODE("<translate>0 0 4</translate><instance_node url='#n'/>"))),
        2, 0.5, 0.5, 2.5);
  // a skin, as it is bound
  check(
      COLLADA(GEOMETRY(
          POLYLIST) "<library_controllers><controller id='c'><skin source='#g'>"
                    "<bind_shape_matrix>1 0 0 3 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix></skin>"
                    "</controller></library_controllers>" SCENE(
                        NODE("<instance_controller url='#c'/>"))),
      1, 3.5, 0.5, 0.5);
}

/* The unit counts, the up axis does not. */
static void test_asset(void **state) {
  (void)state;
  check(COLLADA("<asset><unit name='inch' meter='0.5'/><up_axis>Y_UP</up_axis></asset>" GEOMETRY(
            POLYLIST) SCENE(NODE("<translate>0 0 1</translate>" INSTANCE))),
        0.125, 0.25, 0.25, 0.75);
  check(COLLADA("<asset><up_axis>X_UP</up_axis></asset>" GEOMETRY(POLYLIST)), 1, 0.5, 0.5, 0.5);
}

static void refuse(const char *text, const char *words) {
  tbi_mesh mesh;
  tabi_error err = {0};
  assert_int_equal(tbi_dae_parse(text, strlen(text), "m.dae", place, &mesh, &err), TABI_ERR_PARSE);
  if (!strstr(err.message, words)) fail_msg("'%s' is not in '%s'", words, err.message);
  assert_int_equal(strncmp(err.message, "mesh 'm.dae': ", 14), 0);
  assert_string_equal(err.file, "r.urdf");
  assert_null(mesh.vertices);
}

static void test_refused(void **state) {
  (void)state;
  refuse("", "line 1: file is empty");
  refuse("<COLLADA", "line 1: XML not well-formed");
  refuse("<!DOCTYPE x [<!ENTITY y 'z'>]>\n<COLLADA/>", "DOCTYPE and entities are not allowed");
  refuse("<robot/>", "line 1: root element is not <COLLADA>");
  refuse(COLLADA(""), "no face with area");
  refuse(COLLADA("<scene><instance_visual_scene url='#x'/></scene>"),
         "no <visual_scene> is called '#x'");
  refuse(COLLADA("<scene><instance_visual_scene url='other.dae#x'/></scene>"),
         "no <visual_scene> is called 'other.dae#x'");
  refuse(COLLADA(GEOMETRY(POLYLIST) SCENE(NODE("<instance_geometry url='#h'/>"))),
         "no <geometry> is called '#h'");
  refuse(COLLADA("<asset><unit meter='0'/></asset>"), "the unit must be > 0 metres");
  refuse(COLLADA(GEOMETRY("<triangles>" INPUT "<p>0 1 8</p></triangles>")),
         "a face uses vertex 8 of 8 (from 0)");
  refuse(COLLADA(GEOMETRY("<triangles>" INPUT "<p>0 1 -1</p></triangles>")),
         "an index is missing or wrong");
  refuse(COLLADA(GEOMETRY("<triangles><p>0 1 2</p></triangles>")), "without an input of vertices");
  refuse(COLLADA(GEOMETRY("<polylist>" INPUT "<vcount>4</vcount><p>0 1 2</p></polylist>")),
         "an index is missing or wrong");
  refuse(COLLADA(GEOMETRY(POLYLIST) SCENE(NODE("<matrix>1 2 3</matrix>" INSTANCE))),
         "a number is missing or wrong");
  refuse(COLLADA(GEOMETRY(POLYLIST) SCENE(NODE("<scale>1e300 1e300 1e300</scale><scale>1e300 1 1"
                                               "</scale>" INSTANCE))),
         "a face is not finite");
  refuse(COLLADA("<library_geometries><geometry id='g'><mesh><source id='p'><float_array id='a'>0 0"
                 "</float_array><technique_common><accessor source='#a' count='9' stride='3'/>"
                 "</technique_common></source><vertices id='v'><input semantic='POSITION' "
                 "source='#p'/></vertices></mesh></geometry></library_geometries>"),
         "9 points in 2 numbers");
}

/* Nodes that hold themselves, and nodes that double sixty times. */
static void test_bombs(void **state) {
  (void)state;
  refuse(
      COLLADA("<library_nodes><node id='n'><instance_node url='#n'/></node></library_nodes>" SCENE(
          NODE("<instance_node url='#n'/>"))),
      "nested too deeply");
  char text[16384] = "<COLLADA><library_nodes>";
  for (int i = 0; i < 60; ++i) {
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used,
                   "<node id='n%d'><instance_node url='#n%d'/><instance_node url='#n%d'/></node>",
                   i, i + 1, i + 1);
  }
  size_t used = strlen(text);
  (void)snprintf(text + used, sizeof text - used, "<node id='n60'/></library_nodes>%s</COLLADA>",
                 SCENE(NODE("<instance_node url='#n0'/>")));
  refuse(text, "too many instances");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faces),   cmocka_unit_test(test_nodes), cmocka_unit_test(test_asset),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_bombs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
