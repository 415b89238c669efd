#!/usr/bin/env python3
"""Verify bundles of evidence without portarium: Python's standard library and the openssl tool.

usage: verify_evidence.py PUBLIC.pem KEYNAME BUNDLE...

Prints one line for each bundle; the exit status is 1 when one of them is not genuine.
"""
import base64, hashlib, json, pathlib, re, subprocess, sys, tempfile

class Bad(Exception): """Why a line is refused."""

def number(value):
    """As ECMAScript prints it."""
    if isinstance(value, int) and abs(value) < 2 ** 53:
        return str(value)
    mantissa, _, exponent = repr(abs(float(value))).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - len(whole + fraction) + len(digits)
    digits, sign = digits.rstrip("0"), "-" if value < 0 else ""
    if len(digits) <= point <= 21 or not digits:
        return sign + digits + "0" * (point - len(digits)) if digits else "0"
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    return f"{sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{'+' if point > 0 else '-'}{abs(point - 1)}"

def canonical(value, depth=0):
    """RFC 8785; ValueError where the value is no I-JSON."""
    if depth >= 64 and isinstance(value, (dict, list)):
        raise ValueError("nested too deep")
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name], depth + 1) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, depth + 1) for item in value) + "]"
    if isinstance(value, str) and any(ord(c) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(c) <= 0xFDEF for c in value):
        raise ValueError("a noncharacter")
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    return number(value)

def sha256(data):
    return hashlib.sha256(data).digest()

def need(claim, reason):
    if not claim:
        raise Bad(reason)

def unbase64(text, size=None):
    """The bytes; None unless this is the one text that is theirs."""
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        return None
    return data if base64.b64encode(data).decode() == text and size in (None, len(data)) else None

def without(entry, *names):
    return canonical({name: entry[name] for name in entry if name not in names}).encode()

def is_count(value):
    return type(value) is int and 0 <= value < 2 ** 63

def included(index, size, digest, root, proof):
    """RFC 9162, 2.1.3.2."""
    at, last, made = index, size - 1, sha256(b"\0" + digest)
    for other in proof:
        if last == 0:
            return False
        is_right = at % 2 == 1 or at == last
        made = sha256(b"\1" + (other + made if is_right else made + other))
        while is_right and at % 2 == 0 and at:
            at, last = at // 2, last // 2
        at, last = at // 2, last // 2
    return last == 0 and made == root

class Verifier:
    def __init__(self, path, name):
        self.path, self.name = path, name
        der = subprocess.run(["openssl", "pkey", "-pubin", "-in", path, "-outform", "DER"], check=True, stdout=-1).stdout
        self.id = sha256(name.encode() + b"\n\x01" + der[-32:])[:4]

    def is_signed(self, data, signature):
        with tempfile.NamedTemporaryFile() as text, tempfile.NamedTemporaryFile() as signed:
            text.write(data), text.flush(), signed.write(signature), signed.flush()
            return subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", self.path, "-rawin", "-in", text.name,
                                   "-sigfile", signed.name], stdout=-1, stderr=-1).returncode == 0

    def note(self, line, name, reason):
        """The lines of the signed note, and how many have signed it."""
        need(list(line) == [name] and isinstance(line[name], str) and "\n\n" in line[name], reason)
        text, _, signatures = line[name].rpartition("\n\n")
        found = [re.fullmatch("\u2014 ([^\0- +\x7f]+) (\\S+)", each) for each in signatures.split("\n")[:-1]]
        need(signatures.endswith("\n") and all(found), reason)
        mine = [unbase64(each[2], 68) for each in found if each[1] == self.name]
        mine = [each[4:] for each in mine if each and each[:4] == self.id]
        need(mine and self.is_signed((text + "\n").encode(), mine[0]), reason)
        return text.split("\n"), len(found)

    def entry(self, line, head, size, root):
        entry, index, proof = line.get("entry"), line.get("index"), line.get("proof")
        need(len(line) == 3 and isinstance(entry, dict) and is_count(index) and isinstance(proof, list), "bad_entry")
        proof = [unbase64(each, 32) for each in proof]
        need(len(proof) <= 64 and all(proof), "bad_entry")
        need(self.next <= index < size, "bad_place")
        digest = sha256(without(entry, "hashSha256", "signatureBase64"))
        need(entry.get("hashSha256") == digest.hex(), "hash_mismatch")
        if "signatureBase64" in entry:
            signature = unbase64(entry["signatureBase64"], 64)
            need(signature and self.is_signed(without(entry, "signatureBase64"), signature), "signature_invalid")
        links = entry.get("links")
        need(isinstance(links, dict) and links.get("runId") == head["runId"] and isinstance(entry.get("workspaceId"), str) and
             "portarium/" + entry["workspaceId"] == head["origin"], "other_run")
        need(included(index, size, digest, root, proof), "not_included")
        self.next, refs = index + 1, entry.get("payloadRefs")
        self.refs += [(r.get("uri"), r.get("sha256")) for r in refs or [] if isinstance(r, dict)]

    def payload(self, line):
        data = unbase64(line.get("payload"))
        ref = (line.get("uri"), line.get("sha256"))
        need(len(line) == 3 and data is not None and sha256(data).hex() == ref[1] and ref in self.refs, "bad_payload")
        self.refs.remove(ref)

    def check(self, data):
        self.line, self.next, self.refs, at, is_sealed = 1, 0, [], 0, False
        for raw in re.findall(rb"[^\n]*\n|[^\n]+", data):
            need(not is_sealed, "trailing")
            need(raw.endswith(b"\n"), "cut")
            try:
                line = json.loads(raw[:-1].decode())
                need(canonical(line).encode() == raw[:-1], "not_canonical")
                line = line if isinstance(line, dict) else {}
            except (ValueError, RecursionError):
                raise Bad("not_canonical")
            if self.line == 1:
                need(len(line) == 5 and all(is_count(line.get(name)) for name in ("bundle", "entries", "payloads")) and
                     line["bundle"] == 1 and all(isinstance(line.get(name), str) for name in ("origin", "runId")), "bad_header")
                head = line
            elif self.line == 2:
                text, _ = self.note(line, "checkpoint", "bad_checkpoint")
                root = unbase64(text[2], 32) if len(text) == 3 + (text[1:2] != ["0"]) else None
                need(root and text[0] == head["origin"] and re.fullmatch("0|[1-9][0-9]{0,17}", text[1]) and
                     (len(text) == 3 or re.fullmatch("chain [0-9a-f]{64}", text[3])), "bad_checkpoint")
            elif self.line <= 2 + head["entries"]:
                self.entry(line, head, int(text[1]), root)
            elif self.line <= 2 + head["entries"] + head["payloads"]:
                self.payload(line)
            else:
                seal = [head["origin"] + "/bundle", str(self.line - 1), base64.b64encode(sha256(data[:at])).decode()]
                need(self.note(line, "seal", "bad_seal") == (seal, 1), "bad_seal")
                is_sealed = True
            self.line, at = self.line + 1, at + len(raw)
        need(is_sealed, "cut")
        return f"{head['entries']} entries and {head['payloads']} payloads of a tree of {text[1]}"

def main(key, name, *paths):
    verifier, refused = Verifier(key, name), 0
    for path in paths:
        try:
            verdict = "genuine: " + verifier.check(pathlib.Path(path).read_bytes())
        except Bad as why:
            verdict, refused = f"line {verifier.line}: {why}", refused + 1
        print(f"{path}: {verdict}")
    return 1 if refused else 0

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 3 else __doc__)
