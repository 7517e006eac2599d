"""From the words of a rule to its tree, by recursive descent.

    rule        = condition ["if" condition]
    condition   = both {"or" both}
    both        = single {"and" single}
    single      = "not" single | count | comparison
    comparison  = sum {("<=" | ">=" | "==" | "!=" | "<" | ">") sum} | sum ["not"] "in" list
    sum         = product {("+" | "-") product}
    product     = factor {("*" | "/") factor}
    factor      = ("+" | "-") factor | number | name | text | "(" condition {"," condition} ")"
    count       = ("at most" K | "at least" K | "exactly" K | "between" K "and" L) "of" names

What a pair of parentheses holds, a sum or a condition, is seen when the tree is read.
"""

from collections.abc import Callable, Collection
from typing import Final, NoReturn, final

from ceibo.checks import nearest
from ceibo.decide.rules.counts import begins_count, parse_count
from ceibo.decide.rules.fault import fault
from ceibo.decide.rules.tokens import END, NAME, NUMBER, SIGN, TEXT, WORD
from ceibo.decide.rules.tree import Kind, Node
from ceibo.decide.rules.words import Words

DEEPEST: Final = 50
"""The most parentheses, `not` and signs around one another."""
_COMPARISONS: Final = ("<=", ">=", "==", "!=", "<", ">")
_VALUES: Final = {"True": True, "False": False, "None": None}
_OPERAND: Final = "a number, a name or a text in quotes"


def parse(text: str, names: Collection[str]) -> Node:
    """The tree of a rule; the known names only help with errors."""
    return _Parser(text, names).rule()


@final
class _Parser:
    def __init__(self, text: str, names: Collection[str]) -> None:
        self.words = Words(text)
        self.names = names
        self.depth = 0

    # -- conditions --------------------------------------------------------------------

    def rule(self) -> Node:
        if self.words.sees(WORD, "if"):
            self.words.refuse(
                "what must hold first", "write it as in temp <= 66 if solvent == 'THF'"
            )
        node = self.condition()
        if self.words.sees(WORD, "if"):
            self.words.next()
            when = self.condition()
            node = Node(Kind.IF, node.start, when.end, (node, when))
        if self.words.token.kind != END:
            self.trailing()
        return node

    def trailing(self) -> NoReturn:
        """Raises the error about a word where the rule could have ended."""
        before, token = self.words.before, self.words.token
        if self.words.sees(WORD, "else"):
            self.words.refuse("the end of the rule", "write two rules, each with its own if")
        if self.words.sees(WORD, "if"):
            self.words.refuse("the end of the rule", "join the conditions by and")
        if self.words.sees(SIGN, ","):
            advice = "write decimals with a point, and lists in parentheses"
            self.words.refuse("an operator or the end of the rule", advice)
        if self.words.sees(SIGN, ")"):
            self.words.refuse("an operator or the end of the rule", "there is no ( for this )")
        if before.kind == NUMBER and token.kind == NAME:
            advice = f"write {before.value} * {token.value}" if token.value in self.names else ""
            self.words.refuse("an operator between a number and a name", advice)
        if before.kind == NAME and token.kind in (NAME, WORD):
            self.words.refuse(
                "an operator between two names", self.spaced(before.value, token.value)
            )
        self.words.refuse("an operator or the end of the rule")

    def spaced(self, *words: str) -> str:
        """Advice about two names in a row, which may be one with a space."""
        close = nearest(" ".join(words), [each for each in self.names if " " in each])
        example = close or " ".join(words)
        return f"a name with spaces stands in backquotes, as in `{example}`"

    def deeper(self, parse: Callable[[], Node]) -> Node:
        """What `parse` finds one level down."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.words.refuse(f"at most {DEEPEST} parentheses, signs and not around one another")
        node = parse()
        self.depth -= 1
        return node

    def condition(self) -> Node:
        return self.chain(Kind.OR, lambda: self.chain(Kind.AND, self.single))

    def chain(self, kind: Kind, parse: Callable[[], Node]) -> Node:
        """One node, or several with the word of this kind between them."""
        parts = [parse()]
        while self.words.sees(WORD, str(kind)):
            self.words.next()
            parts.append(parse())
        if len(parts) == 1:
            return parts[0]
        return Node(kind, parts[0].start, parts[-1].end, tuple(parts))

    def single(self) -> Node:
        if self.words.sees(WORD, "not"):
            start = self.words.next().start
            part = self.deeper(self.single)
            return Node(Kind.NOT, start, part.end, (part,))
        return parse_count(self.words) if begins_count(self.words) else self.comparison()

    def comparison(self) -> Node:
        first = self.sum()
        negated = self.words.sees(WORD, "not") and self.words.peek().value == "in"
        if negated or self.words.sees(WORD, "in"):
            self.words.next()
            if negated:
                self.words.next()
            listed = self.sum()
            value = "not in" if negated else "in"
            return Node(Kind.MEMBER, first.start, listed.end, (first, listed), value)
        parts, signs = [first], []
        while self.words.sees(SIGN, *_COMPARISONS):
            signs.append(self.words.next().value)
            parts.append(self.sum())
        if not signs:
            return first
        return Node(Kind.COMPARISON, first.start, parts[-1].end, tuple(parts), tuple(signs))

    # -- sums --------------------------------------------------------------------------

    def sum(self) -> Node:
        return self.series(Kind.SUM, ("+", "-"), self.product)

    def product(self) -> Node:
        return self.series(Kind.PRODUCT, ("*", "/"), self.factor)

    def series(self, kind: Kind, signs: tuple[str, str], parse: Callable[[], Node]) -> Node:
        parts, between = [parse()], [signs[0]]
        while self.words.sees(SIGN, *signs):
            between.append(self.words.next().value)
            parts.append(parse())
        if len(parts) == 1:
            return parts[0]
        return Node(kind, parts[0].start, parts[-1].end, tuple(parts), tuple(between))

    def factor(self) -> Node:
        token = self.words.token
        if self.words.sees(SIGN, "+", "-"):
            self.words.next()
            part = self.deeper(self.factor)
            return Node(Kind.SUM, token.start, part.end, (part,), (token.value,))
        if self.words.sees(SIGN, "("):
            return self.deeper(self.parentheses)
        if token.kind == NUMBER:
            self.words.next()
            return Node(Kind.NUMBER, token.start, token.end, value=token.value)
        if token.kind == NAME:
            self.words.next()
            if self.words.sees(SIGN, "(") and token.end == self.words.token.start:
                advice = "functions are not part of rules"
                raise fault(self.words.text, token.start, self.words.token.end, _OPERAND, advice)
            return Node(Kind.NAME, token.start, token.end, value=token.value)
        if token.kind == TEXT:
            self.words.next()
            return Node(Kind.WORD, token.start, token.end, value=token.value)
        if token.kind == WORD and token.value in _VALUES:
            self.words.next()
            return Node(Kind.WORD, token.start, token.end, value=_VALUES[token.value])
        self.words.refuse(_OPERAND)

    def parentheses(self) -> Node:
        """What stands in parentheses: one thing, or a list with commas."""
        start = self.words.next().start
        parts, commas = [self.condition()], 0
        while self.words.sees(SIGN, ","):
            self.words.next()
            commas += 1
            if self.words.sees(SIGN, ")"):
                break
            parts.append(self.condition())
        if not self.words.sees(SIGN, ")"):
            if self.words.token.kind != END and not self.words.sees(WORD, "if", "else"):
                self.trailing()
            self.words.refuse(f"a ) for the ( at character {start + 1}")
        end = self.words.next().end
        if commas:
            return Node(Kind.LIST, start, end, tuple(parts))
        (inner,) = parts
        return Node(inner.kind, start, end, inner.parts, inner.value)
