"""Rules between parameters, written as people write them: a grammar of ceibo's own, never `eval`.

tokens, words           a text as words, and a place among them
grammar, counts, tree   from the words to a tree
linear, reading         from the tree to what must hold, with the names known
conditions              what must hold: whether it does, and by how much it is broken
columns, alternatives   the same in the terms of a region, for the search
feasible, exemptions    whether rules can hold at all, alone and together
rule, fault             a rule of a space; the error about one
"""

from ceibo.decide.rules.columns import columns_of
from ceibo.decide.rules.rule import Rule, first_broken, parse_rules, requirements_of

__all__ = ["Rule", "columns_of", "first_broken", "parse_rules", "requirements_of"]
