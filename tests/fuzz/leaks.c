/* leaks.c - leaks that are not tabi's: libfyaml 0.7 loses some of its own memory on broken texts.
 */

// the sanitizer's name, not ours
const char *__lsan_default_suppressions(void); // NOLINT

const char *__lsan_default_suppressions(void) { return "leak:libfyaml"; } // NOLINT
