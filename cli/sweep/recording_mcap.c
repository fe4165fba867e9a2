/* recording_mcap.c - see recording_mcap.h; export/ros.c tells how messages are laid out. */
#include "sweep/recording_mcap.h"

#include "export/mcap_reader.h"

#include <stdlib.h>
#include <string.h>

#define REAL_CLOCK UINT64_C(1000000000000000) /* ns: 11 days; no simulation, but a date */

typedef struct wanted {
  const char *topic, *field; /* field: "" for a plain number */
  size_t topic_size;
  tabi_column *column;
  int64_t capacity;
  uint64_t first; /* ns, of the first message of the file */
  bool any, no_memory;
} wanted;

/* -- CDR, little endian: numbers at multiples of their size behind the first four bytes */

typedef struct cdr {
  const unsigned char *at;
  size_t size, place;
  bool is_short;
} cdr;

static bool reserve(cdr *c, size_t align, size_t size) {
  size_t over = c->place % align;
  if (over > 0) c->place += align - over;
  c->is_short = c->is_short || c->place > c->size || size > c->size - c->place;
  return !c->is_short;
}

static uint32_t read_u32(cdr *c) {
  uint32_t value = 0;
  if (!reserve(c, 4, 4)) return 0;
  for (size_t i = 0; i < 4; ++i)
    value |= (uint32_t)c->at[c->place++] << (8 * i);
  return value;
}

static double read_double(cdr *c) {
  uint64_t bits = 0;
  double value = 0;
  if (!reserve(c, 8, 8)) return 0;
  for (size_t i = 0; i < 8; ++i)
    bits |= (uint64_t)c->at[c->place++] << (8 * i);
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void skip_doubles(cdr *c, size_t count) {
  if (count > c->size / 8 || !reserve(c, count > 0 ? 8 : 1, 8 * count)) {
    c->is_short = true;
  } else {
    c->place += 8 * count;
  }
}

/* A text with a zero behind it; its length without. */
static const char *read_text(cdr *c, size_t *length) {
  uint32_t size = read_u32(c);
  *length = 0;
  if (!reserve(c, 1, size) || size == 0) return "";
  const char *text = (const char *)c->at + c->place;
  c->place += size;
  *length = size - 1;
  return text;
}

static void skip_header(cdr *c) {
  size_t length;
  (void)read_u32(c);
  (void)read_u32(c);
  (void)read_text(c, &length);
}

/* -- messages */

/* "x" of "force.x": 0, 1, 2; -1: it is another */
static int component(const char *field, const char *vector) {
  size_t length = strlen(vector);
  if (strncmp(field, vector, length) != 0 || field[length] != '.') return -1;
  const char *axis = field + length + 1;
  bool one = axis[0] >= 'x' && axis[0] <= 'z' && axis[1] == '\0';
  return one ? axis[0] - 'x' : -1;
}

/* Vectors that stand one behind another, with `behind` numbers after each. */
static bool read_vectors(cdr *c, const char *field, const char *const vector[2], size_t behind,
                         double *value) {
  for (int k = 0; k < 2; ++k) {
    int axis = component(field, vector[k]);
    if (axis >= 0) skip_doubles(c, (size_t)axis);
    if (axis >= 0) *value = read_double(c);
    if (axis >= 0) return !c->is_short;
    skip_doubles(c, 3 + behind);
  }
  return false;
}

/* "l_knee.position": the place of the joint among the names, then that number of the list */
static bool read_joint(cdr *c, const char *field, double *value) {
  static const char *const list[] = {"position", "velocity", "effort"};
  const char *dot = strrchr(field, '.');
  size_t size = dot ? (size_t)(dot - field) : 0;
  uint32_t names = read_u32(c);
  uint32_t place = UINT32_MAX;
  for (uint32_t i = 0; i < names && !c->is_short; ++i) {
    size_t length;
    const char *name = read_text(c, &length);
    if (length == size && memcmp(name, field, size) == 0) place = i;
  }
  for (int k = 0; dot && k < 3 && !c->is_short; ++k) {
    uint32_t count = read_u32(c);
    if (strcmp(dot + 1, list[k]) != 0) {
      skip_doubles(c, count);
      continue;
    }
    if (place >= count) return false;
    skip_doubles(c, place);
    *value = read_double(c);
    return !c->is_short;
  }
  return false;
}

static bool decode(const tbi_mcap_message *m, const char *field, double *value) {
  static const char *const wrench[2] = {"force", "torque"};
  static const char *const imu[2] = {"angular_velocity", "linear_acceleration"};
  if (m->size < 4 || m->data[1] != 1 || strcmp(m->encoding, "cdr") != 0) return false;
  cdr c = {.at = m->data + 4, .size = m->size - 4};
  if (strcmp(m->schema, "std_msgs/msg/Float64") == 0) {
    *value = read_double(&c);
    return field[0] == '\0' && !c.is_short;
  }
  skip_header(&c);
  if (strcmp(m->schema, "sensor_msgs/msg/JointState") == 0) return read_joint(&c, field, value);
  if (strcmp(m->schema, "geometry_msgs/msg/WrenchStamped") == 0)
    return read_vectors(&c, field, wrench, 0, value);
  if (strcmp(m->schema, "sensor_msgs/msg/Imu") != 0) return false;
  skip_doubles(&c, 4 + 9); // orientation
  return read_vectors(&c, field, imu, 9, value);
}

/* -- the column */

static bool add(wanted *w, double time, double value) {
  tabi_column *column = w->column;
  if (column->count == w->capacity) {
    int64_t capacity = 2 * w->capacity + 1024;
    double *times = realloc(column->time, (size_t)capacity * sizeof *times);
    if (times) column->time = times;
    double *values = realloc(column->value, (size_t)capacity * sizeof *values);
    if (values) column->value = values;
    w->no_memory = !times || !values;
    if (w->no_memory) return false;
    w->capacity = capacity;
  }
  column->time[column->count] = time;
  column->value[column->count++] = value;
  return true;
}

static bool take(void *user, const tbi_mcap_message *m) {
  wanted *w = user;
  double value = 0;
  if (!w->any) w->first = m->time;
  w->any = true;
  if (strncmp(m->topic, w->topic, w->topic_size) != 0 || m->topic[w->topic_size] != '\0' ||
      !decode(m, w->field, &value))
    return true;
  uint64_t begin = w->first > REAL_CLOCK ? w->first : 0;
  /* a message that was logged before the first is before it, and not centuries later */
  return add(w, 1e-9 * (double)(int64_t)(m->time - begin), value);
}

const char *tbi_recording_mcap(const unsigned char *bytes, size_t size, const char *name,
                               tabi_column *column) {
  const char *colon = strchr(name, ':');
  *column = (tabi_column){0};
  wanted w = {.topic = name,
              .field = colon ? colon + 1 : "",
              .topic_size = colon ? (size_t)(colon - name) : strlen(name),
              .column = column};
  const char *wrong = tbi_mcap_read(bytes, size, take, &w);
  return w.no_memory ? "out of memory" : wrong;
}
