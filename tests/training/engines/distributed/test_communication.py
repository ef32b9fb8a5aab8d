"""The report of a training in several processes: what the last epoch sent, by process, and its lines on the screen."""

import torch

from ncgc.training.engines.distributed.communication import CommunicationReport, Meter, communication_report
from ncgc.training.engines.distributed.group import Group


def test_the_meter_keeps_the_last_epoch_and_calls_the_watcher():
    group, seen = Group(), []
    meter = Meter(group)
    watch = meter.watching(lambda epoch, quantities: seen.append((epoch, quantities)))
    group.traffic.add("neighbours", torch.zeros(100))  # the first epoch
    watch(1, {"total": 2.0})
    group.traffic.add("neighbours", torch.zeros(3))
    group.traffic.add("everybody", torch.zeros(2))
    watch(2, {"total": 1.0})
    assert seen == [(1, {"total": 2.0}), (2, {"total": 1.0})]
    assert meter.last_epoch.sent == {"everybody": 8, "neighbours": 12, "first": 0, "others": 0}
    assert meter.last_epoch.messages["neighbours"] == 1
    meter.watching(None)(3, {})
    assert sum(meter.last_epoch.sent.values()) == 0


def test_every_process_has_the_report_of_all(in_processes):
    def run(group):
        meter = Meter(group)
        group.exchanged(torch.zeros(2 * group.size, 3), [2] * group.size, [2] * group.size)
        group.summed(torch.zeros(5))
        meter.watching(None)(1, {})
        return communication_report(group, meter, nodes=10 + group.rank, halo=group.rank).to_dict()

    first, second = in_processes(run, 2)
    assert first == second
    assert first["peak_bytes"][0] > 0
    del first["peak_bytes"]
    assert first == {
        "processes": 2,
        "nodes": [10, 11],
        "halo": [0, 1],
        "to_everybody": 20,
        "messages": 1,
        "to_neighbours": [48, 48],
    }


def test_lines_for_the_screen():
    report = CommunicationReport(2, [898, 899], [7, 7], [2**20, 3 * 2**20], 4_500, 12, [1_000, 2_000])
    assert report.lines() == [
        ("ranks", "2: 898–899 nodes, 7 in the halo; 1–3 MiB at most"),
        ("sent", "an epoch: 4.5 kB to everybody in 12 messages, 1–2 kB to neighbours"),
    ]
