/* neutral_scene.c - reads and writes engine-neutral scenes; linked into the command and into every
 * peer. */
#include "neutral_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put(FILE *file, const double *x, int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    (void)fprintf(file, " %.17g", x[i]);
}

static void put_body(FILE *file, const tbi_neutral_body *b) {
  (void)fprintf(file, "body %d %d %d", (int)b->parent, (int)b->link, (int)b->joint);
  put(file, b->pos, 3);
  put(file, b->quat, 4);
  put(file, &b->mass, 1);
  put(file, b->com, 3);
  put(file, b->inertia, 6);
  const double joint[] = {b->armature, b->damping, b->dry,    b->lower, b->upper,
                          b->kp,       b->kd,      b->target, b->q,     b->v};
  put(file, joint, sizeof joint / sizeof joint[0]);
  put(file, b->start_pos, 3);
  put(file, b->start_quat, 4);
  put(file, b->start_linear, 3);
  put(file, b->start_angular, 3);
  (void)fputc('\n', file);
}

static void put_shape(FILE *file, const tbi_neutral_shape *s) {
  (void)fprintf(file, "shape %d %d", (int)s->body, (int)s->kind);
  put(file, s->pos, 3);
  put(file, s->quat, 4);
  put(file, s->size, 3);
  put(file, &s->friction, 1);
  put(file, &s->restitution, 1);
  (void)fprintf(file, " %u %u\n", (unsigned)s->group, (unsigned)s->mask);
}

bool tbi_neutral_scene_write(const tbi_neutral_scene *neutral, FILE *file) {
  (void)fputs("world", file);
  put(file, &neutral->timestep, 1);
  put(file, neutral->gravity, 3);
  (void)fputc('\n', file);
  for (int32_t i = 0; i < neutral->nbody; ++i)
    put_body(file, &neutral->body[i]);
  for (int32_t i = 0; i < neutral->nshape; ++i)
    put_shape(file, &neutral->shape[i]);
  for (int32_t i = 0; i < neutral->nexclusion; ++i)
    (void)fprintf(file, "exclude %d %d\n", (int)neutral->exclusion[i][0],
                  (int)neutral->exclusion[i][1]);
  for (int32_t i = 0; i < neutral->nconnection; ++i) {
    const tbi_neutral_connection *connection = &neutral->connection[i];
    (void)fprintf(file, "connection %d %d", (int)connection->body[0], (int)connection->body[1]);
    put(file, connection->pos[0], 3);
    put(file, connection->pos[1], 3);
    (void)fputc('\n', file);
  }
  for (int32_t i = 0; i < neutral->nstep; ++i) {
    (void)fputs("aim", file);
    put(file, neutral->aim + (size_t)i * (size_t)neutral->nbody, neutral->nbody);
    (void)fputc('\n', file);
  }
  return !ferror(file);
}

/* The rest of a line; `ok` turns false where a number is missing. */
typedef struct reader {
  char *rest;
  bool ok;
} reader;

static double get_number(reader *r) {
  char *end = r->rest;
  double x = strtod(r->rest, &end);
  r->ok = r->ok && end > r->rest;
  r->rest = end;
  return x;
}

static void get(reader *r, double *x, int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    x[i] = get_number(r);
}

/* A whole number within limits, which an index has to be. */
static int32_t get_index(reader *r, double min, double max) {
  double x = get_number(r);
  r->ok = r->ok && x >= min && x <= max && x == floor(x);
  return r->ok ? (int32_t)x : 0;
}

static uint32_t get_bits(reader *r) {
  double x = get_number(r);
  r->ok = r->ok && x >= 0 && x <= UINT32_MAX;
  return r->ok ? (uint32_t)x : 0;
}

/* Room for one more in an array whose size doubles at powers of two. */
static void *grow(void *items, int32_t count, size_t size) {
  if (count > 0 && (count & (count - 1)) != 0) return items;
  return realloc(items, (count > 0 ? 2 * (size_t)count : 1) * size);
}

static bool read_body(tbi_neutral_scene *neutral, reader *r) {
  tbi_neutral_body b = {.parent = get_index(r, -1, neutral->nbody - 1)};
  b.link = get_index(r, 0, INT32_MAX);
  b.joint = get_index(r, TBI_NEUTRAL_FREE, TBI_NEUTRAL_SLIDE);
  get(r, b.pos, 3);
  get(r, b.quat, 4);
  get(r, &b.mass, 1);
  get(r, b.com, 3);
  get(r, b.inertia, 6);
  double *const joint[] = {&b.armature, &b.damping, &b.dry,    &b.lower, &b.upper,
                           &b.kp,       &b.kd,      &b.target, &b.q,     &b.v};
  for (size_t i = 0; i < sizeof joint / sizeof joint[0]; ++i)
    get(r, joint[i], 1);
  get(r, b.start_pos, 3);
  get(r, b.start_quat, 4);
  get(r, b.start_linear, 3);
  get(r, b.start_angular, 3);
  tbi_neutral_body *body = grow(neutral->body, neutral->nbody, sizeof b);
  if (!body) return false;
  neutral->body = body;
  body[neutral->nbody] = b;
  neutral->nbody += r->ok;
  return r->ok;
}

static bool read_shape(tbi_neutral_scene *neutral, reader *r) {
  tbi_neutral_shape s = {.body = get_index(r, -1, neutral->nbody - 1)};
  s.kind = get_index(r, TBI_NEUTRAL_PLANE, TBI_NEUTRAL_CYLINDER);
  get(r, s.pos, 3);
  get(r, s.quat, 4);
  get(r, s.size, 3);
  get(r, &s.friction, 1);
  get(r, &s.restitution, 1);
  s.group = get_bits(r);
  s.mask = get_bits(r);
  tbi_neutral_shape *shape = grow(neutral->shape, neutral->nshape, sizeof s);
  if (!shape) return false;
  neutral->shape = shape;
  shape[neutral->nshape] = s;
  neutral->nshape += r->ok;
  return r->ok;
}

static bool read_exclusion(tbi_neutral_scene *neutral, reader *r) {
  int32_t a = get_index(r, 0, neutral->nbody - 1), b = get_index(r, 0, neutral->nbody - 1);
  int32_t(*pairs)[2] = grow(neutral->exclusion, neutral->nexclusion, sizeof *pairs);
  if (!pairs) return false;
  neutral->exclusion = pairs;
  pairs[neutral->nexclusion][0] = a;
  pairs[neutral->nexclusion][1] = b;
  neutral->nexclusion += r->ok;
  return r->ok;
}

static bool read_connection(tbi_neutral_scene *neutral, reader *r) {
  tbi_neutral_connection t = {.body = {get_index(r, 0, neutral->nbody - 1)}};
  t.body[1] = get_index(r, -1, neutral->nbody - 1);
  get(r, t.pos[0], 3);
  get(r, t.pos[1], 3);
  tbi_neutral_connection *connection = grow(neutral->connection, neutral->nconnection, sizeof t);
  if (!connection) return false;
  neutral->connection = connection;
  connection[neutral->nconnection] = t;
  neutral->nconnection += r->ok;
  return r->ok;
}

static bool read_aim(tbi_neutral_scene *neutral, reader *r) {
  size_t width = (size_t)neutral->nbody;
  double *aim = grow(neutral->aim, neutral->nstep, width * sizeof *aim);
  if (!aim) return false;
  neutral->aim = aim;
  get(r, aim + (size_t)neutral->nstep * width, neutral->nbody);
  ++neutral->nstep;
  return r->ok;
}

static bool read_world(tbi_neutral_scene *neutral, reader *r) {
  neutral->timestep = get_number(r);
  get(r, neutral->gravity, 3);
  return r->ok && neutral->timestep > 0;
}

static bool read_line(tbi_neutral_scene *neutral, char *line) {
  static const struct {
    const char *word;
    bool (*read)(tbi_neutral_scene *neutral, reader *r);
  } kinds[] = {
      {"world ",      read_world     },
      {"body ",       read_body      },
      {"shape ",      read_shape     },
      {"exclude ",    read_exclusion },
      {"connection ", read_connection},
      {"aim ",        read_aim       }
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    size_t length = strlen(kinds[i].word);
    reader r = {.rest = line + length, .ok = true};
    if (strncmp(line, kinds[i].word, length) == 0) return kinds[i].read(neutral, &r);
  }
  return false;
}

const char *tbi_neutral_scene_read(tbi_neutral_scene *neutral, FILE *file) {
  char *line = NULL;
  size_t size = 0;
  bool ok = true;
  *neutral = (tbi_neutral_scene){0};
  while (ok && getline(&line, &size, file) > 0)
    ok = read_line(neutral, line);
  free(line);
  if (!ok) return "a line that makes no sense, or no memory";
  return neutral->timestep > 0 ? NULL : "no world in it";
}

void tbi_neutral_scene_free(tbi_neutral_scene *neutral) {
  free(neutral->body);
  free(neutral->shape);
  free(neutral->exclusion);
  free(neutral->connection);
  free(neutral->aim);
  *neutral = (tbi_neutral_scene){0};
}

void tbi_neutral_rotate(const double quat[4], const double x[3], double y[3]) {
  const double *u = quat + 1;
  double t[3];
  for (int i = 0; i < 3; ++i)
    t[i] = 2 * (u[(i + 1) % 3] * x[(i + 2) % 3] - u[(i + 2) % 3] * x[(i + 1) % 3]);
  for (int i = 0; i < 3; ++i)
    y[i] =
        x[i] + quat[0] * t[i] + u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3];
}

/* Whether a hangs from b by a joint that leaves it less than free. */
static bool hangs_from(const tbi_neutral_scene *neutral, int32_t a, int32_t b) {
  return a >= 0 && neutral->body[a].parent == b && neutral->body[a].joint != TBI_NEUTRAL_FREE;
}

bool tbi_neutral_may_collide(const tbi_neutral_scene *neutral, int32_t shape_a, int32_t shape_b) {
  const tbi_neutral_shape *a = &neutral->shape[shape_a], *b = &neutral->shape[shape_b];
  if (a->body == b->body || !((a->group & b->mask) || (b->group & a->mask))) return false;
  if (hangs_from(neutral, a->body, b->body) || hangs_from(neutral, b->body, a->body)) return false;
  for (int32_t i = 0; i < neutral->nexclusion; ++i) {
    const int32_t *pair = neutral->exclusion[i];
    if (pair[0] == a->body && pair[1] == b->body) return false;
    if (pair[0] == b->body && pair[1] == a->body) return false;
  }
  return true;
}
