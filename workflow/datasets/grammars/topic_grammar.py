"""Small generated texts on one of two topics: sports (baseball, hockey), news (world, business).

The topic of a text is that of most of its salient words. Much of a text is neutral: words that any
text may have, and words that both topics share, such as `team` or `government`.
"""

from workflow.datasets.grammars.clause_grammar import Grammar, words
from workflow.datasets.grammars.sentiment_grammar import NEUTRAL as PLAIN

SPORTS = Grammar(
    salient={
        "noun": (
            words(
                "pitcher inning yankees batter homer mets bullpen dodgers mound braves shortstop "
                "catcher phillies hitter outfield cubs umpire strikeout orioles fastball padres "
                "curveball dugout pennant infield bunt knuckleball astros"
            ),
            words(
                "puck goalie rink bruins skater penguins slapshot leafs defenseman flyers faceoff "
                "penalty oilers winger icing canadiens netminder blackhawks crease breakaway "
                "nordiques powerplay whalers forecheck zamboni sabres ice goaltender"
            ),
        ),
        "verb": (
            words("pitches bats homers bunts swings grounds steals"),
            words("skates checks deflects shoots forechecks faces brawls"),
        ),
    },
    neutral={
        **PLAIN,
        "noun": words(
            "game team season player coach fan score league playoff division trade roster series "
            "manager week year rookie arena city night injury contract captain locker average "
            "record crowd radio network ticket town point guy opinion question list group house"
        ),
        "adjective": words(
            "good last young whole early late great home first second big long tough old usual "
            "obvious local distant"
        ),
        "verb": words(
            "wins loses plays leads trails improves returns waits travels signs believes works "
            "helps counts"
        ),
        "number": words("two 3 10 1992 four 25 300 1993 7"),
    },
    salient_clauses=("dNv", "dNrv", "djNvr", "dnV", "djnV", "*Vpdn", "dnpdN", "*vpdN", "dNvpdn"),
    neutral_clauses=("dnv", "dnbj", "dnvpdn", "djnvr", "dnpdnvr", "pdjn", "*rvpdjn", "*vcn"),
)

NEWS = Grammar(
    salient={
        "noun": (
            words(
                "troops rebels minister ceasefire hostage election parliament militants embassy "
                "refugees treaty insurgents diplomats gunmen uprising peacekeepers ambassador "
                "prisoners border siege coalition exile truce cleric junta referendum warlord"
            ),
            words(
                "profit shares investors earnings stocks retailer oil merger quarter dividend "
                "revenue dollar airline takeover analysts lender inflation bankruptcy shareholders "
                "brokerage layoffs mortgage bond chipmaker currency buyout payroll"
            ),
        ),
        "verb": (
            words("protests flees surrenders votes patrols retreats mourns"),
            words("invests acquires sells earns trades borrows merges"),
        ),
    },
    neutral={
        **PLAIN,
        "noun": words(
            "government official country week president plan report deal group agency capital "
            "leader talks state court bank month party decision statement problem law budget "
            "chief spokesman people market world union region city security energy storm visit"
        ),
        "adjective": words(
            "new top major international key former big national public long strong early local "
            "european asian recent final likely"
        ),
        "verb": words(
            "says rises falls begins ends warns agrees announces expects rejects waits grows "
            "changes returns opens"
        ),
        "genitive": ["'s"],
        "number": words("two 10 three 2004 100 five 25 2003 50"),
    },
    salient_clauses=("Nv", "Nrv", "jNvr", "dnV", "djnV", "*Vpdn", "*gNv", "dnvpN", "Nvpdn"),
    neutral_clauses=("dnv", "dnbj", "dnvpdn", "djnvr", "*gnvr", "pdjn", "*vpdjn", "*vpcn"),
)
