# columns.py: python3 docs/programs/columns.py DATE prints the seconds of a date since 1970
import calendar, datetime, math, re, sys

GAPS = {"", "nan", "na", "n/a", "<na>", "null", "none", "?", "."}
TRUTH = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}
MONTHS = {name[:size].lower(): m for m, name in enumerate(calendar.month_name) if m for size in (3, 9)}
TIME = r"(?:[T ](?P<H>[01]?\d|2[0-3]):(?P<M>[0-5]\d)(?::(?P<S>[0-5]\d)(?:[.,]\d+)?)?(?:Z|(?P<sign>[+-])(?P<zh>\d\d):?(?P<zm>\d\d)?)?)?"
LAYOUTS = [re.compile(layout, re.ASCII) for layout in (
    r"(?P<y>\d{4})-(?P<m>\d\d?)-(?P<d>\d\d?)" + TIME, r"(?P<y>\d{4})/(?P<m>\d\d?)/(?P<d>\d\d?)" + TIME, r"(?P<y>\d{4})-(?P<m>\d\d?)",
    r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})" + TIME, r"(?P<d>\d\d?)(?P<sep>[- ])(?P<m>[A-Za-z]+)(?P=sep)(?P<y>\d{4})" + TIME,
    r"(?P<m>[A-Za-z]+) (?P<d>\d\d?),? (?P<y>\d{4})" + TIME)]

def seconds(cell):  # of a date since 1970; NaN if it is none
    for layout in LAYOUTS:
        if of := layout.fullmatch(cell):
            g = {k: v for k, v in of.groupdict().items() if v}
            try:
                day = datetime.date(int(g["y"]), MONTHS.get(g["m"].lower()) or int(g["m"]), int(g.get("d", 1)))
            except ValueError:
                return math.nan
            h, m, s, zh, zm = (int(g.get(k, 0)) for k in ("H", "M", "S", "zh", "zm"))
            return (day.toordinal() - 719163) * 86400 + h * 3600 + m * 60 + s - int(g.get("sign", "+") + "1") * (zh * 3600 + zm * 60)
    return math.nan

def number(cell):  # NaN if it is none
    try:
        return float(TRUTH.get(cell, cell))
    except ValueError:
        return math.nan

def encoded(cells, row):  # converts the cells of a row to numbers
    made = []
    for c, cell in zip([c for c in cells["columns"] if c["use"] != "omit"], row):
        gap, use = cell.lower() in GAPS, c["use"]
        if gap and c.get("missing") == "drop":
            return [math.nan] * sum(width(c) for c in cells["columns"])
        if use == "levels":
            levels, level = c.get("levels", []), c.get("fill_level", "") if gap else cell
            if c["kind"] == "mixed" and not gap:
                level = next((k for k in levels if k and number(k) == number(cell)), cell)
            if level not in levels and not c.get("other") and not cells.get("lenient"):
                sys.exit(f"column {c['name']}: {level!r} is an unknown level")
            made += [float(level == other) for other in levels] + [float(level not in levels)] * c.get("other", False)
        else:
            x = math.nan if gap else seconds(cell) if use == "date" else number(cell)
            if math.isnan(x) and (not c.get("missing") or not gap and not cells.get("lenient")):
                sys.exit(f"column {c['name']}: {cell!r} is missing or has a wrong type")
            made += parts(c, x) if use == "date" else [c.get("fill", 0.0) if math.isnan(x) else x]
            gap = math.isnan(x)
        made += [float(gap)] * c.get("indicator", False)
    return made

def parts(c, x):  # of a date
    made, day = [], None if math.isnan(x) else datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=x)
    of = day and {"elapsed": x / 86400, "year": day.year, "month": day.month, "weekday": day.isoweekday(), "hour": day.hour}
    for p in c["parts"]:
        if "values" in p:
            made += [float(day is not None and of[p["part"]] == v) for v in p["values"]]
        else:
            made.append(float(of[p["part"]] if day else p.get("fill", 0)))
    return made

def width(c):
    return len(c.get("levels", [])) + c.get("other", False) + (c["use"] == "number") + c.get("indicator", False) + sum(len(p.get("values", [0])) for p in c.get("parts", []))

if __name__ == "__main__":
    print(seconds(sys.argv[1]))
