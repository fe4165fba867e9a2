/* p5_fall.c - a small humanoid falls, its joints without control, with restitution and two
 * coefficients of friction.
 *
 * scenes/p5_fall.yaml under the published loop and under `impulse`.  The paper shows pictures of it
 * and the time of a step; what can be checked is that it comes to rest on the floor, which then
 * carries its weight, and that no energy comes from nowhere. */
#include "measure.h"
#include "p5_pictures.h"

#include <math.h>

enum { TIME, FORCE, ENERGY, KINETIC, HEIGHT, NCOLUMN, PICTURES = 6, ROW_STEPS = 10 };
static const char *const columns[] = {"time",      "force_in_weights", "energy_J",
                                      "kinetic_J", "pelvis_m",         NULL};
static const double picture_time[PICTURES] = {0, 0.2, 0.45, 0.7, 0.85, 1.5};
static const double last_part = 0.5; /* s, over which the final force is averaged */

typedef struct fall {
  tbi_series *series;
  double sum;         /* N, of steps since the last row */
  double depth, gain; /* largest, m and J */
  double seconds;     /* of a step, mean */
  double weight;      /* N */
  tbi_p5_contacts contacts;
} fall;

/* The floor's force now, upward. */
static double floor_force(const tbi_simulation *sim) {
  const double origin[3] = {0};
  double force[3], moment[3];
  tbi_simulation_contact_force(sim, TABI_WORLD, origin, force, moment);
  return force[2];
}

/* A row for every few steps: blows last for one, so their force is spread over the row. */
static void add_row(tbi_simulation *sim, fall *f) {
  f->sum += floor_force(sim);
  if (tabi_world_steps(sim->world) % ROW_STEPS != 0) return;
  const double row[NCOLUMN] = {tbi_simulation_time(sim), f->sum / ROW_STEPS / f->weight,
                               tbi_simulation_energy(sim), tabi_world_energy(sim->world).kinetic,
                               tabi_world_q(sim->world)[2]};
  tbi_series_add(f->series, row);
  f->sum = 0;
}

static tabi_status simulate(fall *f, tbi_p5_pictures *pictures, tbi_variant variant,
                            tbi_simulation *sim, double duration, tabi_error *err) {
  f->weight = 9.81 * tabi_model_mass(sim->model);
  int64_t steps = llround(duration / sim->timestep);
  double start = tbi_simulation_energy(sim), seconds = 0;
  for (int64_t i = 0; i < steps; ++i) {
    int32_t taken = pictures ? pictures->taken[variant] : PICTURES;
    if (taken < PICTURES && tbi_simulation_time(sim) >= picture_time[taken] - 1e-9)
      tbi_p5_pictures_take(pictures, variant, sim, 0.7 * tabi_world_q(sim->world)[0]);
    double before = tbi_measure_clock();
    tabi_status status = tbi_simulation_step(sim, err);
    seconds += tbi_measure_clock() - before;
    if (status != TABI_OK) return status;
    add_row(sim, f);
    tbi_p5_watch(&f->contacts, sim);
    f->depth = fmax(f->depth, tbi_simulation_max_penetration(sim));
    f->gain = fmax(f->gain, tbi_simulation_energy(sim) - start);
  }
  f->seconds = seconds / (double)steps;
  return TABI_OK;
}

enum { CHANGES = 10, CHANGE_SIZE = 64 };

/* What we chose beside the surfaces: the threshold of slip and the time step. */
typedef struct choice {
  double slip_speed, timestep; /* m/s, s */
} choice;
static const choice chosen = {1e-3, 1e-3};

/* What is changed in the scene: surfaces, threshold, time step and method. */
static void make_changes(tbi_variant variant, choice c, char change[CHANGES][CHANGE_SIZE]) {
  static const char *const surface[] = {"ground", "robot"};
  const double value[] = {tbi_p5_floor.friction, tbi_p5_floor.kinetic, tbi_p5_floor.restitution};
  static const char *const key[] = {"friction", "kinetic", "restitution"};
  for (int i = 0; i < 6; ++i)
    (void)snprintf(change[i], CHANGE_SIZE, "materials.%s.%s=%g", surface[i / 3], key[i % 3],
                   value[i % 3]);
  (void)snprintf(change[6], CHANGE_SIZE, "contact.model=%s",
                 tabi_contact_name(tbi_p5_contact(variant)));
  for (int i = 0; i < 2; ++i)
    (void)snprintf(change[7 + i], CHANGE_SIZE, "materials.%s.slip_speed=%g", surface[i],
                   c.slip_speed);
  (void)snprintf(change[9], CHANGE_SIZE, "timestep=%g", c.timestep);
}

/* pictures: NULL for none */
static tabi_status fall_once(fall *f, tbi_p5_pictures *pictures, tbi_variant variant, choice c,
                             double duration, tabi_error *err) {
  char change[CHANGES][CHANGE_SIZE];
  const char *set[CHANGES + 1] = {NULL};
  make_changes(variant, c, change);
  for (int i = 0; i < CHANGES; ++i)
    set[i] = change[i];
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, "p5_fall.yaml", set, err);
  if (status == TABI_OK) status = simulate(f, pictures, variant, &sim, duration, err);
  tbi_simulation_close(&sim);
  return status;
}

static double final_force(const fall *f) {
  double sum = 0, end = tbi_series_at(f->series, f->series->nrow - 1, TIME);
  int32_t count = 0;
  for (int32_t i = f->series->nrow - 1; i >= 0; --i, ++count) {
    if (tbi_series_at(f->series, i, TIME) < end - last_part) break;
    sum += tbi_series_at(f->series, i, FORCE);
  }
  return sum / count;
}

static void check(tbi_trial *trial, const fall *f) {
  int32_t last = f->series->nrow - 1;
  tbi_expect_below(trial, "final height of the pelvis", "m", tbi_series_at(f->series, last, HEIGHT),
                   0.1);
  tbi_expect_within(trial, "final force of the floor / weight", "", final_force(f), 0.99, 1.01);
  tbi_p5_expect_impacts(trial, &f->contacts, NULL);
  tbi_p5_expect_no_gain(trial, &f->contacts);
  tbi_may_differ(trial, tbi_p5_cut, NULL);
  tbi_expect_below(trial, "energy above the initial one", "J", f->gain, 1e-3);
  tbi_expect_below(trial, "max penetration", "mm", 1e3 * f->depth, 1);
  tbi_expect_below(trial, "final kinetic energy", "J", tbi_series_at(f->series, last, KINETIC),
                   1e-6);
  tbi_may_differ(trial, NULL, NULL);
  if (!trial->quick) tbi_p5_expect_speed(trial, f->seconds);
}

/* That what we chose is not behind the energy that impulses add. */
static tabi_status check_choices(tbi_trial *trial, tabi_error *err) {
  static const choice others[] = {
      {1e-4, 1e-3},
      {1e-2, 1e-3},
      {1e-1, 1e-3},
      {1,    1e-3},
      {1e-3, 1e-4}
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    tbi_series series;
    tbi_series_init(&series, columns);
    fall f = {.series = &series};
    tabi_status status = fall_once(&f, NULL, trial->variant, others[i], 5, err);
    tbi_series_free(&series);
    if (status != TABI_OK) return status;
    char name[96];
    (void)snprintf(name, sizeof name, "energy that impulses add, threshold %g mm/s, %g ms",
                   1e3 * others[i].slip_speed, 1e3 * others[i].timestep);
    tbi_may_differ(trial, tbi_p5_cut, NULL);
    tbi_expect_below(trial, name, "J", f.contacts.gained, 1e-6);
    tbi_may_differ(trial, NULL, NULL);
  }
  return TABI_OK;
}

static tabi_status run_one(tbi_trial *trial, tbi_p5_pictures *pictures, tbi_series *series,
                           tabi_error *err) {
  fall f = {.series = series};
  tabi_status status = fall_once(&f, pictures, trial->variant, chosen, trial->quick ? 2.5 : 5, err);
  if (status != TABI_OK) return status;
  check(trial, &f);
  return trial->quick ? TABI_OK : check_choices(trial, err);
}

static void plot(FILE *script) {
  (void)fputs("set xrange [0:2.5]\nset size 0.5,0.42\nset yrange [0:*]\n"
              "set ylabel 'floor reaction / weight'\n"
              "plot 1 with lines lc rgb '#999999' dt 2 title 'weight',\\\n"
              " $published using 1:2 with lines lt 2 title 'published',\\\n"
              " $ours using 1:2 with lines lt 1 title 'ours'\n"
              "set origin 0.5,0\nset ylabel 'energy [J]'\n"
              "plot $published using 1:3 with lines lt 2 title 'published',\\\n"
              " $ours using 1:3 with lines lt 1 title 'ours'\n",
              script);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  const tbi_p5_motion motion = {.columns = columns,
                                .spacing = 0.6,
                                .height = 0.5,
                                .run = run_one,
                                .plot = plot,
                                .samples = 1};
  return tbi_p5_run_motion(trial, &motion, err);
}

const tbi_experiment tbi_p5_fall = {
    .id = "p5/fall",
    .paper = "P5, Fig. 5",
    .shows = "a small humanoid of 26 degrees of freedom falls down, steps of 1 ms",
    .reconstructed = "the same surfaces, threshold and integrator; robot, dampers and dry friction "
                     "of its joints, initial state",
    .run = run,
};
