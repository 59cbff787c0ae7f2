"""Durations as Go prints them."""


def go_duration(seconds: float) -> str:
    """Give `5m0s`, `1h0m0s`, `1.5s` or `500ms` for a length of time, exact to the millisecond.

    Source: time.Duration.String of Go, for lengths that are not negative.
    """
    millis = round(seconds * 1000)
    if 0 < millis < 1000:
        return f"{millis}ms"
    whole, rest = divmod(millis, 1000)
    minutes, left = divmod(whole, 60)
    fraction = f".{rest:03d}".rstrip("0") if rest else ""
    if not minutes:
        return f"{left}{fraction}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{left}{fraction}s" if hours else f"{minutes}m{left}{fraction}s"
