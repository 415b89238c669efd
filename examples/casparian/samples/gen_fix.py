#!/usr/bin/env python3
"""Writes a log of FIX 4.4 messages, one a line, to stdout; the same for the same arguments.

Orders are entered, acknowledged, filled in parts, cancelled or refused; a heartbeat comes now and then.

usage: gen_fix.py MESSAGES SEED
"""
import random
import sys
from datetime import datetime, timedelta

SYMBOLS = ["KELP", "BRINE", "MUDFLAT", "SHOAL", "DRIFT"]


def message(kind, number, moment, fields, to_market=True):
    ends = ("HARBOR", "TIDEX") if to_market else ("TIDEX", "HARBOR")
    time = moment.strftime("%Y%m%d-%H:%M:%S.") + "%03d" % (moment.microsecond // 1000)
    body = "".join("%s=%s|" % pair for pair in [("35", kind), ("34", number), ("49", ends[0]), ("52", time),
                                                ("56", ends[1])] + fields)
    head = "8=FIX.4.4|9=%d|" % len(body)
    checksum = sum((head + body).replace("|", "\x01").encode()) % 256
    return "%s%s10=%03d|" % (head, body, checksum)


def order(rng, number):
    """The messages of one order, as (kind, fields, to_market)."""
    quantity, price = 10 * rng.randrange(1, 200), "%.2f" % rng.uniform(1, 90)
    base = [("11", "HB-%d" % number), ("55", rng.choice(SYMBOLS)), ("54", rng.choice("12")), ("38", quantity), ("44", price)]
    market = [("37", "TX-%d" % (70000 + number))] + base
    yield "D", base + [("40", "2"), ("59", "0"), ("1", "ACC-%d" % rng.randrange(1, 9))], True
    fate = rng.random()
    if fate < 0.05:
        yield "8", market + [("150", "8"), ("39", "8"), ("103", "3"), ("14", 0), ("151", 0)], False
        return
    yield "8", market + [("150", "0"), ("39", "0"), ("14", 0), ("151", quantity)], False
    filled = 0
    while filled < quantity and rng.random() > 0.15:
        part = min(quantity - filled, 10 * rng.randrange(1, 120))
        filled += part
        state = "2" if filled == quantity else "1"
        yield "8", market + [("150", state), ("39", state), ("32", part), ("31", price), ("14", filled),
                             ("151", quantity - filled), ("6", price)], False
    if filled < quantity:
        yield "F", base + [("41", "HB-%d" % number)], True
        yield "8", market + [("150", "4"), ("39", "4"), ("14", filled), ("151", 0)], False


def messages(count, seed):
    rng = random.Random(seed)
    moment = datetime(2024, 5, 13, 8)
    written = orders = 0
    while written < count:
        orders += 1
        parts = [("0", [], True)] if orders % 20 == 0 else order(rng, orders)
        for kind, fields, to_market in parts:
            if written == count:
                return
            written += 1
            moment += timedelta(milliseconds=rng.randrange(1, 400))
            yield message(kind, written, moment, fields, to_market)


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    for line in messages(count, seed):
        print(line)


if __name__ == "__main__":
    main()
