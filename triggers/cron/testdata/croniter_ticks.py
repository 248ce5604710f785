"""Tells when cron expressions are due, by croniter and zoneinfo.

It reads one JSON object from standard input,

    {"from": minute, "to": minute, "most": n, "zones": [name], "expressions": [{"text", "fixed"}], "list": bool}

and writes JSON objects, one on a line: first one for each expression, in order,

    {"differs": why its rules are others here, or null, "until": minute}

then one for each zone, in order,

    {"windows": [[minute, minute]], "ticks": [[count, CRC-32 of the ticks as 32-bit little-endian numbers] or null]}

Minutes count from 1970 in UTC; "until" and the second of a window are not
included. With "list" the ticks themselves stand in place of count and CRC.

croniter walks the calendar alone, as if there were no zones: that gives the
readings of the wall clock that suit an expression, at most "most" of them.
zoneinfo tells when a wall clock shows them. An expression that follows elapsed
time is due whenever one is shown. Of one with fixed minute and hour that holds
only where the clock is not changed: what lies in the windows around changes is
left out, for there croniter has rules of its own.
"""

import array
import bisect
import datetime
import json
import multiprocessing
import re
import sys
import zlib
import zoneinfo

import croniter

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MARGIN = 3 * 1440  # wall clocks are less than that from UTC


def differs(text):
    """Says why croniter's reading of an expression is another, or None."""
    day, weekday = text.split()[2], text.split()[4]
    if any(re.fullmatch(r"\w+/\d+", item) for item in weekday.split(",")):
        return "a/n ends at 7 in the weekday field"
    if re.search(r"-SUN", weekday, re.IGNORECASE):
        return "SUN is 0 at a range's end, too"
    try:
        expanded = croniter.croniter.expand(text)[0]
    except croniter.CroniterError as refusal:
        return "refused: %s" % refusal
    either = expanded[2][0] != "*" and expanded[4][0] != "*"
    if either != (day[0] != "*" and weekday[0] != "*"):
        return "whether a day must suit both fields is decided by what they hold"
    # From a day that February lacks it goes on at the same distance in March.
    beyond = [number for number in expanded[2] if number != "*" and number > 28]
    if beyond and any(number < min(beyond) - 28 for number in expanded[2]):
        return "it goes from February past the first days of March"
    return None


def readings(job):
    """Gives the readings of the wall clock that suit an expression, in minutes."""
    text, start, end, most = job
    if differs(text) is not None:
        return None
    found = array.array("i")
    walk = croniter.croniter(text, (start - 1) * 60, ret_type=float, max_years_between_matches=60)
    while len(found) < most:
        minute = int(walk.get_next()) // 60
        if minute >= end:
            break
        found.append(minute)
    return found


def offset(zone, minute):
    """Gives what a zone is ahead of UTC, in minutes."""
    ahead = (EPOCH + datetime.timedelta(minutes=minute)).astimezone(zone).utcoffset()
    seconds = ahead.days * 86400 + ahead.seconds
    if seconds % 60:
        raise SystemExit("%s is %s s ahead of UTC" % (zone, seconds))
    return seconds // 60


def segments(zone, start, end):
    """Gives the times of one offset: (first, end, offset)."""
    parts, first, ahead = [], start, offset(zone, start)
    at = start
    while at < end:
        after = min(at + 360, end)
        if offset(zone, after) != ahead:
            low, high = at, after  # the change lies after low, at high at the latest
            while high - low > 1:
                middle = (low + high) // 2
                if offset(zone, middle) == ahead:
                    low = middle
                else:
                    high = middle
            parts.append((first, high, ahead))
            first, ahead, after = high, offset(zone, high), high
        at = after
    parts.append((first, end, ahead))
    return tuple(parts)


def around(parts):
    """Gives the windows in which a fixed reading is not shown exactly once."""
    windows = []
    for before, after in zip(parts, parts[1:]):
        at, back = after[0], before[2] - after[2]
        windows.append((at - back, at + back) if back > 0 else (at, at + 1))
    return windows


def shown(wall, parts, end, windows):
    """Gives the minutes in which a clock shows one of the readings."""
    ticks = array.array("i")
    for first, after, ahead in parts:
        after = min(after, end)
        low, high = bisect.bisect_left(wall, first + ahead), bisect.bisect_left(wall, after + ahead)
        ticks.extend([minute - ahead for minute in wall[low:high]])
    for low, high in windows:
        del ticks[bisect.bisect_left(ticks, low):bisect.bisect_left(ticks, high)]
    return ticks


def summary(ticks, whole):
    if whole:
        return list(ticks)
    if sys.byteorder == "big":
        ticks.byteswap()
    return [len(ticks), zlib.crc32(ticks.tobytes())]


def answer(parts):
    """Gives what is due in zones of one kind."""
    windows = around(parts)
    ticks = []
    for one, wall, end in zip(JOB["expressions"], WALLS, ENDS):
        ticks.append(None if wall is None else summary(shown(wall, parts, end, windows if one["fixed"] else []), JOB.get("list")))
    return {"windows": windows, "ticks": ticks}


JOB = json.load(sys.stdin)
START, END = JOB["from"], JOB["to"]
with multiprocessing.Pool() as pool:
    WALLS = pool.map(readings, [(one["text"], START - MARGIN, END + MARGIN, JOB["most"]) for one in JOB["expressions"]], chunksize=1)
ENDS = []
for one, wall in zip(JOB["expressions"], WALLS):
    ENDS.append(END if wall is None or len(wall) < JOB["most"] else max(START, min(END, wall[-1] - MARGIN)))
    print(json.dumps({"differs": differs(one["text"]), "until": ENDS[-1]}))
with multiprocessing.Pool() as pool:  # forked now, so that it has what the first has found
    kinds = pool.starmap(segments, [(zoneinfo.ZoneInfo(name), START, END) for name in JOB["zones"]], chunksize=4)
    different = list(dict.fromkeys(kinds))  # many zones differ by name alone
    answers = dict(zip(different, pool.map(answer, different, chunksize=1)))
for kind in kinds:
    print(json.dumps(answers[kind]))
