"""How unlikely counts are, and how much they speak for another share. Shares are probabilities, never amounts."""

from math import exp, lgamma, log, log1p


def binomial_tail(found: int, of: int, share: float) -> float:
    """Return the probability that at least `found` of this many are, if each is with this probability."""
    if found <= 0:
        return 1.0
    if found > of or share <= 0.0:
        return 0.0
    if share >= 1.0:
        return 1.0
    if found <= of * share:  # the other tail is the smaller one
        return 1.0 - binomial_tail(of - found + 1, of, 1.0 - share)
    chosen = lgamma(of + 1) - lgamma(found + 1) - lgamma(of - found + 1)
    term = total = exp(chosen + found * log(share) + (of - found) * log1p(-share))
    odds = share / (1.0 - share)
    for number in range(found, of):
        term *= odds * (of - number) / (number + 1)
        total += term
        if term < total * 1e-16:
            break
    return min(total, 1.0)


def likelihood_ratio(found: int, of: int, share: float) -> float:
    """Return the logarithm of how much likelier the share that was found is than this lower one."""
    if not 0.0 < share < 1.0 or found <= of * share:
        return 0.0
    rest = of - found
    return found * log(found / (of * share)) + (rest * log(rest / (of * (1.0 - share))) if rest else 0.0)


def preference(found: int, of: int, share: float, other: float) -> float:
    """Return the logarithm of how much likelier these counts are with a share than with another one."""
    if not (0.0 < share < 1.0 and 0.0 < other < 1.0):
        return 0.0
    return found * log(share / other) + (of - found) * log((1.0 - share) / (1.0 - other))


def times(factor: int, share: float) -> float:
    """Return the share with odds that are so many times higher. It is about `factor` times a small share."""
    return factor * share / (1.0 + (factor - 1) * share)
