/* p3_figures.c - figures of p3/walk: those of the paper, and walks from many postures. */
#include "p3.h"

#include <math.h>
#include <string.h>

/* -- the paper's figures, published on the left and ours on the right */

static const tbi_variant sides[] = {TBI_PUBLISHED, TBI_OURS};
static const char *const names[TBI_VARIANTS] = {[TBI_PUBLISHED] = "published", [TBI_OURS] = "ours"};
static double value(const tbi_p3_shown *shown, int32_t row, int column) {
  return tbi_series_at(&shown->series, row, column);
}

/* In modes 2 and 3, with or without a prime, a foot has landed. */
static bool lands(const tbi_p3_shown *shown, int32_t row) {
  double mode = value(shown, row, TBI_P3_MODE);
  return mode == 1 || mode == 2 || mode == 5 || mode == 6;
}

/* Every row of every landing, with a gap after each: modes last for milliseconds. */
static void write_landings(const tbi_p3_shown *shown, const char *name, FILE *script) {
  (void)fprintf(script, "$landing_%s << END\n", name);
  for (int32_t i = 0; i < shown->series.nrow; ++i) {
    if (!lands(shown, i)) {
      if (i > 0 && lands(shown, i - 1)) (void)fputc('\n', script);
      continue;
    }
    (void)fprintf(script, "%.6g %.6g %.6g\n", value(shown, i, TBI_P3_TIME),
                  value(shown, i, TBI_P3_NET), value(shown, i, TBI_P3_SLIP));
  }
  (void)fputs("END\n", script);
}

/* Where the mode changes; 1' to 3' are drawn above 1 to 3. */
static void write_modes(const tbi_p3_shown *shown, const char *name, FILE *script) {
  double last = -1;
  (void)fprintf(script, "$mode_%s << END\n", name);
  for (int32_t i = 0; i < shown->series.nrow; ++i) {
    double mode = value(shown, i, TBI_P3_MODE);
    if (mode == last && i + 1 < shown->series.nrow) continue;
    (void)fprintf(script, "%.6g %g\n", value(shown, i, TBI_P3_TIME),
                  mode < 4 ? mode + 1 : mode - 3 + 0.3);
    last = mode;
  }
  (void)fputs("END\n", script);
}

/* Step, stride at touchdown, where the heel lands and where it comes to rest, from the first
 * support heel. */
static void write_steps(const tbi_p3_shown *shown, const char *name, FILE *script) {
  double heel = 0;
  (void)fprintf(script, "$step_%s << END\n", name);
  for (int32_t i = 0; i < shown->walk.nstep; ++i) {
    const double *step = shown->walk.step[i];
    double landed = heel + step[TBI_BIPED_TOUCHDOWN];
    heel += step[TBI_BIPED_STRIDE];
    (void)fprintf(script, "%d %.6g %.6g %.6g\n", i + 1, step[TBI_BIPED_TOUCHDOWN], landed, heel);
  }
  (void)fputs("END\n", script);
}

static void write_strip(FILE *script) {
  for (int i = 0; i < TBI_P3_PICTURES; ++i)
    (void)fprintf(script, "set label %d '%.1f s' at %g,-0.9 center\n", i + 1, tbi_p3_between * i,
                  tbi_p3_spacing * i);
  double right = tbi_p3_spacing * TBI_P3_PICTURES - 2;
  (void)fprintf(script,
                "set multiplot\nset size 1,0.19\nset origin 0,0.81\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set title 'Fig. 5, published'\n"
                "set xrange [-2.2:%g]\nset yrange [-1.4:7.2]\n"
                "set arrow 1 from -2.2,0 to %g,0 nohead lw 2 lc rgb '#666666'\n"
                "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
                "set border\nset tics nomirror\nset grid lc rgb '#dddddd'\nset lmargin 9\n"
                "set rmargin 8\nset key top right maxrows 2 samplen 1\nset style fill "
                "solid 0.5 noborder\n",
                right, right);
}

/* The largest and smallest number of a column in both walks, of landings alone or of all rows. */
static void range_of(const tbi_p3_shown *shown, int column, bool landed, double range[2]) {
  range[0] = range[1] = 0;
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int32_t i = 0; i < shown[v].series.nrow; ++i) {
      if (landed && !lands(&shown[v], i)) continue;
      range[0] = fmin(range[0], value(&shown[v], i, column));
      range[1] = fmax(range[1], value(&shown[v], i, column));
    }
}

/* The same axes on both sides, a little beyond the numbers, with room for the key above them. */
static void set_range(FILE *script, const char *axis, const double range[2], double room) {
  double size = range[1] - range[0];
  (void)fprintf(script, "set %srange [%.6g:%.6g]\n", axis, range[0] - 0.05 * size,
                range[1] + (0.05 + room) * size);
}

static void set_panel(FILE *script, int row, int side, const char *title, const char *unit) {
  (void)fprintf(script,
                "set size 0.5,0.162\nset origin %g,%g\nset title '%s, %s' noenhanced\n"
                "set ylabel '%s'\n",
                0.5 * side, 0.81 - 0.162 * (row + 1), title, names[sides[side]], unit);
}

static void draw_torques(FILE *script, const tbi_p3_shown *shown, int side) {
  double range[2] = {0}, of_joint[2];
  for (int i = 0; i < 4; ++i) {
    range_of(shown, TBI_P3_TORQUE + i, false, of_joint);
    range[0] = fmin(range[0], of_joint[0]);
    range[1] = fmax(range[1], of_joint[1]);
  }
  set_panel(script, 0, side, "Fig. 4, torques", "N m");
  set_range(script, "y", range, 0.6);
  (void)fprintf(
      script,
      "plot $run_%s using 1:%d with lines lt 1 title 'left hip', '' using 1:%d with lines "
      "lt 1 dt 3 title 'right hip', '' using 1:%d with lines lt 2 title 'left knee', '' "
      "using 1:%d with lines lt 2 dt 3 title 'right knee'\n",
      names[sides[side]], TBI_P3_TORQUE + 1, TBI_P3_TORQUE + 3, TBI_P3_TORQUE + 2,
      TBI_P3_TORQUE + 4);
}

static void draw_modes(FILE *script, int side) {
  set_panel(script, 1, side, "Fig. 6, gait", "mode");
  (void)fprintf(script,
                "set yrange [0.5:4.7]\nset ytics 1\n"
                "plot $mode_%s using 1:2 with steps lt 1 notitle\nset ytics auto\n",
                names[sides[side]]);
}

/* Ranges of strides and of heels along the ground, of both walks. */
static void ranges_of_steps(const tbi_p3_shown *shown, double stride[2], double heel[2]) {
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    double at = 0;
    for (int32_t i = 0; i < shown[v].walk.nstep; ++i) {
      const double *step = shown[v].walk.step[i];
      double touchdown = step[TBI_BIPED_TOUCHDOWN];
      stride[0] = fmin(stride[0], touchdown);
      stride[1] = fmax(stride[1], touchdown);
      heel[1] = fmax(heel[1], at + fmax(touchdown, step[TBI_BIPED_STRIDE]));
      at += step[TBI_BIPED_STRIDE];
    }
  }
}

/* Strides and heels have axes of their own. */
static void draw_steps(FILE *script, const tbi_p3_shown *shown, int side) {
  double stride[2] = {0}, heel[2] = {0};
  double last = fmax(shown[0].walk.nstep, shown[1].walk.nstep);
  ranges_of_steps(shown, stride, heel);
  set_panel(script, 2, side, "Fig. 7, where heels land, and stride", "stride [m]");
  set_range(script, "y", stride, 0.6);
  set_range(script, "y2", heel, 0.6);
  (void)fprintf(script,
                "set xrange [0.4:%g]\nset xtics 1\nset xlabel 'step'\nset ytics 0.2\n"
                "set y2tics 0.5\nset y2label 'heel [m]'\n"
                "plot $step_%s using 1:2:(0.5) with boxes lt 1 title 'at touchdown', '' "
                "using 1:3 axes x1y2 with points lt 2 pt 4 ps 0.9 title 'heel lands', '' using 1:4 "
                "axes x1y2 with points lt 3 pt 7 ps 0.6 title 'at rest'\n"
                "unset y2tics\nunset y2label\nset xtics auto\nset ytics auto\n"
                "set xlabel 'time [s]'\n",
                last + 0.6, names[sides[side]]);
}

/* What drives the slip less friction, and the speed of the foot. */
static void draw_slip(FILE *script, const tbi_p3_shown *shown, int side) {
  double range[2];
  const char *name = names[sides[side]];
  range_of(shown, TBI_P3_NET, true, range);
  set_panel(script, 3, side, "Fig. 9, what drives the slip less friction", "N");
  set_range(script, "y", range, 0);
  (void)fprintf(script,
                "plot 0 with lines lc rgb '#888888' notitle, $landing_%s using 1:2 with "
                "linespoints lt 2 pt 7 ps 0.2 notitle\n",
                name);
  range_of(shown, TBI_P3_SLIP, true, range);
  set_panel(script, 4, side, "Fig. 9, speed of the landing foot", "m/s");
  set_range(script, "y", range, 0.3);
  (void)fprintf(script,
                "plot 0.01 with lines dt 3 lc rgb '#555555' title 'slip ends', -0.01 with lines dt "
                "3 lc rgb '#555555' notitle, $landing_%s using 1:3 with linespoints lt 3 pt 7 ps "
                "0.2 notitle\n",
                name);
}

tabi_status tbi_p3_draw_walk(tbi_figure *figure, const tbi_p3_shown shown[TBI_VARIANTS],
                             tabi_error *err) {
  FILE *script = figure->script;
  double end = 0;
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    char name[32];
    (void)snprintf(name, sizeof name, "run_%s", names[v]);
    tbi_figure_data(figure, name, &shown[v].series);
    write_landings(&shown[v], names[v], script);
    write_modes(&shown[v], names[v], script);
    write_steps(&shown[v], names[v], script);
    end = fmax(end, shown[v].walk.time);
  }
  write_strip(script);
  (void)fputs("set xlabel 'time [s]'\n", script);
  for (int side = 0; side < TBI_VARIANTS; ++side) {
    (void)fprintf(script, "set xrange [0:%.3g]\n", 1.02 * end);
    draw_torques(script, shown, side);
    draw_modes(script, side);
    draw_steps(script, shown, side);
    (void)fprintf(script, "set xrange [0:%.3g]\n", 1.02 * end);
    draw_slip(script, shown, side);
  }
  (void)fputs("unset multiplot\n", script);
  return tbi_figure_close(figure, ".svg", err);
}

/* -- many postures */

/* A sample with a name, drawn as bars or as lines. */
typedef struct curve {
  const char *name, *title;
  const tbi_biped_sample *sample;
  int colour; /* line type: 2 is published, 1 ours, in all figures */
} curve;

/* Steps, and the share of walks that make so many. */
static void write_histogram(const curve *c, FILE *script) {
  int32_t least = 0, most = 0;
  tbi_biped_range_of_steps(c->sample, &least, &most);
  (void)fprintf(script, "$count_%s << END\n", c->name);
  for (int32_t n = 0; n <= most; ++n)
    (void)fprintf(script, "%d %.4g\n", n, tbi_biped_share_of_steps(c->sample, n, n));
  (void)fputs("END\n", script);
}

/* Of every common step: touchdown, slip and push, each as mean and as quantiles of 10 and 90 %. */
static void write_curve(const curve *c, FILE *script) {
  static const tbi_biped_quantity drawn[] = {TBI_BIPED_TOUCHDOWN, TBI_BIPED_SLIP, TBI_BIPED_PUSH};
  int32_t count = tbi_biped_common_steps(c->sample);
  (void)fprintf(script, "$curve_%s << END\n", c->name);
  for (int32_t i = 0; i < count; ++i) {
    (void)fprintf(script, "%d", i + 1);
    for (int k = 0; k < 3; ++k)
      (void)fprintf(script, " %.5g %.5g %.5g", tbi_biped_mean(c->sample, drawn[k], i),
                    tbi_biped_quantile(c->sample, drawn[k], i, 0.1),
                    tbi_biped_quantile(c->sample, drawn[k], i, 0.9));
    (void)fputc('\n', script);
  }
  (void)fputs("END\n", script);
}

/* K, mean and extreme numbers of steps, mean slip of the first foot and its quantiles. */
static void write_sweep(const char *name, const tbi_biped_sample *at, FILE *script) {
  (void)fprintf(script, "$sweep_%s << END\n", name);
  for (int k = 0; k < TBI_P3_FRICTIONS; ++k) {
    int32_t least = 0, most = 0;
    tbi_biped_range_of_steps(&at[k], &least, &most);
    (void)fprintf(script, "%.1f %.4g %d %d %.5g %.5g %.5g\n", at[k].def.friction,
                  tbi_biped_mean_steps(&at[k]), (int)least, (int)most,
                  tbi_biped_mean(&at[k], TBI_BIPED_SLIP, 0),
                  tbi_biped_quantile(&at[k], TBI_BIPED_SLIP, 0, 0.1),
                  tbi_biped_quantile(&at[k], TBI_BIPED_SLIP, 0, 0.9));
  }
  (void)fputs("END\n", script);
}

/* Bars side by side, and the six steps of the paper. */
static void draw_histogram(const curve *c, int count, const char *title, FILE *script) {
  double width = 0.8 / count;
  int32_t least = 0, most = 0, last = 0;
  for (int i = 0; i < count; ++i) {
    tbi_biped_range_of_steps(c[i].sample, &least, &most);
    if (most > last) last = most;
  }
  (void)fprintf(script,
                "set title '%s'\nset xlabel 'steps'\nset ylabel 'postures [%%]'\n"
                "set xrange [-0.6:%g]\nset yrange [0:150]\nset ytics 0,25,100\n"
                "set arrow 1 from 6,0 to 6,102 nohead dt 2 lc rgb '#555555'\n"
                "set label 1 'the paper: about six' at 6,108 center\nplot ",
                title, last + 0.6);
  for (int i = 0; i < count; ++i)
    (void)fprintf(script, "%s$count_%s using ($1%+.4f):2:(%.4f) with boxes lt %d title '%s'",
                  i > 0 ? ", " : "", c[i].name, (i - 0.5 * (count - 1)) * width, width, c[i].colour,
                  c[i].title);
  (void)fputs("\nunset arrow\nunset label\nset ytics auto\nset yrange [*:*]\nset xrange [*:*]\n",
              script);
}

static void draw_curves(const curve *c, int count, int column, const char *title, FILE *script) {
  (void)fprintf(script, "set title '%s'\nset xlabel 'step'\nset xrange [0.5:*]\nplot ", title);
  for (int i = 0; i < count; ++i)
    (void)fprintf(script,
                  "%s$curve_%s using ($1%+.3f):%d:%d:%d with yerrorlines lt %d dt %d ps 0.6 title "
                  "'%s'",
                  i > 0 ? ", " : "", c[i].name, 0.06 * (i - 0.5 * (count - 1)), column, column + 1,
                  column + 2, 3 + i / 2, 1 + i % 2, c[i].title);
  (void)fputs("\nset xrange [*:*]\n", script);
}

static void draw_sweep(int column, const char *title, const char *unit, FILE *script) {
  (void)fprintf(script,
                "set title '%s'\nset xlabel 'K, coefficient of friction'\nset ylabel '%s'\nset "
                "xrange [0.05:0.95]\n"
                "plot $sweep_published using ($1-0.005):%d:%d:%d with yerrorlines lt 2 ps 0.6 "
                "title 'published', $sweep_ours using ($1+0.005):%d:%d:%d with yerrorlines lt 1 ps "
                "0.6 title 'ours'\nset xrange [*:*]\n",
                title, unit, column, column + 1, column + 2, column, column + 1, column + 2);
}

/* A name, and shares of walks that end in a fall, by a foot that lands behind, otherwise, not. */
static void write_ends(const curve *c, int count, FILE *script) {
  (void)fputs("$ends << END\n", script);
  for (int i = 0; i < count; ++i) {
    double fell = tbi_biped_share_of_outcome(c[i].sample, TABI_GAIT_FELL);
    double behind = tbi_biped_share_of_outcome(c[i].sample, TABI_GAIT_BEHIND);
    double on = tbi_biped_share_of_outcome(c[i].sample, TABI_GAIT_ONGOING);
    (void)fprintf(script, "\"%s\" %.4g %.4g %.4g %.4g\n", c[i].title, fell, behind, on,
                  100 - fell - behind - on);
  }
  (void)fputs("END\n", script);
}

static void draw_ends(FILE *script) {
  (void)fputs("set title 'how walks end'\nset ylabel 'postures [%]'\nunset xlabel\n"
              "set style data histograms\nset style histogram rowstacked\nset boxwidth 0.7\n"
              "set offsets 0, 0, 0, 0\nset yrange [0:150]\nset ytics 0,25,100\nset xtics autofreq "
              "rotate by -25\n"
              "plot $ends using 2:xtic(1) lt 4 title 'falls', '' using 3 lt 3 title 'lands behind',"
              " '' using 4 lt 5 title 'walks after 14 s', '' using 5 lt 6 title 'otherwise'\n",
              script);
}

enum { NWALK = TBI_P3_WAYS, NOTHER = 3, NCURVE = 4, NEND = 6 };

static const int colours[TBI_P3_WAYS] = {2, 3, 4, 1};

static curve make_curve(const char *name, const char *title, const tbi_biped_sample *samples,
                        tbi_p3_reading reading, tbi_p3_way way) {
  int colour = reading == TBI_P3_PRINTED ? 3 : colours[way];
  return (curve){name, title, &samples[tbi_p3_at_half(reading, way)], colour};
}

/* What is drawn: in all ways, under other forces, as curves, as ends. */
typedef struct panels {
  int nwalk;
  curve walk[NWALK], other[NOTHER], curve[NCURVE], end[NEND];
} panels;

static panels choose(const tbi_biped_sample *samples) {
  static const char *const ways[TBI_P3_WAYS] = {"published", "5 ms, strict", "located, paper",
                                                "ours"};
  static const char *const blocks[TBI_P3_WAYS] = {"walk_published", "walk_step", "walk_located",
                                                  "walk_ours"};
  const tbi_p3_way published = TBI_P3_STEP_PAPER, ours = TBI_P3_LOCATED_STRICT;
  panels p = {0};
  for (tbi_p3_way w = 0; w < TBI_P3_WAYS; ++w) {
    const tbi_biped_sample *sample = &samples[tbi_p3_at_half(TBI_P3_WALK, w)];
    if (sample->nwalk > 0) p.walk[p.nwalk++] = (curve){blocks[w], ways[w], sample, colours[w]};
  }
  p.end[0] = make_curve("walk_published", "walk, published", samples, TBI_P3_WALK, published);
  p.end[1] = make_curve("walk_ours", "walk, ours", samples, TBI_P3_WALK, ours);
  p.end[2] = make_curve("ten_published", "tenfold, published", samples, TBI_P3_TENFOLD, published);
  p.end[3] = make_curve("ten_ours", "tenfold, ours", samples, TBI_P3_TENFOLD, ours);
  p.end[4] = make_curve("printed", "as printed, published", samples, TBI_P3_PRINTED, published);
  p.end[5] = make_curve("anyhow", "test off", samples, TBI_P3_ANYHOW, published);
  memcpy(p.curve, p.end, sizeof p.curve);
  memcpy(p.other, &p.end[2], sizeof p.other);
  return p;
}

static void write_panels(const panels *p, const tbi_biped_sample *samples, FILE *script) {
  for (int i = 0; i < p->nwalk; ++i)
    write_histogram(&p->walk[i], script);
  for (int i = 0; i < NOTHER; ++i)
    write_histogram(&p->other[i], script);
  for (int i = 0; i < NCURVE; ++i)
    write_curve(&p->curve[i], script);
  write_ends(p->end, NEND, script);
  for (tbi_variant v = 0; v < TBI_VARIANTS; ++v)
    write_sweep(names[v], &samples[tbi_p3_at_k(v, 0)], script);
}

static void draw_panels(const panels *p, FILE *script) {
  (void)fputs("set multiplot layout 4,2\nset style fill solid 0.7 noborder\nset lmargin 9\n"
              "set xtics 1\nset key top right maxrows 2 samplen 1 width -3\n",
              script);
  draw_histogram(p->walk, p->nwalk, "the walk", script);
  draw_histogram(p->other, NOTHER, "other forces on the head", script);
  (void)fputs("set ylabel 'm'\nset offsets 0, 0, graph 0.35, graph 0.05\n", script);
  draw_curves(p->curve, NCURVE, 2, "Fig. 7: stride at touchdown, mean, 10 to 90 % of postures",
              script);
  draw_curves(p->curve, NCURVE, 5, "slip of the landing foot", script);
  (void)fputs("set ylabel 'N'\n", script);
  draw_curves(p->curve, NCURVE, 8, "mean normal force on the landing foot", script);
  (void)fputs("set xtics 0.1\nset offsets 0, 0, graph 0.2, 0\nset yrange [0:*]\n", script);
  draw_sweep(2, "steps, mean and extremes", "steps", script);
  (void)fputs("set yrange [*:*]\n", script);
  draw_sweep(5, "slip of the first landing foot", "m", script);
  draw_ends(script);
  (void)fputs("unset multiplot\n", script);
}

tabi_status tbi_p3_draw_samples(tbi_trial *trial, const tbi_biped_sample samples[TBI_P3_SAMPLES],
                                tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 1300, err);
  if (status != TABI_OK) return status;
  panels p = choose(samples);
  write_panels(&p, samples, figure.script);
  draw_panels(&p, figure.script);
  return tbi_figure_close(&figure, "-postures.svg", err);
}
