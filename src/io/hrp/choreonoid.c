/* choreonoid.c - .body files: links, their joints and masses, and extra joints.
 *
 * Keys come as jointRange and as joint_range; the tree is put into the second form before it is
 * read.  What a link does not say is what Choreonoid takes: a fixed joint about z, and where
 * neither mass nor inertia is given 1 kg with 1 kg m^2. */
#include "io/hrp/choreonoid.h"

#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "io/hrp/hrp_vrml.h"
#include "io/number.h"
#include "io/report.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_SIZE 200

/* ------------------------------------------------------------------------------------ keys */

/* jointRange to joint_range; false: it is too long. */
static bool put_underscores(const char *key, char to[KEY_SIZE]) {
  size_t n = 0;
  for (; *key && n + 3 < KEY_SIZE; ++key) {
    bool capital = *key >= 'A' && *key <= 'Z';
    if (capital) to[n++] = '_';
    to[n++] = (char)(capital ? *key - 'A' + 'a' : *key);
  }
  to[n] = '\0';
  return *key == '\0';
}

/* Types of elements, which begin with a capital, stay. */
static bool rename_key(tbi_hrp *hrp, tbi_yaml_node *node) {
  char to[KEY_SIZE];
  if (!node->key || isupper((unsigned char)node->key[0])) return true;
  if (!put_underscores(node->key, to) || strcmp(to, node->key) == 0) return true;
  const char *kept = tbi_hrp_keep(hrp, to);
  if (kept) node->key = kept;
  return kept != NULL;
}

/* A text of several lines cannot be a name, and messages have one line. */
static bool flatten_text(tbi_hrp *hrp, const char **text) {
  if (!*text || !strpbrk(*text, "\n\r")) return true;
  char *flat = strdup(*text);
  if (!flat) return tbi_fail_memory(&hrp->error);
  for (char *c = flat; *c; ++c) {
    if (*c == '\n' || *c == '\r') *c = ' ';
  }
  const char *kept = tbi_hrp_keep(hrp, flat);
  free(flat);
  if (kept) *text = kept;
  return kept != NULL;
}

/* Children of a node are at most 64 deep. */
// NOLINTNEXTLINE(misc-no-recursion)
static void rename_keys(tbi_hrp *hrp, tbi_yaml_node *node) {
  if (!flatten_text(hrp, &node->key) || !flatten_text(hrp, &node->text) || !rename_key(hrp, node))
    return;
  for (tbi_yaml_node *n = node->first; n && tbi_ok(&hrp->error); n = n->next)
    rename_keys(hrp, n);
}

void tbi_body_check(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *owner,
                    const char *also) {
  const tbi_yaml_node *n = map->kind == TBI_YAML_MAP ? map->first : NULL;
  for (; n && tbi_ok(&c->hrp->error); n = n->next) {
    const tbi_format_row *row = tbi_hrp_find_row(&tbi_body_format, owner, n->key);
    if (!row && also) row = tbi_hrp_find_row(&tbi_body_format, also, n->key);
    tbi_hrp_tell(c->hrp, n->place, row, owner, n->key);
  }
}

const char *tbi_body_word(const tbi_yaml_node *map, const char *key) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  return node && node->kind == TBI_YAML_SCALAR && node->text[0] ? node->text : NULL;
}

/* --------------------------------------------------------------------------------- numbers */

static bool fail_number(const tbi_choreonoid *c, const tbi_yaml_node *node, const char *key,
                        const char *needs) {
  return tbi_fail_at(&c->hrp->error, TABI_ERR_PARSE, node->place, "%s%s needs %s", c->what, key,
                     needs);
}

static bool read_number(const tbi_yaml_node *node, double *value) {
  return node->kind == TBI_YAML_SCALAR && tbi_number_read(node->text, strlen(node->text), value) &&
         isfinite(*value);
}

bool tbi_body_number(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *key,
                     double *value) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  if (!node || !tbi_ok(&c->hrp->error)) return false;
  return read_number(node, value) || fail_number(c, node, key, "a number");
}

bool tbi_body_numbers(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *key,
                      double *values, int32_t count) {
  char needs[40];
  double read[16];
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  TBI_ASSERT(count <= 16);
  if (!node || !tbi_ok(&c->hrp->error)) return false;
  (void)snprintf(needs, sizeof needs, "%d numbers", (int)count);
  if (node->kind != TBI_YAML_LIST || node->count != count) return fail_number(c, node, key, needs);
  const tbi_yaml_node *item = node->first;
  for (int32_t i = 0; i < count; ++i, item = item->next) {
    if (!read_number(item, &read[i])) return fail_number(c, item, key, needs);
  }
  memcpy(values, read, (size_t)count * sizeof *values);
  return true;
}

bool tbi_body_inertia(const tbi_choreonoid *c, const tbi_yaml_node *map, s3 *inertia) {
  double i[9];
  const tbi_yaml_node *node = tbi_yaml_child(map, "inertia");
  if (!node) return false;
  if (node->kind == TBI_YAML_LIST && node->count == 6) {
    if (!tbi_body_numbers(c, map, "inertia", i, 6)) return false;
    *inertia = (s3){i[0], i[3], i[5], i[1], i[2], i[4]};
    return true;
  }
  if (!tbi_body_numbers(c, map, "inertia", i, 9)) return false;
  *inertia = (s3){i[0], i[4], i[8], (i[1] + i[3]) / 2, (i[2] + i[6]) / 2, (i[5] + i[7]) / 2};
  return true;
}

static q4 turn_of(const tbi_choreonoid *c, const double axis_angle[4]) {
  const double scaled[4] = {axis_angle[0], axis_angle[1], axis_angle[2],
                            axis_angle[3] * c->angle_unit};
  return tbi_hrp_rotation(scaled);
}

/* One rotation, or several, of which the first comes outermost. */
static q4 read_rotation(const tbi_choreonoid *c, const tbi_yaml_node *map) {
  double a[4];
  q4 turn = q_identity();
  const tbi_yaml_node *node = tbi_yaml_child(map, "rotation");
  bool several =
      node && node->kind == TBI_YAML_LIST && node->first && node->first->kind == TBI_YAML_LIST;
  if (!several) return tbi_body_numbers(c, map, "rotation", a, 4) ? turn_of(c, a) : turn;
  for (const tbi_yaml_node *item = node->first; item && tbi_ok(&c->hrp->error); item = item->next) {
    const tbi_yaml_node *n = item->first;
    for (int i = 0; i < 4; ++i, n = n ? n->next : NULL) {
      if (!n || item->count != 4 || !read_number(n, &a[i])) {
        fail_number(c, item, "rotation", "axis and angle");
        return turn;
      }
    }
    turn = q_mul(turn, turn_of(c, a));
  }
  return turn;
}

/* Roll about x, then pitch about y, then yaw about z, all fixed. */
static q4 read_rpy(const tbi_choreonoid *c, const tbi_yaml_node *map) {
  double rpy[3] = {0};
  if (!tbi_body_numbers(c, map, "rpy", rpy, 3)) return q_identity();
  q4 x = q_exp(v3_make(rpy[0] * c->angle_unit, 0, 0));
  q4 y = q_exp(v3_make(0, rpy[1] * c->angle_unit, 0));
  q4 z = q_exp(v3_make(0, 0, rpy[2] * c->angle_unit));
  return q_mul(z, q_mul(y, x));
}

tbi_hrp_frame tbi_body_frame(const tbi_choreonoid *c, const tbi_yaml_node *map) {
  double at[3] = {0};
  double scale[3] = {1, 1, 1};
  const tbi_yaml_node *node = tbi_yaml_child(map, "scale");
  tbi_body_numbers(c, map, "translation", at, 3);
  if (node && node->kind == TBI_YAML_SCALAR) {
    if (tbi_body_number(c, map, "scale", &scale[0])) scale[1] = scale[2] = scale[0];
  } else {
    tbi_body_numbers(c, map, "scale", scale, 3);
  }
  q4 turn = tbi_yaml_child(map, "rpy") ? read_rpy(c, map) : read_rotation(c, map);
  return tbi_hrp_frame_make(v3_load(at), turn, v3_load(scale));
}

/* ---------------------------------------------------------------------------------- joints */

static bool read_axis(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *key,
                      double axis[3]) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  const char *word = tbi_body_word(map, key);
  if (!node) return false;
  if (!word) return tbi_body_numbers(c, map, key, axis, 3);
  const char *letter = word + (word[0] == '-' || word[0] == '+');
  const char *found = letter[0] && !letter[1] ? strchr("XYZxyz", letter[0]) : NULL;
  if (!found) return fail_number(c, node, key, "X, Y, Z or a vector");
  axis[0] = axis[1] = axis[2] = 0;
  axis[(found - "XYZxyz") % 3] = word[0] == '-' ? -1 : 1;
  return true;
}

/* A number, or `unlimited` and the like. */
static bool read_limit(const tbi_choreonoid *c, const tbi_yaml_node *node, const char *key,
                       double infinite, double unit, double *value) {
  double number = 0;
  if (node->kind == TBI_YAML_SCALAR &&
      (strcasecmp(node->text, "unlimited") == 0 || strstr(node->text, "inf"))) {
    *value = infinite;
    return true;
  }
  if (!read_number(node, &number)) return fail_number(c, node, key, "numbers or 'unlimited'");
  *value = fabs(number) >= 1e300 ? infinite : number * unit;
  return true;
}

/* Two limits, or one for both sides. */
static bool read_range(const tbi_choreonoid *c, const tbi_yaml_node *map, const char *key,
                       double unit, double range[2]) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  const double none = INFINITY;
  if (!node || !tbi_ok(&c->hrp->error)) return false;
  if (node->kind == TBI_YAML_SCALAR) {
    if (!read_limit(c, node, key, none, unit, &range[1])) return false;
    range[0] = -range[1];
    return true;
  }
  if (node->kind != TBI_YAML_LIST || node->count != 2)
    return fail_number(c, node, key, "two limits");
  return read_limit(c, node->first, key, -none, unit, &range[0]) &&
         read_limit(c, node->last, key, none, unit, &range[1]);
}

static double smaller_side(const double range[2]) {
  return tbi_min(fabs(range[0]), fabs(range[1]));
}

static void read_drive(const tbi_choreonoid *c, const tbi_yaml_node *map, double unit,
                       tabi_joint_def *joint) {
  double range[2] = {0, 0};
  if (read_range(c, map, "max_joint_velocity", unit, range) ||
      read_range(c, map, "joint_velocity_range", unit, range))
    joint->velocity = smaller_side(range);
  if (read_range(c, map, "max_joint_effort", 1, range) ||
      read_range(c, map, "joint_effort_range", 1, range))
    joint->effort = smaller_side(range);
  tbi_body_number(c, map, "rotor_inertia", &joint->rotor_inertia);
  tbi_body_number(c, map, "gear_ratio", &joint->gear);
  if (tbi_body_number(c, map, "equivalent_rotor_inertia", &joint->rotor_inertia) ||
      tbi_body_number(c, map, "joint_axis_inertia", &joint->rotor_inertia))
    joint->gear = 1;
}

static void read_axis_joint(const tbi_choreonoid *c, const tbi_yaml_node *map, bool slides,
                            tabi_joint_def *joint) {
  double range[2] = {-INFINITY, INFINITY};
  double value = 0;
  double unit = slides ? 1 : c->angle_unit;
  read_axis(c, map, "joint_axis", joint->axis);
  read_range(c, map, "joint_range", unit, range);
  tbi_hrp_set_axis_joint(joint, slides, range[0], range[1]);
  if (tbi_body_number(c, map, "joint_angle", &value)) joint->initial_q[0] = value * c->angle_unit;
  if (tbi_body_number(c, map, "joint_displacement", &value)) joint->initial_q[0] = value * unit;
  read_drive(c, map, unit, joint);
}

static void read_joint(const tbi_choreonoid *c, const tbi_yaml_node *map, tabi_joint_def *joint) {
  const char *type = tbi_body_word(map, "joint_type");
  const tbi_yaml_node *node = tbi_yaml_child(map, "joint_type");
  double id = -1;
  if (tbi_body_number(c, map, "joint_id", &id) && id >= 0 && id < INT32_MAX)
    joint->id = (int32_t)id;
  joint->type = TABI_JOINT_FIXED;
  if (!type || strcmp(type, "fixed") == 0) return;
  if (strcmp(type, "free") == 0) {
    joint->type = TABI_JOINT_FREE;
  } else if (strcmp(type, "revolute") == 0 || strcmp(type, "rotate") == 0) {
    read_axis_joint(c, map, false, joint);
  } else if (strcmp(type, "prismatic") == 0 || strcmp(type, "slide") == 0) {
    read_axis_joint(c, map, true, joint);
  } else if (strcmp(type, "pseudoContinuousTrack") == 0 ||
             strcmp(type, "pseudo_continuous_track") == 0 || strcmp(type, "crawler") == 0) {
    tbi_warn(c->hrp->def, node->place, "%sa track is taken as fixed", c->what);
  } else {
    fail_number(c, node, "joint_type", "revolute, prismatic, slide, free or fixed");
  }
}

/* ----------------------------------------------------------------------------------- links */

static void read_mass(const tbi_choreonoid *c, const tbi_yaml_node *map, int32_t link,
                      bool has_pieces) {
  double mass = has_pieces ? 0 : 1;
  double com[3] = {0};
  double one = has_pieces ? 0 : 1;
  s3 inertia = {one, one, one, 0, 0, 0};
  bool has_mass = tbi_body_number(c, map, "mass", &mass);
  bool has_com = tbi_body_numbers(c, map, "center_of_mass", com, 3);
  bool has_inertia = tbi_body_inertia(c, map, &inertia);
  if (!tbi_ok(&c->hrp->error)) return;
  if (!has_mass && !has_com && !has_inertia && has_pieces) return;
  bool moves = c->hrp->links[link].joint.type != TABI_JOINT_FIXED;
  if (!has_pieces && moves && (!has_mass || !has_inertia)) {
    tbi_warn(c->hrp->def, map->place, "%sno %s: Choreonoid's %s", c->what,
             has_mass ? "inertia" : "mass", has_mass ? "1 kg m^2 is taken" : "1 kg is taken");
  }
  tbi_hrp_add_mass(c->hrp, link, mass, v3_load(com), inertia);
}

/* Keys that a link takes from elsewhere in the file, at most 64 deep. */
// NOLINTNEXTLINE(misc-no-recursion)
static void import_keys(const tbi_yaml_node *map, tbi_yaml_node *from) {
  if (!from) return;
  tbi_yaml_node *next = NULL;
  for (tbi_yaml_node *n = from->first; n; n = next) {
    next = n->next;
    if (from->kind == TBI_YAML_LIST) {
      import_keys(map, n);
    } else if (!tbi_yaml_child(map, n->key)) {
      tbi_yaml_remove(n);
      tbi_yaml_append((tbi_yaml_node *)map, n);
    }
  }
}

static void read_link(tbi_choreonoid *c, const tbi_yaml_node *map) {
  tbi_hrp *hrp = c->hrp;
  const char *name = tbi_body_word(map, "name");
  c->what[0] = '\0';
  if (!name) {
    tbi_fail_at(&hrp->error, TABI_ERR_PARSE, map->place, "link without name");
    return;
  }
  (void)snprintf(c->what, sizeof c->what, "link '%.80s': ", name);
  import_keys(map, tbi_yaml_child(map, "import"));
  tbi_body_check(c, map, "link", NULL);
  tbi_hrp_link *link = tbi_hrp_add_link(hrp, name, map->place);
  if (!link) return;
  const char *parent = tbi_body_word(map, "parent");
  if (parent) link->parent_name = tbi_hrp_keep(hrp, parent);
  read_joint(c, map, &link->joint);
  tbi_hrp_frame frame = tbi_body_frame(c, map);
  v3_store(frame.offset, link->joint.pos);
  q_store(tbi_hrp_frame_rotation(&frame), link->joint.quat);
  tbi_body_place place = {
      .link = hrp->nlink - 1,
      .frame = tbi_hrp_frame_identity(),
      .look = {.rgba = {0.7, 0.7, 0.7, 1}, .collides = true, .visible = true},
  };
  const tbi_yaml_node *elements = tbi_yaml_child(map, "elements");
  if (elements) tbi_body_elements(c, elements, &place, 0);
  read_mass(c, map, place.link, place.has_mass);
}

static void read_node(tbi_choreonoid *c, const tbi_yaml_node *map) {
  const char *type = tbi_body_word(map, "type");
  if (map->kind != TBI_YAML_MAP) {
    tbi_fail_at(&c->hrp->error, TABI_ERR_PARSE, map->place, "a link is a map with a name");
    return;
  }
  if (!type && map->key && isupper((unsigned char)map->key[0])) type = map->key;
  if (!type || strcmp(type, "Link") == 0) {
    read_link(c, map);
    return;
  }
  tbi_hrp_tell(c->hrp, map->place, tbi_hrp_find_row(&tbi_body_format, type, NULL), "node", type);
}

/* ----------------------------------------------------------------------------- extra joints */

static void read_extra(tbi_choreonoid *c, const tbi_yaml_node *map) {
  static const struct {
    const char *name;
    tabi_connection_type type;
    uint32_t axes;
  } types[] = {
      {"ball",   TABI_CONNECTION_BALL,  0                        },
      {"hinge",  TABI_CONNECTION_HINGE, 0                        },
      {"fixed",  TABI_CONNECTION_FIXED, 0                        },
      {"piston", TABI_CONNECTION_AXES,  TABI_MOVE_X | TABI_MOVE_Y},
  };
  tbi_hrp *hrp = c->hrp;
  (void)snprintf(c->what, sizeof c->what, "extra joint: ");
  tbi_body_check(c, map, "extra_joint", NULL);
  tbi_hrp_extra *extra = tbi_hrp_add_extra(hrp, tbi_body_word(map, "name"), map->place);
  if (!extra) return;
  double axis[3] = {0, 0, 1};
  double points[2][3] = {{0}};
  const char *type = tbi_body_word(map, "joint_type");
  const char *names[2] = {tbi_body_word(map, "link1_name"), tbi_body_word(map, "link2_name")};
  if (!read_axis(c, map, "joint_axis", axis)) read_axis(c, map, "axis", axis);
  tbi_body_numbers(c, map, "link1_local_pos", points[0], 3);
  tbi_body_numbers(c, map, "link2_local_pos", points[1], 3);
  extra->axis = v3_load(axis);
  for (int i = 0; i < 2; ++i) {
    extra->points[i] = v3_load(points[i]);
    extra->links[i] = names[i] ? tbi_hrp_keep(hrp, names[i]) : NULL;
  }
  for (size_t i = 0; type && i < sizeof types / sizeof *types; ++i) {
    if (strcmp(type, types[i].name) != 0) continue;
    extra->type = types[i].type;
    extra->axes = types[i].axes;
    return;
  }
  fail_number(c, map, "joint_type", "ball, hinge, fixed or piston");
}

/* ------------------------------------------------------------------------------------- all */

static void for_each(tbi_choreonoid *c, const tbi_yaml_node *list,
                     void (*read)(tbi_choreonoid *c, const tbi_yaml_node *map)) {
  const tbi_yaml_node *item = list ? list->first : NULL;
  for (; item && tbi_ok(&c->hrp->error); item = item->next)
    read(c, item);
}

/* A file that only adds to the VRML file of a robot. */
static void read_model_file(tbi_choreonoid *c, const tbi_yaml_node *node) {
  tbi_hrp *hrp = c->hrp;
  tbi_path *path = malloc(sizeof *path);
  char *text = NULL;
  size_t size = 0;
  if (!path) {
    tbi_fail_memory(&hrp->error);
  } else if (tbi_path_find(&hrp->roots, node->text, path) != TBI_PATH_FOUND) {
    tbi_fail_at(&hrp->error, TABI_ERR_FILE, node->place, "model_file '%.200s' is not there",
                node->text);
  } else if (tbi_take(&hrp->error, tbi_file_read(path->found, TBI_VRML_MAX_BYTES, node->place,
                                                 &text, &size, hrp->error.err))) {
    const char *kept = tbi_hrp_keep(hrp, path->found);
    if (kept) tbi_hrp_vrml_read(hrp, text, size, kept);
  }
  free(text);
  free(path);
}

static void read_unit(tbi_choreonoid *c, const tbi_yaml_node *root) {
  const char *unit = tbi_body_word(root, "angle_unit");
  c->angle_unit = M_PI / 180;
  if (!unit || strcmp(unit, "degree") == 0) return;
  c->angle_unit = 1;
  if (strcmp(unit, "radian") != 0)
    fail_number(c, tbi_yaml_child(root, "angle_unit"), "angle_unit", "degree or radian");
}

/* The root is the first link, or the one that is named. */
static void check_roots(tbi_choreonoid *c, const tbi_yaml_node *root) {
  const char *name = tbi_body_word(root, "root_link");
  tbi_hrp *hrp = c->hrp;
  int32_t index = name ? tbi_names_find(&hrp->link_names, name) : 0;
  if (index < 0) {
    tbi_fail_at(&hrp->error, TABI_ERR_MODEL, tbi_yaml_child(root, "root_link")->place,
                "root_link '%.80s' does not exist", name);
  }
}

static void read_root(tbi_choreonoid *c, tbi_yaml_node *root) {
  rename_keys(c->hrp, root);
  const char *format = tbi_body_word(root, "format");
  const tbi_yaml_node *model_file = tbi_yaml_child(root, "model_file");
  const tbi_yaml_node *links = tbi_yaml_child(root, "links");
  tbi_body_check(c, root, "body", NULL);
  if (!format && model_file) {
    read_model_file(c, model_file);
    return;
  }
  if (!format || strcmp(format, "ChoreonoidBody") != 0) {
    tbi_fail_at(&c->hrp->error, TABI_ERR_PARSE, root->place,
                "no 'format: ChoreonoidBody'; a robot in YAML is a body of Choreonoid");
    return;
  }
  read_unit(c, root);
  for_each(c, links, read_node);
  if (c->hrp->nlink == 0)
    tbi_fail_at(&c->hrp->error, TABI_ERR_MODEL, root->place, "body without links");
  check_roots(c, root);
  for_each(c, tbi_yaml_child(root, "extra_joints"), read_extra);
}

typedef struct source {
  const char *text, *path;
  size_t size;
} source;

static bool read_source(tbi_hrp *hrp, void *from) {
  const source *s = from;
  tbi_yaml *yaml = NULL;
  tbi_choreonoid c = {.hrp = hrp, .angle_unit = 1};
  if (tbi_take(&hrp->error,
               tbi_yaml_parse_aliases(s->text, s->size, s->path, &yaml, hrp->error.err)))
    read_root(&c, tbi_yaml_root(yaml));
  // places name the file by a text of the tree
  for (int32_t i = 0; i < hrp->nlink; ++i)
    hrp->links[i].place.file = hrp->links[i].joint.place.file = s->path;
  for (int32_t i = 0; i < hrp->nshape; ++i)
    hrp->shapes[i].def.place.file = s->path;
  for (int32_t i = 0; i < hrp->nsensor; ++i)
    hrp->sensors[i].def.place.file = s->path;
  for (int32_t i = 0; i < hrp->nextra; ++i)
    hrp->extras[i].place.file = s->path;
  tbi_yaml_destroy(yaml);
  return tbi_ok(&hrp->error);
}

static bool has_text(const char *text, size_t size, const char *part) {
  size_t n = strlen(part);
  for (size_t i = 0; i + n <= size; ++i) {
    if (memcmp(text + i, part, n) == 0) return true;
  }
  return false;
}

bool tbi_choreonoid_is(const char *text, size_t size, const char *path) {
  size_t n = strlen(path);
  size_t i = 0;
  while (i < size && isspace((unsigned char)text[i]))
    ++i;
  if (i < size && text[i] == '<') return false;
  if (n > 5 && strcasecmp(path + n - 5, ".body") == 0) return true;
  return has_text(text, size < 4096 ? size : 4096, "ChoreonoidBody");
}

tabi_status tbi_choreonoid_load(tabi_builder *builder, const char *text, size_t size,
                                const char *path, const tabi_load_def *def, tabi_error *err) {
  source s = {text, path, size};
  return tbi_hrp_load(builder, path, def, read_source, &s, err);
}
