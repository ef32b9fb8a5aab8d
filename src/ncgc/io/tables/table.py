"""Table: a pyarrow table that knows where each of its rows stands in the file, read from CSV, TSV (also .gz) or Parquet.

The delimiter follows the extension; where the header has none of it but another usual one (comma, semicolon, tab, bar),
that one is used and noted.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ncgc.errors import InputError
from ncgc.io.tables.text_files import BOM, check_delimiter, parse, records, sniff, spelled

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """Rows and columns with a name for messages.

    Attributes:
        data: the cells.
        name: of the table in messages, such as the file's name.
        place: names row i (from 0), such as "row 7".
        notes: sentences for the user on how the file was read.
    """

    data: pa.Table
    name: str
    place: Callable[[int], str] = field(default=lambda row: f"row {row + 1}", repr=False)
    notes: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """Name a table and row for a message.

        Args:
            row: number of the row, from 0.

        Returns:
            Such as "nodes.csv row 7".
        """
        return f"{self.name} {self.place(row)}"

    def column(self, name: str) -> pa.ChunkedArray:
        """The cells of a column.

        Args:
            name: the column.

        Returns:
            (n,) cells.
        """
        return self.data.column(name)

    @property
    def columns(self) -> list[str]:
        return list(self.data.column_names)

    def __len__(self) -> int:
        return int(self.data.num_rows)


def read_table(path: str | Path, delimiter: str | None = None) -> Table:
    """Read a file: .csv, .tsv, .txt (tabs), each also .gz, or .parquet.

    Cells of text files stay strings, so that the id 007 stays 007; Parquet keeps its types. Rows are numbered as a text
    editor shows them, the header being row 1; those of Parquet, which has no header, from 1.

    Args:
        path: the file.
        delimiter: of a text file; by default from its extension and header.

    Returns:
        The table.

    Raises:
        InputError: names the file and, where there is one, the row, and what to do.
    """
    path = Path(path)
    check_no_folder(path)
    lower = path.name.lower()
    gzipped = lower.endswith(".gz")
    ending = Path(lower.removesuffix(".gz")).suffix
    if ending in PARQUET and not gzipped:
        return _from_parquet(path)
    if ending not in DELIMITERS:
        raise InputError(
            f"{path.name} has an extension that is not known; "
            "give a .csv, .tsv, .csv.gz, .tsv.gz or .parquet file, or rename it."
        )
    return _from_text(path, DELIMITERS[ending], delimiter, gzipped)


def as_table(source: Any, name: str, delimiter: str | None = None) -> Table:
    """A Table from a file or a data frame.

    Args:
        source: a path, a pandas DataFrame, a pyarrow Table, or a Table, which is returned as it is.
        name: in messages, where the source is no file.
        delimiter: of a text file; by default from its extension and header.

    Returns:
        The table, with unique column names and at least one row.

    Raises:
        InputError: names what is wrong with the table and what to do.
    """
    if isinstance(source, str | Path):
        return read_table(source, delimiter)
    if isinstance(source, Table):
        return source
    if not isinstance(source, pa.Table):
        try:
            source = pa.Table.from_pandas(source, preserve_index=False)
        except (pa.ArrowException, AttributeError, TypeError, ValueError) as error:
            raise InputError(
                f"The {name} must be a file's path, a pandas DataFrame or a pyarrow Table, each column of one type "
                f"({error})."
            ) from None
    return _checked(Table(source, name))


def _from_text(path: Path, expected: str, delimiter: str | None, gzipped: bool) -> Table:
    content = read_file(path)
    if gzipped:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path.name} is not a whole gzip file ({error}); make or copy it again.") from None
    content = content.removeprefix(BOM)
    used = sniff(content, expected) if delimiter is None else check_delimiter(delimiter)
    notes: tuple[str, ...] = ()
    if delimiter is None and used != expected:
        notes = (f"{path.name} is read as separated by {spelled(used)}, not by {spelled(expected)}.",)
    header, data = parse(content, path.name, used)
    names = [cell.strip() or f"column {number}" for number, cell in enumerate(header, start=1)]
    lines: list[int] = []

    def place(row: int) -> str:
        if not lines:  # scanned once, at the first error
            lines.extend(record.line for record in records(content, used))
        return f"row {lines[row + 1] if row + 1 < len(lines) else row + 2}"

    _check_names(names, path.name)
    return _checked(Table(data.rename_columns(names), path.name, place, notes))


def _from_parquet(path: Path) -> Table:
    content = read_file(path)
    if not content:
        raise InputError(f"{path.name} is empty; write the table again.")
    try:
        data = pq.ParquetFile(pa.BufferReader(content)).read()
        data.validate(full=True)
        names = [name.strip() or f"column {number}" for number, name in enumerate(data.column_names, start=1)]
    except (pa.ArrowException, OSError, ValueError, UnicodeError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name} is not a whole Parquet file ({first}); write or copy it again.") from None
    _check_names(names, path.name)
    return _checked(Table(data.rename_columns(names), path.name))


def read_file(path: str | Path) -> bytes:
    """Read a file.

    Args:
        path: the file.

    Returns:
        Its bytes.

    Raises:
        InputError: if it is missing, a folder, or cannot be read.
    """
    path = Path(path)
    check_no_folder(path)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        near = _near(path)
        raise InputError(f"There is no file {path}{near}; check its name and the folder.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def check_no_folder(path: Path) -> None:
    """Check that a path is not a folder.

    Args:
        path: of a file, which need not exist.

    Raises:
        InputError: if it is a folder, or its own folder cannot be read.
    """
    try:
        folder = path.is_dir()
    except OSError as error:  # in a folder without permission
        raise _unreadable(path, error) from None
    if folder:
        raise InputError(f"{path} is a folder, not a file; give the file in it.")


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"{path} cannot be read ({reason}); check its name and your rights to it.")


def _near(path: Path) -> str:
    try:
        close = get_close_matches(path.name, [file.name for file in path.parent.iterdir()], n=1)
    except OSError:
        return ""
    return f" (there is {close[0]})" if close else ""


def _check_names(names: list[str], name: str) -> None:
    twice = [column for column, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"{name} has more than one column {twice[0]!r}; give each its own name.")


def _checked(table: Table) -> Table:
    _check_names(table.columns, table.name)
    if not len(table):
        raise InputError(f"{table.name} has a header but no rows; add a row for each node or edge.")
    return table
