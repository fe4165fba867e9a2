/* cmd_check.c - `tabi check`: the model doctor's findings, one a line. */
#include "common/cli.h"

#include <string.h>

enum { BASE, JSON };

static const char *severity(const tabi_error *finding) {
  return finding->status == TABI_OK ? "advice" : "problem";
}

static int32_t count_problems(const tbi_findings *findings) {
  int32_t count = 0;
  for (int32_t i = 0; i < findings->count; ++i)
    count += findings->item[i].status != TABI_OK;
  return count;
}

static const char *plural(int32_t count) { return count == 1 ? "" : "s"; }

static void print_text(FILE *out, const char *path, const tbi_findings *findings) {
  for (int32_t i = 0; i < findings->count; ++i) {
    char text[sizeof(tabi_error)];
    (void)tabi_error_text(&findings->item[i], severity(&findings->item[i]), text, sizeof text);
    (void)fprintf(out, "%s\n", text);
  }
  int32_t problems = count_problems(findings);
  int32_t advice = findings->count - problems;
  if (findings->count == 0) {
    (void)fprintf(out, "%s: no findings\n", path);
  } else {
    (void)fprintf(out, "%s: %d problem%s, %d piece%s of advice\n", path, problems, plural(problems),
                  advice, plural(advice));
  }
}

static int print_json(FILE *out, const char *path, const tbi_findings *findings,
                      const tbi_findings *warnings) {
  int32_t problems = count_problems(findings);
  json_t *object = json_object();
  int bad = json_object_set_new(object, "file", tbi_json_text(path));
  bad |= json_object_set_new(object, "ok", json_boolean(problems == 0));
  bad |= json_object_set_new(object, "problems", json_integer(problems));
  bad |= json_object_set_new(object, "advice", json_integer(findings->count - problems));
  bad |= json_object_set_new(object, "findings", tbi_json_findings(findings, severity));
  bad |= json_object_set_new(object, "warnings", tbi_json_findings(warnings, NULL));
  if (bad) {
    json_decref(object);
    object = NULL;
  }
  return tbi_json_print(out, object);
}

static int run(const tbi_args *args, FILE *out) {
  tabi_load_def def = tabi_load_def_default();
  if (!tbi_base_parse("check", args->value[BASE], &def.base)) return TBI_EXIT_USAGE;
  tbi_findings warnings = {0};
  tbi_findings findings = {0};
  int code = TBI_EXIT_INTERNAL;
  const char *path = args->word[0];
  tabi_model *model = tbi_model_open(path, &def, &warnings, &code);
  if (model) {
    tabi_model_check(model, tbi_findings_add, &findings);
    tbi_print_warnings(&warnings);
    code = args->value[JSON] ? print_json(out, path, &findings, &warnings) : TBI_EXIT_OK;
    if (!args->value[JSON]) print_text(out, path, &findings);
    if (findings.no_memory) code = tbi_out_of_memory();
    if (code == TBI_EXIT_OK && count_problems(&findings) > 0) code = TBI_EXIT_CHECK;
  }
  tabi_model_destroy(model);
  tbi_findings_free(&findings);
  tbi_findings_free(&warnings);
  return code;
}

const tbi_command tbi_cmd_check = {
    .name = "check",
    .usage = "check MODEL [--base free|fixed] [--json]",
    .summary = "find mistakes in a model and say how to correct them",
    .text =
        "Reads a robot (URDF or MJCF) and looks for values that are possible but probably wrong:\n"
        "inertias that no solid of that size has, placeholders such as 1 1 1, masses in grams,\n"
        "limits in degrees, light links that carry heavy ones, joints with almost no inertia,\n"
        "missing limits, an initial posture outside the limits, connections that are open and\n"
        "links that penetrate each other in the initial posture, centres of mass far outside the\n"
        "shapes, limbs without collision shapes, left and right sides that differ.\n"
        "\n"
        "Findings are problems, which spoil a simulation, or advice.  Exits with 5 if there is a\n"
        "problem.\n"
        "\n"
        "examples:\n"
        "  tabi check robot.urdf\n"
        "  tabi check robot.urdf --json | jq '.findings[].message'\n",
    .nword = 1,
    .word = "MODEL",
    .options = {[BASE] = {"--base", "free|fixed",
                          "base of the root link; default: free for URDF, the file's for MJCF",
                          false, NULL},
                [JSON] = {"--json", NULL, "print the findings as one JSON object", false, NULL}},
    .loads = true,
    .run = run,
};
