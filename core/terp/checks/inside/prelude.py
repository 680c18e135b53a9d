"""Names that a solution can use without importing them, as on the sites that judge such problems."""
# ruff: noqa: F401, F403, F405, I001  (what typing has comes first: collections has another Counter)

from typing import *
import bisect
import collections
import copy
import datetime
import functools
import heapq
import itertools
import math
import operator
import random
import re
import string
from bisect import bisect_left, bisect_right, insort
from collections import *
from functools import cmp_to_key, lru_cache, reduce
from heapq import heapify, heappop, heappush, heappushpop, heapreplace, nlargest, nsmallest
from itertools import accumulate, chain, combinations, count, cycle, groupby, permutations, product, repeat
from math import ceil, comb, factorial, floor, gcd, inf, log, log2, pi, sqrt


class ListNode:
    """A node of a linked list, as interfaces of problems name it without defining it."""

    def __init__(self, val: Any = 0, next: "ListNode | None" = None) -> None:  # noqa: A002
        self.val = val
        self.next = next


class TreeNode:
    """A node of a binary tree, as interfaces of problems name it without defining it."""

    def __init__(self, val: Any = 0, left: "TreeNode | None" = None, right: "TreeNode | None" = None) -> None:
        self.val = val
        self.left = left
        self.right = right
