/* heightfield.c - reads grids of heights and makes triangles of them.
 *
 *   text     1.0 1.5 2.0          # begins a comment
 *            1.0, 1.2; 1.9
 *   picture  P2 or P5, width, height, largest value, then values from the upper left corner;
 *            PNG (png.h)
 *
 * A cell is cut along the diagonal whose ends differ less in height, which keeps valleys and
 * ridges that run across the grid from becoming rows of teeth. */
#include "io/mesh/heightfield.h"

#include "base/array.h"
#include "base/assertion.h"
#include "io/first_error.h"
#include "io/mesh/png.h"
#include "io/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
  const unsigned char *bytes;
  size_t size, at;
  int32_t line;
  const char *name;
  tabi_place place;
  tbi_first_error *error;
} source;

/* Heights from the upper left corner, row by row. */
typedef struct grid {
  double *heights;
  int32_t capacity;
  int32_t columns, rows;
} grid;

static bool is_break(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == ',' || c == ';';
}

static void skip_comment(source *s) {
  while (s->at < s->size && s->bytes[s->at] != '\n')
    ++s->at;
}

/* The next word of the line and its length; 0 at its end. */
static size_t next_word(source *s, const char **word) {
  while (s->at < s->size && is_break(s->bytes[s->at]))
    ++s->at;
  if (s->at < s->size && s->bytes[s->at] == '#') skip_comment(s);
  size_t begin = s->at;
  while (s->at < s->size && s->bytes[s->at] != '\n' && s->bytes[s->at] != '#' &&
         !is_break(s->bytes[s->at]))
    ++s->at;
  *word = (const char *)s->bytes + begin;
  return s->at - begin;
}

static bool add_height(const source *s, grid *g, int32_t count, double height) {
  TBI_ASSERT(count >= 0 && isfinite(height));
  if (count >= TBI_HEIGHTFIELD_MAX_POINTS) {
    return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                       "height field '%s': more than %d heights; make the grid coarser", s->name,
                       TBI_HEIGHTFIELD_MAX_POINTS);
  }
  if (!tbi_array_reserve((void **)&g->heights, &g->capacity, count, 1, sizeof *g->heights))
    return tbi_fail_memory(s->error);
  g->heights[count] = height;
  return true;
}

/* One line of numbers; how many there were in *columns. */
static bool read_row(source *s, grid *g, int32_t *count, int32_t *columns) {
  const char *word;
  size_t n;
  *columns = 0;
  while ((n = next_word(s, &word)) > 0) {
    double height;
    if (!tbi_number_read(word, n, &height) || !isfinite(height)) {
      return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                         "height field '%s': line %d: '%.*s' is not a finite number", s->name,
                         (int)s->line, (int)(n < 40 ? n : 40), word);
    }
    if (!add_height(s, g, (*count)++, height)) return false;
    ++*columns;
  }
  ++s->at;
  ++s->line;
  return true;
}

static bool read_text(source *s, grid *g) {
  int32_t count = 0;
  while (s->at < s->size) {
    int32_t columns = 0;
    if (!read_row(s, g, &count, &columns)) return false;
    if (columns == 0) continue;
    if (g->rows++ == 0) g->columns = columns;
    if (columns != g->columns) {
      return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                         "height field '%s': line %d has %d numbers, the first row %d", s->name,
                         (int)s->line - 1, (int)columns, (int)g->columns);
    }
  }
  return true;
}

/* A number of the head or of a plain picture; comments may precede it. */
static bool read_whole(source *s, int32_t limit, int32_t *value) {
  for (;;) {
    while (s->at < s->size && (is_break(s->bytes[s->at]) || s->bytes[s->at] == '\n'))
      ++s->at;
    if (s->at >= s->size || s->bytes[s->at] != '#') break;
    skip_comment(s);
  }
  size_t begin = s->at;
  *value = 0;
  for (; s->at < s->size && s->bytes[s->at] >= '0' && s->bytes[s->at] <= '9'; ++s->at) {
    *value = 10 * *value + (s->bytes[s->at] - '0');
    if (*value > limit) return false;
  }
  return s->at > begin;
}

static bool fail_picture(const source *s, const char *why) {
  return tbi_fail_at(s->error, TABI_ERR_PARSE, s->place, "height field '%s': %s", s->name, why);
}

/* One value of a raw picture of one or two bytes, the high one first. */
static bool read_raw(source *s, int32_t most, int32_t *value) {
  size_t bytes = most > 255 ? 2 : 1;
  if (s->size - s->at < bytes) return false;
  *value = bytes == 2 ? s->bytes[s->at] << 8 | s->bytes[s->at + 1] : s->bytes[s->at];
  s->at += bytes;
  return *value <= most;
}

static bool read_picture(source *s, grid *g) {
  const int32_t side = 32767;
  bool raw = s->bytes[1] == '5';
  int32_t most = 0;
  s->at = 2;
  if (!read_whole(s, side, &g->columns) || !read_whole(s, side, &g->rows) ||
      !read_whole(s, 65535, &most) || most < 1) {
    return fail_picture(s, "PGM needs a width, a height (32767 at most) and a largest value "
                           "(65535 at most)");
  }
  ++s->at; /* one space before raw values */
  if (s->at > s->size) s->at = s->size;
  int64_t points = (int64_t)g->columns * g->rows;
  for (int32_t i = 0; i < points; ++i) {
    int32_t value = 0;
    if (raw ? !read_raw(s, most, &value) : !read_whole(s, most, &value))
      return fail_picture(s, "PGM ends early, or a value is above its largest one");
    if (!add_height(s, g, i, (double)value / most)) return false;
  }
  return true;
}

static void put_face(tbi_mesh *mesh, int32_t a, int32_t b, int32_t c) {
  int32_t *face = mesh->faces + 3 * (size_t)mesh->nface++;
  face[0] = a;
  face[1] = b;
  face[2] = c;
}

/* a and c, b and d are opposite corners, counter-clockwise from above */
static void put_cell(const tbi_heights *g, tbi_mesh *mesh, int32_t b) {
  int32_t a = b + g->columns;
  int32_t c = b + 1;
  int32_t d = a + 1;
  /* b upper left, c upper right, a lower left, d lower right */
  if (fabs(g->heights[b] - g->heights[d]) < fabs(g->heights[a] - g->heights[c])) {
    put_face(mesh, a, d, b);
    put_face(mesh, d, c, b);
  } else {
    put_face(mesh, a, d, c);
    put_face(mesh, a, c, b);
  }
}

static bool make_mesh(tbi_first_error *error, const tbi_heights *g, const tbi_heightfield *field,
                      tbi_mesh *mesh) {
  TBI_ASSERT(g->columns >= 2 && g->rows >= 2 && g->heights);
  size_t points = (size_t)g->columns * (size_t)g->rows;
  mesh->vertices = malloc((3 * points + 1) * sizeof *mesh->vertices);
  mesh->faces = malloc((6 * points + 1) * sizeof *mesh->faces);
  if (!mesh->vertices || !mesh->faces) return tbi_fail_memory(error);
  double width = field->size[0] > 0 ? field->size[0] : g->columns - 1;
  double depth = field->size[1] > 0 ? field->size[1] : g->rows - 1;
  for (int32_t row = 0; row < g->rows; ++row) {
    for (int32_t column = 0; column < g->columns; ++column) {
      double *v = mesh->vertices + 3 * (size_t)mesh->nvertex;
      v[0] = width * ((double)column / (g->columns - 1) - 0.5);
      v[1] = depth * (0.5 - (double)row / (g->rows - 1));
      v[2] = field->height * g->heights[mesh->nvertex++];
    }
  }
  for (int32_t row = 0; row + 1 < g->rows; ++row) {
    for (int32_t column = 0; column + 1 < g->columns; ++column)
      put_cell(g, mesh, row * g->columns + column);
  }
  return true;
}

static bool read_png(const source *s, grid *g) {
  tbi_png png;
  if (!tbi_take(s->error, tbi_png_read(s->bytes, s->size, TBI_HEIGHTFIELD_MAX_POINTS, s->name,
                                       s->place, &png, s->error->err)))
    return false;
  *g = (grid){png.grey, 0, png.columns, png.rows};
  return true;
}

static bool read_grid(source *s, grid *g) {
  if (tbi_png_is(s->bytes, s->size)) return read_png(s, g);
  bool pgm = s->size > 2 && s->bytes[0] == 'P' && (s->bytes[1] == '2' || s->bytes[1] == '5');
  return pgm ? read_picture(s, g) : read_text(s, g);
}

/* Hands the grid over, if there is one of at least 2 x 2. */
static tabi_status finish(const source *s, grid *g, tbi_heights *heights) {
  if (tbi_ok(s->error) && (g->columns < 2 || g->rows < 2)) {
    tbi_fail_at(s->error, TABI_ERR_PARSE, s->place,
                "height field '%s': %d x %d heights; it needs 2 x 2 at least", s->name,
                (int)g->columns, (int)g->rows);
  }
  if (tbi_ok(s->error)) {
    *heights = (tbi_heights){g->heights, g->columns, g->rows};
  } else {
    free(g->heights);
  }
  return s->error->status;
}

tabi_status tbi_heights_read(const void *bytes, size_t size, const char *name, tabi_place place,
                             tbi_heights *heights, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {bytes, size, 0, 1, name, place, &error};
  grid g = {0};
  *heights = (tbi_heights){0};
  (void)read_grid(&s, &g);
  return finish(&s, &g, heights);
}

static uint32_t load_u32(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool read_mujoco(const source *s, grid *g) {
  if (s->size < 8) return fail_picture(s, "the file is too short for its two counts");
  uint64_t rows = load_u32(s->bytes);
  uint64_t columns = load_u32(s->bytes + 4);
  if (rows > TBI_HEIGHTFIELD_MAX_POINTS || columns > TBI_HEIGHTFIELD_MAX_POINTS ||
      rows * columns > TBI_HEIGHTFIELD_MAX_POINTS)
    return fail_picture(s, "too many heights; make the grid coarser");
  if (s->size != 8 + 4 * rows * columns)
    return fail_picture(s, "the size of the file does not fit its counts of rows and columns");
  g->rows = (int32_t)rows;
  g->columns = (int32_t)columns;
  g->heights = malloc(rows * columns * sizeof *g->heights + 1);
  if (!g->heights) return tbi_fail_memory(s->error);
  for (uint64_t i = 0; i < rows * columns; ++i) {
    uint32_t bits = load_u32(s->bytes + 8 + 4 * i);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) return fail_picture(s, "a height is not finite");
    g->heights[(rows - 1 - i / columns) * columns + i % columns] = (double)value;
  }
  return true;
}

tabi_status tbi_heights_read_mujoco(const void *bytes, size_t size, const char *name,
                                    tabi_place place, tbi_heights *heights, tabi_error *err) {
  tbi_first_error error = {.err = err};
  source s = {bytes, size, 0, 1, name, place, &error};
  grid g = {0};
  *heights = (tbi_heights){0};
  (void)read_mujoco(&s, &g);
  return finish(&s, &g, heights);
}

tabi_status tbi_heights_mesh(const tbi_heights *heights, const tbi_heightfield *field,
                             tbi_mesh *mesh, tabi_error *err) {
  tbi_first_error error = {.err = err};
  *mesh = (tbi_mesh){0};
  make_mesh(&error, heights, field, mesh);
  if (!tbi_ok(&error)) tbi_mesh_free(mesh);
  return error.status;
}

tabi_status tbi_heightfield_parse(const void *bytes, size_t size, const tbi_heightfield *field,
                                  const char *name, tabi_place place, tbi_mesh *mesh,
                                  tabi_error *err) {
  tbi_heights heights;
  *mesh = (tbi_mesh){0};
  tabi_status status = tbi_heights_read(bytes, size, name, place, &heights, err);
  if (status == TABI_OK) status = tbi_heights_mesh(&heights, field, mesh, err);
  free(heights.heights);
  return status;
}
