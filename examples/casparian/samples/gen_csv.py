#!/usr/bin/env python3
"""Writes a CSV file of sensor readings, ten columns wide, to stdout; the same for the same arguments.

usage: gen_csv.py ROWS SEED
"""
import csv
import random
import sys
from datetime import datetime, timedelta

HEADER = ["reading_id", "station", "measured_at", "temperature", "pressure", "humidity", "wind_speed", "is_valid", "operator", "note"]
NOTES = ["", "", "", "", "calibrated", "sensor replaced, see log", 'operator said "ok"', "drift; check in May"]
OPERATORS = ["ada", "grace", "edsger", "barbara", "donald"]


def rows(count, seed):
    rng = random.Random(seed)
    moment = datetime(2024, 1, 1)
    for number in range(1, count + 1):
        moment += timedelta(seconds=rng.randrange(1, 30))
        yield [number, "ST-%03d" % rng.randrange(1, 200), moment.isoformat(), "%.2f" % rng.uniform(-20, 40),
               "%.1f" % rng.uniform(950, 1050), rng.randrange(0, 101), "%.3f" % rng.uniform(0, 30),
               rng.choice(["true", "true", "true", "false"]), rng.choice(OPERATORS), rng.choice(NOTES)]


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    sys.stdout.reconfigure(newline="")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows(count, seed))


if __name__ == "__main__":
    main()
