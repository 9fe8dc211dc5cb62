/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-where <address>: the source of an address of the ELF file on standard input, by its line tables. One line for
 * each function that was inlined there, innermost first: "function<TAB>file<TAB>line<TAB>column". Prints nothing if
 * nothing is known. Exit: 0; 1: no address, or no ELF file.
 *
 * Like the compilers it is a process of its own: applications do not load a debug library for the rare fault, and a
 * damaged program binary cannot crash them.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 64 /* depth of inlining; deeper functions are left out */

/** The compilation unit that contains the address. All units are searched, because there is no index. */
static int find_unit(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *out)
{
    Dwarf_Off at = 0, next;
    size_t header;
    for (; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
        if (dwarf_offdie(dwarf, at + header, out) && dwarf_haspc(out, address) == 1) {
            return 0;
        }
    }
    return -1;
}

static unsigned number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;
    Dwarf_Word value = 0;
    return dwarf_formudata(dwarf_attr(die, name, &a), &value) == 0 ? (unsigned)value : 0;
}

/** The functions that contain the address, outermost first: the function itself, then those that are inlined. */
static size_t find_functions(Dwarf_Die *in, Dwarf_Addr address, Dwarf_Die *out, size_t room)
{
    Dwarf_Die die;
    size_t n = 0;
    for (int r = dwarf_child(in, &die); r == 0 && n == 0; r = dwarf_siblingof(&die, &die)) {
        const int tag = dwarf_tag(&die);
        const int is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        if ((is_function || tag == DW_TAG_lexical_block) && room > 0 && dwarf_haspc(&die, address) == 1) {
            out[0] = die;
            n = (size_t)is_function;
            n += find_functions(&die, address, out + n, room - n);
        }
    }
    return n;
}

/** Prints the functions from the innermost outwards, each with the place from which it is called. */
static void print_functions(Dwarf_Die *unit, Dwarf_Die *functions, size_t n, Dwarf_Line *at)
{
    const char *file = dwarf_linesrc(at, NULL, NULL);
    int line = 0, column = 0;
    size_t n_files = 0;
    Dwarf_Files *files = NULL;
    dwarf_lineno(at, &line);
    dwarf_linecol(at, &column);
    dwarf_getsrcfiles(unit, &files, &n_files);
    while (n-- > 0) {
        const char *name = dwarf_diename(&functions[n]);
        printf("%s\t%s\t%d\t%d\n", name ? name : "", file ? file : "", line, column);
        file = files ? dwarf_filesrc(files, number(&functions[n], DW_AT_call_file), NULL, NULL) : NULL;
        line = (int)number(&functions[n], DW_AT_call_line);
        column = (int)number(&functions[n], DW_AT_call_column);
    }
}

int main(int argc, char **argv)
{
    char *end = NULL;
    const unsigned long address = argc == 2 ? strtoul(argv[1], &end, 0) : 0;
    Dwarf_Die unit, functions[DEPTH];
    if (argc != 2 || end == argv[1] || *end) {
        fprintf(stderr, "usage: tern-where <address> < ELF file\n");
        return 1;
    }
    Dwarf *dwarf = dwarf_begin(STDIN_FILENO, DWARF_C_READ);
    if (!dwarf) {
        fprintf(stderr, "tern-where: %s\n", dwarf_errmsg(-1));
        return 1;
    }
    Dwarf_Line *line = find_unit(dwarf, address, &unit) ? NULL : dwarf_getsrc_die(&unit, address);
    if (line) {
        print_functions(&unit, functions, find_functions(&unit, address, functions, DEPTH), line);
    }
    dwarf_end(dwarf);
    return 0;
}
