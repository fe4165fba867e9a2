/* comparisons.c - the table of scenes, and how each is opened.
 *
 * An engine that lacks a feature says so when it is given the scene.  The table of absences is for
 * what would be found out too late. */
#include "comparisons.h"

#include "base/error.h"
#include "base/random.h"
#include "engine_scenes.h"
#include "measure.h"
#include "options.h"
#include "tabi/tabi_io.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double settling = 60; /* s of CPU time at most */

const tbi_engine_config tbi_engine_configs[TBI_ENGINE_CONFIGS] = {
    [TBI_TABI] = {"tabi",          NULL,     "default",  NULL                       },
    [TBI_TABI_EXACT] = {"tabi-exact",    NULL,     "exact",    NULL                       },
    [TBI_TABI_EXACT14] = {"tabi-exact14",  NULL,     "exact14",  NULL                       },
    [TBI_TABI_MIDPOINT] = {"tabi-midpoint", NULL,     "midpoint", NULL                       },
    [TBI_TABI_RK4] = {"tabi-rk4",      NULL,     "rk4",      NULL                       },
    [TBI_MUJOCO] = {"mujoco",        "mujoco", "default",  "libmujoco-dev"            },
    [TBI_MUJOCO_RK4] = {"mujoco-rk4",    "mujoco", "rk4",      "libmujoco-dev"            },
    [TBI_MUJOCO_CG] = {"mujoco-cg",     "mujoco", "cg",       "libmujoco-dev"            },
    [TBI_MUJOCO_NOSLIP] = {"mujoco-noslip", "mujoco", "noslip",   "libmujoco-dev"            },
    [TBI_MUJOCO_FINE] = {"mujoco-fine",   "mujoco", "fine",     "libmujoco-dev"            },
    [TBI_BULLET] = {"bullet",        "bullet", "default",  "libbullet-dev"            },
    [TBI_BULLET_FINE] = {"bullet-fine",   "bullet", "fine",     "libbullet-dev"            },
    [TBI_BULLET_HARD] = {"bullet-hard",   "bullet", "hard",     "libbullet-dev"            },
    [TBI_ODE] = {"ode",           "ode",    "quick",    "libode-dev"               },
    [TBI_ODE_FINE] = {"ode-fine",      "ode",    "fine",     "libode-dev"               },
    [TBI_ODE_STEP] = {"ode-step",      "ode",    "step",     "libode-dev"               },
    [TBI_DART] = {"dart",          "dart",   "default",  "libdart-collision-ode-dev"},
    [TBI_DART_PGS] = {"dart-pgs",      "dart",   "pgs",      "libdart-collision-ode-dev"},
};

static tabi_status stand(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  char path[4096];
  (void)comparison;
  tbi_bench_shipped_robot(path, sizeof path);
  return tbi_bench_scene_robot(base, path, err);
}

/* Without implicit springs and dampers the small joints stand a tenth of the gains only. */
static tabi_status stand_softly(const tbi_comparison *comparison, tbi_bench_scene *base,
                                tabi_error *err) {
  tabi_status status = stand(comparison, base, err);
  for (int32_t j = 0; status == TABI_OK && j < tabi_model_njoint(base->model); ++j) {
    base->servo[j].kp /= 5;
    base->servo[j].kd /= 10;
  }
  return status;
}

static tabi_status points(const tbi_comparison *comparison, tbi_bench_scene *base,
                          tabi_error *err) {
  char path[4096];
  tbi_bench_shipped_robot(path, sizeof path);
  return tbi_bench_scene_points(base, path, comparison->size, err);
}

static tabi_status pile(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  return tbi_bench_scene_pile(base, comparison->size, err);
}

static tabi_status quadrupeds(const tbi_comparison *comparison, tbi_bench_scene *base,
                              tabi_error *err) {
  return tbi_bench_scene_quadrupeds(base, comparison->size, true, err);
}

static tabi_status flight(const tbi_comparison *comparison, tbi_bench_scene *base,
                          tabi_error *err) {
  return tbi_bench_scene_quadrupeds(base, comparison->size, false, err);
}

static tabi_status chain(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  return tbi_bench_scene_chain(base, comparison->size, err);
}

static tabi_status loops(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  return tbi_bench_scene_loops(base, comparison->size, err);
}

static tabi_status limp(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  (void)comparison;
  return tbi_bench_scene_limp(base, err);
}

/* Nothing holds the robot any more. */
static tabi_status fall(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  (void)comparison;
  char path[4096];
  tbi_bench_shipped_file("scenes/stand.yaml", path, sizeof path);
  tabi_status status = tbi_bench_scene_load(base, path, true, err);
  for (int32_t j = 0; status == TABI_OK && j < tabi_model_njoint(base->model); ++j)
    base->servo[j] = (tabi_servo){0};
  return status;
}

static tabi_status slope(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  (void)comparison;
  return tbi_bench_scene_slope(base, err);
}

static tabi_status rolling(const tbi_comparison *comparison, tbi_bench_scene *base,
                           tabi_error *err) {
  (void)comparison;
  return tbi_bench_scene_rolling(base, err);
}

static tabi_status bouncing(const tbi_comparison *comparison, tbi_bench_scene *base,
                            tabi_error *err) {
  (void)comparison;
  return tbi_bench_scene_bouncing(base, err);
}

static tabi_status balls(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  (void)comparison;
  return tbi_bench_scene_balls(base, err);
}

static tabi_status hit(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  (void)comparison;
  return tbi_bench_scene_hit(base, err);
}

/* A walk is opened from its scene file, see open_walk. */
static tabi_status walk(const tbi_comparison *comparison, tbi_bench_scene *base, tabi_error *err) {
  (void)comparison;
  (void)base;
  *err = (tabi_error){.status = TABI_ERR_ARGUMENT};
  return err->status;
}

#define BIT(engine) (1U << (engine))
/* Sets of engines: with default settings, with others, and those of single scenes. */
enum {
  ALONE = BIT(TBI_TABI),
  RK4 = BIT(TBI_TABI_RK4) | BIT(TBI_MUJOCO_RK4),
  FASTEST = BIT(TBI_TABI) | BIT(TBI_BULLET) | BIT(TBI_ODE),
  DEFAULTS = FASTEST | BIT(TBI_MUJOCO) | BIT(TBI_DART),
  QUADRUPED = DEFAULTS | BIT(TBI_MUJOCO_NOSLIP),
  QUADRUPEDS = QUADRUPED | BIT(TBI_MUJOCO_CG),
  OTHER_SETTINGS = BIT(TBI_TABI_EXACT) | BIT(TBI_BULLET_FINE) | BIT(TBI_ODE_FINE) |
                   BIT(TBI_MUJOCO_CG) | BIT(TBI_DART_PGS),
  LARGE_SCENES = FASTEST | BIT(TBI_MUJOCO),
  PILE_300 = LARGE_SCENES | (OTHER_SETTINGS & ~BIT(TBI_DART_PGS)),
  PILES = DEFAULTS | OTHER_SETTINGS,
  LOOSE = DEFAULTS & ~BIT(TBI_BULLET),
  ROLL = BIT(TBI_TABI) | BIT(TBI_TABI_EXACT14) | BIT(TBI_MUJOCO) | BIT(TBI_BULLET) |
         BIT(TBI_BULLET_FINE) | BIT(TBI_BULLET_HARD) | BIT(TBI_ODE) | BIT(TBI_MUJOCO_FINE) |
         BIT(TBI_DART),
  BOUNCE = BIT(TBI_TABI_MIDPOINT) | BIT(TBI_MUJOCO) | BIT(TBI_BULLET) | BIT(TBI_BULLET_HARD) |
           BIT(TBI_ODE) | BIT(TBI_DART),
  FLY = BIT(TBI_TABI) | BIT(TBI_TABI_MIDPOINT) | RK4 | BIT(TBI_MUJOCO) | BIT(TBI_BULLET) |
        BIT(TBI_ODE) | BIT(TBI_DART),
  LOOPS = DEFAULTS | RK4,
  CREEP = DEFAULTS | BIT(TBI_MUJOCO_FINE) | BIT(TBI_BULLET_FINE) | BIT(TBI_ODE_STEP),
};

const tbi_comparison tbi_comparisons[] = {
    {"stand",         stand,        1e-3, 0,    1000, 1000, 0,     NULL,                  DEFAULTS    },
    {"stand-rk4",     stand_softly, 1e-3, 0,    1000, 1000, 0,     NULL,                  RK4         },
    {"walk",          walk,         1e-3, 0,    0,    0,    11500, NULL,                  DEFAULTS    },
    {"points16",      points,       1e-3, 16,   200,  500,  0,     NULL,                  DEFAULTS    },
    {"points40",      points,       1e-3, 40,   200,  500,  0,     NULL,                  DEFAULTS    },
    {"points100",     points,       1e-3, 100,  200,  500,  0,     NULL,                  DEFAULTS    },
    {"points400",     points,       1e-3, 400,  200,  500,  0,     NULL,                  LARGE_SCENES},
    {"quadrupeds1",   quadrupeds,   5e-3, 1,    400,  200,  0,     NULL,                  QUADRUPED   },
    {"quadrupeds4",   quadrupeds,   5e-3, 4,    400,  200,  0,     NULL,                  QUADRUPED   },
    {"quadrupeds25",  quadrupeds,   5e-3, 25,   400,  200,  0,     NULL,                  QUADRUPEDS  },
    {"quadrupeds100", quadrupeds,   5e-3, 100,  400,  100,  0,     NULL,                  QUADRUPEDS  },
    {"quadrupeds225", quadrupeds,   5e-3, 225,  400,  100,  0,     NULL,                  QUADRUPEDS  },
    {"pile20",        pile,         1e-3, 20,   8000, 1000, 0,     NULL,                  PILES       },
    {"pile100",       pile,         1e-3, 100,  8000, 1000, 0,     NULL,                  PILES       },
    {"pile300",       pile,         1e-3, 300,  8000, 1000, 0,     NULL,                  PILE_300    },
    {"pile1000",      pile,         1e-3, 1000, 4000, 1000, 0,     NULL,                  LARGE_SCENES},
    {"drop20",        pile,         1e-3, 20,   0,    0,    1000,  NULL,                  DEFAULTS    },
    {"drop100",       pile,         1e-3, 100,  0,    0,    1000,  NULL,                  DEFAULTS    },
    {"drop300",       pile,         1e-3, 300,  0,    0,    1000,  NULL,                  LARGE_SCENES},
    {"drop1000",      pile,         1e-3, 1000, 0,    0,    500,   NULL,                  LARGE_SCENES},
    {"chain10",       chain,        1e-3, 10,   0,    0,    500,   NULL,                  DEFAULTS    },
    {"chain100",      chain,        1e-3, 100,  0,    0,    500,   NULL,                  DEFAULTS    },
    {"chain1000",     chain,        1e-3, 1000, 0,    0,    20,    NULL,                  LARGE_SCENES},
    {"slope",         slope,        1e-3, 0,    0,    0,    10000, tbi_accuracy_creep,    CREEP       },
    {"rolling",       rolling,      1e-3, 0,    0,    0,    4000,  tbi_accuracy_rolling,  ROLL        },
    {"bouncing",      bouncing,     1e-3, 0,    0,    0,    20000, tbi_accuracy_bouncing, BOUNCE      },
    {"balls666",      balls,        1e-3, 0,    0,    0,    10000, tbi_accuracy_depths,   DEFAULTS    },
    {"momentum",      hit,          1e-3, 0,    0,    0,    10000, tbi_accuracy_momentum, FLY         },
    {"energy",        flight,       1e-3, 1,    0,    0,    3000,  tbi_accuracy_flight,   FLY         },
    {"loops10",       loops,        1e-3, 10,   0,    0,    2000,  tbi_accuracy_loops,    LOOPS       },
    {"loops53",       loops,        1e-3, 53,   0,    0,    2000,  tbi_accuracy_loops,    ALONE       },
    {"limp",          limp,         1e-3, 0,    0,    0,    1500,  NULL,                  LOOSE       },
    {"fall",          fall,         1e-3, 0,    0,    0,    3000,  NULL,                  DEFAULTS    },
};
const int32_t tbi_ncomparison = sizeof tbi_comparisons / sizeof tbi_comparisons[0];

static const struct {
  const char *comparison;
  int32_t engine;
  const char *why;
} absences[] = {
    {"chain1000", TBI_DART,     "takes minutes to build it"                            },
    {"points400", TBI_DART,     "takes 0.4 s for a step"                               },
    {"pile300",   TBI_DART,     "takes minutes for a step"                             },
    {"pile300",   TBI_DART_PGS, "takes 0.5 s for a step"                               },
    {"pile1000",  TBI_DART,     "takes minutes for a step"                             },
    {"drop300",   TBI_DART,     "takes minutes for a step"                             },
    {"drop1000",  TBI_DART,     "takes minutes for a step"                             },
    {"limp",      TBI_BULLET,   "its dampers of joints are explicit, and unstable here"},
};

const char *tbi_comparison_absence(const tbi_comparison *comparison, int32_t engine) {
  for (size_t i = 0; i < sizeof absences / sizeof absences[0]; ++i)
    if (absences[i].engine == engine && strcmp(absences[i].comparison, comparison->name) == 0)
      return absences[i].why;
  return NULL;
}

static tabi_status stop(tabi_world *world, tabi_error *err) {
  const tabi_model *model = tabi_world_model(world);
  double *q = malloc(((size_t)tabi_model_nq(model) + 1) * sizeof *q);
  double *rest = calloc((size_t)tabi_model_nv(model) + 1, sizeof *rest);
  tabi_status status = TABI_ERR_MEMORY;
  if (q && rest) {
    memcpy(q, tabi_world_q(world), (size_t)tabi_model_nq(model) * sizeof *q);
    status = tabi_world_set_state(world, q, rest, err);
  } else {
    (void)tbi_error_memory(err);
  }
  free(q);
  free(rest);
  return status;
}

/* Until nothing moves, or the steps are made, or time is up.  A box may swing for ever on two
 * points, so all are stopped now and then in the second half. */
static tabi_status lay(tbi_engine_scene *scene, const tabi_world_def *def, int32_t steps,
                       tabi_error *err) {
  enum { ROUND = 250 };
  const double end = tbi_measure_clock() + settling;
  tabi_world *world = tabi_world_create(scene->base.model, def, err);
  if (!world) return err->status;
  tabi_status status = tbi_bench_scene_start(&scene->base, world, err);
  if (status == TABI_OK) status = tabi_world_set_state(world, scene->base.q, scene->v, err);
  for (int32_t n = 0; n < steps && status == TABI_OK; ++n) {
    status = tabi_world_step_or_grow(world, NULL);
    if (tbi_measure_clock() > end) break;
    if (n % ROUND != ROUND - 1 || status != TABI_OK) continue;
    bool rest = tbi_bench_scene_fastest(world) <= 1e-6;
    if (rest && tabi_world_certificate(world).converged) break;
    if (n > steps / 2) status = stop(world, err);
  }
  // MuJoCo's memory grows with the square of it
  (void)tabi_world_contacts(world, &scene->contacts);
  scene->contacts = 2 * scene->contacts + 64;
  if (status == TABI_OK)
    tbi_engine_scene_move(scene, world);
  else if (tabi_world_error(world))
    *err = *tabi_world_error(world);
  tabi_world_destroy(world);
  return status;
}

/* Large scenes fall with few sweeps, which are not measured, and then come to rest. */
static tabi_status settle(const tbi_comparison *comparison, tbi_engine_scene *scene,
                          tabi_error *err) {
  enum { LARGE = 1000, FALL = 2000 };
  tabi_world_def def = tabi_world_def_default(scene->base.model);
  def.timestep = scene->timestep;
  if (comparison->size >= LARGE) {
    tabi_world_def rough = def;
    rough.iterations = 20;
    rough.tolerance = 0;
    tabi_status status = lay(scene, &rough, FALL, err);
    if (status != TABI_OK) return status;
  }
  return lay(scene, &def, comparison->settle, err);
}

/* A scene of SimBenchmark starts with a ball that flies; chains start in motion. */
static void set_velocities(const tbi_comparison *comparison, tbi_engine_scene *scene) {
  const tabi_model *model = scene->base.model;
  tabi_range v = tabi_model_joint_v(model, tabi_model_njoint(model) - 1);
  uint64_t seed = 4;
  if (comparison->open == hit) scene->v[v.first + 1] = 5;
  for (int32_t k = 0; comparison->open == chain && k < tabi_model_nv(model); ++k)
    scene->v[k] = (2 * tbi_random_unit(&seed) - 1) / comparison->size;
}

/* Where the servos of a world aim, by body; rates are in it: a servo that moves is one that aims
 * farther. */
static void note_aim(const tabi_world *world, double *aim) {
  const tabi_model *model = world->model;
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tabi_servo *servo = &world->state.servo[model->body[i].joint];
    aim[i] = servo->kp > 0 ? servo->target + servo->kd / servo->kp * servo->target_rate : 0;
  }
}

/* An open-loop walk: its targets are recorded once, and all engines follow them. */
static tabi_status note_walk(tbi_engine_scene *scene, tabi_scene *from, tabi_world *world,
                             int32_t steps, tabi_error *err) {
  const tabi_model *model = scene->base.model;
  size_t width = (size_t)model->nbody;
  scene->aim = calloc((size_t)steps * width, sizeof(double));
  if (!scene->aim) {
    *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
    return err->status;
  }
  tbi_engine_scene_move(scene, world);
  for (scene->nstep = 0; scene->nstep < steps; ++scene->nstep) {
    tabi_scene_control(from, world);
    note_aim(world, scene->aim + (size_t)scene->nstep * width);
    if (scene->nstep == 0)
      memcpy(scene->base.servo, world->state.servo,
             (size_t)model->njoint * sizeof *scene->base.servo);
    tabi_status status = tabi_world_step_or_grow(world, NULL);
    if (status != TABI_OK) return status;
  }
  for (int32_t j = 0; j < model->njoint; ++j) {
    tabi_servo *servo = &scene->base.servo[j];
    servo->target_rate = 0;
    if (model->joint_body[j] != TABI_NONE) servo->target = scene->aim[model->joint_body[j]];
  }
  return TABI_OK;
}

static tabi_status open_walk(const tbi_comparison *comparison, tbi_engine_scene *scene,
                             tabi_error *err) {
  char path[4096];
  tbi_bench_scene base;
  tbi_bench_shipped_file("scenes/walk.yaml", path, sizeof path);
  tabi_status status = tbi_bench_scene_load(&base, path, false, err);
  if (status == TABI_OK) status = tbi_engine_scene_init(scene, &base, comparison->timestep, err);
  if (status != TABI_OK) return status;
  tabi_world_def def = tabi_scene_world_def(scene->base.owner);
  tabi_world *world = tabi_world_create(scene->base.model, &def, err);
  if (!world) return err->status;
  status = tabi_scene_reset(scene->base.owner, world, err);
  if (status == TABI_OK)
    status = note_walk(scene, scene->base.owner, world, comparison->steps, err);
  tabi_world_destroy(world);
  return status;
}

tabi_status tbi_comparison_open(const tbi_comparison *comparison, tbi_engine_scene *scene,
                                tabi_error *err) {
  tbi_bench_scene base;
  *scene = (tbi_engine_scene){0};
  tabi_status status = TABI_OK;
  if (comparison->open == walk) {
    status = open_walk(comparison, scene, err);
  } else {
    status = comparison->open(comparison, &base, err);
    if (status == TABI_OK) status = tbi_engine_scene_init(scene, &base, comparison->timestep, err);
  }
  if (status == TABI_OK) set_velocities(comparison, scene);
  // a pile that falls has fewer contacts than one at rest
  if (status == TABI_OK && comparison->open == pile) scene->contacts = 5 * comparison->size;
  if (status == TABI_OK && comparison->settle > 0) status = settle(comparison, scene, err);
  if (status == TABI_OK) status = tbi_engine_scene_finish(scene, err);
  if (status != TABI_OK) tbi_engine_scene_free(scene);
  return status;
}
