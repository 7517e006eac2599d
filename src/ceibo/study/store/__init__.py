"""SQL store of studies, trials and measurements, on SQLite (a file or memory) and PostgreSQL.

States of a trial
    queued    its parameters are fixed and it waits to be handed out: enqueued by the user, or
              released
    running   handed out; with a lease it is handed out again once the lease lapses, without one
              (asked by hand) it stays until told, failed or released
    done      it has a measurement (of every goal and limit, if the study has outcomes); only
              voiding one that it needs leads out of this state
    failed    it ended without a value; a late measurement still makes it done
    withdrawn it is not to be measured after all; nothing was learnt from it, and a late measurement
              makes it done

Events, and the state they lead to
    asked     created and handed out                         running
    queued    created to be handed out later                 queued
    claimed   handed out (again); the number stays           queued, running -> running
    measured  a measurement was stored, of the outcome       any -> done; while an outcome that it
              that it names, if the study has outcomes       needs is missing the state stays, but
                                                             a queued trial is then running
    corrected a measurement was replaced, and keeps its      the state stays
              place and its key; the event's key is the
              event whose value it replaces
    voided    a measurement does not count any more; the     done -> running if a value is missing
              event's key is the event that gave the value   now; else the state stays
    failed    an evaluation failed, with the reason          queued, running -> failed; done stays
                                                             done, and a trial that another worker
                                                             holds by now stays running
    released  given back; with a reason if it was lost       running -> queued
    withdrawn given up unmeasured                            queued, running -> withdrawn

    space     the study has another space from now on,       none: it is about no trial, and its
              which is the data of the event                 number is -1

Each event of a study has the next sequence number, given in the transaction that makes the change,
so `snapshot(study, at=n)` is exactly what a reader saw who had seen event n. Renewing a lease is
not an event. Trial numbers count from 0 without gaps.

A process killed between two statements leaves nothing; killed after a commit it leaves a running
trial, which its lease hands out again. A trial that was lost MAX_LOST times with its worker is
taken for the cause and becomes failed instead. Every write recognises itself when it is repeated
after a commit without an answer.
"""

from ceibo.study.store.heartbeat import Heartbeat
from ceibo.study.store.lifecycle import MAX_LOST, hand_out_key
from ceibo.study.store.measurements import Named
from ceibo.study.store.records import (
    DONE,
    FAILED,
    QUEUED,
    RUNNING,
    WITHDRAWN,
    Change,
    Lease,
    NewTrial,
    Pick,
    Picking,
    Snapshot,
    StoredTrial,
    StudyRecord,
    Telling,
    Told,
)
from ceibo.study.store.store import Store

__all__ = [
    "DONE",
    "FAILED",
    "MAX_LOST",
    "QUEUED",
    "RUNNING",
    "WITHDRAWN",
    "Change",
    "Heartbeat",
    "Lease",
    "Named",
    "NewTrial",
    "Pick",
    "Picking",
    "Snapshot",
    "Store",
    "StoredTrial",
    "StudyRecord",
    "Telling",
    "Told",
    "hand_out_key",
]
