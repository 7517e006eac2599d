"""The part of the page on model compression that says why searches stop getting better."""

from typing import Final

ANALYSIS: Final = """\
## Why searches stop getting better

Three things keep the acquisitions above what FC3 allows. None is a failure of the fit: it converges, to length scales
well inside their range.

**Corrected EI can measure one place for ever.** Its value at x is E[max(0, f(x⁺) − f(x))], so that whatever is not
known of the incumbent's f(x⁺) counts at every x, as if measuring x could find it out. When f(x) is as good as known,
the value there is σ(x⁺)τ(u/σ(x⁺)), u = μ(x⁺) − μ(x), which no further measurement at x lowers; at x⁺ itself it is zero,
so that x⁺ is not measured either. The tables above show it: where a search is stuck, "after x" is α(x) again, while one
measurement at x⁺ would have lowered it. That is the published formula and not the way it is computed here; a test
states the limit. EI takes f(x⁺) as known and loses interest in a place that it knows; the two Monte Carlo methods
compare f(x) with the best of joint draws at all measured points, x itself among them once it has been measured. Both
crowd less, and the Monte Carlo methods found the better networks. PI, corrected PI and UCB crowd for a reason of their
own: they like small, near-certain improvements.

**The optimum of FC3 lies beside a cliff.** On the whole test set the best of a grid of 315 settings is 0.0731, at ranks
34, 9 and 9 (`results/compression/fc3-grid.json`): 7 % of the box's width from its edge in the first parameter, 1 % in
the second. Beyond it the error rises steeply, to 0.18 at rank 5 of the second layer and 0.6 at rank 5 of both; on the
other side the size grows slowly and steadily. A stationary kernel cannot do both: once the corner of low ranks has been
measured as bad, the model believes that all of its surroundings are bad, with little doubt. Random search is not led by
a model, and now and then hits the narrow good strip. The experiments keep the paper's box; the section on a logarithmic
scale (on which random points are uniform too), with everything else the same, shows what the box costs: there all
methods end much lower, and corrected EI as low as random search, though it crowds as before.
`ceibo.compression.compress` searches ranks on that scale for this reason.

**The noise told is too large where it matters.** c is the mean of p̃(1 − p̃) over random settings, most of which err
often: about 0.12. In the good strip p(1 − p) is about 0.02. The model therefore averages over more measurements than it
would need to. `--noise smoothed` avoids that, but ties the noise told to the luck of the sample; the table of corrected
EI fitted or told otherwise says what either is worth.

Random search's `recommended` needs a word. Its model has hardly seen the corner of low ranks, extrapolates the slope of
the size into it, and recommends a network that may err on most pictures. To beat that says little; `best` is the answer
that a user of random search would take, and what corrected EI has to be held against.
"""
