/* export_mcap.c - samples as ROS 2 messages in an MCAP file: /tf, joint states, what contacts do to
 * links, force-torque sensors and IMUs, and signals as numbers.  The time of a message is that of
 * the simulation. */
#include "export/export.h"
#include "export/mcap.h"
#include "export/robot_description.h"
#include "export/ros_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What pushes a link, at its origin in world axes, and its topic, which there is from its first
 * contact on. */
typedef struct load {
  double force[3], torque[3];
  double origin[3], quat[4];
  uint16_t channel;
  bool touched;
} load;

typedef struct writer {
  tbi_export export;
  tbi_mcap *mcap;
  tabi_dynamics *dynamics;
  tbi_ros_scene ros;
  load *load; /* [nlink] */
  uint16_t schema[TBI_ROS_COUNT];
  char **topic; /* names */
  int32_t ntopic, topic_capacity;
  uint16_t tf, *group, *sensor, *signal; /* channels; 0: none */
  tbi_bytes message;
  bool no_memory;
} writer;

/* -- topics */

static bool is_taken(const writer *w, const char *name) {
  for (int32_t i = 0; i < w->ntopic; ++i) {
    if (strcmp(w->topic[i], name) == 0) return true;
  }
  return false;
}

/* Another name that is free; names differ by more than ROS can write. */
static char *number_name(const writer *w, char *name) {
  size_t size = strlen(name) + 16;
  char *numbered = malloc(size);
  if (numbered) (void)snprintf(numbered, size, "%s", name);
  for (int n = 2; numbered && is_taken(w, numbered); ++n)
    (void)snprintf(numbered, size, "%s_%d", name, n);
  free(name);
  return numbered;
}

static bool reserve_topic(writer *w) {
  if (w->ntopic < w->topic_capacity) return true;
  int32_t capacity = 2 * w->topic_capacity + 64;
  char **more = realloc(w->topic, sizeof *more * (size_t)capacity);
  if (!more) return false;
  w->topic = more;
  w->topic_capacity = capacity;
  return true;
}

/* Takes the name, which may be NULL.  0 without memory. */
static uint16_t add_topic(writer *w, tbi_ros_kind kind, char *name) {
  static const tbi_mcap_entry quality = {"offered_qos_profiles", ""};
  const tbi_ros_type *type = &tbi_ros_types[kind];
  if (name && is_taken(w, name)) name = number_name(w, name);
  if (!name || !reserve_topic(w)) {
    free(name);
    w->no_memory = true;
    return 0;
  }
  if (!w->schema[kind])
    w->schema[kind] = tbi_mcap_add_schema(w->mcap, type->name, "ros2msg", type->definition);
  uint16_t channel = tbi_mcap_add_channel(w->mcap, w->schema[kind], name, "cdr", &quality);
  w->topic[w->ntopic++] = name;
  w->no_memory |= channel == 0;
  return channel;
}

static char *signal_topic(const writer *w, int32_t chosen) {
  const char *name = tabi_signals_get(w->export.signals, w->export.chosen[chosen]).name;
  size_t size = strlen(name) + 16;
  char *topic = malloc(size);
  if (!topic) return NULL;
  (void)snprintf(topic, size, "/signals/%s", name);
  char *clean = tbi_ros_clean(topic);
  free(topic);
  return clean;
}

static void add_topics(writer *w) {
  w->tf = add_topic(w, TBI_ROS_TF, strdup("/tf"));
  for (int32_t i = 0; i < w->ros.ngroup; ++i) {
    const tbi_ros_group *g = &w->ros.group[i];
    if (g->count > 0) w->group[i] = add_topic(w, TBI_ROS_JOINT_STATE, strdup(g->topic));
  }
  for (int32_t i = 0; i < w->ros.nsensor; ++i)
    w->sensor[i] = add_topic(w, w->ros.sensor[i].kind, strdup(w->ros.sensor[i].topic));
  for (int32_t i = 0; i < w->export.nchosen; ++i)
    w->signal[i] = add_topic(w, TBI_ROS_FLOAT, signal_topic(w, i));
}

/* One message for each robot, before all others; what has no URDF is told. */
static void put_descriptions(writer *w) {
  const tabi_scene *scene = w->export.scene;
  bool several = tabi_scene_nrobot(scene) > 1;
  const tabi_recording_info *info = &w->export.info;
  uint64_t start = (uint64_t)llround((double)info->first * info->timestep * 1e9);
  for (int32_t i = 0; i < tabi_scene_nrobot(scene); ++i) {
    const char *file = NULL;
    const char *name = tabi_scene_get_robot(scene, i).name;
    char *text = tbi_robot_description(scene, i, &file);
    if (!text) {
      (void)fprintf(stderr, "tabi: note: robot '%s': %s is no URDF; no robot_description\n", name,
                    file ? file : "its description");
      continue;
    }
    char topic[300];
    (void)snprintf(topic, sizeof topic, "/%.200s%srobot_description", several ? name : "",
                   several ? "/" : "");
    uint16_t channel = add_topic(w, TBI_ROS_STRING, tbi_ros_clean(topic));
    tbi_ros_string(&w->message, text);
    if (channel) tbi_mcap_put_message(w->mcap, channel, start, &w->message);
    free(text);
  }
}

static void put_metadata(const writer *w) {
  const tabi_recording_info *info = &w->export.info;
  char version[32];
  char timestep[32];
  (void)snprintf(timestep, sizeof timestep, "%.17g", info->timestep);
  const tbi_mcap_entry entry[] = {
      {"scene",        info->scene                           },
      {"scene_path",   info->source.path                     },
      {"contact",      tabi_contact_name(info->contact)      },
      {"integrator",   tabi_integrator_name(info->integrator)},
      {"timestep",     timestep                              },
      {"tabi_version", tbi_export_version(info,                version)},
      {"complete",              info->complete ? "true" : "false"                                          },
  };
  tbi_mcap_put_metadata(w->mcap, "tabi", entry, sizeof entry / sizeof *entry);
}

/* -- messages */

static void put(writer *w, uint16_t channel, uint64_t time) {
  tbi_mcap_put_message(w->mcap, channel, time, &w->message);
}

static void put_frames(writer *w, uint64_t time) {
  tbi_ros_tf_begin(&w->message);
  for (int32_t i = 0; i < w->ros.nframe; ++i) {
    const tbi_ros_frame *f = &w->ros.frame[i];
    double pos[3];
    double quat[4];
    tbi_ros_frame_pose(f, w->dynamics, pos, quat);
    tbi_ros_tf_put(&w->message, time, f->name, pos, quat);
  }
  tbi_ros_tf_end(&w->message, (uint32_t)w->ros.nframe);
  put(w, w->tf, time);
}

static void put_joints(writer *w, const tabi_sample *sample, uint64_t time) {
  for (int32_t i = 0; i < w->ros.ngroup; ++i) {
    tbi_ros_group *g = &w->ros.group[i];
    if (!w->group[i]) continue;
    for (int32_t k = 0; k < g->count; ++k) {
      g->position[k] = sample->q[g->q[k]];
      g->velocity[k] = sample->v[g->v[k]];
      g->effort[k] = (double)sample->effort[g->joint[k]].applied;
    }
    const tbi_ros_joints joints = {g->name, g->position, g->velocity, g->effort, g->count};
    tbi_ros_joint_state(&w->message, time, &joints);
    put(w, w->group[i], time);
  }
}

static void add_load(writer *w, int32_t link, const tabi_sample_contact *c, double sign) {
  if (link == TABI_WORLD || w->ros.link_frame[link] == TABI_NONE) return;
  if (tabi_model_link_body(w->ros.model, link) == TABI_WORLD) return;
  if (c->status == TABI_CONTACT_SEPARATING) return;
  load *l = &w->load[link];
  double force[3];
  double arm[3];
  for (int i = 0; i < 3; ++i) {
    force[i] = sign * (double)c->force[i];
    arm[i] = (double)c->point[i] - l->origin[i];
    l->force[i] += force[i];
  }
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3;
    int k = (i + 2) % 3;
    l->torque[i] += arm[j] * force[k] - arm[k] * force[j];
  }
  l->touched = true;
}

static void gather_loads(writer *w, const tabi_sample *sample) {
  for (int32_t i = 0; i < tabi_model_nlink(w->ros.model); ++i) {
    load *l = &w->load[i];
    memset(l->force, 0, sizeof l->force);
    memset(l->torque, 0, sizeof l->torque);
    tabi_dynamics_link_pose(w->dynamics, i, l->origin, l->quat);
  }
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    add_load(w, sample->contact[i].link_a, &sample->contact[i], -1);
    add_load(w, sample->contact[i].link_b, &sample->contact[i], 1);
  }
}

static void put_contacts(writer *w, const tabi_sample *sample, uint64_t time) {
  gather_loads(w, sample);
  for (int32_t i = 0; i < tabi_model_nlink(w->ros.model); ++i) {
    load *l = &w->load[i];
    if (!l->touched) continue;
    const char *name = tabi_model_link(w->ros.model, i).name;
    if (!l->channel)
      l->channel = add_topic(w, TBI_ROS_WRENCH, tbi_ros_topic(w->export.scene, name, "contact"));
    double wrench[6];
    tbi_ros_to_frame(l->quat, l->force, wrench);
    tbi_ros_to_frame(l->quat, l->torque, wrench + 3);
    tbi_ros_wrench(&w->message, time, w->ros.frame[w->ros.link_frame[i]].name, wrench);
    put(w, l->channel, time);
  }
}

static void put_sensors(writer *w, const tabi_sample *sample, uint64_t time) {
  for (int32_t i = 0; i < w->ros.nsensor; ++i) {
    const tbi_ros_sensor *s = &w->ros.sensor[i];
    const char *name = w->ros.frame[s->frame].name;
    if (s->kind == TBI_ROS_WRENCH) {
      tbi_ros_wrench(&w->message, time, name, sample->sensor + s->first);
    } else {
      const tbi_ros_imu imu = {
          .frame = name,
          .gyro = s->first == TABI_NONE ? NULL : sample->sensor + s->first,
          .accelerometer = s->second == TABI_NONE ? NULL : sample->sensor + s->second,
          .gyro_noise = s->noise[0],
          .accelerometer_noise = s->noise[1],
      };
      tbi_ros_imu_put(&w->message, time, &imu);
    }
    put(w, w->sensor[i], time);
  }
}

static bool write_sample(void *self, const tabi_sample *sample, const double *value) {
  writer *w = self;
  uint64_t time = (uint64_t)llround(sample->time * 1e9);
  tabi_dynamics_set_state(w->dynamics, sample->q, sample->v);
  put_frames(w, time);
  put_joints(w, sample, time);
  put_contacts(w, sample, time);
  put_sensors(w, sample, time);
  for (int32_t i = 0; i < w->export.nchosen; ++i) {
    tbi_ros_float(&w->message, value[w->export.chosen[i]]);
    put(w, w->signal[i], time);
  }
  if (w->no_memory) (void)tbi_out_of_memory();
  return !w->no_memory && !w->export.output->error;
}

/* -- beginning and end */

static bool make_room(writer *w, tabi_error *err) {
  const tabi_scene *scene = w->export.scene;
  if (!tbi_ros_scene_make(&w->ros, scene)) return false;
  w->mcap = tbi_mcap_create(w->export.output, "ros2");
  w->dynamics = tabi_dynamics_create(w->ros.model, err);
  w->load = calloc((size_t)tabi_model_nlink(w->ros.model) + 1, sizeof *w->load);
  w->group = calloc((size_t)w->ros.ngroup + 1, sizeof *w->group);
  w->sensor = calloc((size_t)w->ros.nsensor + 1, sizeof *w->sensor);
  w->signal = calloc((size_t)w->export.nchosen + 1, sizeof *w->signal);
  return w->mcap && w->dynamics && w->load && w->group && w->sensor && w->signal;
}

static void close_mcap(void *self) {
  writer *w = self;
  for (int32_t i = 0; i < w->ntopic; ++i)
    free(w->topic[i]);
  free(w->topic);
  free(w->load);
  free(w->group);
  free(w->sensor);
  free(w->signal);
  tbi_bytes_free(&w->message);
  tbi_ros_scene_free(&w->ros);
  tabi_dynamics_destroy(w->dynamics);
  tbi_mcap_destroy(w->mcap);
  free(w);
}

static void *open_mcap(const tbi_export *export) {
  writer *w = calloc(1, sizeof *w);
  if (w) w->export = *export;
  tabi_error err = {0};
  bool made = w && make_room(w, &err);
  if (made) {
    put_metadata(w);
    put_descriptions(w);
    add_topics(w);
    made = !w->no_memory;
  }
  if (made) return w;
  (void)(err.status == TABI_OK ? tbi_out_of_memory() : tbi_print_error(&err));
  if (w) close_mcap(w);
  return NULL;
}

static bool finish(void *self) {
  writer *w = self;
  bool good = tbi_mcap_finish(w->mcap);
  if (!good) (void)tbi_out_of_memory();
  return good;
}

const tbi_export_format tbi_export_mcap = {
    .name = "mcap",
    .endings = {".mcap", NULL},
    .signals = "energy,certificate,com,*.com.*,zmp,*.zmp.*,margin,*.margin",
    .stream = true,
    .open = open_mcap,
    .sample = write_sample,
    .finish = finish,
    .close = close_mcap,
};
