#!/usr/bin/env python3
"""Writes lines of JSON, events of a shop, to stdout; the same for the same arguments.

usage: gen_jsonl.py LINES SEED
"""
import json
import random
import sys

KINDS = ["view", "view", "view", "add_to_cart", "order"]


def events(count, seed):
    rng = random.Random(seed)
    for number in range(1, count + 1):
        yield {"event_id": number, "kind": rng.choice(KINDS), "customer": "c-%05d" % rng.randrange(1, 20000),
               "amount": rng.randrange(100, 90000) / 100, "is_mobile": rng.random() < 0.4,
               "coupon": rng.choice([None, None, None, "MAY-24", "FRÜHLING"]),
               "items": [rng.randrange(1, 500) for _ in range(rng.randrange(0, 4))]}


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for event in events(count, seed):
        sys.stdout.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
