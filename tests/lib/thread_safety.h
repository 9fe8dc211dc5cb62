/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Included before a file of the driver or of the runtime (-include), so that clang's analysis (-Wthread-safety) knows
 * its locks: mutexes and ticket locks become capabilities, and tern_assert_held tells the analysis what a function
 * needs. The analysis then finds paths on which a lock is not released, is released without being held, or is not held
 * where a thread waits. No code is generated from a file with this header.
 */
#ifndef TERN_TEST_THREAD_SAFETY_H
#define TERN_TEST_THREAD_SAFETY_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define LOCK_TAKES __attribute__((acquire_capability(*m)))
#define LOCK_RELEASES __attribute__((release_capability(*m)))
#define LOCK_NEEDS __attribute__((requires_capability(*m)))
#define LOCK_IS_HELD __attribute__((assert_capability(*m)))

typedef struct __attribute__((capability("mutex"))) {
    pthread_mutex_t mutex;
} tern_checked_mutex;

int checked_lock(tern_checked_mutex *m) LOCK_TAKES;
int checked_unlock(tern_checked_mutex *m) LOCK_RELEASES;
int checked_wait(pthread_cond_t *c, tern_checked_mutex *m) LOCK_NEEDS;
int checked_timedwait(pthread_cond_t *c, tern_checked_mutex *m, const struct timespec *until) LOCK_NEEDS;
int checked_clockwait(pthread_cond_t *c, tern_checked_mutex *m, clockid_t clock, const struct timespec *until)
    LOCK_NEEDS;
int checked_init(tern_checked_mutex *m, const pthread_mutexattr_t *attr);
int checked_destroy(tern_checked_mutex *m);
int checked_held(const tern_checked_mutex *m) LOCK_IS_HELD;

#undef PTHREAD_MUTEX_INITIALIZER
#define PTHREAD_MUTEX_INITIALIZER {{{0}}}
#define pthread_mutex_t tern_checked_mutex
#define pthread_mutex_lock checked_lock
#define pthread_mutex_unlock checked_unlock
#define pthread_mutex_init checked_init
#define pthread_mutex_destroy checked_destroy
#define pthread_cond_wait checked_wait
#define pthread_cond_timedwait checked_timedwait
#define pthread_cond_clockwait checked_clockwait

/* base/ticket_lock.h */
#define TERN_BASE_TICKET_LOCK_H
struct __attribute__((capability("mutex"))) tern_ticket_lock {
    pthread_mutex_t lock;
};
int tern_ticket_lock_init(struct tern_ticket_lock *m);
void tern_ticket_lock_destroy(struct tern_ticket_lock *m);
void tern_ticket_lock(struct tern_ticket_lock *m) LOCK_TAKES;
void tern_ticket_unlock(struct tern_ticket_lock *m) LOCK_RELEASES;
int checked_ticket_held(const struct tern_ticket_lock *m) LOCK_IS_HELD;

/* base/lock.h. The analysis has no "one of two locks". */
#define TERN_BASE_LOCK_H
#define TERN_LOCK_HANDED __attribute__((no_thread_safety_analysis))
#define tern_assert_held(lock) \
    _Generic((lock), tern_checked_mutex *: checked_held, const tern_checked_mutex *: checked_held, \
             struct tern_ticket_lock *: checked_ticket_held, \
             const struct tern_ticket_lock *: checked_ticket_held)(lock)
#define tern_assert_either(a, b) ((void)(a), (void)(b))

#endif
