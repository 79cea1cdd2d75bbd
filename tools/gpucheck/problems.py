"""Problems as text: `key=value`, as everywhere in this project."""


def read(paths):
    """The problems of files, a line each; comments are left out."""
    problems = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                text = line.split("#")[0].strip()
                if text:
                    problems.append(text)
    return problems


def fields(text):
    return dict(token.split("=", 1) for token in text.split())


def completed(text, **values):
    """The text with these values where it says nothing."""
    given = fields(text)
    return " ".join([text] + ["%s=%s" % (key, value) for key, value in values.items() if key not in given])


def changed(text, **values):
    """The text with these values, whatever it says."""
    return " ".join("%s=%s" % item for item in {**fields(text), **values}.items())


def without(text, *keys):
    return " ".join("%s=%s" % (key, value) for key, value in fields(text).items() if key not in keys)


def numbers(text, axes):
    """`3x3`, or one number for all axes."""
    parts = [int(part) for part in text.split("x")]
    return parts if len(parts) == axes else parts * axes


def is_depthwise(text):
    given = fields(text)
    return given.get("groups", "1") == given["c"]
