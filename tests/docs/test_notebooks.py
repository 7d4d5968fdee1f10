"""The notebooks run from top to bottom, with a tiny model where they use one."""

import asyncio
from pathlib import Path

import pytest

from selection import rest_slow

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_the_notebooks_are_found():
    assert {"measure_energy", "train_on_your_rows"} <= {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells and not [cell for cell in cells if cell.outputs or cell.execution_count]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One kernel for all notebooks, because a new one takes seconds to import torch and transformers."""
    from jupyter_client.manager import AsyncKernelManager

    manager = AsyncKernelManager(kernel_name="python3")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("notebooks"))
        yield manager
    asyncio.run(manager.shutdown_kernel(now=True))


# fast: what takes no training and no compression, which tests of the quickstart and the examples run
QUICK = [path for path in NOTEBOOKS if path.stem == "measure_energy"]


@pytest.mark.parametrize("path", rest_slow(NOTEBOOKS, QUICK), ids=lambda path: path.stem)
def test_a_notebook_runs(path, kernel, bert_folder, rows_csv, tmp_path):
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = f"from pathlib import Path\nmodel, rows, folder = {str(bert_folder)!r}, {str(rows_csv)!r}, Path({str(tmp_path)!r})"
    book.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))  # no name of the notebook before is left
    done = nbclient.NotebookClient(book, timeout=600, km=kernel).execute()
    assert [output.output_type for cell in done.cells for output in cell.get("outputs", [])]
