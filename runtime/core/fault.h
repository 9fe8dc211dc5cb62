/* SPDX-License-Identifier: Apache-2.0 */
/** The driver's sentence about a fault, in which the runtime names OpenCL's work-items instead of the hardware's. */
#ifndef RT_FAULT_H
#define RT_FAULT_H

#include <stdbool.h>

#include <tern/tern.h>

/** Replaces the part of the sentence from `from` to the end of the work-item's group by `by`. False: the fault names no
 *  work-item, and stays as it is. */
bool rt_fault_replace(struct tern_fault *fault, const char *from, const char *by);

/** Replaces the work-item by the work-items `who`, one of which faulted, and clears it in *fault. False: as above. */
bool rt_fault_name_items(struct tern_fault *fault, const char *who);

#endif
