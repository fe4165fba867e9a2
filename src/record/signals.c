/* signals.c - names, units and values of signals.
 *
 * Tables of parts say what a thing has; names are made of them once, and values follow in the same
 * order.  One pass of kinematics and one over the contacts serve all. */
#include "record/signals.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is put behind the name of a thing.  Lists end with an empty one. */
typedef struct part {
  const char *name, *unit, *about;
} part;

static const part world_parts[] = {
    {"time",                        "s",   "time"                                                    },
    {"energy.kinetic",              "J",   "kinetic energy"                                          },
    {"energy.potential",            "J",   "potential energy"                                        },
    {"energy.spring",               "J",   "spring energy"                                           },
    {"energy.total",                "J",   "kinetic, potential and spring energy"                    },
    {"energy.work",                 "J",   "work of joint torques and applied forces since the start"},
    {"certificate.gap",             "m",   "penetration predicted for the end of the step"           },
    {"certificate.complementarity", "m/s", "separation velocity of contacts under force"             },
    {"certificate.cone",            "N",   "friction force outside the cone"                         },
    {"certificate.dissipation",     "m/s", "friction that does not oppose slip"                      },
    {"certificate.connection",      "m/s", "velocity error of connections (m/s or rad/s)"            },
    {"contacts",                    "",    "contacts with force"                                     },
    {"iterations",                  "",    "solver iterations"                                       },
    {"contact.depth",               "m",   "max penetration depth"                                   },
    {"contact.power",               "W",   "power dissipated by friction"                            },
    {"ground.fx",                   "N",   "ground reaction force, x"                                },
    {"ground.fy",                   "N",   "ground reaction force, y"                                },
    {"ground.fz",                   "N",   "vertical ground reaction force"                          },
    {NULL,                          NULL,  NULL                                                      },
};

/* Of robots, by the robot's name where there are several. */
static const part balance_parts[] = {
    {"com.x",   "m",  "CoM, x"                                                  },
    {"com.y",   "m",  "CoM, y"                                                  },
    {"com.z",   "m",  "CoM, height"                                             },
    {"zmp.x",   "m",  "ZMP, x"                                                  },
    {"zmp.y",   "m",  "ZMP, y"                                                  },
    {"zmp.z",   "m",  "ZMP, height"                                             },
    {"force.x", "N",  "contact force on the robot along x"                      },
    {"force.y", "N",  "contact force on the robot along y"                      },
    {"force.z", "N",  "vertical contact force on the robot"                     },
    {"margin",  "m",  "stability margin: ZMP to the edge of the support polygon"},
    {NULL,      NULL, NULL                                                      },
};

/* Of links, and of robots for their base. */
static const part pose_parts[] = {
    {".x",  "m",  "position along x"},
    {".y",  "m",  "position along y"},
    {".z",  "m",  "height"          },
    {".qw", "",   "orientation, w"  },
    {".qx", "",   "orientation, x"  },
    {".qy", "",   "orientation, y"  },
    {".qz", "",   "orientation, z"  },
    {NULL,  NULL, NULL              },
};

static const part motion_parts[] = {
    {".vx",   "m/s",   "velocity along x"        },
    {".vy",   "m/s",   "velocity along y"        },
    {".vz",   "m/s",   "vertical velocity"       },
    {".wx",   "rad/s", "angular velocity about x"},
    {".wy",   "rad/s", "angular velocity about y"},
    {".wz",   "rad/s", "angular velocity about z"},
    {".fx",   "N",     "contact force along x"   },
    {".fy",   "N",     "contact force along y"   },
    {".fz",   "N",     "vertical contact force"  },
    {".slip", "m/s",   "slip speed"              },
    {NULL,    NULL,    NULL                      },
};

/* -- joints: q, then v, then efforts */

static const part hinge_parts[] = {
    {".q",         "rad",   "joint angle"                },
    {".v",         "rad/s", "joint velocity"             },
    {".effort",    "N m",   "joint torque"               },
    {".commanded", "N m",   "joint torque without limits"},
    {".limit",     "N m",   "limit of the joint torque"  },
    {NULL,         NULL,    NULL                         },
};

static const part slide_parts[] = {
    {".q",         "m",   "joint position"            },
    {".v",         "m/s", "joint velocity"            },
    {".effort",    "N",   "joint force"               },
    {".commanded", "N",   "joint force without limits"},
    {".limit",     "N",   "limit of the joint force"  },
    {NULL,         NULL,  NULL                        },
};

static const part ball_parts[] = {
    {".q.w", "",      "joint orientation, w"      },
    {".q.x", "",      "joint orientation, x"      },
    {".q.y", "",      "joint orientation, y"      },
    {".q.z", "",      "joint orientation, z"      },
    {".v.x", "rad/s", "joint velocity about own x"},
    {".v.y", "rad/s", "joint velocity about own y"},
    {".v.z", "rad/s", "joint velocity about own z"},
    {NULL,   NULL,    NULL                        },
};

static const part planar_parts[] = {
    {".q.x",  "m",     "joint position, x"  },
    {".q.y",  "m",     "joint position, y"  },
    {".q.rz", "rad",   "joint angle"        },
    {".v.x",  "m/s",   "joint velocity, x"  },
    {".v.y",  "m/s",   "joint velocity, y"  },
    {".v.rz", "rad/s", "rate of joint angle"},
    {NULL,    NULL,    NULL                 },
};

static const part free_parts[] = {
    {".q.x",  "m",     "joint position, x"   },
    {".q.y",  "m",     "joint position, y"   },
    {".q.z",  "m",     "joint position, z"   },
    {".q.qw", "",      "joint orientation, w"},
    {".q.qx", "",      "joint orientation, x"},
    {".q.qy", "",      "joint orientation, y"},
    {".q.qz", "",      "joint orientation, z"},
    {".v.x",  "m/s",   "joint velocity, x"   },
    {".v.y",  "m/s",   "joint velocity, y"   },
    {".v.z",  "m/s",   "joint velocity, z"   },
    {".v.rx", "rad/s", "angular velocity, x" },
    {".v.ry", "rad/s", "angular velocity, y" },
    {".v.rz", "rad/s", "angular velocity, z" },
    {NULL,    NULL,    NULL                  },
};

static const part *const joint_parts[TABI_JOINT_COUNT] = {
    [TABI_JOINT_REVOLUTE] = hinge_parts,  [TABI_JOINT_CONTINUOUS] = hinge_parts,
    [TABI_JOINT_PRISMATIC] = slide_parts, [TABI_JOINT_BALL] = ball_parts,
    [TABI_JOINT_PLANAR] = planar_parts,   [TABI_JOINT_FREE] = free_parts,
};

/* -- sensors: of those at a joint the unit is that of a hinge, see unit_at */

static const part force_torque_parts[] = {
    {".fx", "N",   "measured force along x" },
    {".fy", "N",   "measured force along y" },
    {".fz", "N",   "measured force along z" },
    {".tx", "N m", "measured torque about x"},
    {".ty", "N m", "measured torque about y"},
    {".tz", "N m", "measured torque about z"},
    {NULL,  NULL,  NULL                     },
};

static const part gyro_parts[] = {
    {".wx", "rad/s", "measured angular velocity about x"},
    {".wy", "rad/s", "measured angular velocity about y"},
    {".wz", "rad/s", "measured angular velocity about z"},
    {NULL,  NULL,    NULL                               },
};

static const part accelerometer_parts[] = {
    {".ax", "m/s^2", "measured acceleration along x"},
    {".ay", "m/s^2", "measured acceleration along y"},
    {".az", "m/s^2", "measured acceleration along z"},
    {NULL,  NULL,    NULL                           },
};

static const part encoder_parts[] = {
    {".q", "rad", "measured joint position"},
    {NULL, NULL,  NULL                     },
};

static const part torque_parts[] = {
    {".tau", "N m", "measured joint torque"},
    {NULL,   NULL,  NULL                   },
};

static const part contact_parts[] = {
    {".on", "",   "contact switch"        },
    {".f",  "N",  "measured contact force"},
    {NULL,  NULL, NULL                    },
};

static const part pressure_parts[] = {
    {".x", "m",  "measured centre of pressure, x"},
    {".y", "m",  "measured centre of pressure, y"},
    {".f", "N",  "measured force"                },
    {NULL, NULL, NULL                            },
};

static const part zmp_parts[] = {
    {".x", "m",  "measured ZMP, x"        },
    {".y", "m",  "measured ZMP, y"        },
    {".z", "m",  "measured ZMP, height"   },
    {".f", "N",  "measured vertical force"},
    {NULL, NULL, NULL                     },
};

static const part *const sensor_parts[TABI_SENSOR_COUNT] = {
    [TABI_SENSOR_FORCE_TORQUE] = force_torque_parts,   [TABI_SENSOR_GYRO] = gyro_parts,
    [TABI_SENSOR_ACCELEROMETER] = accelerometer_parts, [TABI_SENSOR_ENCODER] = encoder_parts,
    [TABI_SENSOR_JOINT_TORQUE] = torque_parts,         [TABI_SENSOR_CONTACT] = contact_parts,
    [TABI_SENSOR_PRESSURE_CENTRE] = pressure_parts,    [TABI_SENSOR_ZMP] = zmp_parts,
};

/* -- names */

static bool listed(const char *name) { return name && name[0] != '\0'; }

/* A name that is taken, as when a sensor is called like its link, gets a number. */
static const char *unique_name(tabi_signals *s, const char *owner, const char *between,
                               const char *name) {
  char text[512];
  for (int n = 1;; ++n) {
    char number[16] = "";
    if (n > 1) (void)snprintf(number, sizeof number, "#%d", n);
    (void)snprintf(text, sizeof text, "%.400s%s%s%s", owner, between, name, number);
    if (tbi_names_find(&s->names, text) < 0) return tbi_text_add(&s->text, text);
  }
}

static bool add(tabi_signals *s, const char *owner, const char *between, part what) {
  if (!tbi_array_reserve((void **)&s->item, &s->capacity, s->count, 1, sizeof *s->item))
    return false;
  const char *name = unique_name(s, owner, between, what.name);
  if (!name || !tbi_names_add(&s->names, name, s->count)) return false;
  s->item[s->count++] = (tabi_signal){name, what.unit, what.about};
  return true;
}

static bool add_all(tabi_signals *s, const char *owner, const char *between, const part *parts) {
  for (; parts->name; ++parts) {
    if (!add(s, owner, between, *parts)) return false;
  }
  return true;
}

static bool name_robots(tabi_signals *s) {
  int32_t count = tabi_scene_nrobot(s->scene);
  bool several = count > 1;
  for (int32_t i = 0; i < count; ++i) {
    const char *name = tabi_scene_get_robot(s->scene, i).name;
    if (!add_all(s, several ? name : "", several ? "." : "", balance_parts) ||
        !add_all(s, name, "", pose_parts)) {
      return false;
    }
  }
  return true;
}

/* The state of a floating body is told by its link. */
static bool joint_listed(const tabi_model *model, int32_t index) {
  tabi_joint_def joint = tabi_model_joint(model, index);
  if (joint.type == TABI_JOINT_FREE && listed(tabi_model_link(model, joint.child).name))
    return false;
  return joint.type != TABI_JOINT_FIXED && listed(joint.name);
}

static bool name_joints(tabi_signals *s) {
  for (int32_t i = 0; i < tabi_model_njoint(s->model); ++i) {
    if (!joint_listed(s->model, i)) continue;
    tabi_joint_def joint = tabi_model_joint(s->model, i);
    if (!add_all(s, joint.name, "", joint_parts[joint.type])) return false;
  }
  return true;
}

static bool name_links(tabi_signals *s) {
  for (int32_t i = 0; i < tabi_model_nlink(s->model); ++i) {
    const char *name = tabi_model_link(s->model, i).name;
    if (!listed(name)) continue;
    if (!add_all(s, name, "", pose_parts) || !add_all(s, name, "", motion_parts)) return false;
  }
  return true;
}

static const char *unit_at(const tabi_model *model, const tabi_sensor_def *sensor,
                           const char *unit) {
  bool slides = sensor->joint != TABI_NONE &&
                tabi_model_joint(model, sensor->joint).type == TABI_JOINT_PRISMATIC;
  if (slides && sensor->type == TABI_SENSOR_ENCODER) return "m";
  if (slides && sensor->type == TABI_SENSOR_JOINT_TORQUE) return "N";
  return unit;
}

static bool name_sensors(tabi_signals *s) {
  for (int32_t i = 0; i < tabi_model_nsensor(s->model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(s->model, i);
    if (!listed(sensor.name)) continue;
    TBI_ASSERT((unsigned)sensor.type < TABI_SENSOR_COUNT);
    for (const part *p = sensor_parts[sensor.type]; p->name; ++p) {
      const part here = {p->name, unit_at(s->model, &sensor, p->unit), p->about};
      if (!add(s, sensor.name, "", here)) return false;
    }
  }
  return true;
}

typedef bool name_kind_fn(tabi_signals *s);

static bool name_world(tabi_signals *s) { return add_all(s, "", "", world_parts); }

static bool name_all(tabi_signals *s) {
  static name_kind_fn *const name_kind[TBI_SIGNALS_END] = {
      [TBI_SIGNALS_WORLD] = name_world,     [TBI_SIGNALS_ROBOTS] = name_robots,
      [TBI_SIGNALS_JOINTS] = name_joints,   [TBI_SIGNALS_LINKS] = name_links,
      [TBI_SIGNALS_SENSORS] = name_sensors,
  };
  for (int kind = 0; kind < TBI_SIGNALS_END; ++kind) {
    s->first[kind] = s->count;
    if (!name_kind[kind](s)) return false;
  }
  s->first[TBI_SIGNALS_END] = s->count;
  return true;
}

/* -- making */

tabi_signals *tabi_signals_create(const tabi_scene *scene, tabi_error *err) {
  TBI_ASSERT(scene);
  tabi_signals *s = calloc(1, sizeof *s);
  if (!s) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  s->scene = scene;
  s->model = tabi_scene_model(scene);
  s->dynamics = tabi_dynamics_create(s->model, err);
  if (!s->dynamics) {
    /* err has the reason */
    tabi_signals_destroy(s);
    return NULL;
  }
  s->load = calloc((size_t)tabi_model_nlink(s->model) + 1, sizeof *s->load);
  bool named = s->load && name_all(s);
  s->wanted = named ? calloc((size_t)s->count + 1, sizeof *s->wanted) : NULL;
  if (s->wanted) {
    tabi_signals_want(s, NULL);
    return s;
  }
  (void)tbi_error_memory(err);
  tabi_signals_destroy(s);
  return NULL;
}

void tabi_signals_destroy(tabi_signals *signals) {
  if (!signals) return;
  tabi_dynamics_destroy(signals->dynamics);
  tbi_names_free(&signals->names);
  tbi_text_free(&signals->text);
  free(signals->item);
  free(signals->load);
  free(signals->wanted);
  free(signals);
}

void tabi_signals_want(tabi_signals *signals, const bool *wanted) {
  TBI_ASSERT(signals);
  for (int32_t i = 0; i < signals->count; ++i)
    signals->wanted[i] = !wanted || wanted[i];
}

int32_t tabi_signals_count(const tabi_signals *signals) {
  TBI_ASSERT(signals);
  return signals->count;
}

tabi_signal tabi_signals_get(const tabi_signals *signals, int32_t signal) {
  TBI_ASSERT(signals && signal >= 0 && signal < signals->count);
  return signals->item[signal];
}

/* -- values */

enum {
  POSE_SIZE = sizeof pose_parts / sizeof *pose_parts - 1,
  LINK_SIZE = POSE_SIZE + sizeof motion_parts / sizeof *motion_parts - 1,
};

static double *put(double *at, const double *number, int32_t count) {
  if (count > 0) memcpy(at, number, sizeof *number * (size_t)count);
  return at + count;
}

static bool is_fixed(const tabi_signals *s, int32_t link) {
  return link == TABI_WORLD || tabi_model_link_body(s->model, link) == TABI_WORLD;
}

static void add_force(double sum[3], const double force[3], double factor) {
  for (int i = 0; i < 3; ++i)
    sum[i] += factor * force[i];
}

static void load_link(tabi_signals *s, int32_t link, const double force[3], double sign,
                      double slip) {
  if (link == TABI_WORLD) return;
  TBI_ASSERT(link >= 0 && link < tabi_model_nlink(s->model));
  tbi_link_load *load = &s->load[link];
  double size = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]);
  add_force(load->force, force, sign);
  load->weight += size;
  load->slip += size * slip;
}

/* Contact forces on links, and their sum from fixed links: the ground reaction force. */
static void gather_contacts(tabi_signals *s, const tabi_sample *sample, double ground[3]) {
  memset(s->load, 0, sizeof *s->load * (size_t)tabi_model_nlink(s->model));
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    const tabi_sample_contact *c = &sample->contact[i];
    const double force[3] = {(double)c->force[0], (double)c->force[1], (double)c->force[2]};
    load_link(s, c->link_a, force, -1, (double)c->slip);
    load_link(s, c->link_b, force, 1, (double)c->slip);
    if (is_fixed(s, c->link_a)) add_force(ground, force, 1);
    if (is_fixed(s, c->link_b)) add_force(ground, force, -1);
  }
}

static double *put_world(double *at, const tabi_sample *sample, const double ground[3]) {
  const tabi_energy *e = &sample->energy;
  const tabi_certificate *c = &sample->certificate;
  double depth = 0;
  double power = 0;
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    depth = fmax(depth, -(double)sample->contact[i].gap);
    power += (double)sample->contact[i].power;
  }
  const double value[] = {sample->time,
                          e->kinetic,
                          e->potential,
                          e->spring,
                          e->kinetic + e->potential + e->spring,
                          e->work,
                          c->gap,
                          c->complementarity,
                          c->cone,
                          c->dissipation,
                          c->connection,
                          c->contacts,
                          c->iterations,
                          depth,
                          power,
                          ground[0],
                          ground[1],
                          ground[2]};
  enum { COUNT = sizeof value / sizeof *value };
  static_assert(COUNT + 1 == sizeof world_parts / sizeof *world_parts, "a name for every value");
  return put(at, value, COUNT);
}

/* Whether anybody wants one of so many signals. */
static bool wants(const tabi_signals *s, ptrdiff_t first, int32_t count) {
  TBI_ASSERT(first >= 0 && first + count <= s->count);
  return count > 0 && memchr(s->wanted + first, true, (size_t)count);
}

/* Kinematics of a sample, once. */
static void pose(tabi_signals *s, const tabi_sample *sample) {
  if (!s->posed) tabi_dynamics_set_state(s->dynamics, sample->q, sample->v);
  s->posed = true;
}

static double *put_pose(const tabi_signals *s, double *at, int32_t link) {
  tabi_dynamics_link_pose(s->dynamics, link, at, at + 3);
  return at + POSE_SIZE;
}

/* A robot fixed to the world has no balance. */
static double *put_balance(double *at, const tabi_balance *b, tabi_scene_robot robot) {
  bool fixed = robot.moving == TABI_NONE;
  bool in_contact = !fixed && b->force[2] > 0;
  double none = (double)NAN;
  for (int i = 0; i < 3; ++i)
    *at++ = fixed ? none : b->com[i];
  for (int i = 0; i < 3; ++i)
    *at++ = in_contact ? b->zmp[i] : none;
  at = put(at, b->force, 3);
  *at++ = in_contact && b->ncorner > 0 ? b->margin : none;
  return at;
}

static void put_robots(tabi_signals *s, double *value, const tabi_sample *sample) {
  double *at = value + s->first[TBI_SIGNALS_ROBOTS];
  for (int32_t i = 0; i < sample->nrobot; ++i) {
    tabi_scene_robot robot = tabi_scene_get_robot(s->scene, i);
    at = put_balance(at, &sample->balance[i], robot);
    if (wants(s, at - value, POSE_SIZE)) {
      pose(s, sample);
      (void)put_pose(s, at, robot.base);
    }
    at += POSE_SIZE;
  }
  TBI_ASSERT(at == value + s->first[TBI_SIGNALS_JOINTS]);
}

/* A sample that was made by hand may have none. */
static double *put_effort(double *at, const tabi_sample *sample, int32_t joint) {
  double none = (double)NAN;
  const tabi_sample_effort *e = sample->effort ? &sample->effort[joint] : NULL;
  *at++ = e ? (double)e->applied : none;
  *at++ = e ? (double)e->commanded : none;
  *at++ = e && isfinite(e->limit) ? (double)e->limit : none;
  return at;
}

static void put_joints(const tabi_signals *s, double *value, const tabi_sample *sample) {
  double *at = value + s->first[TBI_SIGNALS_JOINTS];
  for (int32_t i = 0; i < tabi_model_njoint(s->model); ++i) {
    tabi_range q = tabi_model_joint_q(s->model, i);
    tabi_range v = tabi_model_joint_v(s->model, i);
    if (!joint_listed(s->model, i)) continue;
    at = put(at, sample->q + q.first, q.count);
    at = put(at, sample->v + v.first, v.count);
    if (q.count == 1) at = put_effort(at, sample, i);
  }
  TBI_ASSERT(at == value + s->first[TBI_SIGNALS_LINKS]);
}

static void put_link(const tabi_signals *s, double *at, int32_t link) {
  const tbi_link_load *load = &s->load[link];
  at = put_pose(s, at, link);
  tabi_dynamics_link_velocity(s->dynamics, link, at, at + 3);
  at = put(at + 6, load->force, 3);
  *at = load->weight > 0 ? load->slip / load->weight : (double)NAN;
}

static void put_links(tabi_signals *s, double *value, const tabi_sample *sample) {
  double *at = value + s->first[TBI_SIGNALS_LINKS];
  pose(s, sample);
  for (int32_t i = 0; i < tabi_model_nlink(s->model); ++i) {
    if (!listed(tabi_model_link(s->model, i).name)) continue;
    if (wants(s, at - value, LINK_SIZE)) put_link(s, at, i);
    at += LINK_SIZE;
  }
  TBI_ASSERT(at == value + s->first[TBI_SIGNALS_SENSORS]);
}

static void put_sensors(const tabi_signals *s, double *value, const tabi_sample *sample) {
  double *at = value + s->first[TBI_SIGNALS_SENSORS];
  const double *reading = sample->sensor;
  for (int32_t i = 0; i < tabi_model_nsensor(s->model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(s->model, i);
    int32_t size = tabi_sensor_type_size(sensor.type);
    if (listed(sensor.name)) at = put(at, reading, size);
    reading += size;
  }
  TBI_ASSERT(at == value + s->count);
}

static bool wants_kind(const tabi_signals *s, tbi_signal_kind kind) {
  return wants(s, s->first[kind], s->first[kind + 1] - s->first[kind]);
}

void tabi_signals_eval(tabi_signals *signals, const tabi_sample *sample, double *value) {
  TBI_ASSERT(signals && sample && value);
  TBI_ASSERT(sample->nrobot == tabi_scene_nrobot(signals->scene)); // a sample of this scene
  double ground[3] = {0};
  signals->posed = false;
  gather_contacts(signals, sample, ground);
  (void)put_world(value, sample, ground);
  if (wants_kind(signals, TBI_SIGNALS_ROBOTS)) put_robots(signals, value, sample);
  if (wants_kind(signals, TBI_SIGNALS_JOINTS)) put_joints(signals, value, sample);
  if (wants_kind(signals, TBI_SIGNALS_LINKS)) put_links(signals, value, sample);
  if (wants_kind(signals, TBI_SIGNALS_SENSORS)) put_sensors(signals, value, sample);
}
