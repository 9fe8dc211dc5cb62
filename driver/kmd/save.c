/* SPDX-License-Identifier: Apache-2.0 */
#include "kmd/save.h"

#include <errno.h>

#include "base/error.h"
#include "hal/hal.h"

#define LINES_PER_PAGE (TERN_PAGE / TERN_SAVE_LINE_BYTES)
#define WORDS_PER_LINE (TERN_SAVE_LINE_BYTES / 4)

/** The first line of state: behind the header and the list of all pages but the first. */
static uint32_t first_line(const struct tern_kmd *kmd)
{
    return 1 + (kmd->save_pages - 1 + WORDS_PER_LINE - 1) / WORDS_PER_LINE;
}

uint32_t tern_save_room(const struct tern_kmd *kmd)
{
    const uint32_t all = kmd->save_pages * LINES_PER_PAGE, first = first_line(kmd);
    return all > first ? all - first : 0;
}

int tern_save_check(const struct tern_kmd *kmd, const struct tern_save *save)
{
    const uint32_t room = tern_save_room(kmd);
    if (save->executor > TERN_CTX_EXECUTOR_USER || save->lines > room ||
        (save->executor == TERN_CTX_EXECUTOR_NONE && save->lines)) {
        return tern_error(-EPROTO, "a context-save area has %u lines of state of executor %u; %u is the last, and "
                          "there is room for %u lines", save->lines, save->executor, TERN_CTX_EXECUTOR_USER, room);
    }
    return 0;
}

int tern_save_read(struct tern_kmd *kmd, const uint32_t *page, struct tern_save *out)
{
    tern_hal_assert_held(kmd->hal);
    uint32_t w[WORDS_PER_LINE];
    struct tern_ctx head;
    int r = tern_kmd_read(kmd, (uint64_t)page[0] * TERN_PAGE, w, sizeof w);
    if (r) {
        return r;
    }
    if (tern_ctx_unpack(&head, w) || head.magic != TERN_CTX_MAGIC_VALUE || head.state > TERN_CTX_STATE_SAVED) {
        return tern_error(-EPROTO, "the context-save area in page %u has no valid header", page[0]);
    }
    struct tern_save save = {.saved = head.state == TERN_CTX_STATE_SAVED};
    if (save.saved) {
        save.offset = head.offset;
        save.executor = head.executor;
        save.lines = head.lines;
        r = tern_save_check(kmd, &save);
    }
    if (!r) {
        *out = save;
    }
    return r;
}

/** Physical address of a line of state. *n is the number of lines from it to the end of its page. */
static uint64_t line_at(const struct tern_kmd *kmd, const uint32_t *page, uint32_t line, uint32_t *n)
{
    const uint32_t at = first_line(kmd) + line;
    *n = LINES_PER_PAGE - at % LINES_PER_PAGE;
    return (uint64_t)page[at / LINES_PER_PAGE] * TERN_PAGE + (uint64_t)(at % LINES_PER_PAGE) * TERN_SAVE_LINE_BYTES;
}

int tern_save_read_state(struct tern_kmd *kmd, const uint32_t *page, uint32_t lines, void *state)
{
    tern_hal_assert_held(kmd->hal);
    char *to = state;
    int r = 0;
    for (uint32_t done = 0, n; !r && done < lines; done += n) {
        const uint64_t at = line_at(kmd, page, done, &n);
        n = n < lines - done ? n : lines - done;
        r = tern_kmd_read(kmd, at, to + (size_t)done * TERN_SAVE_LINE_BYTES, (size_t)n * TERN_SAVE_LINE_BYTES);
    }
    return r;
}

int tern_save_write(struct tern_kmd *kmd, const uint32_t *page, const struct tern_save *save, const void *state)
{
    tern_hal_assert_held(kmd->hal);
    const char *from = state;
    uint32_t w[WORDS_PER_LINE];
    const struct tern_ctx head = {.magic = TERN_CTX_MAGIC_VALUE,
                                  .state = save->saved ? TERN_CTX_STATE_SAVED : TERN_CTX_STATE_EMPTY,
                                  .offset = save->offset, .executor = save->executor, .lines = save->lines};
    int r = tern_save_check(kmd, save);
    for (uint32_t done = 0, n; !r && done < save->lines; done += n) {
        const uint64_t at = line_at(kmd, page, done, &n);
        n = n < save->lines - done ? n : save->lines - done;
        r = tern_kmd_write(kmd, &(struct tern_iovec){at, from + (size_t)done * TERN_SAVE_LINE_BYTES,
                                                     (size_t)n * TERN_SAVE_LINE_BYTES}, 1);
    }
    if (r == 0) {
        r = tern_ctx_pack(&head, w);
    }
    return r ? r : tern_kmd_write(kmd, &(struct tern_iovec){(uint64_t)page[0] * TERN_PAGE, w, sizeof w}, 1);
}
