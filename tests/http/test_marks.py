"""Limits follow the views: which URLs are costly or take a larger body, and when."""

from intents_ui.http import marks
from intents_ui.http.marks import Marks
from tests.url_patterns import url_patterns

# Every URL with a mark: when it is costly, the limit of its body, and its other marks.
MARKED = """
newest                                    | never      | body    | whole
overview                                  | never      | body    | whole
search                                    | with query | body    |
triage                                    | never      | triage  |
intent/<identifier:intent_id>/receipt     | never      | body    | whole
intent/<identifier:intent_id>/commit      | never      | console |
embed/intent/<identifier:intent_id>       | never      | body    | framed
embed/ticket                              | always     | triage  | framed
slack/command                             | posted     | body    |
slack/events                              | posted     | body    |
export/history.<file:kind>                | always     | body    |
export/attention.<file:kind>              | always     | body    |
export/address/<identifier:address>.<file:kind> | always | body   |
tx/<identifier:transaction_hash>          | always     | body    |
tx/<chain:chain_id>/<identifier:transaction_hash> | always | body  |
console/<identifier:operation>            | never      | console |
demo/new                                  | never      | console |
api/v1/lookup                             | always     | body    |
api/v1/triage                             | always     | triage  |
mcp                                       | posted     | body    |
"""


def row(route: str, found: Marks) -> tuple[str, ...]:
    others = [name for name, has in (("whole", found.is_whole), ("framed", found.is_framed)) if has]
    return route, found.costly, found.body, " ".join(others)


def test_the_urls_of_this_table_and_no_others_have_marks() -> None:
    found = {row(each.pattern, marks.of_view(each.callback)) for each in url_patterns()}
    marked = {each for each in found if each != row(each[0], marks.NONE)}
    assert marked == {tuple(cell.strip() for cell in line.split("|")) for line in MARKED.strip().splitlines()}
