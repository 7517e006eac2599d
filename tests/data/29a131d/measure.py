"""A measurement for the study file beside it: one number and its standard deviation."""

import sys

temp, rate, layers = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
if temp > 85:
    sys.exit("the solvent boils")
value = (temp - 60) ** 2 / 900 + 50 * (rate - 0.02) ** 2 + abs(layers - 3) / 5
print(value + 0.3 * (sys.argv[4] == "water"), 0.05)
