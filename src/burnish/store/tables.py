"""The tables of the store. A change of any of them is a new `SCHEMA` number."""

from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, Text

__all__ = ["METADATA", "RECORDS", "SCHEMA", "SCHEMA_NUMBER", "STUDIES", "TRIALS"]

SCHEMA_NUMBER = 1

METADATA = MetaData()

SCHEMA = Table(
    "burnish_schema",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
)

# JSON is kept as text: it reads the same in every database, and numbers keep all their digits.
STUDIES = Table(
    "burnish_studies",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("kernel", Text, nullable=False),
    Column("objective", Text, nullable=False),
    Column("inputs", Text, nullable=False),  # JSON object of texts
    Column("about", Text, nullable=False),  # JSON object
    Column("status", Text, nullable=False),
    Column("created", Text, nullable=False),  # UTC, ISO 8601
    Column("updated", Text, nullable=False),
    Column("base", Text, nullable=False),  # JSON object: the config of the first stored trial
)

TRIALS = Table(
    "burnish_trials",
    METADATA,
    Column("study", Text, ForeignKey("burnish_studies.name"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("changes", Text, nullable=False),  # JSON object: what differs from the base
    Column("status", Text, nullable=False),
    Column("figures", Text, nullable=False),  # JSON object
    Column("binary", Text, nullable=False),
    Column("duplicate_of", Integer),
    Column("message", Text, nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("seconds", Text, nullable=False),  # JSON object
    Column("made", Text, nullable=False),  # UTC, ISO 8601
)

RECORDS = Table(
    "burnish_records",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("study", Text, ForeignKey("burnish_studies.name"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("made", Text, nullable=False),  # UTC, ISO 8601
    Column("body", Text, nullable=False),  # JSON
)
