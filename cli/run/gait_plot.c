/* gait_plot.c - a gait on one page: torques, modes, landing points, forces and speeds of feet.
 *
 *   $run    time, forces on the support heel and toe, friction on the swing foot and what it
 *           could be at most, its speed along the ground (nan in the air), torques
 *   $mode   time, mode, support foot, before and after every change
 *   $walk   step, stride, where the heel landed and where it came to rest, stride at touchdown */
#include "gnuplot.h"
#include "run/gait_summary.h"

#include <math.h>
#include <string.h>

enum { FIRST_TORQUE = 7 };

static const char *const side_colour[2] = {"#1f4f9f", "#cc5c2e"};

/* 1 to 4; a little more on the toe, a little less on the heel. */
static double mode_level(const char *mode) {
  double level = mode[0] - '0';
  if (strchr(mode, '\'')) level += 0.25;
  if (strchr(mode, '"')) level -= 0.25;
  return level;
}

static bool touches(const char *mode) { return mode[0] != '1'; }

void tbi_gait_plot_row(FILE *script, const tabi_world *world, const tbi_gait_summary *gait,
                       double *torque) {
  const tabi_model *model = tabi_world_model(world);
  tabi_gait_state s = tabi_world_gait_state(world);
  (void)fprintf(script, "%.9g %.6g %.6g %.6g %.6g", tabi_world_time(world), s.heel_force,
                s.toe_force, s.friction, gait->def.friction * s.normal);
  if (touches(s.mode)) {
    (void)fprintf(script, " %.6g", s.slip);
  } else {
    (void)fputs(" nan", script);
  }
  tabi_world_gait_torque(world, torque);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range range = tabi_model_joint_v(model, i);
    if (range.count == 1) (void)fprintf(script, " %.6g", torque[range.first]);
  }
  (void)fputc('\n', script);
}

/* The first row is the foot that supports at the start. */
static void write_steps(FILE *script, const tbi_gait_summary *gait) {
  double heel = gait->heel_start;
  int32_t index = 0;
  int k = 0;
  (void)fprintf(script, "$walk << END\n0 0 %.6g %.6g 0\n", heel, heel);
  const tabi_gait_event *step = tbi_gait_summary_next_step(gait, &index);
  for (; step; step = tbi_gait_summary_next_step(gait, &index)) {
    double lands = heel + step->touchdown;
    heel += step->stride;
    (void)fprintf(script, "%d %.6g %.6g %.6g %.6g\n", ++k, step->stride, lands, heel,
                  step->touchdown);
  }
  (void)fputs("END\n", script);
}

/* Events know the time better than rows do, and some modes last for less than a row. */
static void write_modes(FILE *script, const tabi_world *world, const tbi_gait_summary *gait) {
  tabi_gait_state now = tabi_world_gait_state(world);
  int support = gait->def.initial_support;
  const char *mode = gait->nevent > 0 ? gait->event[0].from : now.mode;
  (void)fprintf(script, "$mode << END\n0 %g %d\n", mode_level(mode), support);
  for (int32_t i = 0; i < gait->nevent; ++i) {
    const tabi_gait_event *event = &gait->event[i];
    (void)fprintf(script, "%.9g %g %d\n", event->time, mode_level(event->from), support);
    if (event->stride != 0) support = 1 - support;
    (void)fprintf(script, "%.9g %g %d\n", event->time, mode_level(event->to), support);
  }
  (void)fprintf(script, "%.9g %g %d\nEND\n", tabi_world_time(world), mode_level(now.mode), support);
}

/* A name without its robot's. */
static const char *own_name(const char *name) {
  const char *slash = name ? strrchr(name, '/') : NULL;
  if (!name) return "";
  return slash ? slash + 1 : name;
}

static void plot_torques(FILE *script, const tabi_model *model) {
  static const char *const colour[] = {"#1f77b4", "#17becf", "#2ca02c", "#9467bd",
                                       "#d62728", "#ff7f0e", "#8c564b", "#e377c2"};
  enum { NCOLOUR = sizeof colour / sizeof *colour };
  int count = 0;
  (void)fputs("set title 'joint torques'\nset ylabel 'N m'\n"
              "set key outside right top samplen 1 noenhanced\n",
              script);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    if (tabi_model_joint_v(model, i).count != 1) continue;
    (void)fprintf(script, "%s$run using 1:%d with lines lw 1.3 lc rgb '%s' dt %d title ",
                  count == 0 ? "plot " : ", ", FIRST_TORQUE + count, colour[count % NCOLOUR],
                  1 + count / NCOLOUR);
    tbi_gnuplot_quote(script, own_name(tabi_model_joint(model, i).name));
    ++count;
  }
  (void)fputs("\nset key inside\n", script);
}

static void plot_modes(FILE *script, const tabi_model *model, const tbi_gait_summary *gait) {
  (void)fputs("set title 'contact mode, by support foot'\n"
              "unset ylabel\nset yrange [0.5:5]\n"
              "set ytics ('1  swing' 1, '2  heel' 2, '3  landed' 3, '4  rear toe' 4)\n"
              "set key top right horizontal samplen 1 noenhanced\n",
              script);
  for (int side = 0; side < 2; ++side) {
    (void)fprintf(script,
                  "%s$mode using 1:($3 == %d ? $2 : NaN) with lines lw 2 lc rgb '%s' title ",
                  side == 0 ? "plot " : ", ", side, side_colour[side]);
    tbi_gnuplot_quote(script, own_name(tabi_model_link(model, gait->def.foot[side].link).name));
  }
  (void)fputs("\nset autoscale y\nset ytics auto\n", script);
}

static void plot_steps(FILE *script) {
  (void)fputs(
      "set title 'step by step: stride, and where the heel lands'\n"
      "set xrange [-0.5:*]\nset xtics 1\n"
      "unset xlabel\nset ylabel 'stride [m]'\nset ytics nomirror\nset y2tics\n"
      "set y2label 'heel, x [m]'\nset key below samplen 1\nset yrange [*<0:*]\n"
      "set style fill solid 0.3 noborder\nset boxwidth 0.35\n"
      "plot $walk using ($1-0.18):5 with boxes lc rgb '#1f4f9f' title 'stride at touchdown',"
      " \\\n"
      "     $walk using ($1+0.18):2 with boxes lc rgb '#cc5c2e' title 'after the slip', \\\n"
      "     $walk using 1:3 axes x1y2 with points pt 4 ps 1.1 lw 1.5 lc rgb '#1f4f9f'"
      " title 'heel lands', \\\n"
      "     $walk using 1:4 axes x1y2 with linespoints pt 7 ps 0.7 lc rgb '#cc5c2e'"
      " title 'foot at rest'\n"
      "unset y2tics\nunset y2label\nset ytics mirror\nset xtics auto\n"
      "set autoscale y\nset xlabel 'time [s]'\nset key inside top right\n"
      "set offsets 0, 0, graph 0.1, 0\n",
      script);
}

static void plot_feet(FILE *script, double slip_stop) {
  (void)fputs(
      "set title 'forces on the support sole (negative: pulling)'\nset ylabel 'N'\n"
      "plot 0 with lines lc rgb 'black' notitle, \\\n"
      "     $run using 1:2 with lines lw 1.3 lc rgb '#1f4f9f' title 'heel', \\\n"
      "     $run using 1:3 with lines lw 1.3 lc rgb '#cc5c2e' title 'toe'\n"
      "set title 'friction on the swing foot'\n"
      "plot $run using 1:5 with lines lw 2.5 lc rgb '#bbbbbb' title 'bounds, +K f and -K f',"
      " \\\n"
      "     $run using 1:(-$5) with lines lw 2.5 lc rgb '#bbbbbb' notitle, \\\n"
      "     $run using 1:4 with lines lc rgb '#b02020' title 'friction'\n"
      "set title 'speed of the swing foot along the ground, in contact'\nset key bottom "
      "right\n"
      "set ylabel 'm/s'\n",
      script);
  (void)fprintf(script,
                "plot %.9g with lines dt 3 lc rgb 'black' title 'at rest', \\\n"
                "     -%.9g with lines dt 3 lc rgb 'black' notitle, \\\n"
                "     $run using 1:6 with lines lw 1.5 lc rgb '#2a7f3f' notitle\n",
                slip_stop, slip_stop);
}

void tbi_gait_plot_commands(FILE *script, const char *path, const tabi_scene *scene,
                            const tabi_world *world, const tbi_gait_summary *gait) {
  const tabi_model *model = tabi_scene_model(scene);
  double end = fmax(tabi_world_time(world), tabi_scene_world_def(scene).timestep);
  (void)fputs("END\n", script);
  write_steps(script, gait);
  write_modes(script, world, gait);
  (void)tbi_gnuplot_begin(script, path, 1200, 1050);
  (void)fputs("set multiplot layout 3,2 title ", script);
  tbi_gnuplot_quote(script, tabi_scene_name(scene));
  (void)fputs(" noenhanced\nset lmargin 9\nset xlabel 'time [s]'\n", script);
  (void)fprintf(script, "set xrange [0:%.9g]\n", end);
  plot_torques(script, model);
  (void)fputs("set lmargin 16\n", script);
  plot_modes(script, model, gait);
  (void)fputs("set lmargin 9\n", script);
  plot_steps(script);
  (void)fprintf(script, "set xrange [0:%.9g]\n", end);
  plot_feet(script, gait->def.slip_stop);
  (void)fputs("unset multiplot\n", script);
}
