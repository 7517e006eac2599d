#!/bin/sh
# One measurement: prints a log line, and as its last line the result and its noise.
# Here a little arithmetic stands for your process; the arguments are the temperature, the rate and the solvent.
awk -v t="$1" -v r="$2" -v s="$3" -v seed="$$" 'BEGIN {
    srand(seed)
    heat = (t - 61) / 35; rate = log(r / 0.004) / log(10); penalty = (s == "ethanol") ? 0 : 1
    error = 0; for (i = 0; i < 12; i++) error += rand(); error -= 6            # roughly normal
    print "measuring at " t " degrees in " s
    print 2 * heat * heat + 1.5 * (rate + heat / 2) ^ 2 + penalty + 0.2 * error, 0.2
}'
