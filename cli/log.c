/* log.c - columns: time, energies, certificate, contact forces, bases of robots, what a walk is
 * about, signals, sensors. */
#include "log.h"

#include "gait.h"
#include "sensors.h"
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool fail(const char *path, const char *action) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){path, 1}, "cannot %s: %s", action, strerror(errno));
  tbi_print_diagnostic(&err, "error");
  return false;
}

static void name_pose(FILE *file, const char *name) {
  static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    (void)fprintf(file, ",%s.%s", name, parts[i]);
}

static void name_vector(FILE *file, const char *name, const char *what) {
  for (int i = 0; i < 3; ++i)
    (void)fprintf(file, ",%s.%s%c", name, what, "xyz"[i]);
}

static void name_joint(FILE *file, const char *name, int32_t nq, int32_t nv) {
  if (nq == 1) {
    (void)fprintf(file, ",%s.q,%s.v", name, name);
    return;
  }
  for (int32_t i = 0; i < nq; ++i)
    (void)fprintf(file, ",%s.q%d", name, i);
  for (int32_t i = 0; i < nv; ++i)
    (void)fprintf(file, ",%s.v%d", name, i);
}

/* A signal is a joint, or else a link. */
static void name_signal(const tbi_log *log, const char *name) {
  const tabi_model *model = tabi_scene_model(log->scene);
  int32_t joint = tabi_model_find_joint(model, name);
  if (tabi_model_find_link(model, name) == TABI_NONE) {
    name_joint(log->file, name, tabi_model_joint_q(model, joint).count,
               tabi_model_joint_v(model, joint).count);
    return;
  }
  name_pose(log->file, name);
  name_vector(log->file, name, "v");
  name_vector(log->file, name, "w");
  if (tabi_scene_get_log(log->scene).forces) name_vector(log->file, name, "f");
}

static void name_columns(const tbi_log *log) {
  tabi_scene_log wanted = tabi_scene_get_log(log->scene);
  (void)fputs("time,kinetic,potential,spring,work,contacts,iterations,gap_m,complementarity_mps,"
              "cone_N,dissipation_mps",
              log->file);
  if (wanted.forces) name_vector(log->file, "ground", "f");
  for (int32_t i = 0; i < tabi_scene_nrobot(log->scene); ++i)
    name_pose(log->file, tabi_scene_get_robot(log->scene, i).name);
  tbi_gait_names(log->file, log->scene);
  for (int32_t i = 0; i < wanted.nsignal; ++i)
    name_signal(log, wanted.signals[i]);
  tbi_sensor_names(log->file, tabi_scene_model(log->scene));
  (void)fputc('\n', log->file);
}

static void put(FILE *file, const double *number, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    (void)fprintf(file, ",%.12g", number[i]);
}

static void put_pose(const tbi_log *log, int32_t link) {
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(log->world), link, pos, quat);
  put(log->file, pos, 3);
  put(log->file, quat, 4);
}

static void put_signal(const tbi_log *log, const char *name) {
  const tabi_model *model = tabi_scene_model(log->scene);
  int32_t link = tabi_model_find_link(model, name);
  if (link == TABI_NONE) {
    int32_t joint = tabi_model_find_joint(model, name);
    tabi_range q = tabi_model_joint_q(model, joint);
    tabi_range v = tabi_model_joint_v(model, joint);
    if (q.count > 0) put(log->file, tabi_world_q(log->world) + q.first, q.count);
    if (v.count > 0) put(log->file, tabi_world_v(log->world) + v.first, v.count);
    return;
  }
  double lin[3];
  double ang[3];
  double force[3];
  put_pose(log, link);
  tabi_dynamics_link_velocity(tabi_world_dynamics(log->world), link, lin, ang);
  put(log->file, lin, 3);
  put(log->file, ang, 3);
  if (!tabi_scene_get_log(log->scene).forces) return;
  tbi_link_force(log->world, link, tabi_scene_world_def(log->scene).timestep, force);
  put(log->file, force, 3);
}

void tbi_log_step(tbi_log *log) {
  if (!log->file) return;
  tabi_scene_log wanted = tabi_scene_get_log(log->scene);
  if (tabi_world_steps(log->world) % wanted.every != 0) return;
  tabi_energy e = tabi_world_energy(log->world);
  tabi_certificate c = tabi_world_certificate(log->world);
  (void)fprintf(log->file, "%.12g,%.12g,%.12g,%.12g,%.12g,%d,%d,%.6g,%.6g,%.6g,%.6g",
                tabi_world_time(log->world), e.kinetic, e.potential, e.spring, e.work, c.contacts,
                c.iterations, c.gap, c.complementarity, c.cone, c.dissipation);
  if (wanted.forces) {
    double force[3];
    tbi_ground_force(log->world, tabi_scene_world_def(log->scene).timestep, force);
    put(log->file, force, 3);
  }
  for (int32_t i = 0; i < tabi_scene_nrobot(log->scene); ++i)
    put_pose(log, tabi_scene_get_robot(log->scene, i).base);
  tbi_gait_row(log->file, log->scene, log->world, log->torque);
  for (int32_t i = 0; i < wanted.nsignal; ++i)
    put_signal(log, wanted.signals[i]);
  tbi_sensor_row(log->file, log->world);
  (void)fputc('\n', log->file);
}

bool tbi_log_open(tbi_log *log, const char *path, const tabi_scene *scene, tabi_world *world) {
  *log = (tbi_log){.path = path, .scene = scene, .world = world};
  if (!path) return true;
  log->torque = calloc((size_t)tabi_model_nv(tabi_scene_model(scene)) + 1, sizeof *log->torque);
  if (!log->torque) {
    (void)tbi_out_of_memory();
    return false;
  }
  log->file = fopen(path, "w");
  if (!log->file) return fail(path, "open");
  name_columns(log);
  return true;
}

bool tbi_log_close(tbi_log *log) {
  free(log->torque);
  log->torque = NULL;
  if (!log->file) return true;
  bool bad = ferror(log->file) != 0;
  bad |= fclose(log->file) != 0;
  log->file = NULL;
  return bad ? fail(log->path, "write") : true;
}
