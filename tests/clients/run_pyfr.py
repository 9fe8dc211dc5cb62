# SPDX-License-Identifier: Apache-2.0
"""PyFR: an isentropic vortex in a periodic box, compared with the exact solution, which is the vortex moved."""
import pathlib
import sys

import h5py
import numpy as np

from client import close, command, folder, run, test, true

CELLS, SIDE, ORDER, END, STEP = 10, 10.0, 3, .2, .01
PYFR = pathlib.Path(sys.executable).with_name("pyfr")
GAMMA, STRENGTH, MACH, RADIUS = 1.4, 13.5, .4, 1.5

CONFIG = f"""
[backend]
precision = %s
[constants]
gamma = {GAMMA}
S = {STRENGTH}
M = {MACH}
R = {RADIUS}
pi = {np.pi}
[solver]
system = euler
order = {ORDER}
[solver-time-integrator]
scheme = rk4
controller = none
tstart = 0
tend = {END}
dt = {STEP}
[solver-interfaces]
riemann-solver = rusanov
[solver-interfaces-line]
flux-pts = gauss-legendre
[solver-elements-quad]
soln-pts = gauss-legendre
[soln-plugin-writer]
dt-out = {END}
basedir = .
basename = out-{{t:.2f}}
[soln-ics]
rho = pow(1 - S*S*M*M*(gamma - 1)*exp((1 - x*x - y*y)/(R*R))/(8*pi*pi), 1/(gamma - 1))
u = S*y*exp((1 - x*x - y*y)/(2*R*R))/(2*pi*R)
v = 1 - S*x*exp((1 - x*x - y*y)/(2*R*R))/(2*pi*R)
p = 1/(gamma*M*M)*pow(1 - S*S*M*M*(gamma - 1)*exp((1 - x*x - y*y)/(R*R))/(8*pi*pi), gamma/(gamma - 1))
"""


def exact(x, y, time):
    """Returns density, momentum in x and in y, and energy: the vortex has moved by `time` in y."""
    y = (y - time + SIDE / 2) % SIDE - SIDE / 2
    f = 1 - x**2 - y**2
    rho = (1 - STRENGTH**2 * MACH**2 * (GAMMA - 1) * np.exp(f / RADIUS**2) / (8 * np.pi**2))**(1 / (GAMMA - 1))
    turn = STRENGTH * np.exp(f / (2 * RADIUS**2)) / (2 * np.pi * RADIUS)
    u, v = turn * y, 1 - turn * x
    p = rho**GAMMA / (GAMMA * MACH**2)
    return np.stack([rho, rho * u, rho * v, p / (GAMMA - 1) + rho * (u**2 + v**2) / 2])


def mesh(file):
    """Writes a mesh of squares in the format of gmsh."""
    n = CELLS
    lines = [f"{i * SIDE / n - SIDE / 2!r} {j * SIDE / n - SIDE / 2!r} 0" for j in range(n + 1) for i in range(n + 1)]
    names = ['2 5 "fluid"'] + [f'1 {k + 1} "periodic_{k // 2}_{"lr"[k % 2]}"' for k in range(4)]

    def at(i, j):
        return j * (n + 1) + i + 1

    elements = [f"3 2 5 5 {at(i, j)} {at(i + 1, j)} {at(i + 1, j + 1)} {at(i, j + 1)}" for j in range(n)
                for i in range(n)]
    for k in range(n):
        for tag, ends in enumerate([(at(0, k), at(0, k + 1)), (at(n, k), at(n, k + 1)), (at(k, 0), at(k + 1, 0)),
                                    (at(k, n), at(k + 1, n))], 1):
            elements.append(f"1 2 {tag} {tag} {ends[0]} {ends[1]}")
    parts = {"PhysicalNames": names, "Nodes": [f"{k} {x}" for k, x in enumerate(lines, 1)],
             "Elements": [f"{k} {x}" for k, x in enumerate(elements, 1)]}
    file.write_text("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + "".join(
        f"${name}\n{len(rows)}\n" + "\n".join(rows) + f"\n$End{name}\n" for name, rows in parts.items()))


def solved(precision):
    """Returns the solution at END of a run with this precision, and where its points are."""
    place = folder() / precision
    place.mkdir()
    mesh(place / "box.msh")
    (place / "vortex.ini").write_text(CONFIG % precision)
    command([PYFR, "import", "box.msh", "box.pyfrm"], cwd=place)
    command([PYFR, "run", "-b", "opencl", "box.pyfrm", "vortex.ini"], cwd=place)
    with h5py.File(place / f"out-{END:.2f}.pyfrs") as file, h5py.File(place / "box.pyfrm") as box:
        solution = file[f"soln/p{ORDER}-quad"][()].transpose(1, 0, 2)
        corner = box["nodes"]["location"][box["eles/quad"]["nodes"]].min(1)
    points = (np.polynomial.legendre.leggauss(ORDER + 1)[0] + 1) / 2 * SIDE / CELLS
    x = corner[:, :1] + np.tile(points, ORDER + 1)
    y = corner[:, 1:] + np.repeat(points, ORDER + 1)
    weights = np.polynomial.legendre.leggauss(ORDER + 1)[1]
    return solution.astype(np.float64), x, y, np.outer(weights, weights).ravel()


def is_right(precision):
    solution, x, y, weights = solved(precision)
    true(solution.shape == (4, CELLS**2, (ORDER + 1)**2), f"the solution has shape {solution.shape}")
    expected = exact(x, y, END)
    error = np.sqrt(((solution - expected)**2 * weights).sum((1, 2)) / weights.sum() / CELLS**2)
    print("errors of density, momentum and energy:", error)
    true((error < [2e-4, 3e-3, 4e-3, 5e-3]).all(), f"errors of density, momentum and energy: {error}")
    true((error > 1e-9).all(), "the solution is the exact one, which no such computation finds")
    mass, start = ((s[0] * weights).sum() for s in (solution, exact(x, y, 0)))
    close(mass, start, 1e-5, 0, "the mass")
    return solution


RESULTS = {}


@test
def single_precision():
    RESULTS["single"] = is_right("single")


@test(needs="atomics64")
def double_precision():
    close(is_right("double"), RESULTS["single"], 1e-4, 1e-4)


run()
