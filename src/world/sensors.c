/* sensors.c - from what is true to what a sensor says.
 *
 *   truth -> + noise -> rounded -> cut to the range -> delay line -> reading
 *
 * A delay of k steps is a ring of k + 1 readings: a step writes where its number points and reads
 * the entry after that, the oldest.  So the ring needs no pointer of its own, and rings and
 * generators, which belong to the state, are all that a snapshot has to keep. */
#include "base/assertion.h"
#include "base/error.h"
#include "base/random.h"
#include "world/world.h"

#include <string.h>

#define TURN      6.283185307179586 /* 2 pi */
#define MAX_DELAY 1000000           /* steps */

static double delay_steps(const tabi_sensor_def *def, double timestep) {
  return round(def->delay / timestep);
}

tabi_status tbi_sensors_check(const tabi_model *model, const tabi_world_def *def, tabi_error *err) {
  for (int32_t i = 0; i < model->nsensor; ++i) {
    const tabi_sensor_def *sensor = &model->sensor[i];
    double steps = delay_steps(sensor, def->timestep);
    if (steps <= MAX_DELAY) continue;
    return tbi_error_set(err, TABI_ERR_ARGUMENT, sensor->place,
                         "sensor '%s': a delay of %g s is %g time steps; at most %d are kept",
                         sensor->name ? sensor->name : "(unnamed)", sensor->delay, steps,
                         MAX_DELAY);
  }
  return TABI_OK;
}

static int32_t length_of(const tabi_world *w, int32_t sensor) {
  return 1 + (int32_t)delay_steps(&w->model->sensor[sensor], w->def.timestep);
}

static int32_t type_size(const tabi_model *model, int32_t sensor) {
  return tabi_sensor_type_size(model->sensor[sensor].type);
}

void tbi_sensors_place_state(tbi_layout *at, tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  int64_t readings = 0;
  s->feels_forces = s->feels_contacts = false;
  for (int32_t i = 0; i < model->nsensor; ++i) {
    readings += (int64_t)length_of(w, i) * type_size(model, i);
    tabi_sensor_type type = model->sensor[i].type;
    if (type == TABI_SENSOR_FORCE_TORQUE) s->feels_forces = true;
    if (type == TABI_SENSOR_CONTACT || type == TABI_SENSOR_PRESSURE_CENTRE ||
        type == TABI_SENSOR_ZMP)
      s->feels_contacts = true;
  }
  s->random = tbi_layout_take(at, model->nsensor, sizeof *s->random);
  s->line = tbi_layout_take(at, readings, sizeof *s->line);
  s->external = tbi_layout_take(at, s->feels_forces ? model->nlink : 0, sizeof *s->external);
}

void tbi_sensors_place(tbi_layout *at, tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  if (model->nsensor == 0) return;
  int64_t links = (int64_t)model->nlink + 1;
  int64_t touched = s->feels_contacts ? links : 0;
  int64_t trees = s->feels_contacts ? (int64_t)model->ntree + 1 : 0;
  s->site = tbi_layout_take(at, model->nsensor, sizeof *s->site);
  s->line_start = tbi_layout_take(at, model->nsensor, sizeof *s->line_start);
  s->line_length = tbi_layout_take(at, model->nsensor, sizeof *s->line_length);
  s->truth = tbi_layout_take(at, (int64_t)TABI_SENSOR_MAX * model->nsensor, sizeof *s->truth);
  s->load = tbi_layout_take(at, s->feels_forces ? links : 0, sizeof *s->load);
  s->push = tbi_layout_take(at, touched, sizeof *s->push);
  s->tree_push = tbi_layout_take(at, trees, sizeof *s->tree_push);
  s->feeling = tbi_layout_take(at, links, sizeof *s->feeling);
  s->felt = tbi_layout_take(at, model->nlink, sizeof *s->felt);
  s->body = tbi_layout_take(at, model->nbody, sizeof *s->body);
  if (!at->base) return;
  /* entry -1 is the world */
  ++s->load;
  ++s->push;
  ++s->tree_push;
  ++s->feeling;
}

/* normal distribution, by Box and Muller */
static double gauss(uint64_t *random) {
  double radius = sqrt(-2 * log(1 - tbi_random_unit(random)));
  return radius * cos(TURN * tbi_random_unit(random));
}

static double disturb(double value, const tabi_sensor_def *def, int k, uint64_t *random) {
  if (def->noise[k] > 0) value += def->noise[k] * gauss(random);
  if (def->resolution[k] > 0) value = def->resolution[k] * round(value / def->resolution[k]);
  return tbi_min(tbi_max(value, -def->range[k]), def->range[k]);
}

static void write_reading(tabi_world *w, int32_t sensor) {
  tbi_sensors *s = &w->sensors;
  const tbi_sensor_site *site = &s->site[sensor];
  const double *truth = s->truth + TABI_SENSOR_MAX * (int64_t)sensor;
  double *to = tbi_sensor_entry(s, sensor, w->state.head->steps);
  for (int k = 0; k < site->size; ++k)
    to[k] = site->plain ? truth[k]
                        : disturb(truth[k], &w->model->sensor[sensor], k, &s->random[sensor]);
}

void tbi_sensors_refill(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  if (model->nsensor == 0) return;
  memset(s->truth, 0, sizeof *s->truth * TABI_SENSOR_MAX * (size_t)model->nsensor);
  tbi_truth_of_state(w);
  for (int32_t i = 0; i < model->nsensor; ++i) {
    write_reading(w, i);
    const double *first = tbi_sensor_entry(s, i, w->state.head->steps);
    for (int32_t k = 1; k < s->line_length[i]; ++k)
      memcpy(tbi_sensor_entry(s, i, w->state.head->steps + k), first,
             sizeof *first * (size_t)s->site[i].size);
  }
}

static bool is_plain(const tabi_sensor_def *def, int32_t size) {
  for (int32_t k = 0; k < size; ++k) {
    if (def->noise[k] > 0 || def->resolution[k] > 0 || isfinite(def->range[k])) return false;
  }
  return true;
}

static void find_sites(tabi_world *w) {
  const tabi_model *model = w->model;
  for (int32_t i = 0; i < model->nsensor; ++i) {
    const tabi_sensor_def *def = &model->sensor[i];
    tbi_sensor_site *site = &w->sensors.site[i];
    bool in_joint = def->type == TABI_SENSOR_FORCE_TORQUE;
    int32_t link = in_joint ? model->joint[def->joint].child : def->link;
    *site = (tbi_sensor_site){.link = link, .body = TABI_WORLD, .size = type_size(model, i)};
    site->plain = is_plain(def, site->size);
    if (link < 0 || link >= model->nlink) continue;
    tbi_frame mount = tbi_frame_load(def->pos, def->quat);
    site->body = model->link_home[link].body;
    site->mount = tbi_frame_mul(&model->link_home[link].frame, &mount);
  }
}

/* whether the joint above a link lets it move against what carries it */
static bool leads_body(const tabi_model *model, int32_t link) {
  int32_t joint = model->link_home[link].joint;
  return joint != TABI_NONE && model->joint_body[joint] != TABI_NONE;
}

/* whether a sensor sits between links of a body */
static bool is_parted(const tabi_world *w, int32_t body) {
  const tabi_model *model = w->model;
  for (int32_t i = 0; i < model->nsensor; ++i) {
    const tabi_sensor_def *def = &model->sensor[i];
    if (def->type != TABI_SENSOR_FORCE_TORQUE || w->sensors.site[i].body != body) continue;
    if (model->joint_body[def->joint] == TABI_NONE) return true;
  }
  return false;
}

/* the links of a body that is felt as a whole are taken together */
static void join_links(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  for (int32_t i = 0; i < s->nfelt; ++i) {
    int32_t link = s->felt[i];
    bool whole = leads_body(model, link) && !is_parted(w, model->link_home[link].body);
    if (whole) s->feeling[link] = TBI_FELT_BODY;
  }
  for (int32_t i = 0; i < s->nfelt; ++i) {
    int32_t link = s->felt[i];
    if (leads_body(model, link) || model->link_home[link].joint == TABI_NONE) continue;
    int32_t parent = model->joint[model->link_home[link].joint].parent;
    bool together = s->feeling[parent] == TBI_FELT_BODY || s->feeling[parent] == TBI_FELT_PART;
    if (together) s->feeling[link] = TBI_FELT_PART;
  }
}

/* links behind joints with sensors */
static void find_felt(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  for (int32_t i = TABI_WORLD; i < model->nlink; ++i)
    s->feeling[i] = TBI_FELT_NOT;
  for (int32_t i = 0; i < model->nsensor; ++i) {
    if (model->sensor[i].type == TABI_SENSOR_FORCE_TORQUE)
      s->feeling[s->site[i].link] = TBI_FELT_LINK;
  }
  s->nfelt = 0;
  for (int32_t i = 0; i < model->nlink; ++i) {
    int32_t link = model->link_order[i];
    int32_t joint = model->link_home[link].joint;
    if (joint != TABI_NONE && s->feeling[model->joint[joint].parent] != TBI_FELT_NOT)
      s->feeling[link] = TBI_FELT_LINK;
    if (s->feeling[link] != TBI_FELT_NOT) s->felt[s->nfelt++] = link;
  }
  join_links(w);
}

static void mark_bodies(const tabi_world *w, int32_t link) {
  int32_t body = link == TABI_WORLD ? TABI_WORLD : w->model->link_home[link].body;
  for (; body != TABI_WORLD && !w->sensors.body[body]; body = w->model->body[body].parent)
    w->sensors.body[body] = 1;
}

/* bodies on the paths of felt links and accelerometers: marked first, then the list overwrites the
 * marks */
static void find_bodies(tabi_world *w) {
  const tabi_model *model = w->model;
  tbi_sensors *s = &w->sensors;
  memset(s->body, 0, sizeof *s->body * (size_t)model->nbody);
  for (int32_t i = 0; i < s->nfelt; ++i)
    mark_bodies(w, s->felt[i]);
  for (int32_t i = 0; i < model->nsensor; ++i) {
    if (model->sensor[i].type == TABI_SENSOR_ACCELEROMETER) mark_bodies(w, model->sensor[i].link);
  }
  s->nbody = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    if (s->body[i]) s->body[s->nbody++] = i;
  }
}

void tbi_sensors_start(tabi_world *w) {
  tbi_sensors *s = &w->sensors;
  if (w->model->nsensor > 0) {
    find_sites(w);
    find_felt(w);
    find_bodies(w);
  }
  uint64_t seeds = w->def.seed;
  int64_t start = 0;
  for (int32_t i = 0; i < w->model->nsensor; ++i) {
    s->random[i] = tbi_random_next(&seeds);
    s->line_start[i] = start;
    s->line_length[i] = length_of(w, i);
    start += (int64_t)s->line_length[i] * s->site[i].size;
  }
  tbi_sensors_refill(w);
}

void tbi_sensors_measure(tabi_world *w) {
  if (w->model->nsensor > 0) tbi_truth_of_step(w);
}

void tbi_sensors_read(tabi_world *w) {
  if (w->model->nsensor == 0) return;
  tbi_truth_of_state(w);
  for (int32_t i = 0; i < w->model->nsensor; ++i)
    write_reading(w, i);
}

int32_t tabi_world_sensor(const tabi_world *world, int32_t sensor, double *value) {
  TBI_ASSERT(world && value);
  TBI_ASSERT(sensor >= 0 && sensor < world->model->nsensor);
  int32_t size = world->sensors.site[sensor].size;
  const double *oldest = tbi_world_reading(world, sensor);
  for (int32_t k = 0; k < size; ++k)
    value[k] = oldest[k];
  return size;
}
