"""How well questions find their answers: a corpus, judgements, measures and the tables of docs/search.md.

cd tests/search && python -m ranking        # prints the tables
"""
