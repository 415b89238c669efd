#!/usr/bin/env python3
"""Writes an access log in the Combined Log Format to stdout; the same for the same arguments.

usage: gen_weblog.py LINES SEED

One line in 10 000 is malformed. Addresses are of the blocks that are reserved for documentation.
"""
import random
import sys
from datetime import datetime, timedelta, timezone

PATHS = ["/", "/index.html", "/products", "/products/17", "/cart", "/api/v1/orders", "/static/site.css", "/static/app.js",
         "/images/logo.png", "/search", "/login", "/about", "/robots.txt", "/blog/2024/05/notes-on-turbines"]
QUERIES = ["", "", "", "?page=2", "?q=pump+valve", "?utm_source=mail&utm_medium=link", "?id=4711"]
REFERERS = ["-", "-", "https://www.example.com/", "https://search.example.net/?q=turbines", "https://www.example.com/products"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0",
          "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Safari/537.36",
          "curl/8.5.0", "ExampleBot/2.1 (+https://bot.example.org/about)", "-"]
METHODS = ["GET"] * 17 + ["POST"] * 2 + ["HEAD"]
STATUSES = [200] * 15 + [304] * 3 + [404, 500]
BLOCKS = ["192.0.2.%d", "198.51.100.%d", "203.0.113.%d", "2001:db8::%x"]


def lines(count, seed):
    rng = random.Random(seed)
    moment = datetime(2024, 5, 1, tzinfo=timezone.utc)
    for number in range(count):
        moment += timedelta(milliseconds=rng.randrange(0, 200))
        status = rng.choice(STATUSES)
        size = "-" if status == 304 else str(rng.randrange(150, 60000))
        line = '%s - %s [%s] "%s %s%s HTTP/1.1" %d %s "%s" "%s"' % (
            rng.choice(BLOCKS) % rng.randrange(1, 255), rng.choice(["-"] * 9 + ["ada"]),
            moment.strftime("%d/%b/%Y:%H:%M:%S +0000"), rng.choice(METHODS), rng.choice(PATHS), rng.choice(QUERIES),
            status, size, rng.choice(REFERERS), rng.choice(AGENTS))
        yield line[:rng.randrange(1, 40)] if number % 10000 == 9999 else line


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    sys.stdout.reconfigure(newline="\n")
    batch = []
    for line in lines(count, seed):
        batch.append(line)
        if len(batch) == 5000:
            sys.stdout.write("\n".join(batch) + "\n")
            batch.clear()
    if batch:
        sys.stdout.write("\n".join(batch) + "\n")


if __name__ == "__main__":
    main()
