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
from ceibo.decide.rules.fault import fault
from ceibo.decide.rules.tokens import END, NAME, NUMBER, SIGN, TEXT, WORD, Token, tokenize
from ceibo.decide.rules.tree import Kind, Node

DEEPEST: Final = 50
"""The most parentheses, `not` and signs around one another."""
_COMPARISONS: Final = ("<=", ">=", "==", "!=", "<", ">")
_VALUES: Final = {"True": True, "False": False, "None": None}
_COUNTS: Final = {"most": "at most", "least": "at least"}
_OPERAND: Final = "a number, a name or a text in quotes"


def parse(text: str, names: Collection[str]) -> Node:
    """The tree of a rule; the known names only help with errors."""
    return _Parser(text, names).rule()


@final
class _Parser:
    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        self.names = names
        self.tokens = tokenize(text)
        self.place = 0
        self.depth = 0

    # -- words -------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def peek(self) -> Token:
        """The word after this one."""
        return self.tokens[min(self.place + 1, len(self.tokens) - 1)]

    def next(self) -> Token:
        token = self.token
        self.place += token.kind != END
        return token

    def sees(self, kind: str, *values: str) -> bool:
        return self.token.kind == kind and self.token.value in values

    def refuse(self, expected: str, advice: str = "") -> NoReturn:
        """Raises the error about the word at hand."""
        raise fault(self.text, self.token.start, self.token.end, expected, advice)

    # -- conditions --------------------------------------------------------------------

    def rule(self) -> Node:
        if self.sees(WORD, "if"):
            self.refuse("what must hold first", "write it as in temp <= 66 if solvent == 'THF'")
        node = self.condition()
        if self.sees(WORD, "if"):
            self.next()
            when = self.condition()
            node = Node(Kind.IF, node.start, when.end, (node, when))
        if self.token.kind != END:
            self.trailing()
        return node

    def trailing(self) -> NoReturn:
        """Raises the error about a word where the rule could have ended."""
        before, token = self.tokens[self.place - 1], self.token
        if self.sees(WORD, "else"):
            self.refuse("the end of the rule", "write two rules, each with its own if")
        if self.sees(WORD, "if"):
            self.refuse("the end of the rule", "join the conditions by and")
        if self.sees(SIGN, ","):
            advice = "write decimals with a point, and lists in parentheses"
            self.refuse("an operator or the end of the rule", advice)
        if self.sees(SIGN, ")"):
            self.refuse("an operator or the end of the rule", "there is no ( for this )")
        if before.kind == NUMBER and token.kind == NAME:
            advice = f"write {before.value} * {token.value}" if token.value in self.names else ""
            self.refuse("an operator between a number and a name", advice)
        if before.kind == NAME and token.kind in (NAME, WORD):
            self.refuse("an operator between two names", self.spaced(before.value, token.value))
        self.refuse("an operator or the end of the rule")

    def spaced(self, *words: str) -> str:
        """Advice about two names in a row, which may be one with a space."""
        close = nearest(" ".join(words), [each for each in self.names if " " in each])
        example = close or " ".join(words)
        return f"a name with spaces stands in backquotes, as in `{example}`"

    def deeper(self, parse: Callable[[], Node]) -> Node:
        """What `parse` finds one level down."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(f"at most {DEEPEST} parentheses, signs and not around one another")
        node = parse()
        self.depth -= 1
        return node

    def condition(self) -> Node:
        return self.chain(Kind.OR, lambda: self.chain(Kind.AND, self.single))

    def chain(self, kind: Kind, parse: Callable[[], Node]) -> Node:
        """One node, or several with the word of this kind between them."""
        parts = [parse()]
        while self.sees(WORD, str(kind)):
            self.next()
            parts.append(parse())
        if len(parts) == 1:
            return parts[0]
        return Node(kind, parts[0].start, parts[-1].end, tuple(parts))

    def single(self) -> Node:
        if self.sees(WORD, "not"):
            start = self.next().start
            part = self.deeper(self.single)
            return Node(Kind.NOT, start, part.end, (part,))
        return self.count() if self.at_count() else self.comparison()

    def comparison(self) -> Node:
        first = self.sum()
        negated = self.sees(WORD, "not") and self.peek().value == "in"
        if negated or self.sees(WORD, "in"):
            self.next()
            if negated:
                self.next()
            listed = self.sum()
            value = "not in" if negated else "in"
            return Node(Kind.MEMBER, first.start, listed.end, (first, listed), value)
        parts, signs = [first], []
        while self.sees(SIGN, *_COMPARISONS):
            signs.append(self.next().value)
            parts.append(self.sum())
        if not signs:
            return first
        return Node(Kind.COMPARISON, first.start, parts[-1].end, tuple(parts), tuple(signs))

    # -- counts ------------------------------------------------------------------------

    def at_count(self) -> bool:
        """Whether a count begins here; its words may be names elsewhere."""
        follower = self.peek()
        if self.sees(NAME, "at"):
            return follower.kind == NAME and follower.value in _COUNTS
        return self.sees(NAME, "exactly", "between") and follower.kind == NUMBER

    def count(self) -> Node:
        start, word = self.token.start, self.next().value
        if word == "at":
            word = self.next().value
        first = self.whole()
        least, most = {"most": (0, first), "least": (first, None)}.get(word, (first, first))
        if word == "between":
            if not self.sees(WORD, "and"):
                self.refuse("and, as in between 1 and 3 of a, b, c, d")
            self.next()
            most = self.whole()
        if not self.sees(NAME, "of"):
            self.refuse("of, as in at most 2 of a, b, c")
        self.next()
        names = [self.name()]
        while self.sees(SIGN, ","):
            self.next()
            names.append(self.name())
        if self.sees(WORD, "and") and self.peek().kind == NAME and self.ends_after(2):
            self.refuse("a comma before the next name", "names are separated by commas")
        return Node(Kind.COUNT, start, names[-1].end, tuple(names), (least, most))

    def ends_after(self, count: int) -> bool:
        """Whether the rule, or what must hold in it, ends after so many words."""
        token = self.tokens[min(self.place + count, len(self.tokens) - 1)]
        return token.kind == END or token.value in ("if", ",", ")")

    def whole(self) -> int:
        """A whole number of few digits."""
        token = self.token
        if token.kind != NUMBER or not token.value.isdigit() or len(token.value) > 6:
            self.refuse("a whole number of parameters")
        return int(self.next().value)

    def name(self) -> Node:
        if self.token.kind != NAME:
            self.refuse("a name of a parameter", "names are separated by commas")
        token = self.next()
        return Node(Kind.NAME, token.start, token.end, value=token.value)

    # -- sums --------------------------------------------------------------------------

    def sum(self) -> Node:
        return self.series(Kind.SUM, ("+", "-"), self.product)

    def product(self) -> Node:
        return self.series(Kind.PRODUCT, ("*", "/"), self.factor)

    def series(self, kind: Kind, signs: tuple[str, str], parse: Callable[[], Node]) -> Node:
        parts, between = [parse()], [signs[0]]
        while self.sees(SIGN, *signs):
            between.append(self.next().value)
            parts.append(parse())
        if len(parts) == 1:
            return parts[0]
        return Node(kind, parts[0].start, parts[-1].end, tuple(parts), tuple(between))

    def factor(self) -> Node:
        token = self.token
        if self.sees(SIGN, "+", "-"):
            self.next()
            part = self.deeper(self.factor)
            return Node(Kind.SUM, token.start, part.end, (part,), (token.value,))
        if self.sees(SIGN, "("):
            return self.deeper(self.parentheses)
        if token.kind == NUMBER:
            self.next()
            return Node(Kind.NUMBER, token.start, token.end, value=token.value)
        if token.kind == NAME:
            self.next()
            if self.sees(SIGN, "(") and token.end == self.token.start:
                advice = "functions are not part of rules"
                raise fault(self.text, token.start, self.token.end, _OPERAND, advice)
            return Node(Kind.NAME, token.start, token.end, value=token.value)
        if token.kind == TEXT:
            self.next()
            return Node(Kind.WORD, token.start, token.end, value=token.value)
        if token.kind == WORD and token.value in _VALUES:
            self.next()
            return Node(Kind.WORD, token.start, token.end, value=_VALUES[token.value])
        self.refuse(_OPERAND)

    def parentheses(self) -> Node:
        """What stands in parentheses: one thing, or a list with commas."""
        start = self.next().start
        parts, commas = [self.condition()], 0
        while self.sees(SIGN, ","):
            self.next()
            commas += 1
            if self.sees(SIGN, ")"):
                break
            parts.append(self.condition())
        if not self.sees(SIGN, ")"):
            if self.token.kind != END and not self.sees(WORD, "if", "else"):
                self.trailing()
            self.refuse(f"a ) for the ( at character {start + 1}")
        end = self.next().end
        if commas:
            return Node(Kind.LIST, start, end, tuple(parts))
        (inner,) = parts
        return Node(inner.kind, start, end, inner.parts, inner.value)
