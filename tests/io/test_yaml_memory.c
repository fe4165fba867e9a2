/* test_yaml_memory.c - the n-th allocation fails, for every n, also inside libfyaml, which the
 * linker's redirection of tests/support/heap.h does not reach: the program has a malloc of its own,
 * on top of that of glibc.  A text is read as it is, or there is "out of memory". */
#include "io/yaml.h"
#include "support/near.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TEST_OWN_HEAP 1
#else
#define TEST_OWN_HEAP 0
#endif

static volatile long until = -1; /* allocations that still succeed; negative: all do */
static volatile long room = -1;  /* bytes that there still are; negative: no limit */
static volatile bool failed;

#if TEST_OWN_HEAP
// names of glibc's
// NOLINTBEGIN(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static bool fails(size_t size) {
  bool now = until == 0 || (room >= 0 && size > (size_t)room);
  if (until >= 0) --until;
  if (!now) return false;
  failed = true;
  errno = ENOMEM;
  return true;
}

static void *count(void *block) {
  long size = (long)malloc_usable_size(block);
  if (room >= 0) room = room > size ? room - size : 0;
  return block;
}

static void uncount(void *block) {
  if (room >= 0) room += (long)malloc_usable_size(block);
}

void *malloc(size_t size) { return fails(size) ? NULL : count(__libc_malloc(size)); }
void *calloc(size_t nmemb, size_t size) {
  return fails(nmemb * size) ? NULL : count(__libc_calloc(nmemb, size));
}
void *realloc(void *ptr, size_t size) {
  if (fails(size)) return NULL;
  uncount(ptr);
  return count(__libc_realloc(ptr, size));
}
void free(void *ptr) {
  uncount(ptr);
  __libc_free(ptr);
}
// NOLINTEND(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#endif

static const char text[] = "# of every kind\n"
                           "name: a plain text\n"
                           "list: [1, 2.5, \"quoted \\u00e9 \\n\", 'single ''quoted''', \"\"]\n"
                           "map: {a: {b: {c: 1}}, 'd e': ~}\n"
                           "folded: >\n  several\n  lines\n"
                           "kept: |\n  several\n  lines\n"
                           "rows:\n  - x\n  - y: 1\n    z: 2\n";

static const char *child(const tbi_yaml_node *map, const char *key) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  return node ? node->text : "missing";
}

/* Whether the tree is that of the text. */
static bool is_whole(tbi_yaml *yaml) {
  const tbi_yaml_node *root = tbi_yaml_root(yaml);
  const tbi_yaml_node *list = tbi_yaml_child(root, "list");
  const tbi_yaml_node *rows = tbi_yaml_child(root, "rows");
  if (root->count != 6 || !list || list->count != 5 || !rows || rows->count != 2) return false;
  return strcmp(child(root, "name"), "a plain text") == 0 &&
         strcmp(list->first->next->text, "2.5") == 0 &&
         strcmp(list->first->next->next->text, "quoted \xc3\xa9 ?") == 0 &&
         strcmp(child(root, "folded"), "several lines?") == 0 &&
         strcmp(child(rows->last, "z"), "2") == 0;
}

enum { WHOLE, STARVED, WRONG };

/* One attempt in a process of its own: what is left behind does not matter here. */
static int attempt(long allocations, long bytes) {
  tbi_yaml *yaml = NULL;
  tabi_error err = {0};
  until = allocations;
  room = bytes;
  tabi_status status = tbi_yaml_parse(text, sizeof text - 1, "t.yaml", &yaml, &err);
  until = room = -1;
  if (status == TABI_OK) return !is_whole(yaml) ? WRONG : failed ? STARVED : WHOLE;
  return status == TABI_ERR_MEMORY && strcmp(err.message, "out of memory") == 0 ? STARVED : WRONG;
}

static int attempt_apart(long allocations, long bytes) {
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    (void)signal(SIGSEGV, SIG_DFL); // cmocka's would go on with the next test
    _exit(attempt(allocations, bytes));
  }
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* libfyaml 0.7 does not look at the two blocks that it asks for when it gets a text.  tabi makes
 * sure that there is memory for them, which a heap that counts calls does not honour. */
static void test_one_allocation(void **state) {
  (void)state;
  if (!TEST_OWN_HEAP) skip();
  int crashes = 0;
  long n = 0;
  for (int end = STARVED; end != WHOLE; ++n) {
    assert_true(n < 1000);
    end = attempt_apart(n, -1);
    if (end == WRONG) fail_msg("allocation %ld failed: read wrongly", n);
    crashes += end < 0;
  }
  print_message("%ld allocations\n", n - 1);
  assert_true(crashes <= 2);
}

static void test_little_memory(void **state) {
  (void)state;
  if (!TEST_OWN_HEAP) skip();
  long bytes = 0;
  for (int end = STARVED; end != WHOLE; bytes += 101) {
    assert_true(bytes < 1000000);
    end = attempt_apart(-1, bytes);
    if (end != WHOLE && end != STARVED) fail_msg("with %ld bytes: end %d", bytes, end);
  }
  print_message("%ld bytes\n", bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_allocation),
                                     cmocka_unit_test(test_little_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
