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
    {"name",     TBI_PY_TEXT,   offsetof(tabi_link_def, name),       0, NULL},
    {"mass",     TBI_PY_DOUBLE, offsetof(tabi_link_def, mass),       0, NULL},
    {"com",      TBI_PY_DOUBLE, offsetof(tabi_link_def, com),        3, NULL},
    {"inertia",  TBI_PY_DOUBLE, offsetof(tabi_link_def, inertia),    6, NULL},
    {"buoyancy", TBI_PY_DOUBLE, offsetof(tabi_link_def, buoyancy),   0, NULL},
    {"file",     TBI_PY_TEXT,   offsetof(tabi_link_def, place.file), 0, NULL},
    {"line",     TBI_PY_INT,    offsetof(tabi_link_def, place.line), 0, NULL},
};

static const tbi_py_field joint_field[] = {
    {"name",          TBI_PY_TEXT,   offsetof(tabi_joint_def, name),          0, NULL      },
    {"type",          TBI_PY_WORD,   offsetof(tabi_joint_def, type),          0, joint_word},
    {"parent",        TBI_PY_LINK,   offsetof(tabi_joint_def, parent),        0, NULL      },
    {"child",         TBI_PY_LINK,   offsetof(tabi_joint_def, child),         0, NULL      },
    {"pos",           TBI_PY_DOUBLE, offsetof(tabi_joint_def, pos),           3, NULL      },
    {"quat",          TBI_PY_DOUBLE, offsetof(tabi_joint_def, quat),          4, NULL      },
    {"axis",          TBI_PY_DOUBLE, offsetof(tabi_joint_def, axis),          3, NULL      },
    {"lower",         TBI_PY_DOUBLE, offsetof(tabi_joint_def, lower),         0, NULL      },
    {"upper",         TBI_PY_DOUBLE, offsetof(tabi_joint_def, upper),         0, NULL      },
    {"effort",        TBI_PY_DOUBLE, offsetof(tabi_joint_def, effort),        0, NULL      },
    {"velocity",      TBI_PY_DOUBLE, offsetof(tabi_joint_def, velocity),      0, NULL      },
    {"rotor_inertia", TBI_PY_DOUBLE, offsetof(tabi_joint_def, rotor_inertia), 0, NULL      },
    {"gear",          TBI_PY_DOUBLE, offsetof(tabi_joint_def, gear),          0, NULL      },
    {"stiffness",     TBI_PY_DOUBLE, offsetof(tabi_joint_def, stiffness),     0, NULL      },
    {"rest_position", TBI_PY_DOUBLE, offsetof(tabi_joint_def, rest_position), 0, NULL      },
    {"damping",       TBI_PY_DOUBLE, offsetof(tabi_joint_def, damping),       0, NULL      },
    {"friction",      TBI_PY_DOUBLE, offsetof(tabi_joint_def, friction),      0, NULL      },
    {"initial_q",     TBI_PY_DOUBLE, offsetof(tabi_joint_def, initial_q),     7, NULL      },
    {"id",            TBI_PY_INT,    offsetof(tabi_joint_def, id),            0, NULL      },
    {"file",          TBI_PY_TEXT,   offsetof(tabi_joint_def, place.file),    0, NULL      },
    {"line",          TBI_PY_INT,    offsetof(tabi_joint_def, place.line),    0, NULL      },
};

static const tbi_py_field shape_field[] = {
    {"name",     TBI_PY_TEXT,   offsetof(tabi_shape_def, name),       0, NULL      },
    {"type",     TBI_PY_WORD,   offsetof(tabi_shape_def, type),       0, shape_word},
    {"link",     TBI_PY_LINK,   offsetof(tabi_shape_def, link),       0, NULL      },
    {"pos",      TBI_PY_DOUBLE, offsetof(tabi_shape_def, pos),        3, NULL      },
    {"quat",     TBI_PY_DOUBLE, offsetof(tabi_shape_def, quat),       4, NULL      },
    {"size",     TBI_PY_DOUBLE, offsetof(tabi_shape_def, size),       3, NULL      },
    {"mesh",     TBI_PY_INT,    offsetof(tabi_shape_def, mesh),       0, NULL      },
    {"material", TBI_PY_INT,    offsetof(tabi_shape_def, material),   0, NULL      },
    {"collides", TBI_PY_BOOL,   offsetof(tabi_shape_def, collides),   0, NULL      },
    {"visible",  TBI_PY_BOOL,   offsetof(tabi_shape_def, visible),    0, NULL      },
    {"group",    TBI_PY_UINT,   offsetof(tabi_shape_def, group),      0, NULL      },
    {"mask",     TBI_PY_UINT,   offsetof(tabi_shape_def, mask),       0, NULL      },
    {"rgba",     TBI_PY_DOUBLE, offsetof(tabi_shape_def, rgba),       4, NULL      },
    {"file",     TBI_PY_TEXT,   offsetof(tabi_shape_def, place.file), 0, NULL      },
    {"line",     TBI_PY_INT,    offsetof(tabi_shape_def, place.line), 0, NULL      },
};

static const tbi_py_field material_field[] = {
    {"name",               TBI_PY_TEXT,   offsetof(tabi_material_def, name),               0, NULL},
    {"friction",           TBI_PY_DOUBLE, offsetof(tabi_material_def, friction),           0, NULL},
    {"kinetic",            TBI_PY_DOUBLE, offsetof(tabi_material_def, kinetic),            0, NULL},
    {"restitution",        TBI_PY_DOUBLE, offsetof(tabi_material_def, restitution),        0, NULL},
    {"stiffness",          TBI_PY_DOUBLE, offsetof(tabi_material_def, stiffness),          0, NULL},
    {"damping",            TBI_PY_DOUBLE, offsetof(tabi_material_def, damping),            0, NULL},
    {"viscous",            TBI_PY_DOUBLE, offsetof(tabi_material_def, viscous),            0, NULL},
    {"slip_speed",         TBI_PY_DOUBLE, offsetof(tabi_material_def, slip_speed),         0, NULL},
    {"rest_speed",         TBI_PY_DOUBLE, offsetof(tabi_material_def, rest_speed),         0, NULL},
    {"rolling_friction",   TBI_PY_DOUBLE, offsetof(tabi_material_def, rolling_friction),   0, NULL},
    {"torsional_friction", TBI_PY_DOUBLE, offsetof(tabi_material_def, torsional_friction), 0, NULL},
    {"file",               TBI_PY_TEXT,   offsetof(tabi_material_def, place.file),         0, NULL},
    {"line",               TBI_PY_INT,    offsetof(tabi_material_def, place.line),         0, NULL},
};

static const tbi_py_field actuator_field[] = {
    {"name",        TBI_PY_TEXT,   offsetof(tabi_actuator_def, name),        0, NULL},
    {"joint",       TBI_PY_JOINT,  offsetof(tabi_actuator_def, joint),       0, NULL},
    {"gear",        TBI_PY_DOUBLE, offsetof(tabi_actuator_def, gear),        0, NULL},
    {"gain",        TBI_PY_DOUBLE, offsetof(tabi_actuator_def, gain),        0, NULL},
    {"bias",        TBI_PY_DOUBLE, offsetof(tabi_actuator_def, bias),        3, NULL},
    {"control_min", TBI_PY_DOUBLE, offsetof(tabi_actuator_def, control_min), 0, NULL},
    {"control_max", TBI_PY_DOUBLE, offsetof(tabi_actuator_def, control_max), 0, NULL},
    {"force_min",   TBI_PY_DOUBLE, offsetof(tabi_actuator_def, force_min),   0, NULL},
    {"force_max",   TBI_PY_DOUBLE, offsetof(tabi_actuator_def, force_max),   0, NULL},
    {"file",        TBI_PY_TEXT,   offsetof(tabi_actuator_def, place.file),  0, NULL},
    {"line",        TBI_PY_INT,    offsetof(tabi_actuator_def, place.line),  0, NULL},
};

static const tbi_py_field coupling_field[] = {
    {"name",   TBI_PY_TEXT,   offsetof(tabi_coupling_def, name),       0, NULL},
    {"joint",  TBI_PY_JOINT,  offsetof(tabi_coupling_def, joint),      0, NULL},
    {"leader", TBI_PY_JOINT,  offsetof(tabi_coupling_def, leader),     0, NULL},
    {"coef",   TBI_PY_DOUBLE, offsetof(tabi_coupling_def, coef),       5, NULL},
    {"file",   TBI_PY_TEXT,   offsetof(tabi_coupling_def, place.file), 0, NULL},
    {"line",   TBI_PY_INT,    offsetof(tabi_coupling_def, place.line), 0, NULL},
};

static const tbi_py_field connection_field[] = {
    {"name",      TBI_PY_TEXT,   offsetof(tabi_connection_def, name),       0, NULL           },
    {"type",      TBI_PY_WORD,   offsetof(tabi_connection_def, type),       0, connection_word},
    {"a",         TBI_PY_LINK,   offsetof(tabi_connection_def, a),          0, NULL           },
    {"b",         TBI_PY_LINK,   offsetof(tabi_connection_def, b),          0, NULL           },
    {"pos_a",     TBI_PY_DOUBLE, offsetof(tabi_connection_def, pos_a),      3, NULL           },
    {"quat_a",    TBI_PY_DOUBLE, offsetof(tabi_connection_def, quat_a),     4, NULL           },
    {"pos_b",     TBI_PY_DOUBLE, offsetof(tabi_connection_def, pos_b),      3, NULL           },
    {"quat_b",    TBI_PY_DOUBLE, offsetof(tabi_connection_def, quat_b),     4, NULL           },
    {"axes",      TBI_PY_UINT,   offsetof(tabi_connection_def, axes),       0, NULL           },
    {"collide",   TBI_PY_BOOL,   offsetof(tabi_connection_def, collide),    0, NULL           },
    {"length",    TBI_PY_DOUBLE, offsetof(tabi_connection_def, length),     0, NULL           },
    {"stiffness", TBI_PY_DOUBLE, offsetof(tabi_connection_def, stiffness),  0, NULL           },
    {"damping",   TBI_PY_DOUBLE, offsetof(tabi_connection_def, damping),    0, NULL           },
    {"file",      TBI_PY_TEXT,   offsetof(tabi_connection_def, place.file), 0, NULL           },
    {"line",      TBI_PY_INT,    offsetof(tabi_connection_def, place.line), 0, NULL           },
};

static const tbi_py_field sensor_field[] = {
    {"name",       TBI_PY_TEXT,   offsetof(tabi_sensor_def, name),       0,               NULL       },
    {"type",       TBI_PY_WORD,   offsetof(tabi_sensor_def, type),       0,               sensor_word},
    {"link",       TBI_PY_LINK,   offsetof(tabi_sensor_def, link),       0,               NULL       },
    {"joint",      TBI_PY_JOINT,  offsetof(tabi_sensor_def, joint),      0,               NULL       },
    {"pos",        TBI_PY_DOUBLE, offsetof(tabi_sensor_def, pos),        3,               NULL       },
    {"quat",       TBI_PY_DOUBLE, offsetof(tabi_sensor_def, quat),       4,               NULL       },
    {"noise",      TBI_PY_DOUBLE, offsetof(tabi_sensor_def, noise),      TABI_SENSOR_MAX, NULL       },
    {"resolution", TBI_PY_DOUBLE, offsetof(tabi_sensor_def, resolution), TABI_SENSOR_MAX, NULL       },
    {"range",      TBI_PY_DOUBLE, offsetof(tabi_sensor_def, range),      TABI_SENSOR_MAX, NULL       },
    {"delay",      TBI_PY_DOUBLE, offsetof(tabi_sensor_def, delay),      0,               NULL       },
    {"file",       TBI_PY_TEXT,   offsetof(tabi_sensor_def, place.file), 0,               NULL       },
    {"line",       TBI_PY_INT,    offsetof(tabi_sensor_def, place.line), 0,               NULL       },
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
