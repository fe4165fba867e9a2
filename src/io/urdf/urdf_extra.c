/* urdf_extra.c - see urdf_extra.h. */
#include "io/urdf/urdf_extra.h"

#include "base/array.h"
#include "base/text.h"
#include "io/number.h"
#include "io/path.h"
#include "io/repair.h"
#include "io/report.h"
#include "io/urdf/urdf_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Remembers a node under a name, before which others of that name may stand. */
static void keep(tbi_urdf_extras *x, tbi_names *names, const char *name, tbi_xml_node *node) {
  void *items = x->items;
  bool room = tbi_array_reserve(&items, &x->capacity, x->count, 1, sizeof *x->items);
  x->items = items;
  if (!room) {
    tbi_fail_memory(x->error);
    return;
  }
  int32_t first = tbi_names_find(names, name);
  // the head of the list stays where its name points to
  x->items[x->count] = (tbi_urdf_extra){node, TABI_NONE};
  if (first >= 0) {
    x->items[x->count].before = x->items[first].before;
    x->items[first].before = x->count;
  } else if (!tbi_names_add(names, name, x->count)) {
    tbi_fail_memory(x->error);
  }
  ++x->count;
}

/* What an element says as text, or in its attribute `value`. */
static const char *text_of(tbi_xml_node *node) {
  const char *value = tbi_xml_get(node, "value");
  return value ? value : node->text;
}

static bool is_true(tbi_xml_node *node) {
  const char *text = text_of(node);
  return strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || strcmp(text, "True") == 0;
}

static bool is_gravity_off(tbi_xml_node *gazebo) {
  tbi_xml_node *off = tbi_xml_child(gazebo, "turnGravityOff");
  tbi_xml_node *on = tbi_xml_child(gazebo, "gravity");
  return (off && is_true(off)) || (on && !is_true(on));
}

static void list_gazebo(tbi_urdf_extras *x, tbi_xml_node *robot) {
  tbi_xml_node *node = tbi_xml_child(robot, "gazebo");
  for (; node && tbi_ok(x->error); node = tbi_xml_next(node)) {
    const char *reference = tbi_xml_get(node, "reference");
    tbi_xml_node *fixed = tbi_xml_child(node, "static");
    if (fixed && is_true(fixed)) x->is_static = true;
    if (reference && reference[0] != '\0') keep(x, &x->gazebo, reference, node);
  }
}

static void ignore_transmission(const tbi_urdf_extras *x, tbi_xml_node *node) {
  const char *name = tbi_xml_get(node, "name");
  tbi_warn(x->def, node->place,
           "transmission '%.60s' moves several joints, its gears are left out; give the joints "
           "rotor_inertia and gear in a scene",
           name ? name : "");
  tbi_xml_use_all(node);
}

static void list_transmissions(tbi_urdf_extras *x, tbi_xml_node *robot) {
  tbi_xml_node *node = tbi_xml_child(robot, "transmission");
  for (; node && tbi_ok(x->error); node = tbi_xml_next(node)) {
    (void)tbi_xml_get(node, "name");
    tbi_xml_node *joint = tbi_xml_child(node, "joint");
    const char *name = joint ? tbi_xml_get(joint, "name") : NULL;
    // one that mixes several joints has no gear of a single one
    bool single = joint && !tbi_xml_next(joint);
    if (name && single) keep(x, &x->transmission, name, node);
    if (joint && !single) ignore_transmission(x, node);
  }
}

static void read_mujoco(tbi_urdf_extras *x, tbi_xml_node *robot) {
  tbi_xml_node *mujoco = tbi_xml_child(robot, "mujoco");
  tbi_xml_node *compiler = mujoco ? tbi_xml_child(mujoco, "compiler") : NULL;
  if (!compiler) return;
  const char *strip = tbi_xml_get(compiler, "strippath");
  x->mesh_dir = tbi_xml_get(compiler, "meshdir");
  x->strip_path = !strip || strcmp(strip, "true") == 0;
}

void tbi_urdf_extras_init(tbi_urdf_extras *x, tbi_xml_node *robot) {
  list_gazebo(x, robot);
  list_transmissions(x, robot);
  read_mujoco(x, robot);
}

void tbi_urdf_extras_free(tbi_urdf_extras *x) {
  tbi_names_free(&x->gazebo);
  tbi_names_free(&x->transmission);
  free(x->items);
}

bool tbi_urdf_extras_is_weightless(const tbi_urdf_extras *x, const char *link) {
  bool off = false;
  for (int32_t i = tbi_names_find(&x->gazebo, link); i >= 0; i = x->items[i].before)
    off |= is_gravity_off(x->items[i].node);
  return off;
}

/* A number that says nothing is left out with a warning: no robot fails for what others add. */
static bool read_number(const tbi_urdf_extras *x, tbi_xml_node *node, double *value) {
  const char *text = text_of(node);
  double number = 0;
  if (tbi_number_read(text, strlen(text), &number) && isfinite(number)) {
    *value = number;
    return true;
  }
  tbi_warn(x->def, node->place, "<%.40s>: '%.40s' is not a number; ignored", node->name, text);
  return false;
}

/* The value of an element in any of the <gazebo> of a link or joint; false: none. */
static bool gazebo_number(const tbi_urdf_extras *x, const char *reference, const char *name,
                          double *value) {
  bool found = false;
  int32_t i = tbi_names_find(&x->gazebo, reference);
  for (; i >= 0; i = x->items[i].before) {
    tbi_xml_node *node = tbi_xml_child(x->items[i].node, name);
    if (node && read_number(x, node, value)) found = true;
  }
  return found;
}

/* Two coefficients for two directions become one. */
static bool read_friction(const tbi_urdf_extras *x, const char *link, double *friction) {
  double mu[2] = {0, 0};
  bool one = gazebo_number(x, link, "mu1", &mu[0]) || gazebo_number(x, link, "mu", &mu[0]);
  bool two = gazebo_number(x, link, "mu2", &mu[1]);
  if (!one && !two) return false;
  if (!one) mu[0] = mu[1];
  if (!two) mu[1] = mu[0];
  if (mu[0] < 0 || mu[1] < 0) return false;
  *friction = mu[0] == mu[1] ? mu[0] : sqrt(mu[0] * mu[1]);
  tabi_place place = x->items[tbi_names_find(&x->gazebo, link)].node->place;
  char owner[TBI_OWNER_SIZE];
  tbi_urdf_owner(owner, "link", link);
  return tbi_repair_friction(x->error, x->def, place, owner, friction);
}

/* A number of Bullet's <contact> that is not negative. */
static bool contact_number(const tbi_urdf_extras *x, tbi_xml_node *contact, const char *name,
                           double *value) {
  tbi_xml_node *node = tbi_xml_child(contact, name);
  double number = 0;
  if (!node || !read_number(x, node, &number) || number < 0) return false;
  *value = number;
  return true;
}

/* Bullet's surface of a link: couples of rolling and spinning friction are lengths times the load,
 * as ours. */
static bool read_contact(const tbi_urdf_extras *x, tbi_xml_node *contact, tabi_material_def *def) {
  bool given = contact_number(x, contact, "lateral_friction", &def->friction);
  given |= contact_number(x, contact, "rolling_friction", &def->rolling_friction);
  given |= contact_number(x, contact, "spinning_friction", &def->torsional_friction);
  given |= contact_number(x, contact, "restitution", &def->restitution);
  double stiffness = 0;
  if (contact_number(x, contact, "stiffness", &stiffness) && stiffness > 0) {
    def->stiffness = stiffness;
    given = true;
  }
  given |= contact_number(x, contact, "damping", &def->damping);
  if (def->restitution > 1) def->restitution = 1;
  return given;
}

/* What <gazebo> says of a link's surface goes before what stands in the link. */
static bool read_gazebo(const tbi_urdf_extras *x, const char *link, tabi_material_def *def) {
  double stiffness = 0;
  double damping = -1;
  bool given = read_friction(x, link, &def->friction);
  if (gazebo_number(x, link, "kp", &stiffness) && stiffness > 0) {
    def->stiffness = stiffness;
    given = true;
  }
  if (gazebo_number(x, link, "kd", &damping) && damping >= 0) {
    def->damping = damping;
    given = true;
  }
  return given;
}

int32_t tbi_urdf_extras_material(tbi_urdf_extras *x, tbi_xml_node *link, const char *name) {
  tabi_material_def def = tabi_material_def_default();
  tbi_xml_node *contact = tbi_xml_child(link, "contact");
  int32_t entry = tbi_names_find(&x->gazebo, name);
  bool given = contact && read_contact(x, contact, &def);
  if (entry >= 0 && read_gazebo(x, name, &def)) given = true;
  if (!given) return TABI_NONE;
  def.place = entry >= 0 ? x->items[entry].node->place : contact->place;
  int32_t material = tabi_builder_add_material(x->builder, &def);
  return tbi_take_builder(x->error, x->builder) ? material : TABI_NONE;
}

void tbi_urdf_extras_no_surface(tbi_urdf_extras *x, tbi_xml_node *link, const char *name) {
  static const char *const parts[] = {"mu1", "mu2", "mu", "kp", "kd"};
  tbi_xml_node *contact = tbi_xml_child(link, "contact");
  if (contact) tbi_xml_use_all(contact);
  for (int32_t i = tbi_names_find(&x->gazebo, name); i >= 0; i = x->items[i].before) {
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
      tbi_xml_node *node = tbi_xml_child(x->items[i].node, parts[k]);
      if (node) tbi_xml_use_all(node);
    }
  }
}

/* The reduction stands in <actuator>, in older files in <joint> or beside them. */
static tbi_xml_node *find_reduction(tbi_xml_node *transmission) {
  static const char *const owners[] = {"actuator", "joint"};
  tbi_xml_node *found = tbi_xml_child(transmission, "mechanicalReduction");
  for (size_t i = 0; i < 2 && !found; ++i) {
    tbi_xml_node *owner = tbi_xml_child(transmission, owners[i]);
    if (owner) found = tbi_xml_child(owner, "mechanicalReduction");
  }
  return found;
}

static void read_transmission(const tbi_urdf_extras *x, tbi_xml_node *node, tabi_joint_def *def) {
  tbi_xml_node *actuator = tbi_xml_child(node, "actuator");
  tbi_xml_node *reduction = find_reduction(node);
  tbi_xml_node *inertia = actuator ? tbi_xml_child(actuator, "motorInertia") : NULL;
  double gear = 0;
  double rotor = 0;
  if (actuator) (void)tbi_xml_get(actuator, "name");
  if (reduction && read_number(x, reduction, &gear) && gear != 0) def->gear = gear;
  if (inertia && read_number(x, inertia, &rotor) && rotor >= 0) def->rotor_inertia = rotor;
}

void tbi_urdf_extras_joint(tbi_urdf_extras *x, const char *joint, tabi_joint_def *def) {
  int32_t entry = tbi_names_find(&x->transmission, joint);
  if (entry >= 0) read_transmission(x, x->items[entry].node, def);
  double value = 0;
  if (gazebo_number(x, joint, "springStiffness", &value) && value >= 0) def->stiffness = value;
  if (gazebo_number(x, joint, "springReference", &value)) def->rest_position = value;
}

static bool file_exists(const tbi_urdf_extras *x, const char *file) {
  struct search {
    tbi_path_roots roots;
    tbi_path path;
  } *search = malloc(sizeof *search);
  if (!search) return false;
  tbi_path_roots_init(&search->roots, x->path, x->def->package_path);
  bool found = tbi_path_find(&search->roots, file, &search->path) == TBI_PATH_FOUND;
  free(search);
  return found;
}

char *tbi_urdf_extras_mesh(const tbi_urdf_extras *x, const char *file) {
  if (!x->mesh_dir) return NULL;
  const char *slash = x->strip_path ? strrchr(file, '/') : NULL;
  size_t length = strlen(x->mesh_dir);
  const char *between = length > 0 && x->mesh_dir[length - 1] != '/' ? "/" : "";
  char *folder = tbi_text_join(x->mesh_dir, between);
  char *path = folder ? tbi_text_join(folder, slash ? slash + 1 : file) : NULL;
  free(folder);
  if (path && file_exists(x, path)) return path;
  free(path);
  return NULL;
}
