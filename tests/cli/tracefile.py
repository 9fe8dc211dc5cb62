# SPDX-License-Identifier: Apache-2.0
"""The invariants of a scheduler trace (driver/os/observe/trace.h): names, tracks without overlaps, complete arrows."""
import collections
import json


class Trace:
    """A parsed trace file. check() raises AssertionError with what is wrong."""

    def __init__(self, path):
        with open(path, encoding="ascii") as f:
            self.events = json.load(f)
        self.groups, self.names = {}, {}
        self.slices = collections.defaultdict(list)  # (pid, tid): [begin, end, event] of engines.
        self.states = collections.defaultdict(list)  # The same for contexts.
        self.flows = collections.defaultdict(list)   # id: [event].
        self.marks, self.counts = [], []
        opened = collections.defaultdict(list)
        # Readers sort stably by time.
        for at, e in sorted(enumerate(self.events), key=lambda x: (x[1].get("ts", -1), x[0])):
            track = e.get("pid"), e.get("tid")
            kind = e["ph"]
            if kind == "M" and e["name"] == "process_name":
                assert e["pid"] not in self.groups, "a group is named twice"
                self.groups[e["pid"]] = e["args"]["name"]
            elif kind == "M" and e["name"] == "thread_name":
                assert track not in self.names, "a track is named twice"
                self.names[track] = e["args"]["name"]
            elif kind == "X":
                self.slices[track].append((e["ts"], e["ts"] + e["dur"], e))
            elif kind == "B":
                opened[track].append(e)
            elif kind == "E":
                assert opened[track], f"{track}: a state ends that did not begin (event {at})"
                b = opened[track].pop()
                self.states[track].append((b["ts"], e["ts"], b))
            elif kind in "stf":
                self.flows[e["id"]].append(e)
            elif kind == "i":
                self.marks.append(e)
            elif kind == "C":
                self.counts.append(e)
            else:
                assert kind == "M", f"unknown kind of event {kind}"
        self.open = {t: x for t, x in opened.items() if x}

    def engines(self):
        return {t: n for t, n in self.names.items() if t[0] == 1}

    def contexts(self):
        return {t: n for t, n in self.names.items() if t[0] > 2}

    def check(self, ended=True, gaps=False):
        """ended: nothing was running or queued at the end of the trace. gaps: events are missing, so arrows may be
        incomplete.
        """
        self.check_names()
        for track, slices in self.slices.items():
            assert track in self.engines(), "what runs lies on an engine"
            self.check_track(track, slices)
            for begin, end, e in slices:
                assert e["args"]["cycles"] >= 0 and abs(end - begin - e["dur"]) < 1e-3
        for track, states in self.states.items():
            self.check_track(track, states)
        for ident, points in self.flows.items() if not gaps else ():
            self.check_flow(ident, points, ended)
        submitted = [e for e in self.marks if e["name"] == "submit"]
        assert gaps or len(submitted) == len(self.flows), f"{len(submitted)} submissions, {len(self.flows)} arrows"
        values = [e["args"]["buffers"] for e in self.counts]
        assert all(v >= 0 for v in values), "fewer than no buffers are queued"
        if ended:
            assert not self.open, f"states that do not end: {self.open}"
            assert not values or values[-1] == 0, f"{values[-1]} buffers are left"

    def check_names(self):
        for e in self.events:
            assert e["pid"] in self.groups, f"group {e['pid']} has no name"
            assert "tid" in e, "readers make up a track with the number of the group"
            if e["ph"] != "M":
                assert (e["pid"], e["tid"]) in self.names, f"track {e['tid']} of {e['pid']} has no name"
        tids = [t[1] for t in self.names]
        assert len(tids) == len(set(tids)) and 0 not in tids, "numbers of tracks are used once, and are not 0"

    @staticmethod
    def check_track(track, slices):
        last = -1.0
        for begin, end, e in sorted(slices, key=lambda s: (s[0], s[1])):
            assert end >= begin >= 0, f"{track}: {e} has a negative length"
            if "dur" in e:  # A reader may truncate times to whole nanoseconds.
                begin, end = int(begin * 1000) / 1000, (int(begin * 1000) + int(e["dur"] * 1000)) / 1000
            assert begin >= last - 1e-6, f"{track}: {e} begins at {begin}, before {last}, when the one before it ends"
            last = max(last, end)

    def check_flow(self, ident, points, ended):
        kinds = "".join(p["ph"] for p in sorted(points, key=lambda p: ("stf".index(p["ph"]))))
        assert kinds.startswith("s") and kinds.count("s") == 1, f"arrow {ident} begins {kinds.count('s')} times"
        assert kinds.count("f") == 1 or (not ended and
                                         kinds.count("f") == 0), f"arrow {ident} ends {kinds.count('f')} times"
        start = next(p for p in points if p["ph"] == "s")
        for p in points:
            assert p["ts"] >= start["ts"], f"arrow {ident} goes back in time"
            track = p["pid"], p["tid"]
            lies_in = self.slices[track] + self.states[track]
            inside = any(b - 1e-6 <= p["ts"] <= e + 1e-6 for b, e, _ in lies_in) or track in self.open
            assert inside, f"arrow {ident}: {p['ph']} at {p['ts']} lies in no slice"
            if p["ph"] == "f":
                assert p["ts"] >= max(q["ts"] for q in points), f"arrow {ident} goes on after its end"

    def ran(self):
        """Returns the slices of the engines' tracks, except the driver's own."""
        return [e for s in self.slices.values() for _, _, e in s if e["args"]["process"] != "driver"]
