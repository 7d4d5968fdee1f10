/* Requests to valgrind's memcheck, for memcheck.py. Outside of valgrind they do nothing. */
#include <stddef.h>
#include <valgrind/memcheck.h>

int memcheck_runs(void) { return RUNNING_ON_VALGRIND; }
void memcheck_forget(void *from, size_t bytes) { (void)VALGRIND_MAKE_MEM_UNDEFINED(from, bytes); }
/* How many of the bytes are undefined is not told: where the first lies, counted from 1, or 0 where all are defined. */
size_t memcheck_undefined(const void *from, size_t bytes) {
    const size_t found = VALGRIND_CHECK_MEM_IS_DEFINED(from, bytes);
    return found ? found - (size_t)from + 1 : 0;
}
int memcheck_errors(void) { return (int)VALGRIND_COUNT_ERRORS; }
