/* dae.c - reads COLLADA 1.4 and 1.5 (.dae): the geometry of the visual scene, each instance where
 * its nodes put it.
 *
 *   scene -> visual_scene -> node (matrix, translate, rotate, scale) -> instance_geometry
 *   geometry -> mesh -> triangles, polylist, ... -> vertices -> source -> float_array
 *
 * Lengths are multiplied by the file's unit, as Gazebo and RViz do, and as both do, the up axis
 * that the file names does not turn it: robots use their meshes with the numbers as written.  Of a
 * skin the geometry is taken as it is bound.  Lines, splines and holes in polygons are left out. */
#include "io/mesh/mesh_file.h"

#include "base/array.h"
#include "base/names.h"
#include "io/first_error.h"
#include "io/number.h"
#include "io/placement.h"
#include "io/xml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH     64       /* of nodes in nodes, also by instance_node */
#define MAX_INSTANCES 100000   /* of geometries and nodes */
#define MAX_WORDS     50000000 /* of all instances: a file may name one geometry many times */

typedef struct source {
  const char *name;
  tabi_place place;
  tbi_first_error *error;
  tbi_names ids; /* of elements below */
  tbi_xml_node **element;
  int32_t nelement, cap_element;
  int32_t ninstance;
  size_t nword; /* numbers and indices read so far */
  tbi_weld weld;
} source;

/* Points of a mesh: numbers of an array, stride apart. */
typedef struct points {
  double *numbers;
  size_t count, stride, offset, axis[3];
} points;

static bool fail(source *s, const tbi_xml_node *at, const char *what) {
  return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%.200s': line %d: %s", s->name,
                     (int)at->place.line, what);
}

/* ------------------------------------------------------------------------ the tree */

static void note_id(source *s, tbi_xml_node *node, const char *id) {
  void *items = s->element;
  bool room = tbi_array_reserve(&items, &s->cap_element, s->nelement, 1, sizeof(tbi_xml_node *));
  s->element = items;
  if (room && tbi_names_add(&s->ids, id, s->nelement)) {
    s->element[s->nelement++] = node;
  } else {
    tbi_fail_memory(s->error);
  }
}

/* The first element of every id, in reading order. */
static void note_ids(source *s, tbi_xml_node *root) {
  tbi_xml_node *node = root;
  while (node && tbi_ok(s->error)) {
    const char *id = tbi_xml_get(node, "id");
    if (id && tbi_names_find(&s->ids, id) < 0) note_id(s, node, id);
    if (node->first) {
      node = node->first;
      continue;
    }
    while (node && !node->next)
      node = node->parent;
    if (node) node = node->next;
  }
}

/* The element that an attribute names by "#id"; NULL without one, or after an error. */
static tbi_xml_node *referred(source *s, tbi_xml_node *node, const char *attribute,
                              const char *kind) {
  const char *url = tbi_xml_get(node, attribute);
  int32_t index = url && url[0] == '#' ? tbi_names_find(&s->ids, url + 1) : -1;
  if (index >= 0 && strcmp(s->element[index]->name, kind) == 0) return s->element[index];
  tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
              "mesh '%.200s': line %d: no <%s> is called '%.80s'", s->name, (int)node->place.line,
              kind, url ? url : "");
  return NULL;
}

/* The words of an element's text, which are then counted as read; 0 also after an error. */
static size_t count_words(source *s, const tbi_xml_node *node) {
  size_t count = 0;
  for (const char *text = node->text; *text != '\0'; ++text)
    count += *text != ' ' && (text[1] == ' ' || text[1] == '\0');
  s->nword += count;
  if (s->nword <= MAX_WORDS) return count;
  fail(s, node, "too many instances of too large geometries");
  return 0;
}

/* The next word of a text in which all space is ' '; 0 at the end. */
static size_t next_word(const char **text) {
  *text += strspn(*text, " ");
  return strcspn(*text, " ");
}

/* Exactly so many numbers, or an error. */
static bool read_numbers(source *s, const tbi_xml_node *node, double *numbers, size_t count) {
  const char *text = node->text;
  for (size_t i = 0; i < count; ++i) {
    size_t n = next_word(&text);
    if (!tbi_number_read(text, n, &numbers[i]))
      return fail(s, node, "a number is missing or wrong");
    if (!isfinite(numbers[i])) return fail(s, node, "a number is not finite");
    text += n;
  }
  return true;
}

static size_t read_size(tbi_xml_node *node, const char *attribute, size_t otherwise) {
  const char *text = tbi_xml_get(node, attribute);
  double value = -1;
  bool number = text && tbi_number_read(text, strlen(text), &value);
  return number && value >= 0 && value < 1e9 ? (size_t)value : otherwise;
}

/* A whole number >= 0. */
static bool read_index(const char **text, size_t *index) {
  size_t n = next_word(text);
  size_t value = 0;
  if (n == 0 || n > 9) return false;
  for (size_t i = 0; i < n; ++i) {
    char c = (*text)[i];
    if (c < '0' || c > '9') return false;
    value = 10 * value + (size_t)(c - '0');
  }
  *text += n;
  *index = value;
  return true;
}

/* ------------------------------------------------------------------------- points */

/* Which numbers of a stride are x, y and z: those of the parameters that have a name. */
static void read_axes(tbi_xml_node *accessor, points *p) {
  size_t at = 0;
  size_t named = 0;
  tbi_xml_node *param = tbi_xml_child(accessor, "param");
  for (; param; param = tbi_xml_next(param), ++at) {
    if (tbi_xml_get(param, "name") && named < 3) p->axis[named++] = at;
  }
  for (size_t k = 0; k < 3 && named < 3; ++k)
    p->axis[k] = k;
}

static bool read_source(source *s, tbi_xml_node *node, points *p) {
  tbi_xml_node *technique = tbi_xml_child(node, "technique_common");
  tbi_xml_node *accessor = technique ? tbi_xml_child(technique, "accessor") : NULL;
  if (!accessor) return fail(s, node, "<source> without an accessor");
  tbi_xml_node *array = referred(s, accessor, "source", "float_array");
  if (!array) return false;
  size_t count = count_words(s, array);
  p->count = read_size(accessor, "count", 0);
  p->stride = read_size(accessor, "stride", 1);
  p->offset = read_size(accessor, "offset", 0);
  read_axes(accessor, p);
  size_t last = p->axis[0] > p->axis[1] ? p->axis[0] : p->axis[1];
  last = last > p->axis[2] ? last : p->axis[2];
  size_t needed = p->count > 0 ? p->offset + (p->count - 1) * p->stride + last + 1 : 0;
  if (needed > count || p->stride < 3) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%.200s': line %d: %zu points in %zu numbers", s->name,
                       (int)accessor->place.line, p->count, count);
  }
  p->numbers = malloc((count + 1) * sizeof *p->numbers);
  if (!p->numbers) return tbi_fail_memory(s->error);
  return read_numbers(s, array, p->numbers, count);
}

static tbi_xml_node *input_of(tbi_xml_node *node, const char *semantic) {
  tbi_xml_node *input = tbi_xml_child(node, "input");
  for (; input; input = tbi_xml_next(input)) {
    const char *meaning = tbi_xml_get(input, "semantic");
    if (meaning && strcmp(meaning, semantic) == 0) return input;
  }
  return NULL;
}

static bool read_points(source *s, tbi_xml_node *mesh, points *p) {
  tbi_xml_node *vertices = tbi_xml_child(mesh, "vertices");
  tbi_xml_node *input = vertices ? input_of(vertices, "POSITION") : NULL;
  if (!input) return fail(s, mesh, "<mesh> without positions of its vertices");
  tbi_xml_node *from = referred(s, input, "source", "source");
  return from && read_source(s, from, p);
}

static v3 point_at(const points *p, size_t index) {
  const double *at = p->numbers + p->offset + index * p->stride;
  return v3_make(at[p->axis[0]], at[p->axis[1]], at[p->axis[2]]);
}

/* ------------------------------------------------------------------------- faces */

typedef enum walk { TRIANGLES, FAN, STRIP } walk;

/* One list of corners. */
typedef struct primitive {
  const points *points;
  const tbi_placement *placement;
  const tbi_xml_node *node;
  size_t stride, offset; /* indices of a corner, and which of them is the vertex */
} primitive;

static bool read_corner(source *s, const primitive *p, const char **text, v3 *corner) {
  size_t index = 0;
  for (size_t k = 0; k < p->stride; ++k) {
    size_t value = 0;
    if (!read_index(text, &value)) return fail(s, p->node, "an index is missing or wrong");
    if (k == p->offset) index = value;
  }
  if (index >= p->points->count) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%.200s': line %d: a face uses vertex %zu of %zu (from 0)", s->name,
                       (int)p->node->place.line, index, p->points->count);
  }
  *corner = point_at(p->points, index);
  return true;
}

/* So many corners from the text, as loose triangles, a fan or a strip. */
static bool read_corners(source *s, const primitive *p, const char **text, size_t count, walk way) {
  v3 corner[3] = {
      {0, 0, 0}
  };
  for (size_t k = 0; k < count; ++k) {
    size_t slot = way == TRIANGLES ? k % 3 : k < 3 ? k : 2;
    if (!read_corner(s, p, text, &corner[slot])) return false;
    if (slot < 2) continue;
    bool odd = way == STRIP && k % 2 == 1;
    const v3 face[3] = {corner[odd ? 1 : 0], corner[odd ? 0 : 1], corner[2]};
    if (!tbi_placement_weld(p->placement, &s->weld, face))
      return s->weld.no_memory || s->weld.too_many ? false
                                                   : fail(s, p->node, "a face is not finite");
    if (way == STRIP) corner[0] = corner[1];
    if (way != TRIANGLES) corner[1] = corner[2];
  }
  return true;
}

/* <triangles>, <trifans>, <tristrips> and <polygons>: one <p> or many. */
static bool read_lists(source *s, tbi_xml_node *node, primitive *p, walk way) {
  for (tbi_xml_node *child = node->first; child; child = child->next) {
    tbi_xml_node *list = strcmp(child->name, "ph") == 0 ? tbi_xml_child(child, "p") : child;
    if (!list || strcmp(list->name, "p") != 0) continue;
    const char *text = list->text;
    size_t count = count_words(s, list) / p->stride;
    if (!tbi_ok(s->error)) return false;
    if (way == TRIANGLES) count -= count % 3;
    p->node = list;
    if (!read_corners(s, p, &text, count, way)) return false;
  }
  return true;
}

/* <polylist>: how many corners each has, then all corners. */
static bool read_polylist(source *s, tbi_xml_node *node, primitive *p) {
  const tbi_xml_node *counts = tbi_xml_child(node, "vcount");
  const tbi_xml_node *list = tbi_xml_child(node, "p");
  if (!counts || !list) return true;
  const char *rest = counts->text;
  const char *text = list->text;
  p->node = list;
  if (count_words(s, list) == 0 || count_words(s, counts) == 0) return tbi_ok(s->error);
  while (rest += strspn(rest, " "), *rest != '\0') {
    size_t count = 0;
    if (!read_index(&rest, &count)) return fail(s, counts, "vcount is not a number");
    if (!read_corners(s, p, &text, count, FAN)) return false;
  }
  return true;
}

static bool read_primitive(source *s, tbi_xml_node *node, primitive p) {
  static const struct {
    const char *name;
    walk way;
  } kinds[] = {
      {"triangles", TRIANGLES},
      {"polygons",  FAN      },
      {"trifans",   FAN      },
      {"tristrips", STRIP    },
  };
  int kind = -1;
  for (int i = 0; i < 4; ++i) {
    if (strcmp(node->name, kinds[i].name) == 0) kind = i;
  }
  bool polylist = strcmp(node->name, "polylist") == 0;
  if (kind < 0 && !polylist) return true;
  tbi_xml_node *vertex = input_of(node, "VERTEX");
  if (!vertex) return fail(s, node, "faces without an input of vertices");
  p.offset = read_size(vertex, "offset", 0);
  p.stride = 1;
  for (tbi_xml_node *input = tbi_xml_child(node, "input"); input; input = tbi_xml_next(input)) {
    size_t above = read_size(input, "offset", 0) + 1;
    if (above > p.stride) p.stride = above;
  }
  return polylist ? read_polylist(s, node, &p) : read_lists(s, node, &p, kinds[kind].way);
}

static bool read_geometry(source *s, tbi_xml_node *geometry, const tbi_placement *placement) {
  tbi_xml_node *mesh = tbi_xml_child(geometry, "mesh");
  points p = {0};
  if (!mesh) return true;
  bool read = read_points(s, mesh, &p);
  const primitive first = {.points = &p, .placement = placement};
  for (tbi_xml_node *node = mesh->first; node && read; node = node->next)
    read = read_primitive(s, node, first);
  free(p.numbers);
  return read;
}

/* ------------------------------------------------------------------------- nodes */

static bool read_matrix(source *s, const tbi_xml_node *node, tbi_placement *p) {
  double a[16];
  if (!read_numbers(s, node, a, 16)) return false;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      p->turn.m[i][j] = a[4 * i + j];
  }
  p->shift = v3_make(a[3], a[7], a[11]);
  return true;
}

static bool read_rotation(source *s, const tbi_xml_node *node, tbi_placement *p) {
  double a[4];
  if (!read_numbers(s, node, a, 4)) return false;
  v3 axis = v3_load(a);
  double length = v3_norm(axis);
  if (!(length > 0) || a[3] == 0) return true;
  double angle = a[3] * (acos(-1.0) / 180);
  p->turn = m3_about(v3_scale(1 / length, axis), sin(angle), cos(angle));
  return true;
}

/* One step of a node's transformation; other elements change nothing. */
static bool read_step(source *s, const tbi_xml_node *node, tbi_placement *p) {
  double a[3];
  *p = tbi_placement_none();
  if (strcmp(node->name, "matrix") == 0) return read_matrix(s, node, p);
  if (strcmp(node->name, "rotate") == 0) return read_rotation(s, node, p);
  bool shift = strcmp(node->name, "translate") == 0;
  if (!shift && strcmp(node->name, "scale") != 0) return true;
  if (!read_numbers(s, node, a, 3)) return false;
  if (shift) p->shift = v3_load(a);
  for (int k = 0; k < 3 && !shift; ++k)
    p->turn.m[k][k] = a[k];
  return true;
}

static bool count_instance(source *s, const tbi_xml_node *node) {
  return ++s->ninstance <= MAX_INSTANCES || fail(s, node, "too many instances");
}

/* A skin's geometry as it is bound to the bones. */
static bool read_controller(source *s, tbi_xml_node *instance, const tbi_placement *placement) {
  tbi_xml_node *controller = referred(s, instance, "url", "controller");
  tbi_xml_node *skin = controller ? tbi_xml_child(controller, "skin") : NULL;
  if (!controller || !skin) return tbi_ok(s->error);
  tbi_xml_node *geometry = referred(s, skin, "source", "geometry");
  tbi_xml_node *bind = tbi_xml_child(skin, "bind_shape_matrix");
  tbi_placement bound = tbi_placement_none();
  if (!geometry || (bind && !read_matrix(s, bind, &bound))) return false;
  bound = tbi_placement_mul(placement, &bound);
  return read_geometry(s, geometry, &bound);
}

/* Nodes that are open, each in the one before it. */
typedef struct nodes {
  struct {
    tbi_xml_node *next; /* child to be read */
    tbi_placement placement;
  } open[MAX_DEPTH];
  int depth;
} nodes;

/* Opens a node: its own transformation, in the order of its steps, after that of the one above. */
static bool open_node(source *s, nodes *n, tbi_xml_node *node, const tbi_placement *above) {
  tbi_placement placement = *above;
  tbi_placement step;
  if (n->depth == MAX_DEPTH) return fail(s, node, "nodes are nested too deeply, or in a circle");
  if (!count_instance(s, node)) return false;
  for (tbi_xml_node *child = node->first; child; child = child->next) {
    if (!read_step(s, child, &step)) return false;
    placement = tbi_placement_mul(&placement, &step);
  }
  n->open[n->depth].next = node->first;
  n->open[n->depth++].placement = placement;
  return true;
}

static bool read_child(source *s, nodes *n, tbi_xml_node *child, const tbi_placement *placement) {
  if (strcmp(child->name, "node") == 0) return open_node(s, n, child, placement);
  bool geometry = strcmp(child->name, "instance_geometry") == 0;
  bool node = strcmp(child->name, "instance_node") == 0;
  if (strcmp(child->name, "instance_controller") == 0)
    return count_instance(s, child) && read_controller(s, child, placement);
  if (!geometry && !node) return true;
  tbi_xml_node *of = referred(s, child, "url", geometry ? "geometry" : "node");
  if (!of || !count_instance(s, child)) return false;
  return geometry ? read_geometry(s, of, placement) : open_node(s, n, of, placement);
}

/* A node and all that hangs on it. */
static bool read_nodes(source *s, tbi_xml_node *root, const tbi_placement *above) {
  nodes n = {.depth = 0};
  bool read = open_node(s, &n, root, above);
  while (read && n.depth > 0) {
    int top = n.depth - 1;
    tbi_xml_node *child = n.open[top].next;
    if (!child) {
      --n.depth;
      continue;
    }
    n.open[top].next = child->next;
    const tbi_placement placement = n.open[top].placement;
    read = read_child(s, &n, child, &placement);
  }
  return read;
}

/* ------------------------------------------------------------------------- files */

static bool read_unit(source *s, tbi_xml_node *root, tbi_placement *placement) {
  tbi_xml_node *asset = tbi_xml_child(root, "asset");
  tbi_xml_node *unit = asset ? tbi_xml_child(asset, "unit") : NULL;
  const char *text = unit ? tbi_xml_get(unit, "meter") : NULL;
  double metre = 1;
  bool number = !text || tbi_number_read(text, strlen(text), &metre);
  *placement = tbi_placement_none();
  if (!number || !(metre > 0) || !isfinite(metre))
    return fail(s, unit ? unit : root, "the unit must be > 0 metres");
  for (int k = 0; k < 3; ++k)
    placement->turn.m[k][k] = metre;
  return true;
}

/* The scene that the file shows, else its first one; NULL: none. */
static tbi_xml_node *find_scene(source *s, tbi_xml_node *root) {
  tbi_xml_node *scene = tbi_xml_child(root, "scene");
  tbi_xml_node *instance = scene ? tbi_xml_child(scene, "instance_visual_scene") : NULL;
  if (instance) return referred(s, instance, "url", "visual_scene");
  tbi_xml_node *library = tbi_xml_child(root, "library_visual_scenes");
  return library ? tbi_xml_child(library, "visual_scene") : NULL;
}

/* Without a scene every geometry counts, once. */
static bool read_loose(source *s, tbi_xml_node *root, const tbi_placement *placement) {
  tbi_xml_node *library = tbi_xml_child(root, "library_geometries");
  for (; library; library = tbi_xml_next(library)) {
    tbi_xml_node *geometry = tbi_xml_child(library, "geometry");
    for (; geometry; geometry = tbi_xml_next(geometry)) {
      if (!read_geometry(s, geometry, placement)) return false;
    }
  }
  return true;
}

static void read_root(source *s, tbi_xml_node *root) {
  tbi_placement unit;
  if (strcmp(root->name, "COLLADA") != 0) {
    fail(s, root, "root element is not <COLLADA>");
    return;
  }
  note_ids(s, root);
  if (!tbi_ok(s->error) || !read_unit(s, root, &unit)) return;
  tbi_xml_node *scene = find_scene(s, root);
  if (!tbi_ok(s->error)) return;
  if (scene) {
    read_nodes(s, scene, &unit);
  } else {
    read_loose(s, root, &unit);
  }
}

tabi_status tbi_dae_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                          tbi_mesh *mesh, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {.name = name, .place = place, .error = &error};
  tabi_error why;
  tbi_xml *xml = NULL;
  *mesh = (tbi_mesh){0};
  tabi_status status = tbi_xml_parse(bytes, size, name, &xml, &why);
  if (status == TABI_ERR_MEMORY) tbi_fail_memory(&error);
  if (status != TABI_OK) {
    tbi_fail_at(&error, TABI_ERR_PARSE, place, "mesh '%.200s': line %d: %s", name, (int)why.line,
                why.message);
    return error.status;
  }
  tbi_weld_begin(&s.weld, mesh, 0);
  read_root(&s, tbi_xml_root(xml));
  tbi_names_free(&s.ids);
  free(s.element);
  tbi_xml_destroy(xml);
  return tbi_weld_finish(&s.weld, &error, name, place);
}
