"""Controls of single sites, which go by that of the whole kernel unless a config says more."""

from collections.abc import Mapping

from burnish.model.control import Value

__all__ = ["INHERITED", "inherited"]

INHERITED = "kernel"
"""The default of a site's control: the value that the whole kernel has."""


def inherited(config: Mapping[str, Value], site: str, kernel: str, default: Value) -> Value:
    """The value that a config gives a site.

    Args:
        config: Values by control.
        site: The name of the site's control.
        kernel: The name of that of the whole kernel.
        default: The default of that.
    """
    value = config.get(site, INHERITED)
    return config.get(kernel, default) if value == INHERITED else value
