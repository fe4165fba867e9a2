/* items.c - tables of the members of defs: what builders add, and what models list. */
#include "binding.h"

#include <stddef.h>
#include <string.h>

/* the word at an index, NULL behind the last */
static const char *pick(const char *const *words, int count, int i) {
  return i >= 0 && i < count ? words[i] : NULL;
}

static const char *joint_word(int i) {
  static const char *const words[] = {"fixed", "revolute", "continuous", "prismatic",
                                      "ball",  "planar",   "free"};
  return pick(words, TABI_JOINT_COUNT, i);
}

static const char *shape_word(int i) {
  static const char *const words[] = {"plane", "sphere",    "capsule",     "cylinder", "box",
                                      "mesh",  "triangles", "heightfield", "ellipsoid"};
  return pick(words, TABI_SHAPE_COUNT, i);
}

static const char *connection_word(int i) {
  static const char *const words[] = {"ball", "hinge", "fixed", "axes", "rod", "spring"};
  return pick(words, TABI_CONNECTION_COUNT, i);
}

static const char *sensor_word(int i) {
  return i >= 0 && i < TABI_SENSOR_COUNT ? tabi_sensor_type_name((tabi_sensor_type)i) : NULL;
}

static const tbi_py_field link_field[] = {
    {"name",     offsetof(tabi_link_def, name),       NULL, TBI_PY_TEXT,   0},
    {"mass",     offsetof(tabi_link_def, mass),       NULL, TBI_PY_DOUBLE, 0},
    {"com",      offsetof(tabi_link_def, com),        NULL, TBI_PY_DOUBLE, 3},
    {"inertia",  offsetof(tabi_link_def, inertia),    NULL, TBI_PY_DOUBLE, 6},
    {"buoyancy", offsetof(tabi_link_def, buoyancy),   NULL, TBI_PY_DOUBLE, 0},
    {"file",     offsetof(tabi_link_def, place.file), NULL, TBI_PY_TEXT,   0},
    {"line",     offsetof(tabi_link_def, place.line), NULL, TBI_PY_INT,    0},
};

static const tbi_py_field joint_field[] = {
    {"name",          offsetof(tabi_joint_def, name),          NULL,       TBI_PY_TEXT,   0},
    {"type",          offsetof(tabi_joint_def, type),          joint_word, TBI_PY_WORD,   0},
    {"parent",        offsetof(tabi_joint_def, parent),        NULL,       TBI_PY_LINK,   0},
    {"child",         offsetof(tabi_joint_def, child),         NULL,       TBI_PY_LINK,   0},
    {"pos",           offsetof(tabi_joint_def, pos),           NULL,       TBI_PY_DOUBLE, 3},
    {"quat",          offsetof(tabi_joint_def, quat),          NULL,       TBI_PY_DOUBLE, 4},
    {"axis",          offsetof(tabi_joint_def, axis),          NULL,       TBI_PY_DOUBLE, 3},
    {"lower",         offsetof(tabi_joint_def, lower),         NULL,       TBI_PY_DOUBLE, 0},
    {"upper",         offsetof(tabi_joint_def, upper),         NULL,       TBI_PY_DOUBLE, 0},
    {"effort",        offsetof(tabi_joint_def, effort),        NULL,       TBI_PY_DOUBLE, 0},
    {"velocity",      offsetof(tabi_joint_def, velocity),      NULL,       TBI_PY_DOUBLE, 0},
    {"rotor_inertia", offsetof(tabi_joint_def, rotor_inertia), NULL,       TBI_PY_DOUBLE, 0},
    {"gear",          offsetof(tabi_joint_def, gear),          NULL,       TBI_PY_DOUBLE, 0},
    {"stiffness",     offsetof(tabi_joint_def, stiffness),     NULL,       TBI_PY_DOUBLE, 0},
    {"rest_position", offsetof(tabi_joint_def, rest_position), NULL,       TBI_PY_DOUBLE, 0},
    {"damping",       offsetof(tabi_joint_def, damping),       NULL,       TBI_PY_DOUBLE, 0},
    {"friction",      offsetof(tabi_joint_def, friction),      NULL,       TBI_PY_DOUBLE, 0},
    {"initial_q",     offsetof(tabi_joint_def, initial_q),     NULL,       TBI_PY_DOUBLE, 7},
    {"id",            offsetof(tabi_joint_def, id),            NULL,       TBI_PY_INT,    0},
    {"file",          offsetof(tabi_joint_def, place.file),    NULL,       TBI_PY_TEXT,   0},
    {"line",          offsetof(tabi_joint_def, place.line),    NULL,       TBI_PY_INT,    0},
};

static const tbi_py_field shape_field[] = {
    {"name",     offsetof(tabi_shape_def, name),       NULL,       TBI_PY_TEXT,   0},
    {"type",     offsetof(tabi_shape_def, type),       shape_word, TBI_PY_WORD,   0},
    {"link",     offsetof(tabi_shape_def, link),       NULL,       TBI_PY_LINK,   0},
    {"pos",      offsetof(tabi_shape_def, pos),        NULL,       TBI_PY_DOUBLE, 3},
    {"quat",     offsetof(tabi_shape_def, quat),       NULL,       TBI_PY_DOUBLE, 4},
    {"size",     offsetof(tabi_shape_def, size),       NULL,       TBI_PY_DOUBLE, 3},
    {"mesh",     offsetof(tabi_shape_def, mesh),       NULL,       TBI_PY_INT,    0},
    {"material", offsetof(tabi_shape_def, material),   NULL,       TBI_PY_INT,    0},
    {"collides", offsetof(tabi_shape_def, collides),   NULL,       TBI_PY_BOOL,   0},
    {"visible",  offsetof(tabi_shape_def, visible),    NULL,       TBI_PY_BOOL,   0},
    {"group",    offsetof(tabi_shape_def, group),      NULL,       TBI_PY_UINT,   0},
    {"mask",     offsetof(tabi_shape_def, mask),       NULL,       TBI_PY_UINT,   0},
    {"rgba",     offsetof(tabi_shape_def, rgba),       NULL,       TBI_PY_DOUBLE, 4},
    {"file",     offsetof(tabi_shape_def, place.file), NULL,       TBI_PY_TEXT,   0},
    {"line",     offsetof(tabi_shape_def, place.line), NULL,       TBI_PY_INT,    0},
};

static const tbi_py_field material_field[] = {
    {"name",               offsetof(tabi_material_def, name),               NULL, TBI_PY_TEXT,   0},
    {"friction",           offsetof(tabi_material_def, friction),           NULL, TBI_PY_DOUBLE, 0},
    {"kinetic",            offsetof(tabi_material_def, kinetic),            NULL, TBI_PY_DOUBLE, 0},
    {"restitution",        offsetof(tabi_material_def, restitution),        NULL, TBI_PY_DOUBLE, 0},
    {"stiffness",          offsetof(tabi_material_def, stiffness),          NULL, TBI_PY_DOUBLE, 0},
    {"damping",            offsetof(tabi_material_def, damping),            NULL, TBI_PY_DOUBLE, 0},
    {"viscous",            offsetof(tabi_material_def, viscous),            NULL, TBI_PY_DOUBLE, 0},
    {"slip_speed",         offsetof(tabi_material_def, slip_speed),         NULL, TBI_PY_DOUBLE, 0},
    {"rest_speed",         offsetof(tabi_material_def, rest_speed),         NULL, TBI_PY_DOUBLE, 0},
    {"rolling_friction",   offsetof(tabi_material_def, rolling_friction),   NULL, TBI_PY_DOUBLE, 0},
    {"torsional_friction", offsetof(tabi_material_def, torsional_friction), NULL, TBI_PY_DOUBLE, 0},
    {"file",               offsetof(tabi_material_def, place.file),         NULL, TBI_PY_TEXT,   0},
    {"line",               offsetof(tabi_material_def, place.line),         NULL, TBI_PY_INT,    0},
};

static const tbi_py_field actuator_field[] = {
    {"name",        offsetof(tabi_actuator_def, name),        NULL, TBI_PY_TEXT,   0},
    {"joint",       offsetof(tabi_actuator_def, joint),       NULL, TBI_PY_JOINT,  0},
    {"gear",        offsetof(tabi_actuator_def, gear),        NULL, TBI_PY_DOUBLE, 0},
    {"gain",        offsetof(tabi_actuator_def, gain),        NULL, TBI_PY_DOUBLE, 0},
    {"bias",        offsetof(tabi_actuator_def, bias),        NULL, TBI_PY_DOUBLE, 3},
    {"control_min", offsetof(tabi_actuator_def, control_min), NULL, TBI_PY_DOUBLE, 0},
    {"control_max", offsetof(tabi_actuator_def, control_max), NULL, TBI_PY_DOUBLE, 0},
    {"force_min",   offsetof(tabi_actuator_def, force_min),   NULL, TBI_PY_DOUBLE, 0},
    {"force_max",   offsetof(tabi_actuator_def, force_max),   NULL, TBI_PY_DOUBLE, 0},
    {"file",        offsetof(tabi_actuator_def, place.file),  NULL, TBI_PY_TEXT,   0},
    {"line",        offsetof(tabi_actuator_def, place.line),  NULL, TBI_PY_INT,    0},
};

static const tbi_py_field coupling_field[] = {
    {"name",   offsetof(tabi_coupling_def, name),       NULL, TBI_PY_TEXT,   0},
    {"joint",  offsetof(tabi_coupling_def, joint),      NULL, TBI_PY_JOINT,  0},
    {"leader", offsetof(tabi_coupling_def, leader),     NULL, TBI_PY_JOINT,  0},
    {"coef",   offsetof(tabi_coupling_def, coef),       NULL, TBI_PY_DOUBLE, 5},
    {"file",   offsetof(tabi_coupling_def, place.file), NULL, TBI_PY_TEXT,   0},
    {"line",   offsetof(tabi_coupling_def, place.line), NULL, TBI_PY_INT,    0},
};

static const tbi_py_field connection_field[] = {
    {"name",      offsetof(tabi_connection_def, name),       NULL,            TBI_PY_TEXT,   0},
    {"type",      offsetof(tabi_connection_def, type),       connection_word, TBI_PY_WORD,   0},
    {"a",         offsetof(tabi_connection_def, a),          NULL,            TBI_PY_LINK,   0},
    {"b",         offsetof(tabi_connection_def, b),          NULL,            TBI_PY_LINK,   0},
    {"pos_a",     offsetof(tabi_connection_def, pos_a),      NULL,            TBI_PY_DOUBLE, 3},
    {"quat_a",    offsetof(tabi_connection_def, quat_a),     NULL,            TBI_PY_DOUBLE, 4},
    {"pos_b",     offsetof(tabi_connection_def, pos_b),      NULL,            TBI_PY_DOUBLE, 3},
    {"quat_b",    offsetof(tabi_connection_def, quat_b),     NULL,            TBI_PY_DOUBLE, 4},
    {"axes",      offsetof(tabi_connection_def, axes),       NULL,            TBI_PY_UINT,   0},
    {"collide",   offsetof(tabi_connection_def, collide),    NULL,            TBI_PY_BOOL,   0},
    {"length",    offsetof(tabi_connection_def, length),     NULL,            TBI_PY_DOUBLE, 0},
    {"stiffness", offsetof(tabi_connection_def, stiffness),  NULL,            TBI_PY_DOUBLE, 0},
    {"damping",   offsetof(tabi_connection_def, damping),    NULL,            TBI_PY_DOUBLE, 0},
    {"file",      offsetof(tabi_connection_def, place.file), NULL,            TBI_PY_TEXT,   0},
    {"line",      offsetof(tabi_connection_def, place.line), NULL,            TBI_PY_INT,    0},
};

static const tbi_py_field sensor_field[] = {
    {"name",       offsetof(tabi_sensor_def, name),       NULL,        TBI_PY_TEXT,   0              },
    {"type",       offsetof(tabi_sensor_def, type),       sensor_word, TBI_PY_WORD,   0              },
    {"link",       offsetof(tabi_sensor_def, link),       NULL,        TBI_PY_LINK,   0              },
    {"joint",      offsetof(tabi_sensor_def, joint),      NULL,        TBI_PY_JOINT,  0              },
    {"pos",        offsetof(tabi_sensor_def, pos),        NULL,        TBI_PY_DOUBLE, 3              },
    {"quat",       offsetof(tabi_sensor_def, quat),       NULL,        TBI_PY_DOUBLE, 4              },
    {"noise",      offsetof(tabi_sensor_def, noise),      NULL,        TBI_PY_DOUBLE, TABI_SENSOR_MAX},
    {"resolution", offsetof(tabi_sensor_def, resolution), NULL,        TBI_PY_DOUBLE, TABI_SENSOR_MAX},
    {"range",      offsetof(tabi_sensor_def, range),      NULL,        TBI_PY_DOUBLE, TABI_SENSOR_MAX},
    {"delay",      offsetof(tabi_sensor_def, delay),      NULL,        TBI_PY_DOUBLE, 0              },
    {"file",       offsetof(tabi_sensor_def, place.file), NULL,        TBI_PY_TEXT,   0              },
    {"line",       offsetof(tabi_sensor_def, place.line), NULL,        TBI_PY_INT,    0              },
};

/* -- how each is begun, added and read */

static void link_begin(void *def) { *(tabi_link_def *)def = tabi_link_def_default(); }

static int32_t link_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_link(builder, def);
}

static void link_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_link_def *)def = tabi_model_link(model, index);
}

static void joint_begin(void *def) { *(tabi_joint_def *)def = tabi_joint_def_default(); }

static int32_t joint_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_joint(builder, def);
}

static void joint_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_joint_def *)def = tabi_model_joint(model, index);
}

static void shape_begin(void *def) { *(tabi_shape_def *)def = tabi_shape_def_default(); }

static int32_t shape_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_shape(builder, def);
}

static void shape_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_shape_def *)def = tabi_model_shape(model, index);
}

static void material_begin(void *def) { *(tabi_material_def *)def = tabi_material_def_default(); }

static int32_t material_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_material(builder, def);
}

static void material_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_material_def *)def = tabi_model_material(model, index);
}

static void actuator_begin(void *def) { *(tabi_actuator_def *)def = tabi_actuator_def_default(); }

static int32_t actuator_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_actuator(builder, def);
}

static void actuator_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_actuator_def *)def = tabi_model_actuator(model, index);
}

static void coupling_begin(void *def) { *(tabi_coupling_def *)def = tabi_coupling_def_default(); }

static int32_t coupling_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_coupling(builder, def);
}

static void coupling_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_coupling_def *)def = tabi_model_coupling(model, index);
}

static void connection_begin(void *def) {
  *(tabi_connection_def *)def = tabi_connection_def_default();
}

static int32_t connection_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_connection(builder, def);
}

static void connection_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_connection_def *)def = tabi_model_connection(model, index);
}

static void sensor_begin(void *def) { *(tabi_sensor_def *)def = tabi_sensor_def_default(); }

static int32_t sensor_add(tabi_builder *builder, const void *def) {
  return tabi_builder_add_sensor(builder, def);
}

static void sensor_get(const tabi_model *model, int32_t index, void *def) {
  *(tabi_sensor_def *)def = tabi_model_sensor(model, index);
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const tbi_py_item items[] = {
    {{"link", link_field, COUNT(link_field)},                   link_begin, link_add,       tabi_model_nlink, link_get      },
    {{"joint", joint_field, COUNT(joint_field)},
     joint_begin,                                                           joint_add,
     tabi_model_njoint,                                                                                       joint_get     },
    {{"shape", shape_field, COUNT(shape_field)},
     shape_begin,                                                           shape_add,
     tabi_model_nshape,                                                                                       shape_get     },
    {{"material", material_field, COUNT(material_field)},
     material_begin,                                                        material_add,
     tabi_model_nmaterial,                                                                                    material_get  },
    {{"actuator", actuator_field, COUNT(actuator_field)},
     actuator_begin,                                                        actuator_add,
     tabi_model_nactuator,                                                                                    actuator_get  },
    {{"coupling", coupling_field, COUNT(coupling_field)},
     coupling_begin,                                                        coupling_add,
     tabi_model_ncoupling,                                                                                    coupling_get  },
    {{"connection", connection_field, COUNT(connection_field)},
     connection_begin,                                                      connection_add,
     tabi_model_nconnection,                                                                                  connection_get},
    {{"sensor", sensor_field, COUNT(sensor_field)},
     sensor_begin,                                                          sensor_add,
     tabi_model_nsensor,                                                                                      sensor_get    },
};

const tbi_py_item *tbi_py_item_find(const char *what) {
  for (size_t i = 0; i < COUNT(items); ++i) {
    if (strcmp(items[i].fields.what, what) == 0) return &items[i];
  }
  PyErr_Format(PyExc_ValueError, "'%s' is no kind of item", what);
  return NULL;
}
