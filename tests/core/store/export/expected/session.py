# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "numpy",
# ]
# ///

# Plot 東京 sales

import subprocess
import traceback

# %% [markdown]
# > Plot 東京 sales
# > by month

# %% [markdown]
# I'll look **first**.
#
# | a | b |
# |---|---|
# | 1 | 2 |

# %%
try:
    import numpy as np
    sale
except Exception:  # NameError: name 'sale' is not defined
    traceback.print_exc()

# %%
sales

# %%
name = input("Name? ")

# %% [markdown]
# Here it is: ```12```.

# %%
subprocess.run(["bash", "-c", "echo '````'"])
