"""Holds dates, decimals and zones of casparian against Python's own.

usage: against_python.py PROBE [SEED [COUNT]]

Random patterns and texts are read by datetime.strptime, decimals by decimal.Decimal, zones by
zoneinfo, which all were written by others; probe.c answers the same questions.
"""
import datetime
import decimal
import random
import re
import subprocess
import sys
import zoneinfo

probe, seed, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1, int(sys.argv[3]) if len(sys.argv) > 3 else 20000
rng = random.Random(seed)
EPOCH = datetime.datetime(1970, 1, 1)
KINDS = {"date": 0, "timestamp": 1, "timestamp_tz": 2, "time": 3}
questions, expected = [], []


def ask(question, answer):
    questions.append("\t".join(question))
    expected.append(answer)


# Patterns. Separators are characters that no directive takes; some patterns have none at all.
DATES = [["%Y", "%m", "%d"], ["%d", "%m", "%Y"], ["%m", "%d", "%y"], ["%Y", "%j"], ["%d", "%b", "%Y"],
         ["%A", "%d", "%B", "%Y"], ["%a", "%b", "%d", "%Y"], ["%y", "%m", "%d"]]
TIMES = [["%H", "%M", "%S"], ["%H", "%M"], ["%I", "%M", "%p"], ["%I", "%M", "%S", "%p"], ["%H", "%M", "%S", "%f"], ["%H"]]


def spoil(text):
    if rng.random() < 0.7 or not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(["", "0", "9", "1", ":", "x", "-", "3"]) + text[at + rng.randrange(2):]


def thin(text):
    """Numbers lose their leading zeros, sometimes."""
    return re.sub(r"\b0(\d)\b", r"\1", text) if rng.random() < 0.3 else text


def micros(moment, kind):
    if kind == "time":
        return (moment.hour * 3600 + moment.minute * 60 + moment.second) * 10**6 + moment.microsecond
    return (moment.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)


def ask_format():
    kind = rng.choice(list(KINDS))
    parts = []
    if kind != "time":
        parts += rng.choice(DATES)
    if kind != "date":
        parts += rng.choice(TIMES)
    if kind == "timestamp_tz":
        parts.append("%z")
    separators = [rng.choice(["/", ".", "-", ":", "_", " ", ", "]) if rng.random() < 0.8 else "" for _ in parts]
    pattern = "".join(part + separator for part, separator in zip(parts, separators[:-1] + [""]))
    offset = datetime.timezone(datetime.timedelta(minutes=rng.randrange(-23 * 60, 23 * 60)))
    moment = datetime.datetime(rng.randrange(1, 10000) if rng.random() < 0.5 else rng.randrange(1960, 2070), rng.randrange(1, 13),
                               rng.randrange(1, 29), rng.randrange(24), rng.randrange(60), rng.randrange(60),
                               rng.randrange(10**6), offset if kind == "timestamp_tz" else None)
    text = moment.strftime(pattern.replace("%Y", f"{moment.year:04}"))
    text = spoil(thin(text))
    # What differs on purpose: a day after a blank of its own, seconds of 60 and 61, offsets with
    # seconds, fractions of more than six digits.
    if "\n" in text or re.search(r"6[01]", text) or re.search(r"[+-]\d\d:?\d\d:?\d", text.rsplit(" ", 1)[-1]) or " " in text and "%d" in pattern:
        return
    if text.rstrip() != text or "  " in text or "%f" in pattern and re.search(r"\d{7}", text):
        return
    try:
        read = datetime.datetime.strptime(text, pattern)
        answer = f"{micros(read, kind)} {int(read.utcoffset().total_seconds()) if read.tzinfo else '-'}"
    except ValueError:
        answer = "no"
    ask(["format", str(KINDS[kind]), pattern, text], answer)


def ask_decimal():
    precision = rng.randrange(1, 39)
    scale = rng.randrange(0, precision + 1)
    text = rng.choice(["", "-"]) + "".join(rng.choice("0123456789") for _ in range(rng.randrange(0, 40)))
    if rng.random() < 0.7:
        text += "." + "".join(rng.choice("0123456789") for _ in range(rng.randrange(0, scale + 2)))
    text = spoil(text)
    answer = "no"
    if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        with decimal.localcontext() as context:
            context.prec = 200
            value = decimal.Decimal(text)
            fraction = len(text.partition(".")[2])
            if fraction <= scale and abs(int(value.scaleb(scale))) < 10**precision and \
                    len(text.partition(".")[0].lstrip("-").lstrip("0")) + scale <= precision:
                answer = f"{abs(value) if value == 0 else value:.{scale}f}"
    ask(["decimal", str(precision), str(scale), text], answer)


def ask_zone(name):
    zone = zoneinfo.ZoneInfo(name)
    # Round numbers are of no use here: the hours around a transition are looked for.
    for _ in range(30):
        at = rng.randrange(-4 * 10**9, 9 * 10**9)
        if rng.random() < 0.6:
            low, high = at, at + 200 * 86400
            offset = lambda s: (EPOCH + datetime.timedelta(seconds=s)).replace(tzinfo=datetime.timezone.utc).astimezone(zone).utcoffset()
            if offset(low) != offset(high):
                while high - low > 1:
                    middle = (low + high) // 2
                    if offset(middle) == offset(low):
                        low = middle
                    else:
                        high = middle
                at = high + rng.choice([-1, 0, 1, -1800, 1800, -3601, 3601])
        moment = EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=at)
        ask(["offset", name, str(at)], str(int(moment.astimezone(zone).utcoffset().total_seconds())))
        wall = moment.astimezone(zone).replace(tzinfo=None) + datetime.timedelta(seconds=rng.choice([0, 0, 1800, 3600, -1800]))
        instant = wall.replace(tzinfo=zone).astimezone(datetime.timezone.utc)
        seconds = (wall - EPOCH) // datetime.timedelta(seconds=1)
        ask(["instant", name, str(seconds)], str(int((instant.replace(tzinfo=None) - EPOCH) // datetime.timedelta(seconds=1))))


for _ in range(count):
    ask_format()
    ask_decimal()
for name in rng.sample(sorted(zoneinfo.available_timezones()), 120) + ["Europe/Dublin", "America/New_York", "Africa/Casablanca",
                                                                       "Australia/Lord_Howe", "Pacific/Apia", "America/Nuuk"]:
    if name not in ("localtime", "Factory"):
        ask_zone(name)

answers = subprocess.run([probe], input="\n".join(questions) + "\n", capture_output=True, text=True, check=True).stdout.splitlines()
assert len(answers) == len(questions), f"{len(answers)} answers to {len(questions)} questions"
wrong = [(q, e, a) for q, e, a in zip(questions, expected, answers) if e != a]
for question, wanted, answer in wrong[:20]:
    print(f"{question!r}: Python says {wanted!r}, casparian {answer!r}")
fits = sum(answer != "no" for answer in expected)
print(f"{len(questions)} questions, {fits} of them with a value, {len(wrong)} answered otherwise (seed {seed})")
sys.exit(1 if wrong or fits < len(questions) // 3 else 0)
