#!/usr/bin/env python3
"""Writes the three dirty CSV files of sales/ into a folder; the same each time.

400 rows. On rows of their own: 60 prices with four digits behind the point, 12 that are N/A, 30 empty
quantities, 5 rows with a value too many. Dates are DD/MM/YYYY in two files and YYYY-MM-DD in one.

usage: gen_sales.py FOLDER
"""
import csv
import os
import random
import sys
from datetime import date, timedelta

HEADER = ["order_id", "customer", "order_date", "quantity", "unit_price", "currency", "note"]
FILES = [("north.csv", 150, "%d/%m/%Y"), ("south.csv", 150, "%d/%m/%Y"), ("web.csv", 100, "%Y-%m-%d")]
DEFECTS = ["digits"] * 60 + ["price"] * 12 + ["quantity"] * 30 + ["extra"] * 5
CUSTOMERS = ["Ebb & Sons", "Kelp Traders", "Sandbank Ltd", "Lagoon, Inc.", "Spindrift"]
NOTES = ["", "", "", "gift", "deliver after 6 pm", "pier 4, gate B"]


def row(rng, number, form, defect):
    day = date(2024, 1, 1) + timedelta(days=rng.randrange(366))
    price = "%.4f" % rng.uniform(1, 400) if defect == "digits" else "%.2f" % rng.uniform(1, 400)
    if defect == "digits" and price.endswith("00"):
        price = price[:-1] + "7"
    values = ["SO-%05d" % number, rng.choice(CUSTOMERS), day.strftime(form),
              "" if defect == "quantity" else str(rng.randrange(1, 60)),
              "N/A" if defect == "price" else price, "EUR", rng.choice(NOTES)]
    return values + ["checked"] if defect == "extra" else values


def main():
    rng = random.Random(2024)
    total = sum(count for _, count, _ in FILES)
    defects = DEFECTS + [None] * (total - len(DEFECTS))
    rng.shuffle(defects)
    number = 0
    for name, count, form in FILES:
        with open(os.path.join(sys.argv[1], name), "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            for _ in range(count):
                number += 1
                writer.writerow(row(rng, number, form, defects[number - 1]))


if __name__ == "__main__":
    main()
