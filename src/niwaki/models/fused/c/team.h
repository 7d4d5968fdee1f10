/* Threads. Work is split as torch splits it, on torch's own OpenMP threads, so that two pools never compete for the cores. */
#include <dlfcn.h>

typedef void (*Work)(void *data, int thread, int threads);

typedef struct {
    Work work;
    void *data;
} Call;

static void (*gomp_parallel)(void (*)(void *), void *, unsigned, unsigned);
static int (*thread_number)(void), (*thread_count)(void);

static void run_call(void *given) {
    const Call *call = given;
    call->work(call->data, thread_number(), thread_count());
}

/* Runs `work` once per thread and returns when all are done. Sequential where torch does not use GNU OpenMP. */
static void run_team(Work work, void *data, int threads) {
    if (!gomp_parallel) {
        thread_number = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_thread_num");
        thread_count = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_num_threads");
        gomp_parallel = (void (*)(void (*)(void *), void *, unsigned, unsigned))dlsym(RTLD_DEFAULT, "GOMP_parallel");
    }
    Call call = {work, data};
    if (threads > 1 && gomp_parallel && thread_number && thread_count)
        gomp_parallel(run_call, &call, (unsigned)threads, 0);
    else
        work(data, 0, 1);
}

/* The part of `count` items that a thread works on, in whole multiples of `step`. */
typedef struct {
    long first, last;
} Share;

static Share share(long count, long step, int thread, int threads) {
    const long steps = (count + step - 1) / step;
    long first = steps * thread / threads * step, last = steps * (thread + 1) / threads * step;
    return (Share){first, last < count ? last : count};
}
