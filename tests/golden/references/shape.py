"""Elements in another order."""

from .common import by_torch

REFERENCES = {
    "permute": by_torch(lambda x, order: x.permute(order)),
}
