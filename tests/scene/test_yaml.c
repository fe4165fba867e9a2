/* test_yaml.c - the tree of a YAML text, its limits, assignments to it, and old names of keys. */
#include "io/fields.h"
#include "support/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tbi_yaml *parse(const char *text) {
  tbi_yaml *yaml = NULL;
  tabi_error err = {0};
  if (tbi_yaml_parse(text, strlen(text), "a.yaml", &yaml, &err) != TABI_OK) {
    fail_msg("line %d: %s", (int)err.line, err.message);
  }
  return yaml;
}

static void refuse(const char *text, size_t size, int line, const char *words) {
  tbi_yaml *yaml = NULL;
  tabi_error err = {0};
  tabi_status status = tbi_yaml_parse(text, size, "a.yaml", &yaml, &err);
  if (status == TABI_OK || !strstr(err.message, words) || err.line != line) {
    fail_msg("'%.60s': status %d, line %d: %s", text, (int)status, (int)err.line, err.message);
  }
  assert_null(yaml);
}

static void refuse_text(const char *text, int line, const char *words) {
  refuse(text, strlen(text), line, words);
}

/* A complaint about a line of many tabs: libfyaml must not see them. */
static void refuse_tabs(void) {
  char tabs[101];
  char text[400];
  memset(tabs, '\t', 100);
  tabs[100] = '\0';
  (void)snprintf(text, sizeof text, " a :\t%sb\n  c%sd: e\n", tabs, tabs);
  refuse_text(text, 1, "YAML not well-formed: invalid multiline plain key");
}

static void test_tree(void **state) {
  (void)state;
  tbi_yaml *yaml = parse("# a comment\na: 1e-3\nb: [x, 'y z', {c: 2}]\nd:\n  e: \"\"\n  f:\n");
  tbi_yaml_node *root = tbi_yaml_root(yaml);
  assert_int_equal(root->kind, TBI_YAML_MAP);
  assert_int_equal(root->count, 3);
  assert_string_equal(tbi_yaml_child(root, "a")->text, "1e-3");
  assert_int_equal(tbi_yaml_child(root, "a")->place.line, 2);
  assert_string_equal(tbi_yaml_child(root, "a")->place.file, "a.yaml");
  const tbi_yaml_node *b = tbi_yaml_child(root, "b");
  assert_int_equal(b->kind, TBI_YAML_LIST);
  assert_int_equal(b->count, 3);
  assert_string_equal(b->first->next->text, "y z");
  assert_int_equal(b->first->next->column, 9);
  assert_string_equal(tbi_yaml_child(b->last, "c")->text, "2");
  const tbi_yaml_node *d = tbi_yaml_child(root, "d");
  assert_string_equal(tbi_yaml_child(d, "e")->text, "");
  assert_string_equal(tbi_yaml_child(d, "f")->text, "");
  assert_int_equal(tbi_yaml_child(d, "f")->place.line, 6);
  assert_null(tbi_yaml_child(root, "g"));
  assert_null(tbi_yaml_child(b, "c"));
  tbi_yaml_destroy(yaml);
}

static void test_refused(void **state) {
  (void)state;
  refuse_text("", 1, "file is empty");
  refuse_text("# only this\n", 1, "file is empty");
  refuse_text("a: 1\nb: &x 2\n", 2, "anchors not allowed");
  refuse_text("a: &x [1]\nb: *x\n", 1, "anchors not allowed");
  refuse_text("a: 1\nb: *x\n", 2, "anchors not allowed");
  refuse_text("a: !!python/object:os.system x\n", 1, "tags not allowed");
  refuse_text("a: !mine {b: 1}\n", 1, "tags not allowed");
  refuse_text("timestep: 1\nb: 2\ntimestep: 3\n", 3, "duplicate key 'timestep' (line 1)");
  refuse_text("a: {b: 1, b: 2}\n", 1, "duplicate key 'b' (line 1)");
  refuse_text("a:\n\tb: 1\n", 2, "tabs are not allowed");
  refuse_tabs();
  refuse_text("a: 1\n---\nb: 2\n", 2, "several documents");
  refuse_text("a: 1\n%%YAML: 1\n", 2, "directives not allowed");
  refuse_text("t:\r%%\t%%\t:\n", 1, "directives not allowed"); /* libfyaml loops */
  refuse_text("a: 1\n? b - s: :\n c\n", 2, "keys behind '?' not allowed");
  refuse_text("a:\n  - ? b\n", 2, "keys behind '?' not allowed");
  refuse_text("[a]: 1\n", 1, "cannot be a key");
  refuse_text("a: [1, 2\nb: 3\n", 3, "YAML not well-formed: flow sequence without a closing");
  refuse_text("a: 1\n  b: 2\n", 1, "YAML not well-formed");
  refuse_text("<robot name='r'>\n  <link name='l'/>\n</robot>\n", 1, "XML instead of YAML");
  refuse_text("\x89PNG\r\n", 1, "not a YAML text file (byte 0x89 at offset 0)");
  refuse("a: 1\nb: \0x\n", 11, 2, "byte 0x00 at offset 8");
  refuse_text("a: \xc3\x28\n", 1, "byte 0xc3");
}

static void test_depth(void **state) {
  (void)state;
  static char text[40000];
  memset(text, '[', 10000);
  text[10000] = '\0';
  refuse_text(text, 1, "depth");
  for (int i = 0; i < 10000; ++i)
    memcpy(text + 2 * (size_t)i, "- ", 2);
  memcpy(text + 20000, "x\n", 3);
  refuse_text(text, 1, "depth");
  size_t used = 0;
  for (int i = 0; i < 200; ++i)
    used += (size_t)snprintf(text + used, sizeof text - used, "%*sa:\n", i, "");
  refuse_text(text, TBI_YAML_MAX_DEPTH, "depth");
}

static void test_size(void **state) {
  (void)state;
  size_t size = TBI_YAML_MAX_BYTES + 1;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, ' ', size);
  refuse(text, size, 1, "file is 9 MB, limit 8 MB");
  free(text);
}

static void test_pieces(void **state) {
  (void)state;
  char text[100] = "a: '";
  memset(text + 4, '\'', 80);
  memcpy(text + 84, "'\n", 3);
  refuse_text(text, 1, "a text with more than 30 quotes, escapes or line ends");
  tbi_yaml *yaml = parse("a: 'it''s fine'\nb: \"x\\u00e9y\"\nc: \"x\\ty\\e\"\n");
  assert_string_equal(tbi_yaml_child(tbi_yaml_root(yaml), "a")->text, "it's fine");
  assert_string_equal(tbi_yaml_child(tbi_yaml_root(yaml), "b")->text, "x\xc3\xa9y");
  /* what a terminal would obey is replaced */
  assert_string_equal(tbi_yaml_child(tbi_yaml_root(yaml), "c")->text, "x?y?");
  tbi_yaml_destroy(yaml);
}

/* The bomb of aliases that doubles nine times is refused at its first anchor. */
static void test_bomb(void **state) {
  (void)state;
  refuse_text("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", 1, "anchors not allowed");
}

static void assign(tbi_yaml *yaml, const char *assignment) {
  tabi_error err = {0};
  if (tbi_yaml_assign(yaml, assignment, &err) != TABI_OK) fail_msg("%s", err.message);
}

static void test_assign(void **state) {
  (void)state;
  tbi_yaml *yaml = parse("dt: 1\nbodies:\n - {name: box, mass: 2}\n - {name: ball, mass: 3}\n");
  tbi_yaml_node *root = tbi_yaml_root(yaml);
  assign(yaml, "dt=0.5");
  assign(yaml, "bodies.ball.mass=7");
  assign(yaml, "bodies.0.mass=8");
  assign(yaml, "bodies.box.xyz=[0, 0, 1]");
  assign(yaml, "contact.model=lcp");
  assign(yaml, "contact.note=a=b");
  assert_string_equal(tbi_yaml_child(root, "dt")->text, "0.5");
  const tbi_yaml_node *bodies = tbi_yaml_child(root, "bodies");
  assert_string_equal(tbi_yaml_child(bodies->last, "mass")->text, "7");
  assert_string_equal(tbi_yaml_child(bodies->first, "mass")->text, "8");
  const tbi_yaml_node *xyz = tbi_yaml_child(bodies->first, "xyz");
  assert_int_equal(xyz->kind, TBI_YAML_LIST);
  assert_int_equal(xyz->count, 3);
  assert_string_equal(xyz->last->text, "1");
  const tbi_yaml_node *contact = tbi_yaml_child(root, "contact");
  assert_string_equal(tbi_yaml_child(contact, "model")->text, "lcp");
  assert_string_equal(tbi_yaml_child(contact, "note")->text, "a=b");
  // an assignment is to blame for what it brought
  assert_string_equal(tbi_yaml_child(root, "dt")->place.file, "dt=0.5");
  tbi_yaml_destroy(yaml);
}

static void refuse_assignment(const char *assignment, const char *words) {
  tbi_yaml *yaml = parse("dt: 1\nbodies:\n - {name: box, mass: 2}\n");
  tabi_error err = {0};
  assert_int_not_equal(tbi_yaml_assign(yaml, assignment, &err), TABI_OK);
  if (!strstr(err.message, words)) fail_msg("'%s': %s", assignment, err.message);
  assert_string_equal(err.file, assignment);
  tbi_yaml_destroy(yaml);
}

static void test_assign_refused(void **state) {
  (void)state;
  refuse_assignment("dt", "expected path=value");
  refuse_assignment("=3", "expected path=value");
  refuse_assignment("bodies.bux.mass=3",
                    "nothing is called 'bux' in 'bodies' (did you mean 'box'?)");
  refuse_assignment("bodies.1.mass=3", "nothing is called '1'");
  refuse_assignment("dt.x=3", "'dt' is a value and holds no 'x'");
  refuse_assignment("dt=", "no value");
  refuse_assignment("dt=[1", "YAML not well-formed");
  refuse_assignment("dt=!!int 3", "tags not allowed");
}

static const tbi_renamed_key renamed[] = {
    {"grip", "tangential_stiffness"},
    {"far",  "distance"            },
};

static void keep_last(void *user, const tabi_error *warning) { *(tabi_error *)user = *warning; }

static void test_renamed_key(void **state) {
  (void)state;
  tbi_yaml *yaml = parse("a: 1\ngrip: 2\n");
  const tbi_yaml_node *root = tbi_yaml_root(yaml);
  tabi_error warning = {0};
  tbi_first_error error = {0};
  assert_true(tbi_fields_rename(&error, root, "b: ", renamed, 2, keep_last, &warning));
  assert_string_equal(warning.message, "b: 'grip' is now called 'tangential_stiffness'; the old "
                                       "name is understood until 1.0");
  assert_string_equal(warning.file, "a.yaml");
  assert_int_equal(warning.line, 2);
  assert_null(tbi_yaml_child(root, "grip"));
  assert_string_equal(tbi_yaml_child(root, "tangential_stiffness")->text, "2");
  // a second time there is nothing to rename
  warning = (tabi_error){0};
  assert_true(tbi_fields_rename(&error, root, "", renamed, 2, keep_last, &warning));
  assert_string_equal(warning.message, "");
  tbi_yaml_destroy(yaml);
}

static void test_renamed_key_twice(void **state) {
  (void)state;
  tbi_yaml *yaml = parse("tangential_stiffness: 1\ngrip: 2\n");
  const tbi_yaml_node *root = tbi_yaml_root(yaml);
  tabi_error err = {0};
  tbi_first_error error = {.err = &err};
  assert_false(tbi_fields_rename(&error, root, "", renamed, 2, NULL, NULL));
  assert_int_equal(error.status, TABI_ERR_PARSE);
  assert_int_equal(err.line, 2);
  assert_non_null(strstr(err.message, "'grip' is the old name of 'tangential_stiffness'"));
  tbi_yaml_destroy(yaml);
}

/* An assignment under the old name replaces the new one of the file, each time. */
static void test_renamed_key_assigned(void **state) {
  (void)state;
  tbi_yaml *yaml = parse("m: {a: 0, tangential_stiffness: 1, b: 2}\n");
  const tbi_yaml_node *map = tbi_yaml_child(tbi_yaml_root(yaml), "m");
  tbi_first_error error = {0};
  for (int i = 0; i < 2; ++i) {
    tabi_error warning = {0};
    assert_int_equal(tbi_yaml_assign(yaml, "m.grip=5", NULL), TABI_OK);
    assert_true(tbi_fields_rename(&error, map, "", renamed, 2, keep_last, &warning));
    assert_string_equal(warning.file, "m.grip=5");
    assert_string_equal(tbi_yaml_child(map, "tangential_stiffness")->text, "5");
    assert_null(tbi_yaml_child(map, "grip"));
    assert_int_equal(map->count, 3);
    assert_string_equal(map->last->text, "5");
    assert_null(map->last->next);
  }
  tbi_yaml_remove(map->first);
  assert_string_equal(map->first->key, "b");
  assert_int_equal(map->count, 2);
  tbi_yaml_destroy(yaml);
}

/* Of two wrong values the first is reported, and nothing is read after it. */
static void test_first_error(void **state) {
  (void)state;
  struct numbers {
    double a, b, c;
  } read = {0};
  static const tbi_field fields[] = {
      {"a", TBI_FIELD_NUMBER,   offsetof(struct numbers, a)},
      {"b", TBI_FIELD_POSITIVE, offsetof(struct numbers, b)},
      {"c", TBI_FIELD_NUMBER,   offsetof(struct numbers, c)},
  };
  tbi_yaml *yaml = parse("a: 1\nb: -2\nc: 3\n");
  tabi_error err = {0};
  tbi_first_error error = {.err = &err};
  assert_false(tbi_fields_read(&error, tbi_yaml_root(yaml), "x: ", TBI_FIELDS(fields), &read));
  assert_string_equal(err.message, "x: b -2 must be > 0");
  assert_int_equal(err.line, 2);
  assert_true(read.a == 1 && read.c == 0);
  const tbi_yaml_node *c = tbi_yaml_child(tbi_yaml_root(yaml), "c");
  assert_false(tbi_fields_number(&error, c, "x: ", "c", &read.c));
  assert_false(tbi_fail_memory(&error));
  assert_true(read.c == 0 && error.status == TABI_ERR_PARSE);
  assert_string_equal(err.message, "x: b -2 must be > 0");
  tbi_yaml_destroy(yaml);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_size),
      cmocka_unit_test(test_bomb),
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_assign),
      cmocka_unit_test(test_assign_refused),
      cmocka_unit_test(test_renamed_key),
      cmocka_unit_test(test_renamed_key_twice),
      cmocka_unit_test(test_renamed_key_assigned),
      cmocka_unit_test(test_first_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
