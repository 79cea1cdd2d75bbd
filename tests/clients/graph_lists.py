"""What the clients of the graph interface say of cuDNN's lists, and which of their configurations are groupdnn's. The
rule stands here a second time, from its text alone."""

import re

STRICT_NAN_PROP = 9  # no filter of numerical notes asks for it
LIST = re.compile(r" list=(\w+):(\d+)")
CONFIG = re.compile(r" config=([\d,]*) (kept|dropped)")
PLAN = re.compile(r" plan=(\S+) workspace=(-?\d+)")


class Config:
    """A configuration as a client met it: its notes, whether the client's filter kept it, and its plan's engine and
    knobs, unless no plan was built."""

    def __init__(self, notes, kept):
        self.notes, self.kept, self.tag = frozenset(notes) - {STRICT_NAN_PROP}, kept, None


def lists(output):
    """Of a client that builds every plan: mode and configurations of each list, in order."""
    configs = [Config((int(note) for note in notes.split(",") if note), kept == "kept")
               for notes, kept in CONFIG.findall(output)]
    found, at = [], 0
    for mode, count in LIST.findall(output):
        found.append((mode, configs[at:at + int(count)]))
        at += int(count)
    assert at == len(configs), "%d configurations, %d in lists" % (len(configs), at)
    kept = iter([config for config in configs if config.kept])
    for line in output.splitlines():
        built = PLAN.search(line)
        if built:
            next(kept).tag = built.group(1)
        elif re.match(r"\d+ cudnnBackendFinalize \(EXECUTION_PLAN#\d+\): (?!0 )", line):
            next(kept)
    return found


def marked(notes):
    """Which of a list of cuDNN's are groupdnn's, from the sets of their notes: those that are the first to pass some
    filter."""
    return [not any(earlier <= those for earlier in notes[:number]) for number, those in enumerate(notes)]


def changed(configs):
    """What the drop-in makes of a list of cuDNN's: pairs of a configuration and whether it is groupdnn's."""
    ours = marked([config.notes for config in configs])
    if not configs:
        return []
    return ([(configs[0], True), (configs[0], False)] + list(zip(configs, ours))[1:] +
            [(config, False) for config, mark in list(zip(configs, ours))[1:] if mark])
