/* gltf.c - reads glTF 2.0: a tree of nodes in JSON, numbers in buffers.
 *
 *   scene -> node (matrix, or translation, rotation, scale) -> mesh -> primitive
 *   primitive -> accessor of positions, accessor of indices -> bufferView -> buffer
 *
 * A buffer is the second chunk of a .glb, a data: URI, or a file of its own, which the caller
 * finds. Coordinates are taken as they are written: glTF's y, which is up, is y of the mesh.
 * Triangles, strips and fans are read; points, lines, bones and morph targets are left out. */
#include "io/mesh/mesh_file.h"

#include "base/error.h"
#include "io/first_error.h"
#include "io/placement.h"
#include "math/quat.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_JSON_BYTES ((size_t)64 * 1024 * 1024)
#define MAX_JSON_ITEMS 2000000 /* values cost jansson some 50 bytes each */
#define MAX_DEPTH      64
#define MAX_CORNERS    10000000 /* and vertices, of all primitives: many may use one accessor */

typedef struct buffer {
  const unsigned char *bytes; /* NULL: not read yet */
  size_t size;
  char *owned;
} buffer;

typedef struct source {
  const char *name;
  tabi_place place;
  tbi_first_error *error;
  const tbi_mesh_opener *opener; /* or NULL */
  const unsigned char *chunk;    /* the second one of a .glb, or NULL */
  size_t chunk_size;
  json_t *root;
  buffer *buffer;
  size_t nbuffer;
  size_t nbyte, ncorner; /* of files and of primitives so far */
  unsigned char *seen;   /* nodes that were read: each hangs on one other */
  tbi_weld weld;
} source;

/* What an accessor says, checked against its buffer. */
typedef struct accessor {
  const unsigned char *bytes; /* NULL: all zero */
  size_t count, stride;
  int type; /* of a component, 5120 to 5126 */
  int width;
  bool normalized;
  json_t *sparse;
} accessor;

static bool fail(source *s, const char *what) {
  return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%.200s': glTF: %s", s->name, what);
}

/* ------------------------------------------------------------------------- JSON */

/* A whole number >= 0 in an object; false: missing or something else. */
static bool get_size(json_t *object, const char *key, size_t *value) {
  json_t *number = json_object_get(object, key);
  if (!json_is_integer(number) || json_integer_value(number) < 0) return false;
  *value = (size_t)json_integer_value(number);
  return true;
}

static size_t size_or(json_t *object, const char *key, size_t otherwise) {
  size_t value = otherwise;
  return get_size(object, key, &value) ? value : otherwise;
}

/* An item of a top-level list, by an index in an object; NULL after an error. */
static json_t *get_item(source *s, json_t *object, const char *key, const char *list) {
  size_t index = 0;
  json_t *items = json_object_get(s->root, list);
  json_t *item = get_size(object, key, &index) ? json_array_get(items, index) : NULL;
  if (json_is_object(item)) return item;
  tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%.200s': glTF: '%s' is not one of %s",
              s->name, key, list);
  return NULL;
}

static bool get_numbers(source *s, json_t *object, const char *key, double *to, size_t count) {
  json_t *list = json_object_get(object, key);
  if (!list) return true;
  if (json_array_size(list) != count) return fail(s, "a list of numbers has a wrong length");
  for (size_t i = 0; i < count; ++i) {
    json_t *number = json_array_get(list, i);
    if (!json_is_number(number)) return fail(s, "a list of numbers holds something else");
    to[i] = json_number_value(number);
  }
  return true;
}

/* Values without those in texts, which a short file can hold in millions. */
static bool has_few_items(const char *text, size_t size) {
  size_t count = 0;
  bool quoted = false;
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == '\\' && quoted)
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted)
      count += text[i] == ',' || text[i] == '[' || text[i] == '{';
  }
  return count <= MAX_JSON_ITEMS;
}

static bool read_json(source *s, const char *text, size_t size) {
  json_error_t why;
  if (size > MAX_JSON_BYTES || !has_few_items(text, size)) return fail(s, "JSON is too large");
  // exporters put zero bytes into names, and pad chunks with them
  s->root = json_loadb(text, size, JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &why);
  if (s->root) return json_is_object(s->root) || fail(s, "JSON is not an object");
  if (json_error_code(&why) == json_error_out_of_memory) return tbi_fail_memory(s->error);
  return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%.200s': glTF: line %d: %.150s",
                     s->name, why.line, why.text);
}

/* ---------------------------------------------------------------------- buffers */

static int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

static bool decode_base64(source *s, const char *text, buffer *b) {
  size_t length = strlen(text);
  uint32_t bits = 0;
  int nbit = 0;
  b->owned = malloc(length / 4 * 3 + 4);
  if (!b->owned) return tbi_fail_memory(s->error);
  for (; *text != '\0' && *text != '='; ++text) {
    int digit = base64_digit(*text);
    if (digit < 0) return fail(s, "a data: URI is not base64");
    bits = bits << 6 | (uint32_t)digit;
    nbit += 6;
    if (nbit < 8) continue;
    nbit -= 8;
    unsigned char byte = (unsigned char)(bits >> nbit);
    memcpy(b->owned + b->size++, &byte, 1);
  }
  b->bytes = (const unsigned char *)b->owned;
  return true;
}

static bool open_file(source *s, const char *uri, buffer *b) {
  tabi_error why;
  if (!s->opener) return fail(s, "a buffer is in a file of its own");
  if (s->opener->open(s->opener->user, uri, &b->owned, &b->size, &why) != TABI_OK)
    return tbi_fail_as(s->error, &why);
  s->nbyte += b->size;
  if (s->nbyte > TBI_MESH_MAX_BYTES) return fail(s, "its buffers are too large; simplify it");
  b->bytes = (const unsigned char *)b->owned;
  return true;
}

/* The bytes of a buffer, read when they are first needed. */
static const buffer *get_buffer(source *s, size_t index) {
  json_t *object = json_array_get(json_object_get(s->root, "buffers"), index);
  if (!json_is_object(object) || index >= s->nbuffer) {
    fail(s, "a bufferView is of no buffer");
    return NULL;
  }
  buffer *b = &s->buffer[index];
  if (b->bytes) return b;
  const char *uri = json_string_value(json_object_get(object, "uri"));
  const char *data = uri && strncmp(uri, "data:", 5) == 0 ? strstr(uri, ";base64,") : NULL;
  bool read = false;
  if (!uri) {
    *b = (buffer){.bytes = s->chunk, .size = s->chunk_size};
    read = s->chunk || fail(s, "a buffer has neither a uri nor a chunk");
  } else if (strncmp(uri, "data:", 5) == 0) {
    read = data ? decode_base64(s, data + strlen(";base64,"), b)
                : fail(s, "a data: URI is not base64");
  } else {
    read = open_file(s, uri, b);
  }
  return read ? b : NULL;
}

static size_t component_bytes(int type) {
  switch (type) {
  case 5120:
  case 5121:
    return 1;
  case 5122:
  case 5123:
    return 2;
  case 5125:
  case 5126:
    return 4;
  default:
    return 0;
  }
}

/* Where `a` begins in a bufferView, if all of it lies there. */
static bool place_in_view(source *s, json_t *object, accessor *a) {
  json_t *view = get_item(s, object, "bufferView", "bufferViews");
  size_t index = 0;
  if (!view) return false;
  if (!get_size(view, "buffer", &index)) return fail(s, "a bufferView is of no buffer");
  const buffer *b = get_buffer(s, index);
  if (!b) return false;
  size_t item = component_bytes(a->type) * (size_t)a->width;
  size_t start = size_or(view, "byteOffset", 0);
  size_t length = size_or(view, "byteLength", 0);
  size_t offset = size_or(object, "byteOffset", 0);
  a->stride = size_or(view, "byteStride", item);
  if (a->stride == 0) a->stride = item;
  bool inside = start <= b->size && length <= b->size - start && offset <= length;
  size_t room = inside ? length - offset : 0;
  if (a->count > 0 && (room < item || (a->count - 1) > (room - item) / a->stride))
    return fail(s, "an accessor is longer than its buffer");
  a->bytes = b->bytes + start + (inside ? offset : 0);
  return true;
}

/* An accessor of vectors with `width` components. */
static bool get_accessor(source *s, json_t *object, const char *key, int width, accessor *a) {
  json_t *item = get_item(s, object, key, "accessors");
  if (!item) return false;
  const char *type = json_string_value(json_object_get(item, "type"));
  *a = (accessor){.width = width, .count = size_or(item, "count", 0)};
  a->type = (int)(size_or(item, "componentType", 0) & 0xffff);
  a->normalized = json_is_true(json_object_get(item, "normalized"));
  a->sparse = json_object_get(item, "sparse");
  if (component_bytes(a->type) == 0 || !type || strcmp(type, width == 3 ? "VEC3" : "SCALAR") != 0)
    return fail(s, "an accessor has a wrong type");
  if (a->count > INT32_MAX) return fail(s, "an accessor is longer than its buffer");
  return !json_object_get(item, "bufferView") || place_in_view(s, item, a);
}

static double component(const accessor *a, const unsigned char *b) {
  static const double largest[] = {127, 255, 32767, 65535};
  uint32_t bits = b[0];
  double value = 0;
  float f32;
  size_t bytes = component_bytes(a->type);
  for (size_t i = 1; i < bytes; ++i)
    bits |= (uint32_t)b[i] << (8 * i);
  switch (a->type) {
  case 5126:
    memcpy(&f32, &bits, sizeof f32);
    return (double)f32;
  case 5120:
    value = bits < 128 ? (double)bits : (double)bits - 256;
    break;
  case 5122:
    value = bits < 32768 ? (double)bits : (double)bits - 65536;
    break;
  default:
    value = (double)bits;
  }
  if (!a->normalized || a->type > 5123) return value;
  return fmax(value / largest[a->type - 5120], -1);
}

static double number_at(const accessor *a, size_t index, int k) {
  if (!a->bytes) return 0;
  const unsigned char *item = a->bytes + index * a->stride;
  return component(a, item + component_bytes(a->type) * (size_t)k);
}

/* -------------------------------------------------------------------- primitives */

/* Puts the few values of a sparse accessor over the others. */
static bool read_sparse(source *s, const accessor *a, double *to) {
  json_t *indices = json_object_get(a->sparse, "indices");
  json_t *values = json_object_get(a->sparse, "values");
  size_t count = size_or(a->sparse, "count", 0);
  accessor at = {
      .width = 1, .count = count, .type = (int)(size_or(indices, "componentType", 0) & 0xffff)};
  accessor value = {
      .width = a->width, .count = count, .type = a->type, .normalized = a->normalized};
  if (component_bytes(at.type) == 0 || at.type == 5126)
    return fail(s, "a sparse accessor is wrong");
  if (!place_in_view(s, indices, &at) || !place_in_view(s, values, &value)) return false;
  for (size_t i = 0; i < count; ++i) {
    double index = number_at(&at, i, 0);
    if (!(index >= 0 && index < (double)a->count)) return fail(s, "a sparse accessor is wrong");
    for (int k = 0; k < a->width; ++k)
      to[(size_t)a->width * (size_t)index + (size_t)k] = number_at(&value, i, k);
  }
  return true;
}

/* All numbers of an accessor; the caller frees them. */
static double *read_numbers(source *s, const accessor *a) {
  size_t width = (size_t)a->width;
  double *to = malloc((width * a->count + 1) * sizeof *to);
  if (!to) tbi_fail_memory(s->error);
  for (size_t i = 0; to && i < width * a->count; ++i)
    to[i] = number_at(a, i / width, (int)(i % width));
  bool good = to && (!a->sparse || read_sparse(s, a, to));
  for (size_t i = 0; good && i < width * a->count; ++i) {
    if (!isfinite(to[i])) {
      good = tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "mesh '%.200s': vertex %zu not finite",
                         s->name, i / width + 1);
    }
  }
  if (good) return to;
  free(to);
  return NULL;
}

/* Corners in the order of the primitive: points, and the indices into them or none. */
typedef struct corners {
  double *points, *indices;
  size_t npoint, count;
} corners;

static bool get_corner(source *s, const corners *c, size_t k, v3 *corner) {
  double index = c->indices ? c->indices[k] : (double)k;
  if (!(index >= 0 && index < (double)c->npoint)) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%.200s': a face uses vertex %.0f of %zu (from 0)", s->name, index,
                       c->npoint);
  }
  *corner = v3_load(c->points + 3 * (size_t)index);
  return true;
}

/* Mode 4: triangles, 5: a strip, 6: a fan. */
static bool weld_corners(source *s, const corners *c, size_t mode, const tbi_placement *placement) {
  size_t step = mode == 4 ? 3 : 1;
  for (size_t k = 0; k + 2 < c->count; k += step) {
    v3 face[3];
    bool odd = mode == 5 && k % 2 == 1;
    bool found = get_corner(s, c,
                            mode == 6 ? 0
                            : odd     ? k + 1
                                      : k,
                            &face[0]) &&
                 get_corner(s, c, odd ? k : k + 1, &face[1]) && get_corner(s, c, k + 2, &face[2]);
    if (!found) return false;
    if (!tbi_placement_weld(placement, &s->weld, face))
      return s->weld.no_memory || s->weld.too_many ? false : fail(s, "a face is not finite");
  }
  return true;
}

static bool read_corners(source *s, json_t *primitive, corners *c) {
  accessor points;
  accessor indices = {0};
  json_t *attributes = json_object_get(primitive, "attributes");
  bool indexed = json_object_get(primitive, "indices");
  if (!get_accessor(s, attributes, "POSITION", 3, &points)) return false;
  if (indexed && !get_accessor(s, primitive, "indices", 1, &indices)) return false;
  c->npoint = points.count;
  c->count = indexed ? indices.count : points.count;
  s->ncorner += c->count + c->npoint;
  if (s->ncorner > MAX_CORNERS) return fail(s, "too many corners; simplify it");
  c->points = read_numbers(s, &points);
  if (c->points && indexed) c->indices = read_numbers(s, &indices);
  return tbi_ok(s->error);
}

static bool check_compression(source *s, json_t *primitive) {
  static const char *const packed[] = {"KHR_draco_mesh_compression", "EXT_meshopt_compression"};
  json_t *required = json_object_get(s->root, "extensionsRequired");
  for (size_t i = 0; i < 2; ++i) {
    bool used = json_object_get(json_object_get(primitive, "extensions"), packed[i]);
    for (size_t k = 0; k < json_array_size(required); ++k) {
      const char *name = json_string_value(json_array_get(required, k));
      used = used || (name && strcmp(name, packed[i]) == 0);
    }
    if (!used) continue;
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "mesh '%.200s': glTF: %s is not read; export without compression", s->name,
                       packed[i]);
  }
  return true;
}

static bool read_primitive(source *s, json_t *primitive, const tbi_placement *placement) {
  size_t mode = size_or(primitive, "mode", 4);
  corners c = {0};
  if (mode < 4 || mode > 6 ||
      !json_object_get(json_object_get(primitive, "attributes"), "POSITION"))
    return true;
  bool read = check_compression(s, primitive) && read_corners(s, primitive, &c) &&
              weld_corners(s, &c, mode, placement);
  free(c.points);
  free(c.indices);
  return read;
}

/* ------------------------------------------------------------------------- nodes */

static bool read_placement(source *s, json_t *node, tbi_placement *p) {
  double a[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  double shift[3] = {0, 0, 0};
  double turn[4] = {0, 0, 0, 1};
  double scale[3] = {1, 1, 1};
  bool read = get_numbers(s, node, "matrix", a, 16) &&
              get_numbers(s, node, "translation", shift, 3) &&
              get_numbers(s, node, "rotation", turn, 4) && get_numbers(s, node, "scale", scale, 3);
  if (!read) return false;
  q4 q = {turn[3], turn[0], turn[1], turn[2]};
  m3 rotation = q_norm(q) > 0 ? q_matrix(q_normalize(q)) : m3_identity();
  tbi_placement matrix;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      // columns first
      matrix.turn.m[i][j] = a[4 * j + i];
      p->turn.m[i][j] = rotation.m[i][j] * scale[j];
    }
  }
  matrix.shift = v3_load(a + 12);
  p->shift = v3_load(shift);
  *p = tbi_placement_mul(p, &matrix);
  return true;
}

static bool read_mesh(source *s, json_t *node, const tbi_placement *placement) {
  if (!json_object_get(node, "mesh")) return true;
  json_t *mesh = get_item(s, node, "mesh", "meshes");
  json_t *primitives = json_object_get(mesh, "primitives");
  for (size_t i = 0; i < json_array_size(primitives); ++i) {
    if (!read_primitive(s, json_array_get(primitives, i), placement)) return false;
  }
  return tbi_ok(s->error);
}

/* Lists of nodes that are open, "nodes" of a scene and "children" of nodes. */
typedef struct lists {
  struct {
    json_t *list;
    size_t next; /* item to be read */
    tbi_placement placement;
  } open[MAX_DEPTH];
  int depth;
} lists;

static bool open_list(source *s, lists *l, json_t *list, const tbi_placement *placement) {
  if (json_array_size(list) == 0) return true;
  if (l->depth == MAX_DEPTH) return fail(s, "nodes are nested too deeply");
  l->open[l->depth].list = list;
  l->open[l->depth].next = 0;
  l->open[l->depth++].placement = *placement;
  return true;
}

/* A node, and its children next. */
static bool read_node(source *s, lists *l, json_t *number, const tbi_placement *above) {
  json_t *nodes = json_object_get(s->root, "nodes");
  size_t index = json_is_integer(number) ? (size_t)json_integer_value(number) : SIZE_MAX;
  if (index >= json_array_size(nodes)) return fail(s, "a node is missing");
  if (s->seen[index]++) return fail(s, "a node has two parents");
  json_t *node = json_array_get(nodes, index);
  tbi_placement placement;
  if (!read_placement(s, node, &placement)) return false;
  placement = tbi_placement_mul(above, &placement);
  return read_mesh(s, node, &placement) &&
         open_list(s, l, json_object_get(node, "children"), &placement);
}

static bool read_nodes(source *s, json_t *list) {
  const tbi_placement none = tbi_placement_none();
  lists l = {.depth = 0};
  bool read = open_list(s, &l, list, &none);
  while (read && l.depth > 0) {
    int top = l.depth - 1;
    if (l.open[top].next == json_array_size(l.open[top].list)) {
      --l.depth;
      continue;
    }
    json_t *number = json_array_get(l.open[top].list, l.open[top].next++);
    const tbi_placement above = l.open[top].placement;
    read = read_node(s, &l, number, &above);
  }
  return read;
}

/* All nodes that hang on no other, for files without a scene. */
static json_t *list_roots(json_t *root) {
  json_t *nodes = json_object_get(root, "nodes");
  size_t count = json_array_size(nodes);
  unsigned char *child = calloc(count + 1, 1);
  json_t *list = child ? json_array() : NULL;
  for (size_t i = 0; list && i < count; ++i) {
    json_t *children = json_object_get(json_array_get(nodes, i), "children");
    for (size_t k = 0; k < json_array_size(children); ++k) {
      json_int_t index = json_integer_value(json_array_get(children, k));
      if (index >= 0 && (size_t)index < count) child[index] = 1;
    }
  }
  for (size_t i = 0; list && i < count; ++i) {
    if (!child[i]) (void)json_array_append_new(list, json_integer((json_int_t)i));
  }
  free(child);
  return list;
}

static bool read_scene(source *s) {
  json_t *asset = json_object_get(s->root, "asset");
  const char *version = json_string_value(json_object_get(asset, "version"));
  if (!version || version[0] != '2') return fail(s, "version is not 2");
  s->seen = calloc(json_array_size(json_object_get(s->root, "nodes")) + 1, 1);
  s->nbuffer = json_array_size(json_object_get(s->root, "buffers"));
  s->buffer = calloc(s->nbuffer + 1, sizeof *s->buffer);
  json_t *scenes = json_object_get(s->root, "scenes");
  json_t *scene = json_array_get(scenes, size_or(s->root, "scene", 0));
  json_t *list = scene ? json_incref(json_object_get(scene, "nodes")) : list_roots(s->root);
  bool read = false;
  if (s->seen && s->buffer && (scene || list)) {
    read = read_nodes(s, list);
  } else {
    tbi_fail_memory(s->error);
  }
  json_decref(list);
  return read;
}

/* ------------------------------------------------------------------------- files */

static uint32_t load_u32(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The chunks of a .glb: JSON, then bytes. */
static bool read_chunks(source *s, const unsigned char *bytes, size_t size) {
  if (size < 20 || load_u32(bytes + 4) != 2) return fail(s, "version is not 2");
  size_t json = load_u32(bytes + 12);
  if (memcmp(bytes + 16, "JSON", 4) != 0 || json > size - 20) return fail(s, "a chunk is cut off");
  size_t next = 20 + json;
  if (size - next >= 8 && memcmp(bytes + next + 4, "BIN\0", 4) == 0) {
    s->chunk_size = load_u32(bytes + next);
    s->chunk = bytes + next + 8;
    if (s->chunk_size > size - next - 8) return fail(s, "a chunk is cut off");
  }
  return read_json(s, (const char *)bytes + 20, json);
}

static void free_source(source *s) {
  for (size_t i = 0; s->buffer && i < s->nbuffer; ++i)
    free(s->buffer[i].owned);
  free(s->buffer);
  free(s->seen);
  json_decref(s->root);
}

tabi_status tbi_gltf_parse(const void *bytes, size_t size, const char *name, tabi_place place,
                           const tbi_mesh_opener *opener, tbi_mesh *mesh, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {.name = name, .place = place, .error = &error, .opener = opener};
  tbi_weld_begin(&s.weld, mesh, 0);
  bool binary = size >= 4 && memcmp(bytes, "glTF", 4) == 0;
  bool parsed = binary ? read_chunks(&s, bytes, size) : read_json(&s, bytes, size);
  if (parsed) (void)read_scene(&s);
  free_source(&s);
  return tbi_weld_finish(&s.weld, &error, name, place);
}
