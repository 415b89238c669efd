"""sales_csv - sales of a shop as they come: every cell is text, and no schema is declared.

The first version of a parser that is being written; sales_csv_2.py is the second.
"""

import csv

name = "sales_csv"
version = "0.1.0"


def parse(file_path):
    with open(file_path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, restkey="extra")
        for row in reader:
            if "extra" in row:  # more values than the header has names
                row["extra"] = ",".join(row["extra"])
            row["__cf_row_id"] = reader.line_num
            yield row
