/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Failures of the device (F2-F4): engines that do not stop or do not come out of reset, save areas on bad memory, lost
 * interrupts, and a device that is gone from the bus. Processes that are not guilty lose nothing as long as the device
 * can be recovered.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actor.h"
#include "device_memory.h"
#include "rig.h"

#define CONFIG "small,mem=64M,quantum=2000,timeout=20000"

static char folder[64];

/** Makes a folder for the crash dumps of a test. */
static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tern-tdr-XXXXXX");
    assert_non_null(mkdtemp(folder));
    setenv("TERN_CRASH_DIR", folder, 1);
    return 0;
}

/** Removes all files of a folder. Returns their number. */
static int clear(const char *path)
{
    char name[600];
    int n = 0;
    DIR *d = opendir(path);
    if (!d) {
        return 0;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, e->d_name);
            n += unlink(name) == 0;
        }
    }
    closedir(d);
    return n;
}

static int teardown(void **state)
{
    (void)state;
    clear(folder);
    rmdir(folder);
    unsetenv("TERN_CRASH_DIR");
    return 0;
}

static atomic_uint made;
static atomic_bool held;

/** Checks that dev->lock is not held when the driver makes the folder of a dump. (Linked with --wrap.) */
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);

int __wrap_mkdir(const char *path, mode_t mode)
{
    if (*folder && strncmp(path, folder, strlen(folder)) == 0 && !held) {
        held = !rig_lock_is_free();
        made++;
    }
    return __real_mkdir(path, mode);
}

static void open_two(struct actor *guilty, struct actor *behind)
{
    rig_open(CONFIG, NULL);
    open_spin(guilty, "guilty", 0);
    open_mix(behind, "behind", 0);
}

static void close_two(struct actor *one, struct actor *other)
{
    actor_close(one);
    actor_close(other);
    rig_done();
}

/** Checks that a new process finds a clean device. */
static void expect_clean(void)
{
    struct actor later;
    open_mix(&later, "later", 0);
    run_mix(&later, 50);
    actor_close(&later);
}

/** The actor's kernel does not let engine 0 stop. Another actor wants the engine, so it is reset. */
static void hang(struct actor *guilty, struct actor *wants)
{
    const uint64_t g = actor_spin(guilty);
    spins(guilty);
    rig.deaf_to = guilty->c->id;
    rig.deaf = 1;
    run_mix(wants, 50);
    assert_int_equal(tern_wait(guilty->c, g, PATIENCE), -EIO);
    rig.deaf = 0;
}

/** Makes the same happen with so many resets that do not end. Both processes are in error. */
static void hang_for_good(struct actor *guilty, struct actor *wants, int resets)
{
    const uint64_t g = actor_spin(guilty);
    spins(guilty);
    rig.failing = resets;
    rig.deaf = 1;
    const uint64_t f = actor_mix(wants, 50);
    assert_int_equal(tern_wait(wants->c, f, PATIENCE), -EIO);
    assert_int_equal(tern_wait(guilty->c, g, PATIENCE), -EIO);
    rig.deaf = 0;
}

/* -------------------------------------------------------- engine resets (F3) */

/** Reads the dump whose path the message names. */
static void read_dump(const char *message, char *text, size_t size)
{
    const char *path = strstr(message, "crash dump: ");
    assert_non_null(path);
    path += strlen("crash dump: ");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, size - 1, f)] = '\0';
    fclose(f);
}

static void test_engine_that_does_not_stop(void **state)
{
    (void)state;
    static char text[65536];
    struct actor guilty, behind, elsewhere;
    open_two(&guilty, &behind);
    open_mix(&elsewhere, "elsewhere", 1);
    const uint64_t e = actor_mix(&elsewhere, 3000);
    hang(&guilty, &behind);
    const struct tern_fault f = fault_of(&guilty);
    assert_true(f.code == TERN_FAULT_TIMEOUT && f.fence == 1 && !f.has_item);
    expect_says(f.message, "process 'guilty': kernel spin: did not let engine 0 stop within 20000 cycles, so that the "
                           "engine was reset; crash dump: ");
    assert_int_equal(rig.resets, 1);
    read_dump(f.message, text, sizeof text);
    char pc[32];
    const uint32_t loop = tern_allocation_address(guilty.code) + 4;
    int at_loop = 0;
    for (uint32_t k = 0; k < 4; k++) {
        snprintf(pc, sizeof pc, "pc 0x%08x lanes 0x00000001", loop + 4 * k);
        at_loop += strstr(text, pc) != NULL;
    }
    assert_int_equal(at_loop, 1);
    const char *parts[] = {"Tern crash dump", "Engine 0 was asked to stop and has not answered within 20000 cycles.",
                           "device time", "registers of engine 0", "status ", "run_fence_lo", "HW queue of engine 0",
                           "process 'guilty', context 'guilty'", "buffer 1 (spin)", "dispatch\n", "stack_log2 ",
                           "warp 0 "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        expect_says(text, parts[i]);
    }
    expect_mix(&elsewhere, e); /* an engine that was not reset (C7) */
    ok(tern_process_status(behind.p, NULL));
    run_mix(&behind, 100); /* the engine works again */
    assert_int_equal(rig.resets, 1);
    actor_close(&guilty);
    actor_close(&behind);
    actor_close(&elsewhere);
    rig_done();
    assert_int_equal(clear(folder), 1);
}

/** Dumps never overwrite each other. A dump that cannot be written does no harm. */
static void test_where_dumps_go(void **state)
{
    (void)state;
    char sub[128];
    struct actor guilty, behind;
    rig_open(CONFIG, NULL);
    open_mix(&behind, "behind", 0);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "guilty %d", i);
        snprintf(sub, sizeof sub, "%s/a/b", folder);
        setenv("TERN_CRASH_DIR", i == 3 ? "/proc/none" : sub, 1); /* folders are made, except below /proc */
        open_spin(&guilty, name, 0);
        hang(&guilty, &behind);
        expect_says(fault_of(&guilty).message, i == 3 ? "; no crash dump: " : "; crash dump: ");
        actor_close(&guilty);
    }
    assert_int_equal(clear(sub), 3);
    assert_int_equal(rmdir(sub), 0);
    assert_true(made > 0 && !held);
    unsetenv("TERN_CRASH_DIR");
    setenv("XDG_STATE_HOME", folder, 1);
    open_spin(&guilty, "guilty", 0);
    hang(&guilty, &behind);
    snprintf(sub, sizeof sub, "; crash dump: %s/tern/tern-crash-%ld-", folder, (long)getpid());
    expect_says(fault_of(&guilty).message, sub);
    unsetenv("XDG_STATE_HOME");
    close_two(&guilty, &behind);
    snprintf(sub, sizeof sub, "%s/tern", folder);
    assert_int_equal(clear(sub), 1);
    rmdir(sub);
    snprintf(sub, sizeof sub, "%s/a", folder);
    rmdir(sub);
}

/** A process that hangs again and again is refused. Other processes are not. */
static void test_repeated_offender(void **state)
{
    (void)state;
    struct actor guilty, behind;
    struct tern_process *p;
    rig_open(CONFIG, NULL);
    open_mix(&behind, "behind", 0);
    for (uint32_t i = 0; i < TERN_OFFENCES; i++) {
        open_spin(&guilty, "offender", 0);
        hang(&guilty, &behind);
        actor_close(&guilty);
    }
    assert_int_equal(tern_process_create(dev, "offender", &p), -EACCES);
    expect_says(tern_last_error(), "process 'offender' is refused for another ");
    expect_says(tern_last_error(), "its work has made an engine be reset 5 times within 600 s");
    open_spin(&guilty, "somebody else", 0);
    actor_close(&guilty);
    dev->tdr.offender[0].at[0] -= TERN_OFFENCE_NS; /* makes the first offence long ago */
    open_spin(&guilty, "offender", 0);
    actor_close(&guilty);
    ok(tern_process_status(behind.p, NULL));
    actor_close(&behind);
    rig_done();
}

/** A process without offences never takes the entry of an offender. */
static void test_offenders_are_not_forgotten(void **state)
{
    (void)state;
    struct actor innocent;
    struct tern_process *p;
    struct timespec now;
    rig_open(CONFIG, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (uint32_t i = 0; i < TERN_OFFENDERS; i++) {
        struct tern_offender *o = &dev->tdr.offender[i];
        snprintf(o->partition, sizeof o->partition, "%s", TERN_PARTITION_DEFAULT);
        snprintf(o->name, sizeof o->name, "offender %u", i);
        for (o->n = 0; o->n < TERN_OFFENCES; o->n++) {
            o->at[o->n] = (uint64_t)now.tv_sec * 1000000000u;
        }
    }
    open_mix(&innocent, "innocent", 0);
    actor_close(&innocent);
    for (uint32_t i = 0; i < TERN_OFFENDERS; i++) {
        assert_int_equal(tern_process_create(dev, dev->tdr.offender[i].name, &p), -EACCES);
    }
    rig_done();
}

/** An engine does not come out of reset at first. All engines are reset, and every process is in error. New processes
 * find a clean device. */
static void test_adapter_reset(void **state)
{
    (void)state;
    struct actor guilty, behind;
    open_two(&guilty, &behind);
    hang_for_good(&guilty, &behind, 1);
    assert_false(rig.lock_held); /* dev->lock is not held during the resets */
    assert_int_equal(fault_of(&behind).code, TERN_FAULT_ADAPTER);
    expect_says(fault_of(&behind).message, "process 'behind': the whole device was reset: engine 0 does not "
                "come out of reset");
    actor_close(&guilty);
    actor_close(&behind);
    expect_clean();
    rig_done();
}

/**
 * When all engines have been reset, no translation is cached. Pages of paging that was lost, in a mapping, a free or
 * the end of a process, are free again.
 */
static void test_pages_come_back(void **state)
{
    (void)state;
    struct actor works;
    struct tern_allocation *a;
    rig_open(CONFIG, NULL);
    const uint32_t before = free_pages(dev);
    for (int i = 0; i < 3; i++) {
        open_mix(&works, "works", 1);
        if (i == 0) {
            rig.eaten = 2;
            assert_int_equal(tern_allocation_create(works.p, 1u << 20, TERN_MEM_WRITE, 0, &a), -EIO);
        } else if (i == 1) {
            ok(tern_allocation_create(works.p, 1u << 20, TERN_MEM_WRITE, 0, &a));
            rig.eaten = 2;
            tern_allocation_destroy(a);
            until(tern_process_status(works.p, NULL) == -EIO);
        } else {
            struct tern_process *p;
            ok(tern_process_create(dev, "ends", &p));
            rig.eaten = 2;
            ok(tern_process_destroy(p));
        }
        actor_close(&works);
        assert_int_equal(rig.eaten, 0);
        assert_int_equal(dev->tdr.adapter_resets, i + 1);
        assert_int_equal(free_pages(dev), before);
    }
    expect_clean();
    rig_done();
}

/** F4: a lost change of page tables is repeated. If it is lost twice, the tables' contents are unknown. */
static void test_paging_lost(void **state)
{
    (void)state;
    for (int times = 1; times <= 2; times++) {
        struct actor works;
        struct tern_allocation *a;
        rig_open(CONFIG, NULL);
        open_mix(&works, "works", 1);
        rig.eaten = times;
        const int r = tern_allocation_create(works.p, 4096, TERN_MEM_WRITE, 0, &a);
        assert_int_equal(r, times == 1 ? 0 : -EIO);
        assert_int_equal(rig.eaten, 0);
        assert_int_equal(dev->tdr.adapter_resets, times - 1);
        if (times == 1) {
            ok(tern_wait(works.c, actor_mix(&works, 50), PATIENCE));
            tern_allocation_destroy(a);
        } else {
            assert_int_equal(fault_of(&works).code, TERN_FAULT_ADAPTER);
            expect_says(fault_of(&works).message, "the second that is lost");
        }
        actor_close(&works);
        expect_clean();
        rig_done();
    }
}

/** If a reset never ends, the device is lost, and calls report it. */
static void test_reset_that_never_ends(void **state)
{
    (void)state;
    struct actor guilty, behind;
    struct tern_process *p;
    open_two(&guilty, &behind);
    hang_for_good(&guilty, &behind, 1000);
    assert_int_equal(fault_of(&behind).code, TERN_FAULT_DEVICE);
    expect_says(fault_of(&behind).message, "the device is lost: engine 0 does not come out of reset");
    assert_int_equal(tern_process_create(dev, "late", &p), -EIO);
    close_two(&guilty, &behind);
}

/* ------------------------------------------------- other failures */

static void test_interrupts_lost(void **state)
{
    (void)state;
    struct actor a[2];
    rig_open(CONFIG, NULL);
    open_mix(&a[0], "zero", 0);
    open_mix(&a[1], "one", 1);
    rig.mute = true;
    for (int i = 0; i < 5; i++) {
        uint64_t f[2] = {actor_mix(&a[0], 100), actor_mix(&a[1], 100)};
        ok(tern_wait(a[0].c, f[0], PATIENCE));
        ok(tern_wait(a[1].c, f[1], PATIENCE));
        expect_mixed(&a[0]);
        expect_mixed(&a[1]);
    }
    close_two(&a[0], &a[1]);
}

static void test_device_goes(void **state)
{
    (void)state;
    struct actor a, idle;
    struct tern_process *p;
    rig_open(CONFIG, NULL);
    open_spin(&a, "spin", 0);
    open_mix(&idle, "idle", 1);
    const uint64_t f = actor_spin(&a);
    spins(&a);
    rig.gone = true;
    assert_int_equal(tern_wait(a.c, f, PATIENCE), -EIO);
    assert_int_equal(fault_of(&a).code, TERN_FAULT_DEVICE);
    expect_says(fault_of(&a).message, "all ones");
    assert_int_equal(fault_of(&idle).code, TERN_FAULT_DEVICE);
    assert_int_equal(tern_process_create(dev, "late", &p), -EIO);
    close_two(&a, &idle);
}

/* ------------------------------------------------------- save areas on bad memory */

/* memory answers errors for this page and all behind it; the tests give them to no process */
#define BAD_PAGE 16000u

static void bad_memory(struct tern_config *c)
{
    c->dram_error_base = (uint64_t)BAD_PAGE * TERN_PAGE;
    c->dram_error_bytes = 64u << 20;
}

static void set_save(struct actor *a, uint32_t page)
{
    pthread_mutex_lock(&dev->lock);
    a->c->save[0].page = page;
    pthread_mutex_unlock(&dev->lock);
}

/** Writes the page list of a save area: all pages but the first are `page`. 0: the list names none. */
static void set_list(uint32_t save, uint32_t page)
{
    uint32_t words[32] = {0};
    for (uint32_t i = 0; page && i < 32; i++) {
        words[i] = page << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK;
    }
    const struct tern_iovec all = {(uint64_t)save * TERN_PAGE + TERN_PKT_LINE_BYTES, words, sizeof words};
    tern_ticket_lock(&dev->hal_lock);
    ok(tern_device_write(dev, &all, 1));
    tern_ticket_unlock(&dev->hal_lock);
}

/** Gives a context another save area, or damages the list of its own, while it is suspended in its work. */
static void spoil(struct actor *a, uint32_t page, uint32_t listed)
{
    const uint64_t hold = actor_suspend(a);
    assert_true(a->c->sched.requeued_count && a->c->sched.requeued[0].resume);
    if (page == a->c->save[0].page) {
        set_list(page, listed);
    }
    set_save(a, page);
    actor_resume(a, hold);
}

/**
 * The save area of a context turns bad: when it is written, or when it is read; all of it, a page that its list names,
 * or the list. Only its own process is in error.
 */
static void test_save_area(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        const bool at_restore = i & 1;
        /* bad; bad behind the first page; beyond memory; without a list */
        const uint32_t page = i / 2 == 0 ? BAD_PAGE : i / 2 == 2 ? 16384 + 100 : BAD_PAGE - 1;
        struct actor victim, other;
        rig_open(CONFIG, bad_memory);
        set_list(BAD_PAGE - 1, i / 2 == 1 ? BAD_PAGE : 0);
        open_spin(&victim, "victim", 0);
        open_mix(&other, "other", 0);
        const uint32_t good = victim.c->save[0].page;
        if (!at_restore) {
            set_save(&victim, page);
        }
        victim.local_bytes = 4096; /* more state than a page */
        actor_dispatch(&victim, 64);
        const uint64_t f = work_submit(&dma, victim.c, "spin");
        spins(&victim);
        if (at_restore) {
            spoil(&victim, i / 2 % 2 ? good : page, i / 2 == 1 ? BAD_PAGE : 0);
        }
        const uint64_t o = actor_mix(&other, 200);
        assert_int_equal(tern_wait(victim.c, f, PATIENCE), -EIO);
        const uint32_t code = fault_of(&victim).code;
        assert_int_equal(code, i / 2 == 3 ? TERN_FAULT_CONTEXT_INVALID : TERN_FAULT_BUS_ERROR);
        expect_mix(&other, o);
        run_mix(&other, 100);
        ok(tern_process_status(other.p, NULL));
        assert_int_equal(rig.resets, 0);
        set_save(&victim, good);
        close_two(&victim, &other);
    }
}

static bool has_engine(struct actor *a)
{
    pthread_mutex_lock(&dev->lock);
    const bool has = a->c->sched.inflight != 0;
    pthread_mutex_unlock(&dev->lock);
    return has;
}

/** Ends the deafness, and restores the engine's timeout. */
static void hear_again(void)
{
    pthread_mutex_lock(&dev->lock);
    rig.deaf = rig.impatience = 0;
    rig_be_patient();
    pthread_mutex_unlock(&dev->lock);
}

/**
 * Memory is so slow that a request to stop comes while state is saved or restored. If the engine does not hear the
 * request, a reset follows. The stop is harmless, and the reset costs only its victim.
 */
static void test_stop_while_restoring(void **state)
{
    (void)state;
    for (int with_reset = 0; with_reset < 2; with_reset++) {
        struct actor victim, other;
        rig_open("small,mem=64M,quantum=20000,timeout=200000,dram_latency=1500", NULL);
        /* A kernel that spins never ends by itself, so the engine that is reset runs it, however late a thread is. */
        (with_reset ? open_spin : open_mix)(&victim, "victim", 0);
        open_mix(&other, "other", 0);
        const uint64_t f = with_reset ? actor_spin(&victim) : actor_mix(&victim, 300), o = actor_mix(&other, 300);
        until(stats(&victim).cycles || tern_context_ended(victim.c));
        uint64_t hold = actor_suspend(&victim);
        for (int i = 0; i < 30; i++) {
            actor_resume(&victim, hold); /* the engine has only begun when the next request comes */
            hold = actor_suspend(&victim);
        }
        if (with_reset) {
            rig.deaf_to = victim.c->id;
            rig.impatience = 1000; /* less than a restore takes, and only for the victim, since others have to save */
            rig.deaf = 1;
        }
        actor_resume(&victim, hold);
        if (with_reset) {
            until(has_engine(&victim) || tern_context_ended(victim.c) == f); /* else it is not asked */
            hold = actor_suspend(&victim);
            hear_again();
            actor_resume(&victim, hold);
            if (tern_process_status(victim.p, NULL) == 0) { /* it was not asked to stop: others ran */
                actor_set(&victim, 0, 1);
            }
        }
        const int r = tern_wait(victim.c, f, PATIENCE);
        expect_mix(&other, o);
        ok(tern_process_status(other.p, NULL));
        if (r == 0) {
            with_reset ? assert_int_equal(actor_get(&victim, 1), 1) : expect_mixed(&victim);
        } else {
            assert_true(with_reset && r == -EIO && rig.resets == 1);
            assert_int_equal(fault_of(&victim).code, TERN_FAULT_TIMEOUT);
        }
        assert_true(with_reset || !rig.resets);
        close_two(&victim, &other);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_engine_that_does_not_stop), T(test_where_dumps_go), T(test_repeated_offender),
            T(test_offenders_are_not_forgotten),
        T(test_adapter_reset), T(test_paging_lost), T(test_pages_come_back), T(test_reset_that_never_ends),
        T(test_interrupts_lost), T(test_device_goes), T(test_save_area), T(test_stop_while_restoring),
    };
    return cmocka_run_group_tests_name("tdr", tests, NULL, NULL);
}
