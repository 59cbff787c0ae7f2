"""The exporter stand-in prints what the real one prints."""

from pathlib import Path

import pytest

from tests.cluster.errors import HarnessError
from tests.cluster.exporter import Exporter, utilisation
from tests.cluster.fleet import (
    Binding,
    Fleet,
    Gpu,
    Slot,
    Spelling,
    exposition,
    read_fleet,
    uniform_fleet,
)
from tests.cluster.textserver import TextServer

UTIL = "DCGM_FI_DEV_GPU_UTIL"
FIRST, SECOND = Slot(node="gpu-node-1", index=0), Slot(node="gpu-node-1", index=1)
SERVER = Binding(namespace="ml", pod="infer-0", container="server")
V100 = Gpu(slot=FIRST, uuid="GPU-1", model="Tesla V100-SXM2-32GB")


def line_of(gpu: Gpu, name: str, value: float, binding: Binding | None, spelling: Spelling) -> str:
    """The one sample line for one value of one GPU."""
    bindings = {gpu.slot: binding} if binding else {}
    return exposition([gpu], {gpu: {name: value}}, bindings, spelling).splitlines()[-1]


def test_an_allocated_gpu_carries_its_workload_in_the_real_order() -> None:
    text = exposition([V100], {V100: {UTIL: 87}}, {FIRST: SERVER}, Spelling(driver="535.129.03"))
    assert text == (
        "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n"
        "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
        'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",pci_bus_id="00000000:15:00.0",'
        'device="nvidia0",modelName="Tesla V100-SXM2-32GB",Hostname="gpu-node-1",'
        'DCGM_FI_DRIVER_VERSION="535.129.03",container="server",namespace="ml",pod="infer-0"} 87\n'
    )


def test_an_idle_gpu_has_no_workload_labels() -> None:
    line = line_of(V100, UTIL, 0, None, Spelling())
    assert line.endswith(f'DCGM_FI_DRIVER_VERSION="{Spelling().driver}"}} 0')


def test_an_old_exporter_prints_empty_workload_labels_for_an_idle_gpu() -> None:
    line = line_of(V100, UTIL, 0, None, Spelling(empty_when_idle=True))
    assert line.endswith('container="",namespace="",pod=""} 0')


def test_a_new_exporter_spells_hostname_in_lower_case() -> None:
    assert ',hostname="gpu-node-1",' in line_of(V100, UTIL, 0, None, Spelling(hostname="hostname"))


def test_a_mig_instance_names_its_profile_and_number() -> None:
    gpu = Gpu(slot=FIRST, uuid="GPU-1", profile="1g.5gb", instance="7")
    line = line_of(gpu, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.412007, None, Spelling())
    assert 'GPU_I_PROFILE="1g.5gb",GPU_I_ID="7",Hostname=' in line
    assert line.endswith("} 0.412007")


@pytest.mark.parametrize("text", ["NaN", "+Inf", "-Inf"])
def test_a_value_that_is_no_number_is_printed_as_prometheus_reads_it(text: str) -> None:
    assert line_of(V100, UTIL, float(text), None, Spelling()).endswith(f"}} {text}")


def test_a_uniform_fleet_has_gpus_of_its_own_on_every_node() -> None:
    fleet = uniform_fleet({"a": 2, "b": 1})
    assert fleet.nodes == {"a": 2, "b": 1}
    assert len({gpu.uuid for gpu in fleet.gpus}) == 3


def test_a_fleet_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(
        "nodes:\n"
        "  gpu-node-1:\n"
        "  - {binding: {namespace: ml, pod: infer-0, container: server}}\n"
        "  - {uuid: GPU-x, model: Tesla T4}\n"
    )
    fleet = read_fleet(path)
    assert fleet.bindings == {FIRST: SERVER}
    assert fleet.gpus[1] == Gpu(slot=SECOND, uuid="GPU-x", model="Tesla T4")


@pytest.mark.parametrize("text", ["{}", "nodes: 3", "nodes: {a: [{uid: x}]}", "- ["])
def test_a_file_that_describes_no_fleet_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(text)
    with pytest.raises(HarnessError, match=f"^{path} describes no fleet"):
        read_fleet(path)


def test_a_load_reads_the_workload_and_a_fixed_value_wins() -> None:
    fleet = Fleet(
        gpus=uniform_fleet({"gpu-node-1": 2}).gpus, bindings={FIRST: SERVER, SECOND: SERVER}
    )
    exporter = Exporter(server=TextServer(), fleet=fleet, load=utilisation({SERVER: 40.0}.get))
    exporter.set(SECOND, UTIL, 90)
    values = [line.split()[-1] for line in exporter.text("gpu-node-1").splitlines() if UTIL in line]
    assert values[-2:] == ["40", "90"]


def test_a_fixed_value_of_nothing_leaves_the_series_out() -> None:
    exporter = Exporter(server=TextServer(), fleet=uniform_fleet({"gpu-node-1": 1}))
    exporter.set(FIRST, UTIL, None)
    assert UTIL not in exporter.text("gpu-node-1")
    exporter.release()
    assert UTIL in exporter.text("gpu-node-1")
