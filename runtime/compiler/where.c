/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-where <address>: the source of an address of the ELF file on standard input, by its line tables. One line for
 * each function that the code was inlined into, innermost first: "function<TAB>file<TAB>line<TAB>column". Nothing is
 * printed if nothing is known. Exit: 0; 1: no address, or no ELF file.
 *
 * A process of its own, like the compilers: an application does not carry a debugger's library along for the day that a
 * kernel faults, and a damaged program binary cannot take it down.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEPTH 64 /* of inlining; what lies deeper is left out */

/** The compilation unit that holds the address. It is found by looking at each: line tables come without an index. */
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

/** The functions whose code holds the address, outermost first: written ones, then those inlined into them. */
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

/** From the innermost function outwards; each is left for the place in the next that it was inlined at. */
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
