"""Makes the references of the guards. They come from revision fb6c8c0, before the package was rebuilt.

    cd BEFORE && PYTHONPATH=BEFORE/src python .../tests/guards/record.py BEFORE

BEFORE is a checkout of that revision. Results are recorded once for each kind of machine, beside those of the others. Recording again with later code would make the guards guard nothing: do so only for a
change that is meant to change results, and only the part that it changes (results, keys, tables or models).
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import cases
import numpy as np


def record_results() -> None:
    assert set(cases.BASELINES) == set(cases.METHOD_NAMES)
    found, sampled = {}, {}
    for name in cases.CASES:
        start = time.perf_counter()
        result = cases.run_case(name)
        sampled[name] = result.pop("sample")
        found[name] = result
        print(f"{name}: {time.perf_counter() - start:.2f} s", file=sys.stderr)
    path = cases.REFERENCE / "results.json"
    earlier = json.loads(path.read_text(encoding="utf-8"))["recordings"] if path.exists() else []
    others = [recording for recording in earlier if recording["machine"] != cases.machine()]
    recordings = [*others, {"machine": cases.machine(), "cases": found}]
    _write("results.json", {"revision": cases.REVISION, "recordings": recordings})
    if not others:  # on other machines the logits are compared with those of the first one
        np.savez_compressed(cases.REFERENCE / "logits.npz", **sampled)


def record_keys(root: Path) -> None:
    files, sampled, count = {}, [], 0
    for path in sorted((root / "benchmarks" / "results").glob("*.jsonl")):
        keys = cases.keys_of_file(path)
        lines = path.read_bytes().count(b"\n")
        files[path.name] = {"lines": lines, "keys": len(keys), "sha256": cases.digest_of_keys(keys)}
        sampled += [[path.name, *keys[k]] for k in range(0, len(keys), 120)]
        count += len(keys)
    distinct = len(cases.Store(root / "benchmarks" / "results"))
    _write(
        "keys.json",
        {"revision": cases.REVISION, "count": count, "distinct": distinct, "files": files, "samples": sampled},
    )


def record_tables(root: Path) -> None:
    """The commands of the pages as Markdown, as the pages have them, and those of ncgc once more as text."""
    folder = cases.REFERENCE / "show"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    commands: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place:
        frozen = cases.freeze(root, Path(place))
        text = "".join((root / page).read_text(encoding="utf-8") for page in cases.PAGES)
        for number, command in enumerate(dict.fromkeys(cases.COMMAND.findall(text)), start=1):
            words = command.split()
            kind = words[3] if words[0] == "ncgc" else Path(words[1]).stem
            forms = {"": " --format markdown", "-text": ""} if words[0] == "ncgc" else {"": ""}
            for ending, option in forms.items():
                name = f"{number:02}-{kind}{ending}.txt"
                commands[name] = command + option
                (folder / name).write_bytes(cases.printed(commands[name], frozen).encode())
    _write("show/commands.json", commands)


def record_models() -> None:
    folder = cases.REFERENCE / "models"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    labels = {}
    other, _ = cases.tiny(1, 25)
    for name, make in cases.MODELS.items():
        model = make().fit(*cases.tiny())
        if name in cases.CALIBRATED:
            model.calibrate()
        model.save(folder / name)
        np.save(folder / f"{name}.npy", model.predict_proba())
        np.save(folder / f"{name}-other.npy", model.predict_proba(other))
        labels[name] = model.predict().tolist()
    _write("models/labels.json", labels)


def _write(name: str, value: object) -> None:
    (cases.REFERENCE / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(words: list[str]) -> None:
    root = Path(words[0]).resolve()
    home = Path(sys.modules["ncgc"].__file__ or "").resolve()
    if not home.is_relative_to(root):
        sys.exit(f"The code that would be recorded is {home}, not that in {root}; set PYTHONPATH.")
    chosen = words[1:] or ["results", "keys", "tables", "models"]
    cases.REFERENCE.mkdir(exist_ok=True)
    steps = {
        "results": record_results,
        "keys": lambda: record_keys(root),
        "tables": lambda: record_tables(root),
        "models": record_models,
    }
    for name in chosen:
        start = time.perf_counter()
        steps[name]()
        print(f"== {name}: {time.perf_counter() - start:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
