"""What a solution finds imported, as judges of problems have it."""
# ruff: noqa: F401, F403, I001  (what typing has comes first: collections has another Counter)

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
