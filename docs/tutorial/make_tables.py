"""Makes the tables of the tutorial: 600 invented papers that cite each other, 40 of which have a topic.

nodes.csv, edges.csv    the papers and what they cite
new.csv, new_edges.csv  20 papers that came later, and what they cite
answers.csv             the topic of every paper, for whoever plays the librarian
"""

import csv

import numpy as np

WORDS = {
    "astronomy": ["galaxy", "stellar", "orbit", "telescope", "spectrum", "comet", "lunar", "dust", "light"],
    "botany": ["leaf", "root", "seed", "pollen", "soil", "moss", "forest", "growth", "light"],
    "economics": ["market", "price", "trade", "labour", "tax", "bank", "demand", "growth", "corpus"],
    "linguistics": ["verb", "vowel", "dialect", "syntax", "corpus", "grammar", "speech", "tone", "spectrum"],
}
COMMON = ["study", "effects", "analysis", "model", "change", "long", "early", "method", "data", "notes", "measured", "small"]  # fmt: skip
TOPICS, VENUES = list(WORDS), ["Annals", "Letters", "Proceedings", "Review"]
PAPERS, NEW, LABELS, CITATIONS = 600, 20, 10, 3

random = np.random.default_rng(1)
topic = random.choice(4, PAPERS + NEW, p=[0.35, 0.3, 0.2, 0.15])


def title(k: int) -> str:
    """Four common words, one of the topic, and one of any topic."""
    words = [
        *random.choice(COMMON, 4, replace=False),
        *(random.choice(WORDS[TOPICS[j]]) for j in (k, random.choice(4))),
    ]
    return " ".join(random.permutation(words)).capitalize()


rows, edges = [], []
for paper, k in enumerate(topic):
    venue = VENUES[k] if random.random() < 0.3 else random.choice(VENUES)
    rows.append((f"P{paper:04}", title(k), 2000 + paper // 28, venue, TOPICS[k]))
    own, earlier = np.flatnonzero(topic[:paper] == k), np.arange(paper)
    for _ in range(CITATIONS):  # half of them within the topic
        among = own if len(own) and random.random() < 0.5 else earlier
        edges += [(paper, int(random.choice(among)))] if paper else []


def write(name: str, header: str, lines: list[tuple]) -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header.split(), *lines])


known = {paper for k in range(4) for paper in np.flatnonzero(topic[:PAPERS] == k)[:LABELS].tolist()}
told = [(*row[:4], row[4] if paper in known else "") for paper, row in enumerate(rows[:PAPERS])]
links = [(rows[a][0], rows[b][0]) for a, b in sorted(set(edges))]
write("nodes.csv", "id title year venue topic", told)
write("edges.csv", "citing cited", [link for link in links if link[0] < rows[PAPERS][0]])
write("new.csv", "id title year venue", [row[:4] for row in rows[PAPERS:]])
write("new_edges.csv", "citing cited", [link for link in links if link[0] >= rows[PAPERS][0]])
write("answers.csv", "id topic", [(row[0], row[4]) for row in rows])
