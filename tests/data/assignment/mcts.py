from math import log, sqrt


def select(parent_visits, children):
    bounds = []
    for index, (visits, total) in enumerate(children):
        if visits == 0:
            return index
        bounds.append(total / visits + sqrt(2) * sqrt(log(parent_visits) / visits))
    return bounds.index(max(bounds))
