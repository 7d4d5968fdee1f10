"""Gradients of a batch as a sum over micro-shards: the same bits for any number of processes.

    micro-shards   0     1     2     3      each with a seed of its own, computed by any process
                    \\   /       \\   /
                     0-1         2-3        a process adds what is complete in its share of the tree
                        \\       /
                           0-3              the rest is added after an exchange

Addition of floats depends on the order, so the tree is fixed by the number of micro-shards, and not by that of processes. Each process
adds one part of the parameters for all, so that it sends about twice the size of the gradients, however many processes there are.
"""

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor, nn

from niwaki.train import distributed

Node = tuple[int, int]  # of the tree: from its first micro-shard to behind its last
Backward = Callable[
    [np.ndarray, int, float], float
]  # rows, number of the micro-shard, weight of its loss → weighted loss


class MicroShards:
    """Computes gradients. With one micro-shard this is a plain backward pass, without copies."""

    def __init__(self, count: int, parameters: Iterable[nn.Parameter], backward: Backward) -> None:
        self.count, self.backward, self.whole = count, backward, (0, count)
        self.parameters = [parameter for parameter in parameters if parameter.requires_grad] if count > 1 else []
        self.sizes = [parameter.numel() for parameter in self.parameters]
        world, own = distributed.processes(), distributed.number()
        self.nodes = [nodes_within(share_of(self.count, process, world), self.whole) for process in range(world)]
        self.own = self.nodes[own]
        used = sum(self.sizes) + len(self.sizes) + 1  # gradients, whether each is there, loss
        self.length = -(-used // world) * world
        self._free: list[Tensor] = []
        self._last: Tensor | None = None  # the parameters' gradients are views of it

    def gradients(self, rows: np.ndarray) -> float:
        """Leaves the gradients of the mean loss in the parameters, the same in every process, and returns the loss."""
        if self.count == 1:
            return self.backward(rows, 0, 1.0)
        if self._last is not None:
            for parameter in self.parameters:
                parameter.grad = None  # else the next ones would be added to it
            self._free.append(self._last)
        parts = np.array_split(rows, min(self.count, len(rows)))

        def leaf(node: Node) -> Tensor | None:
            return self._flat(parts, node[0], len(rows)) if node[1] - node[0] == 1 else None

        sums = [tree_sum(node, leaf, self._free.append) for node in self.own]
        if len(self.nodes) > 1:
            total = self._exchanged(sums)
            self._free += sums
        else:
            (total,) = sums
        self._last = total
        return self._spread(total)

    def _flat(self, parts: list[np.ndarray], shard: int, rows: int) -> Tensor:
        """The gradients of one micro-shard in one tensor. A small batch leaves the last ones empty."""
        flat = self._free.pop() if self._free else torch.empty(self.length, device=self.parameters[0].device)
        if shard >= len(parts):
            return flat.zero_()
        loss = self.backward(parts[shard], shard, len(parts[shard]) / rows)
        start, first_flag = 0, sum(self.sizes)
        flat[first_flag:] = 0.0
        for number, (parameter, size) in enumerate(zip(self.parameters, self.sizes, strict=True)):
            piece = flat[start : start + size]
            if parameter.grad is None:
                piece.zero_()
            else:
                piece.copy_(parameter.grad.reshape(-1))
                flat[first_flag + number] = 1.0
                parameter.grad = None
            start += size
        flat[first_flag + len(self.sizes)] = loss
        return flat

    def _exchanged(self, sums: list[Tensor]) -> Tensor:
        """The sum over all processes. Each adds a piece of all gradients, in the order of the tree, and sends it to the others."""
        world, piece = len(self.nodes), self.length // len(self.nodes)
        sent = torch.stack(sums).view(len(sums), world, piece).transpose(0, 1).reshape(-1)  # (world, nodes, piece)
        counts = [len(nodes) * piece for nodes in self.nodes]
        received = distributed.all_to_all(sent, [len(sums) * piece] * world, counts)
        nodes = (node for nodes in self.nodes for node in nodes)
        found = dict(zip(nodes, received.view(-1, piece), strict=True))
        return distributed.all_gather(tree_sum(self.whole, found.get))

    def _spread(self, total: Tensor) -> float:
        """Gives each parameter its gradient; None where no micro-shard has one."""
        first_flag = sum(self.sizes)
        present = total[first_flag : first_flag + len(self.sizes)].tolist()
        for parameter, gradient, there in zip(
            self.parameters, total[:first_flag].split(self.sizes), present, strict=True
        ):
            parameter.grad = gradient.view_as(parameter).to(parameter.dtype) if there else None
        return float(total[first_flag + len(self.sizes)])


def share_of(count: int, process: int, world: int) -> Node:
    """The micro-shards of a process: a range, so that it can add most of them by itself."""
    return process * count // world, (process + 1) * count // world


def nodes_within(share: Node, node: Node) -> list[Node]:
    """The largest nodes, below a node, that lie in a range of micro-shards."""
    if share[0] <= node[0] and node[1] <= share[1]:
        return [node]
    if node[1] <= share[0] or share[1] <= node[0]:
        return []
    left, right = halves(node)
    return nodes_within(share, left) + nodes_within(share, right)


def tree_sum(
    node: Node, known: Callable[[Node], Tensor | None], free: Callable[[Tensor], None] = lambda tensor: None
) -> Tensor:
    """The sum of all micro-shards of a node, from the nodes below that are known. Terms that were added are given to `free`."""
    found = known(node)
    if found is None:
        left, right = halves(node)
        found, term = tree_sum(left, known, free), tree_sum(right, known, free)
        found += term
        free(term)
    return found


def halves(node: Node) -> tuple[Node, Node]:
    middle = (node[0] + node[1] + 1) // 2
    return (node[0], middle), (middle, node[1])
