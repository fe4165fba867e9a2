/* fit_report.c - estimates with their errors, what the data cannot tell apart, residuals. */
#include "sweep/fit_report.h"

#include "common/output.h"
#include "sweep/page_text.h"

#include <math.h>

#define ALIKE 0.99 /* correlation from which on two parameters cannot be told apart */

/* -- text */

static void print_alike(const tabi_fit *fit, FILE *out) {
  int32_t n = tabi_fit_nparameter(fit);
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < i; ++j) {
      double correlation = tabi_fit_correlation(fit, i, j);
      if (fabs(correlation) < ALIKE) continue;
      (void)fprintf(out, "  the data hardly tell %s and %s apart: correlation %.4f\n",
                    tabi_fit_get(fit, j).name, tabi_fit_get(fit, i).name, correlation);
    }
  }
}

void tbi_fit_print(const tabi_fit *fit, FILE *out) {
  (void)fprintf(out, "%s, root mean square of residuals %.4g\n\n",
                tabi_fit_converged(fit) ? "converged" : "not converged", tabi_fit_rms(fit));
  (void)fprintf(out, "  %-20s %13s %13s %13s %13s\n", "parameter", "value", "error", "95 % from",
                "to");
  for (int32_t i = 0; i < tabi_fit_nparameter(fit); ++i) {
    tabi_fit_parameter p = tabi_fit_get(fit, i);
    (void)fprintf(out, "  %-20.20s %13.6g %13.3g %13.6g %13.6g%s\n", p.name, p.value, p.error,
                  p.low, p.high,
                  !p.identifiable ? "   the data cannot tell"
                  : p.at_bound    ? "   at its bound: the data want it beyond"
                                  : "");
  }
  (void)fputc('\n', out);
  print_alike(fit, out);
}

/* -- JSON */

static json_t *json_correlation(const tabi_fit *fit) {
  int32_t n = tabi_fit_nparameter(fit);
  json_t *rows = json_array();
  for (int32_t i = 0; i < n; ++i) {
    json_t *row = json_array();
    for (int32_t j = 0; j < n; ++j)
      (void)json_array_append_new(row, tbi_json_number(tabi_fit_correlation(fit, i, j)));
    (void)json_array_append_new(rows, row);
  }
  return rows;
}

json_t *tbi_fit_json(const tabi_fit *fit) {
  json_t *parameters = json_object();
  json_t *unknown = json_array();
  json_t *bounded = json_array();
  for (int32_t i = 0; i < tabi_fit_nparameter(fit); ++i) {
    tabi_fit_parameter p = tabi_fit_get(fit, i);
    json_t *one = json_pack("{so so so so}", "value", tbi_json_number(p.value), "error",
                            tbi_json_number(p.error), "low", tbi_json_number(p.low), "high",
                            tbi_json_number(p.high));
    (void)json_object_set_new(parameters, p.name, one);
    if (!p.identifiable) (void)json_array_append_new(unknown, tbi_json_text(p.name));
    if (p.at_bound) (void)json_array_append_new(bounded, tbi_json_text(p.name));
  }
  return json_pack("{so so so so so so}", "parameters", parameters, "correlation",
                   json_correlation(fit), "residual", tbi_json_number(tabi_fit_rms(fit)),
                   "not_identifiable", unknown, "at_bound", bounded, "converged",
                   json_boolean(tabi_fit_converged(fit)));
}

/* -- a page */

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;"
    "color:#222;background:#fff}pre{font-size:14px}svg text{font:11px system-ui,sans-serif;"
    "fill:#555}.axes{fill:none;stroke:#888}.dots{fill:#2a6fdb}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181c}svg text{fill:#aaa}}";

/* Residuals over time as points. */
static void put_curve(const tabi_fit_curve *c, FILE *out) {
  enum { WIDTH = 840, HEIGHT = 160, LEFT = 60, TOP = 10, BOTTOM = 30 };
  double most = 1e-300;
  for (int64_t i = 0; i < c->count; ++i)
    most = fmax(most, fabs(c->residual[i]));
  double from = c->time[0];
  double length = fmax(1e-300, c->time[c->count - 1] - from);
  double middle = TOP + (HEIGHT - TOP - BOTTOM) / 2.0;
  (void)fprintf(out, "<svg width='%d' height='%d'><path class='axes' d='M%d %dV%dM%d %.1fH%d'/>",
                WIDTH, HEIGHT, LEFT, TOP, HEIGHT - BOTTOM, LEFT, middle, WIDTH);
  (void)fprintf(out, "<text x='%d' y='%d' text-anchor='end'>%.3g</text>", LEFT - 4, TOP + 8, most);
  (void)fprintf(out, "<text x='%d' y='%d' text-anchor='end'>%.3g</text>", LEFT - 4, HEIGHT - BOTTOM,
                -most);
  (void)fprintf(out,
                "<text x='%d' y='%d'>%g s</text><text x='%d' y='%d' text-anchor='end'>%g s</text>",
                LEFT, HEIGHT - BOTTOM + 14, from, WIDTH, HEIGHT - BOTTOM + 14, from + length);
  int64_t stride = 1 + c->count / 4000;
  for (int64_t i = 0; i < c->count; i += stride) {
    (void)fprintf(out, "<circle class='dots' cx='%.1f' cy='%.1f' r='1.5'/>",
                  LEFT + (WIDTH - LEFT) * (c->time[i] - from) / length,
                  middle - (HEIGHT - TOP - BOTTOM) / 2.0 * c->residual[i] / most);
  }
  (void)fputs("</svg>\n", out);
}

bool tbi_fit_write_page(const tabi_fit *fit, const char *title, const char *path) {
  tbi_output output;
  tabi_fit_curve curve;
  if (!tbi_output_begin(&output, path, true)) return false;
  FILE *out = output.file;
  (void)fprintf(out, "<!doctype html><html lang='en'><meta charset='utf-8'><title>");
  tbi_page_text(out, title);
  (void)fprintf(out, "</title><style>%s</style><h1>", style);
  tbi_page_text(out, title);
  (void)fputs("</h1>\n<pre>", out);
  tbi_fit_print(fit, out);
  (void)fputs("</pre>\n<h2>Residuals: simulated less measured, in standard deviations of the noise "
              "where these are given</h2>\n",
              out);
  for (int32_t i = 0; tabi_fit_get_curve(fit, i, &curve); ++i) {
    (void)fputs("<h3>", out);
    tbi_page_text(out, curve.file);
    (void)fputs(": ", out);
    tbi_page_text(out, curve.signal);
    (void)fputs("</h3>\n", out);
    put_curve(&curve, out);
  }
  (void)fputs("</html>\n", out);
  return tbi_output_end(&output, true);
}
