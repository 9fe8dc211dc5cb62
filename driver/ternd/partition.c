/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rights to partitions. Root and ternd's own user may do everything. Another user may do what the limits file allows
 * (limits.h): with `partitions` it makes partitions, and changes and uses those that it has made. Processes of the user
 * are in the partition `partition` of its limits, or in the default one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "ternd/server.h"

#define LIST_MAX 1024u

static bool privileged(const struct ternd_session *s)
{
    return s->uid == 0 || s->uid == geteuid();
}

/** True: a partition of this name exists, and this user made it. */
static bool owns(const struct ternd_session *s, const char *name)
{
    struct tern_partition_info *infos = calloc(LIST_MAX, sizeof *infos);
    bool own = false;
    if (infos) {
        infos->size = sizeof *infos;
        const int n = tern_os_partition_list(s->ternd->dev, infos, LIST_MAX);
        for (int i = 1; i < n && i < (int)LIST_MAX; i++) { /* the first one is the default partition */
            own = own || (infos[i].owner == s->uid && !strcmp(infos[i].name, name));
        }
        free(infos);
    }
    return own;
}

int ternd_partition_may_use(const struct ternd_session *s, const char *name)
{
    const char *own = *s->limits.partition ? s->limits.partition : TERN_PARTITION_DEFAULT;
    return privileged(s) || !strcmp(name, own) || owns(s, name)
        ? 0
        : tern_error(-EACCES, "user %u may not have processes in the partition '%s': its own is '%s' (key partition of "
                     "ternd's limits)", (unsigned)s->uid, name, own);
}

int ternd_partition_choose(struct ternd_session *s, const struct tern_wire_hello *hello)
{
    char name[sizeof hello->partition + 1] = {0};
    memcpy(name, hello->partition, sizeof hello->partition);
    if (*name && ternd_partition_may_use(s, name)) {
        return -EPERM; /* not -EACCES, which clients get for a socket that they may not use */
    }
    memcpy(s->partition, *name ? name : s->limits.partition, sizeof s->partition - 1);
    s->info.size = sizeof s->info;
    const int r = tern_os_device_query_in(s->ternd->dev, *name ? name : s->limits.partition, &s->info);
    return r == -ENOENT ? -EINVAL : r; /* not -ENOENT, which clients get if no ternd listens */
}

static int may_change(const struct ternd_session *s, const char *name)
{
    return privileged(s) || (s->limits.partitions && owns(s, name))
        ? 0
        : tern_error(-EACCES, "user %u may not change the partition '%s'", (unsigned)s->uid, name);
}

int ternd_partition_create(struct ternd_session *s, const struct tern_wire_request *q)
{
    struct tern_partition_desc d = {.size = sizeof d, .memory_bytes = q->value[0], .host_bytes = q->value[1],
                                    .share = q->value[2] > UINT32_MAX ? UINT32_MAX : (uint32_t)q->value[2]};
    if (!privileged(s) && !s->limits.partitions) {
        return tern_error(-EACCES, "user %u may not make partitions (key partitions of ternd's limits)",
                          (unsigned)s->uid);
    }
    const size_t n = strlen(q->text);
    /* a name that is not terminated is refused by the driver */
    memcpy(d.name, q->text, n < sizeof d.name ? n : sizeof d.name);
    return tern_os_partition_create_for(s->ternd->dev, &d, s->uid);
}

int ternd_partition_resize(struct ternd_session *s, const struct tern_wire_request *q)
{
    const int r = may_change(s, q->text);
    return r ? r : tern_os_partition_resize(s->ternd->dev, q->text, q->value[0]);
}

int ternd_partition_set_share(struct ternd_session *s, const struct tern_wire_request *q)
{
    const uint64_t share = q->value[0];
    const int r = may_change(s, q->text);
    return r ? r : tern_os_partition_set_share(s->ternd->dev, q->text,
                                               share > UINT32_MAX ? UINT32_MAX : (uint32_t)share);
}

int ternd_partition_destroy(struct ternd_session *s, const struct tern_wire_request *q)
{
    const int r = may_change(s, q->text);
    return r ? r : tern_os_partition_destroy(s->ternd->dev, q->text);
}

int ternd_partition_list(struct ternd_session *s, const struct tern_wire_request *q, void *slot, uint64_t *count)
{
    const uint32_t max = q->value[0] < LIST_MAX ? (uint32_t)q->value[0] : LIST_MAX;
    struct tern_partition_info *infos = calloc(max ? max : 1, sizeof *infos);
    if (!infos) {
        return tern_error_memory("a list of partitions");
    }
    infos->size = sizeof *infos;
    const int n = tern_os_partition_list(s->ternd->dev, infos, max);
    if (n > 0) {
        memcpy(slot, infos, ((uint32_t)n < max ? (uint32_t)n : max) * sizeof *infos);
        *count = (uint64_t)n;
    }
    free(infos);
    return n < 0 ? n : 0;
}
