# SPDX-License-Identifier: Apache-2.0
"""Campaigns: work of hours, in tasks that Dask gives to the cores of one machine or of many (docs/campaigns.md).

    main.py      the command line
    kinds.py     what a kind of campaign is: tasks, and how their output is read and summed up
    verify.py, mutants.py, nightly.py     the kinds
    tree.py      the built tree as an archive
    node.py      what runs on a worker: unpacks the archive, runs a task; of the standard library alone
    crew.py      the cluster: connects, compares versions, has every task run
    results.py   the results of a campaign, kept as they come
    cover.py     coverage of all tasks together
    report.py    the page that shows a campaign

Only crew.py and node.py know Dask.
"""
