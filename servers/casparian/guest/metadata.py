"""metadata.py - what a plugin's module declares, without executing it.

Run as `python3 -I -S -c <this>` with the text of the module on standard input; prints one JSON
object. Only Python's own parser sees the text, and only literals are taken from it.
"""

import ast
import json
import sys

SUSPECT = {"os", "subprocess", "sys", "shutil", "socket", "ctypes", "multiprocessing", "importlib"}
NAMES = {"name": "name", "version": "version", "topics": "topics", "TOPIC": "default_output",
         "outputs": "outputs", "OUTPUTS": "outputs"}


def pairs(target, value):
    """The names of a target, also of `a, b = 1, 2`."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) \
            and len(target.elts) == len(value.elts):
        for one, part in zip(target.elts, value.elts):
            yield from pairs(one, part)


def assignments(body):
    """Names that are assigned at the top level, with their values."""
    for node in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def has_function(body, names):
    return any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in names
               or isinstance(node, ast.Assign)
               and any(isinstance(t, ast.Name) and t.id in names for t in node.targets)
               for node in body)


def is_of_form(name, value):
    if name == "topics":
        return isinstance(value, (list, tuple)) and all(isinstance(topic, str) for topic in value)
    if name == "outputs":
        return isinstance(value, dict) and all(isinstance(key, str) for key in value)
    return isinstance(value, str)


def declared(body, out):
    for target, value in assignments(body):
        name = NAMES.get(target)
        if name is None:
            continue
        try:
            literal = ast.literal_eval(value)
            json.dumps(literal)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            out["incomplete"] = True
            out["warnings"].append(f"{target} is not a literal")
            continue
        if not is_of_form(name, literal):
            out["incomplete"] = True
            out["warnings"].append(f"{target} has another type than it must have")
        elif name not in out:
            out[name] = literal


def imports(tree, out):
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) \
                and node.func.id == "__import__":
            found.add("__import__")
    out["warnings"] += [f"it calls {name}" if name == "__import__" else f"it imports {name}"
                        for name in sorted(found & (SUSPECT | {"__import__"}))]


def main():
    out = {"warnings": [], "incomplete": False}
    try:
        tree = ast.parse(sys.stdin.buffer.read())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        reason = getattr(error, "msg", None) or str(error)
        print(json.dumps({"error": f"line {line}: {reason}" if line else reason}))
        return
    body = tree.body
    out["has_parse"] = has_function(body, {"parse"})
    if not out["has_parse"]:
        for node in body:
            if isinstance(node, ast.ClassDef) and node.name == "Handler" \
                    and has_function(node.body, {"parse", "transform"}):
                out["has_parse"] = True
                declared(node.body, out)
    declared(body, out)
    imports(tree, out)
    print(json.dumps(out))


main()
