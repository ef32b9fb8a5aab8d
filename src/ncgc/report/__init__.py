"""The report: one HTML page on a result, to read, share and print."""

from ncgc.report.data import Abstain, Candidate, Reliability, ReportData, Suggestion
from ncgc.report.layout import layout_2d
from ncgc.report.page import render_report

__all__ = ["Abstain", "Candidate", "Reliability", "ReportData", "Suggestion", "layout_2d", "render_report"]
