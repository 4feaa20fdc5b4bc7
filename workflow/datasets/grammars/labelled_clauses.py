"""Labelled texts for the demo: clauses, some with a salient word; most of these tell the label.

A lexicon has a line a slot, its words the most frequent first: `n` nouns, `j` adjectives, `v`
verbs, `r` adverbs, `p` prepositions, `d` determiners, `b` copulas, `c` numbers, `g` genitives, `+`
what joins two clauses; `N0` are the nouns that speak for label 0. Its clauses are strings of slots,
`*` being a made-up name. Words are drawn by Zipf's law, so that some of those in dev and test are
rare or unknown, as in real text.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

Clause = list[str]

NAME = "*"
OTHERS = 10
"""One text in so many is of none of the two labels, for a reader to leave out."""
SYLLABLES = [
    line.split()
    for line in """
bar dor fen gal har kel lan mor nor per ros tam vel win
ba de li mo no ra sa ti vo
ck ff ll n nd r s th
""".strip().splitlines()
]
PER_SENTENCE = (0.4, 0.4, 0.2)  # chances that a sentence of a story has one, two or three clauses
# Of the sentences of `Lexicon.sentences`: chances of one, two or three salient words of the label;
# of one of the other label, where it can't win; of no, one or two neutral clauses.
LENGTHS, MIXED, NEUTRAL_COUNTS = (0.5, 0.3, 0.2), 0.5, (0.3, 0.4, 0.3)


@dataclass(frozen=True)
class Lexicon:
    """Words and clauses of texts with two labels."""

    words: Mapping[str, Sequence[str]]
    """By slot; those of a salient slot by slot and label, such as `N0`."""
    salient_clauses: Sequence[str]
    neutral_clauses: Sequence[str]

    @property
    def labels(self) -> dict[str, int]:
        """The label that each salient word speaks for, the words sorted."""
        slots = [slot for slot in self.words if slot[0].isupper()]
        return dict(sorted((word, int(slot[1])) for slot in slots for word in self.words[slot]))

    def clause(self, label: int | None, generator: random.Random) -> Clause:
        """Return the words of a clause, one of which speaks for the label; of None no word."""
        kinds = self.neutral_clauses if label is None else self.salient_clauses
        return [
            name(generator)
            if slot == NAME
            else _word(self.words[f"{slot}{label}" if slot.isupper() else slot], generator)
            for slot in generator.choice(kinds)
        ]

    def sentence(self, clauses: Sequence[Clause], generator: random.Random) -> list[str]:
        """Return the words of a sentence of these clauses, with words or marks that join them."""
        text = clauses[0]
        for clause in clauses[1:]:
            text = [*text, _word(self.words["+"], generator), *clause]
        return [*text, "."]

    def sentences(self, count: int, generator: random.Random) -> Iterator[tuple[int, str]]:
        """Yield `count` pairs (label, text of one sentence), their labels balanced."""
        for label in balanced(count, generator):
            agreeing = draw(LENGTHS, generator) + 1
            mixed = agreeing > 1 and generator.random() < MIXED
            labels = [label] * agreeing + [1 - label] * mixed
            clauses = [self.clause(each, generator) for each in labels]
            neutral = draw(NEUTRAL_COUNTS, generator)
            clauses += [self.clause(None, generator) for _ in range(neutral)]
            generator.shuffle(clauses)
            yield label, " ".join(self.sentence(clauses, generator))

    def story(
        self, label: int, agreeing: int, neutral: int, generator: random.Random
    ) -> list[list[str]]:
        """Return the words of the sentences of a text.

        It has `agreeing` salient words of its label, fewer of the other one, often none, and
        `neutral` clauses besides.
        """
        opposing = min(generator.randrange(agreeing), generator.randrange(agreeing))
        labels = [*[label] * agreeing, *[1 - label] * opposing, *[None] * neutral]
        clauses = [self.clause(each, generator) for each in labels]
        generator.shuffle(clauses)
        sentences = []
        while clauses:
            size = draw(PER_SENTENCE, generator) + 1
            sentences.append(self.sentence(clauses[:size], generator))
            clauses = clauses[size:]
        return sentences


def balanced(count: int, generator: random.Random) -> list[int]:
    """Return `count` labels in random order, as many 1 as 0 or one fewer."""
    labels = [0, 1] * (count // 2) + [0] * (count % 2)
    generator.shuffle(labels)
    return labels


def name(generator: random.Random) -> str:
    """Make up a name: there are so many that some of dev and test do not occur in train."""
    return "".join(generator.choice(syllables) for syllables in SYLLABLES)


def draw(chances: Sequence[float], generator: random.Random) -> int:
    """Draw 0, 1, 2, ... with the given chances."""
    return generator.choices(range(len(chances)), weights=chances)[0]


def _word(choices: Sequence[str], generator: random.Random) -> str:
    """Draw a word, the n-th of the list with a weight of 1/n."""
    return generator.choices(choices, cum_weights=_zipf(len(choices)))[0]


@cache
def _zipf(count: int) -> list[float]:
    """Return the sums of 1, 1/2, ... up to each of `count` terms."""
    return list(accumulate(1 / rank for rank in range(1, count + 1)))


def _lexicon(text: str, base: Mapping[str, Sequence[str]] | None = None) -> Lexicon:
    """Read a lexicon; a line that is indented goes on, slots that it lacks are those of `base`."""
    slots = {**(base or {})}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        slot, *words = entry.split()
        slots[slot] = words
    return Lexicon(slots, slots.pop("salient"), slots.pop("neutral"))


SENTIMENT = _lexicon("""
J0 dull tedious clumsy lifeless shallow tiresome bland awful dreary stale pointless inept hollow
    lazy grating sluggish muddled feeble vapid contrived soggy charmless
J1 moving brilliant charming witty graceful superb delightful gripping warm fresh wise tender
    thrilling elegant vivid heartfelt inventive radiant dazzling sublime rich lively
N0 mess bore failure disaster chore letdown blunder dud
N1 triumph joy gem delight treasure marvel treat masterpiece
V0 bores fails annoys drags stumbles disappoints flounders irritates
V1 charms shines delights soars sparkles succeeds enchants satisfies
n film story plot cast script director camera ending scene actor music dialogue movie hero comedy
    drama sequel city family war river house summer season novel village train letter teacher
    soldier street winter journey island captain garden hospital widow banker twin
j long french second young dark quiet small early urban rural silent main modern old final ordinary
    foreign distant odd nearby
v follows opens moves returns turns begins walks speaks travels waits arrives changes drifts wanders
    gathers
r slowly again often mostly simply quickly rarely almost nearly always
p in of with about through from under near after before
d the a this its every one
b is looks feels remains
+ , and but while as ;
salient dJn dnV dnbrJ dnpdnbJ dJnpdn djnrV dNp* *vpdJn djN
neutral dnv dnbj dnvpdn djnvr dnpdnvr pdjn *rvpdjn *v
""")
"""Film reviews, negative 0 or positive 1."""
SPORTS = _lexicon(
    """
N0 pitcher inning yankees batter homer mets bullpen dodgers mound braves shortstop catcher phillies
    hitter outfield cubs umpire strikeout orioles fastball padres curveball dugout pennant infield
    bunt knuckleball astros
N1 puck goalie rink bruins skater penguins slapshot leafs defenseman flyers faceoff penalty oilers
    winger icing canadiens netminder blackhawks crease breakaway nordiques powerplay whalers
    forecheck zamboni sabres ice goaltender
V0 pitches bats homers bunts swings grounds steals
V1 skates checks deflects shoots forechecks faces brawls
n game team season player coach fan score league playoff division trade roster series manager week
    year rookie arena city night injury contract captain locker average record crowd radio network
    ticket town point guy opinion question list group house
j good last young whole early late great home first second big long tough old usual obvious local
    distant
v wins loses plays leads trails improves returns waits travels signs believes works helps counts
c two 3 10 1992 four 25 300 1993 7
salient dNv dNrv djNvr dnV djnV *Vpdn dnpdN *vpdN dNvpdn
neutral dnv dnbj dnvpdn djnvr dnpdnvr pdjn *rvpdjn *vcn
""",
    {slot: SENTIMENT.words[slot] for slot in "rpdb+"},
)
"""Messages on baseball 0 or hockey 1."""
NEWS = _lexicon(
    """
N0 troops rebels minister ceasefire hostage election parliament militants embassy refugees treaty
    insurgents diplomats gunmen uprising peacekeepers ambassador prisoners border siege coalition
    exile truce cleric junta referendum warlord
N1 profit shares investors earnings stocks retailer oil merger quarter dividend revenue dollar
    airline takeover analysts lender inflation bankruptcy shareholders brokerage layoffs mortgage
    bond chipmaker currency buyout payroll
V0 protests flees surrenders votes patrols retreats mourns
V1 invests acquires sells earns trades borrows merges
n government official country week president plan report deal group agency capital leader talks
    state court bank month party decision statement problem law budget chief spokesman people market
    world union region city security energy storm visit
j new top major international key former big national public long strong early local european asian
    recent final likely
v says rises falls begins ends warns agrees announces expects rejects waits grows changes returns
    opens
g 's
c two 10 three 2004 100 five 25 2003 50
salient Nv Nrv jNvr dnV djnV *Vpdn *gNv dnvpN Nvpdn
neutral dnv dnbj dnvpdn djnvr *gnvr pdjn *vpdjn *vpcn
""",
    {slot: SENTIMENT.words[slot] for slot in "rpdb+"},
)
"""News items on the world 0 or on business 1."""


def typeset(tokens: Sequence[str]) -> str:
    """Return a sentence with a capital at its start and no space before marks."""
    text = tokens[0]
    for token in tokens[1:]:
        text += token if token[0] in ",;.?'" else f" {token}"
    return text[:1].upper() + text[1:]


def prose(sentences: Iterable[Sequence[str]]) -> str:
    """Return sentences as running text."""
    return " ".join(map(typeset, sentences))
