/* csv_log.c - columns: time, energies, certificate, contact forces, bases of robots, the gait,
 * what the scene asks for, sensors.  All but those of the gait are signals (docs/signals.md). */
#include "run/csv_log.h"

#include "common/csv.h"
#include "common/output.h"
#include "run/gait_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Signals at the head of a row, some under a shorter name. */
static const struct {
  const char *signal, *column;
} head[] = {
    {"time",                        "time"               },
    {"energy.kinetic",              "kinetic"            },
    {"energy.potential",            "potential"          },
    {"energy.spring",               "spring"             },
    {"energy.work",                 "work"               },
    {"contacts",                    "contacts"           },
    {"iterations",                  "iterations"         },
    {"certificate.gap",             "gap_m"              },
    {"certificate.complementarity", "complementarity_mps"},
    {"certificate.cone",            "cone_N"             },
    {"certificate.dissipation",     "dissipation_mps"    },
};
enum { NHEAD = sizeof head / sizeof *head };

static bool fail(const char *path, const char *action) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){path, 1}, "cannot %s: %s", action, strerror(errno));
  tbi_print_diagnostic(&err, "error");
  return false;
}

static void add_column(tbi_csv_log *log, int32_t signal) {
  if (log->ncolumn == log->capacity) {
    int32_t capacity = 2 * log->capacity + 64;
    int32_t *grown = realloc(log->column, (size_t)capacity * sizeof *grown);
    if (!grown) {
      log->no_memory = true;
      return;
    }
    log->column = grown;
    log->capacity = capacity;
  }
  log->column[log->ncolumn++] = signal;
}

static void add_name(tbi_csv_log *log, const char *name) {
  for (int32_t i = 0; i < tabi_signals_count(log->signals); ++i) {
    if (strcmp(tabi_signals_get(log->signals, i).name, name) == 0) {
      add_column(log, i);
      return;
    }
  }
}

/* "owner.x", "owner.y" and so on; parts are divided by spaces. */
static void add_parts(tbi_csv_log *log, const char *owner, const char *parts) {
  while (*parts != '\0') {
    char name[512];
    int length = (int)strcspn(parts, " ");
    (void)snprintf(name, sizeof name, "%.400s.%.*s", owner, length, parts);
    add_name(log, name);
    parts += length + (int)strspn(parts + length, " ");
  }
}

/* What the scene asks for is a link, or else a joint. */
static void add_wanted(tbi_csv_log *log, const char *name, bool forces) {
  if (tabi_model_find_link(tabi_scene_model(log->scene), name) == TABI_NONE) {
    add_parts(log, name, "q q.w q.x q.y q.z q.rz v v.x v.y v.z v.rz");
    return;
  }
  add_parts(log, name, "x y z qw qx qy qz vx vy vz wx wy wz");
  if (forces) add_parts(log, name, "fx fy fz");
}

/* Sensors are the last signals. */
static void add_sensors(tbi_csv_log *log) {
  const tabi_model *model = tabi_scene_model(log->scene);
  int32_t count = tabi_signals_count(log->signals);
  int32_t first = count;
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(model, i);
    if (sensor.name && sensor.name[0]) first -= tabi_sensor_type_size(sensor.type);
  }
  for (int32_t i = first; i < count; ++i)
    add_column(log, i);
}

static void choose_columns(tbi_csv_log *log) {
  tabi_scene_log wanted = tabi_scene_get_log(log->scene);
  for (size_t i = 0; i < NHEAD; ++i)
    add_name(log, head[i].signal);
  if (wanted.forces) add_parts(log, "ground", "fx fy fz");
  for (int32_t i = 0; i < tabi_scene_nrobot(log->scene); ++i)
    add_parts(log, tabi_scene_get_robot(log->scene, i).name, "x y z qw qx qy qz");
  log->ahead = log->ncolumn;
  for (int32_t i = 0; i < wanted.nsignal; ++i)
    add_wanted(log, wanted.signals[i], wanted.forces);
  add_sensors(log);
}

static void name_columns(const tbi_csv_log *log) {
  char quoted[TBI_CSV_NAME];
  for (int32_t i = 0; i < log->ncolumn; ++i) {
    const char *name = tabi_signals_get(log->signals, log->column[i]).name;
    if (i == log->ahead) tbi_gait_csv_names(log->file, log->scene);
    if (i > 0) (void)fputc(',', log->file);
    (void)fputs(i < NHEAD ? head[i].column : tbi_csv_name(name, quoted), log->file);
  }
  if (log->ahead == log->ncolumn) tbi_gait_csv_names(log->file, log->scene);
  (void)fputc('\n', log->file);
}

bool tbi_csv_log_due(const tbi_csv_log *log) {
  return log->file && tabi_world_steps(log->world) % tabi_scene_get_log(log->scene).every == 0;
}

void tbi_csv_log_row(tbi_csv_log *log, const double *value) {
  for (int32_t i = 0; i < log->ncolumn; ++i) {
    if (i == log->ahead) tbi_gait_csv_row(log->file, log->scene, log->world, log->torque);
    (void)fprintf(log->file, "%s%.12g", i > 0 ? "," : "", value[log->column[i]]);
  }
  if (log->ahead == log->ncolumn) tbi_gait_csv_row(log->file, log->scene, log->world, log->torque);
  (void)fputc('\n', log->file);
}

bool tbi_csv_log_open(tbi_csv_log *log, const char *path, const tabi_scene *scene,
                      tabi_world *world, const tabi_signals *signals) {
  *log = (tbi_csv_log){.path = path, .scene = scene, .world = world, .signals = signals};
  if (!path) return true;
  log->torque = calloc((size_t)tabi_model_nv(tabi_scene_model(scene)) + 1, sizeof *log->torque);
  choose_columns(log);
  if (!log->torque || log->no_memory) {
    (void)tbi_out_of_memory();
    return false;
  }
  log->file = tbi_output_open(path);
  if (!log->file) return false;
  name_columns(log);
  return true;
}

bool tbi_csv_log_close(tbi_csv_log *log) {
  free(log->torque);
  free(log->column);
  log->torque = NULL;
  log->column = NULL;
  if (!log->file) return true;
  bool bad = ferror(log->file) != 0;
  bad |= fclose(log->file) != 0;
  log->file = NULL;
  return bad ? fail(log->path, "write") : true;
}
