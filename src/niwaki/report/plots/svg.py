"""SVG elements. Text and attributes are escaped here, by MarkupSafe; looks are classes, never inline styles."""

from markupsafe import Markup, escape


def tag(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """`<name …>children</name>`; `class_` gives class, `data_tip` gives data-tip; None leaves the attribute out."""
    attribute_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(escape(child) for child in children)
    return Markup(f"<{name}{attribute_text}>{inner}</{name}>")  # all values are escaped above


def _value(value: str | float) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, content: str, class_: str, anchor: str = "start") -> Markup:
    return tag("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


def path(points: list[tuple[float, float]], class_: str) -> Markup:
    return tag("path", d="M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points), class_=class_)


def figure(width: float, height: float, title: str, description: str, *children: str) -> Markup:
    """The whole drawing, with a title and a description for screen readers."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *children,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="group",
        aria_label=f"{title}. {description}",
        class_="plot",
    )
