/* SPDX-License-Identifier: Apache-2.0 */
/** Explanation of kernels (explain.h). The explanation is made as JSON, from which the text is printed. */
#include "explain.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "loop.h"

#define WIDTH 110u /* columns of text */

static const char *const class_names[LOOP_CLASSES] = {"compute", "access", "address", "control", "stack"};

/** The function with the name PREFIX KERNEL SUFFIX; NULL: there is none. */
static const struct function *find(const struct listing *l, const char *prefix, const char *kernel, const char *suffix)
{
    const size_t n = strlen(prefix), m = strlen(kernel);
    for (size_t i = 0; i < l->n_functions; i++) {
        const char *name = l->functions[i].name;
        if (strncmp(name, prefix, n) == 0 && strncmp(name + n, kernel, m) == 0 && strcmp(name + n + m, suffix) == 0) {
            return &l->functions[i];
        }
    }
    return NULL;
}

struct lines {
    cJSON *list;
    const bool *inside;
};

static void add_line(void *user, uint32_t at, uint32_t word, const char *text)
{
    const struct lines *lines = user;
    char hex[9];
    if (!lines->inside[at / 4]) {
        return;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "at", at);
    snprintf(hex, sizeof hex, "%08x", word);
    cJSON_AddStringToObject(json, "word", hex);
    cJSON_AddStringToObject(json, "text", text);
    cJSON_AddItemToArray(lines->list, json);
}

/** Adds the inner loop of a function, each pass of which does the work of `items` work-items. */
static bool add_loop(cJSON *json, const struct listing *l, const struct function *f, bool rounds, uint32_t items)
{
    struct loop loop;
    Elf32_Shdr section;
    const uint32_t words = f->size / 4;
    uint32_t *code = calloc((size_t)words + 1, sizeof *code);
    if (!code || tc_elf_section(&l->elf, f->section, &section)) {
        free(code);
        return false;
    }
    memcpy(code, l->elf.data + section.sh_offset + f->at, words * sizeof *code);
    const bool ok = loop_find(code, words, rounds, &loop);
    free(code);
    if (!ok) {
        return false;
    }
    cJSON *to = cJSON_AddObjectToObject(json, "loop");
    cJSON_AddBoolToObject(to, "whole", loop.whole);
    cJSON_AddNumberToObject(to, "instructions", loop.n);
    cJSON_AddNumberToObject(to, "work_items", items);
    cJSON *classes = cJSON_AddObjectToObject(to, "classes");
    for (int c = 0; c < LOOP_CLASSES; c++) {
        cJSON_AddNumberToObject(classes, class_names[c], loop.of[c]);
    }
    struct lines lines = {cJSON_AddArrayToObject(to, "code"), loop.inside};
    listing_code(l, f, add_line, &lines);
    free(loop.inside);
    return true;
}

/** Moves a reason that tern-cc1 gave. */
static void add_reason(cJSON *json, const char *name, cJSON *from)
{
    cJSON *why = cJSON_DetachItemFromObjectCaseSensitive(from, name);
    if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(why, "text"))) {
        cJSON_AddItemToObject(json, name, why);
    } else {
        cJSON_Delete(why);
    }
}

/** Adds what the compiler did. from: what tern-cc1 says of the kernel, or NULL. */
static void add_entry(cJSON *json, const struct tc_kernel *k, cJSON *from, uint32_t threads)
{
    const cJSON *unrolled = cJSON_GetObjectItemCaseSensitive(from, "unrolled");
    cJSON_AddStringToObject(json, "runs", !k->coarse ? "plain" : k->tile ? "tiles" : "rounds");
    if (k->coarse) {
        const struct tc_coarse_range least = tc_coarse_least(k, threads);
        cJSON_AddNumberToObject(json, "coarse", k->coarse);
        cJSON_AddNumberToObject(json, "tile", k->tile);
        cJSON_AddBoolToObject(json, "by_words", k->coarse_rows);
        cJSON *range = cJSON_AddObjectToObject(json, "least_range");
        cJSON_AddNumberToObject(range, "x", least.x);
        cJSON_AddNumberToObject(range, "y", least.y);
        if (threads) {
            cJSON_AddNumberToObject(range, "hardware", least.hardware);
        }
    }
    static const char *const merged[] = {[TC_MERGES_NEVER] = "never", [TC_MERGES_IF_NEEDED] = "if needed",
                                         [TC_MERGES_TO_GAIN] = "to gain", [TC_MERGES_BY_IDS] = "by ids"};
    cJSON_AddStringToObject(json, "merged", k->groups ? merged[k->merges] : "not needed");
    if (cJSON_IsNumber(unrolled)) {
        cJSON_AddNumberToObject(json, "unrolled_loops", unrolled->valuedouble);
        add_reason(json, "no_rounds", from);
        add_reason(json, "no_tiles", from);
        add_reason(json, "no_merging", from);
    }
}

/** The explanation of a kernel. NULL: no memory, or its entry is missing. */
static cJSON *explain(const struct listing *l, const struct tc_kernel *k, cJSON *from, uint32_t threads)
{
    const struct function *plain = find(l, ENTRY, k->name, ""), *second = find(l, ENTRY, k->name, COARSE);
    const struct function *slow = find(l, USER, k->name, COARSE);
    cJSON *json = cJSON_CreateObject();
    if (!plain || (k->coarse && !second)) {
        cJSON_Delete(json);
        return NULL;
    }
    cJSON_AddStringToObject(json, "name", k->name);
    add_entry(json, k, from, threads);
    cJSON_AddNumberToObject(json, "private_bytes", k->stack);
    cJSON_AddNumberToObject(json, "local_bytes", k->local_static);
    cJSON *size = cJSON_AddObjectToObject(json, "instructions");
    cJSON_AddNumberToObject(size, "plain", plain->size / 4);
    if (second) {
        cJSON_AddNumberToObject(size, "second", (second->size + (slow ? slow->size : 0)) / 4);
    }
    const uint32_t items = !k->coarse ? 1 : k->coarse * (k->tile ? k->tile : 1);
    if (!add_loop(json, l, k->coarse ? second : plain, k->coarse && !k->tile, items)) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

static double number(const cJSON *json, const char *name)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, name));
}

static const char *string(const cJSON *json, const char *name)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return s ? s : "";
}

/** Prints text after a title, in lines of at most WIDTH columns. */
static void print_text(const char *title, const char *text)
{
    size_t at = 14;
    printf("  %-11s", title);
    while (*text) {
        const size_t n = strcspn(text, " ");
        const bool fits = at + n < WIDTH || at == 14;
        printf(fits ? " %.*s" : "\n              %.*s", (int)n, text);
        at = (fits ? at : 14) + n + 1;
        text += n + (text[n] == ' ');
    }
    putchar('\n');
}

static void print_reason(const cJSON *json, const char *name, const char *title)
{
    const cJSON *why = cJSON_GetObjectItemCaseSensitive(json, name);
    if (!why) {
        return;
    }
    char *text;
    if (asprintf(&text, cJSON_HasObjectItem(why, "line") ? "%s (%s:%.0f)" : "%s", string(why, "text"),
                 string(why, "file"), number(why, "line")) >= 0) {
        print_text(title, text);
        free(text);
    }
}

/** A sentence about the sizes of a kernel's groups. merged: the member of the JSON. */
static const char *text_of_groups(const char *merged)
{
    return !strcmp(merged, "not needed") ? "of any size, as the kernel does not see them"
           : !strcmp(merged, "never")    ? "of at most the work-items of an engine"
           : !strcmp(merged, "by ids")
               ? "of at most four times the work-items of an engine; the kernel sees them by ids only, and is compiled "
                 "again for its local size, to run in rounds or tiles if it can"
           : !strcmp(merged, "if needed")
               ? "of at most four times the work-items of an engine; larger than an engine, each hardware work-item "
                 "runs several work-items of a group"
               : "of at most four times the work-items of an engine; each hardware work-item runs several work-items "
                 "of a group, if that is needed or saves instructions";
}

static void print_entry(const cJSON *json)
{
    const double x = number(json, "coarse"), y = number(json, "tile"), loops = number(json, "unrolled_loops");
    const cJSON *least = cJSON_GetObjectItemCaseSensitive(json, "least_range");
    const bool by_words = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "by_words"));
    printf("  %-11s ", "runs");
    if (!least) {
        printf("each work-item runs by itself\n");
    } else if (y > 0) {
        printf("tiles: a hardware work-item runs %.0f x %.0f work-items (second entry)%s\n", x, y,
               by_words ? ", rows are shared" : "");
    } else {
        printf("rounds: a hardware work-item runs rounds of %.0f work-items (second entry)%s\n", x,
               by_words ? ", vectors word by word" : "");
    }
    if (least) {
        printf("  %-11s in ranges of at least %.0f x %.0f work-items", "", number(least, "x"), number(least, "y"));
        if (cJSON_HasObjectItem(least, "hardware")) {
            printf(" that give %.0f hardware work-items", number(least, "hardware"));
        }
        printf(";\n  %-11s in smaller ones each work-item runs by itself\n", "");
    }
    if (loops > 0) {
        printf("  %-11s %.0f loop%s by the global size: 8 rounds at once\n", "unrolled", loops,
               loops > 1 ? "s that step" : " that steps");
    }
    print_reason(json, "no_rounds", "no rounds");
    print_reason(json, "no_tiles", "no tiles");
    print_text("groups", text_of_groups(string(json, "merged")));
    print_reason(json, "no_merging", "no merging");
    if (!cJSON_HasObjectItem(json, "unrolled_loops")) {
        print_text("reasons", "a program binary has none, unless it was built with -tern-explain");
    }
}

static void print_loop(const cJSON *json)
{
    static const char *const titles[LOOP_CLASSES] = {"compute", "load/store", "address", "control", "stack"};
    const cJSON *loop = cJSON_GetObjectItemCaseSensitive(json, "loop"), *line;
    const cJSON *classes = cJSON_GetObjectItemCaseSensitive(loop, "classes");
    const double n = number(loop, "instructions"), items = number(loop, "work_items");
    printf("  %-11s %.0f instructions", cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(loop, "whole")) ? "no loop"
                                                                                                  : "inner loop", n);
    if (items > 1) {
        printf(", %.1f for each work-item", n / items);
    }
    for (int c = 0; c < LOOP_CLASSES; c++) {
        const double percent = n > 0 ? 100 * number(classes, class_names[c]) / n : 0;
        printf("%s %s %.0f %%", c ? "," : "\n             ", titles[c], percent);
    }
    putchar('\n');
    double next = -1;
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(loop, "code"))
    {
        const double at = number(line, "at");
        printf("%s%8x  %s  %s\n", next >= 0 && at != next ? "     ...\n" : "", (unsigned)at, string(line, "word"),
               string(line, "text"));
        next = at + 4;
    }
}

static void print_kernel(const cJSON *json, bool first)
{
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(json, "instructions");
    printf("%skernel %s\n", first ? "" : "\n", string(json, "name"));
    print_entry(json);
    printf("  %-11s %.0f bytes private for each work-item, %.0f bytes local beside arguments\n", "memory",
           number(json, "private_bytes"), number(json, "local_bytes"));
    printf("  %-11s %.0f instructions", "code", number(size, "plain"));
    if (cJSON_HasObjectItem(size, "second")) {
        printf(", second entry %.0f", number(size, "second"));
    }
    putchar('\n');
    print_loop(json);
}

/** The part of kernel i that tern-cc1 wrote for explanations. NULL: there is none. */
static cJSON *written(cJSON *root, size_t i)
{
    cJSON *kernel = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "kernels"), (int)i);
    return cJSON_GetObjectItemCaseSensitive(kernel, "explain");
}

const char *explain_print(const struct listing *l, const void *binary, size_t size, const char *kernel,
                          const struct explain_options *how)
{
    struct tc_kernels kernels;
    const struct tc_blob blob = {(void *)(uintptr_t)binary, size};
    const uint8_t *text;
    size_t length;
    const char *wrong = NULL;
    if (tc_kernels_read(&blob, &kernels) || tc_elf_find(&l->elf, ".tern.kernels", &text, &length)) {
        return "no program binary";
    }
    cJSON *root = cJSON_ParseWithLength((const char *)text, length), *all = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(all, "kernels"), *one;
    for (size_t i = 0; i < kernels.n && !wrong; i++) {
        if (!kernel || strcmp(kernels.kernels[i].name, kernel) == 0) {
            one = explain(l, &kernels.kernels[i], written(root, i), how->threads);
            wrong = one && cJSON_AddItemToArray(list, one) ? NULL : "a kernel without code, or out of memory";
        }
    }
    if (!wrong && how->json) {
        char *json = cJSON_Print(all);
        wrong = json && puts(json) >= 0 ? NULL : "out of memory, or standard output cannot be written";
        free(json);
    } else if (!wrong) {
        bool first = true;
        cJSON_ArrayForEach(one, list)
        {
            print_kernel(one, first);
            first = false;
        }
    }
    cJSON_Delete(all);
    cJSON_Delete(root);
    tc_kernels_free(&kernels);
    return wrong;
}
