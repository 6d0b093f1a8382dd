"""The error tree. Each error says what was wrong, with which value, where, and what would be right.

MainspringError
├─ InvalidInput            422  exit 4   the request itself is wrong; nothing was changed
│  ├─ UnknownTask  InvalidParameters  InvalidOption  InvalidDuration  InvalidInstant
│  ├─ InvalidText  InvalidJson  InvalidSetting  InvalidTask  InvalidWorkflow  InvalidCursor  NotYetSupported
│  ├─ WorkflowNotKnown
│  ├─ DestinationRefused  IdempotencyKeyReused  PayloadTooLarge 413  TooManyJobs 413
│  ├─ InvalidSchedule: InvalidCron  NeverFires  UnknownZone
│  └─ MalformedJson 400  MalformedRequest 400  MethodNotAllowed 405  RequestTimeout 408  UnsupportedMediaType 415
│     HeadTooLarge 431: REST only
├─ WrongUse                     exit 2   the command line itself is wrong; CLI only
├─ NotFound                404  exit 3   UnknownJob  UnknownWorker  UnknownQueue  UnknownRun  UnknownWorkflow
│                                        UnknownSchedule  UnknownSubscription  UnknownToken  UnknownUser
│                                        UnknownEdit  UnknownWebhook  UnknownDelivery  NoSuchTask
├─ Conflict                409  exit 4   IllegalState  ReplayLive  KeyHeld  AlreadyUp  BackupRefused  MoveRefused
│                                        TokenExists  UserExists  WebhookExists  NotEnded
├─ Unauthenticated         401  exit 4   WrongPassword; REST only: the server asks who is there
├─ Forbidden               403  exit 4   ForeignOrigin  AddressRefused  RoleTooLow  OutOfReach  ProofMissing
├─ TooBusy                 429  exit 5   TooManyFailures  TooManyRequests; back-pressure
├─ AnswerTimeout           504  exit 5   REST only: not known whether the change was made
├─ AddressUnavailable      503  exit 5   the server can't listen there
├─ StoreError              503  exit 5   StoreUnreachable  StoreReadOnly  StoreCorrupt  StoreBusy  StoreMoved
│                                        OutcomeUnknown 504: not known whether the change was made
│                                        NoDatabase  SchemaTooNew  SchemaTooOld  EngineTooOld  NetworkFilesystem
│                                        ServerUnreachable: what a client of REST says
├─ OutputFailed                 exit 74  an answer could not be written where it was wanted; CLI only
├─ AppNotLoadable          422  exit 4   the user's module could not be imported; carries its traceback
├─ ProtocolViolation       500  exit 1   a runner said what the protocol does not allow
├─ JobNotSucceeded         409  exit 1   JobDead  JobCancelled: what ``job.result()`` raises
├─ RunNotSucceeded         409  exit 1   what ``run.result()`` raises
├─ ConditionFailed         409  exit 1   UnresolvedReference: why a node of a run failed without a job
└─ WaitTimeout             504  exit 1   the job is not done yet; it goes on
``code`` is stable; docs/reference/errors.md lists every one
"""

from __future__ import annotations

from mainspring.errors.invalid import (
    DestinationRefused,
    HeadTooLarge,
    IdempotencyKeyReused,
    InvalidCron,
    InvalidCursor,
    InvalidDuration,
    InvalidInput,
    InvalidInstant,
    InvalidJson,
    InvalidOption,
    InvalidParameters,
    InvalidSchedule,
    InvalidSetting,
    InvalidTask,
    InvalidText,
    InvalidWorkflow,
    MalformedJson,
    MalformedRequest,
    MethodNotAllowed,
    NeverFires,
    NotYetSupported,
    PayloadTooLarge,
    RequestTimeout,
    TooManyJobs,
    UnknownTask,
    UnknownZone,
    UnsupportedMediaType,
    WorkflowNotKnown,
    WrongUse,
    of_field,
)
from mainspring.errors.outcomes import (
    AppNotLoadable,
    ConditionFailed,
    JobCancelled,
    JobDead,
    JobNotSucceeded,
    OutputFailed,
    ProtocolViolation,
    RunNotSucceeded,
    UnresolvedReference,
    WaitTimeout,
)
from mainspring.errors.refused import (
    AddressRefused,
    AddressUnavailable,
    AlreadyUp,
    AnswerTimeout,
    BackupRefused,
    Conflict,
    Forbidden,
    ForeignOrigin,
    IllegalState,
    KeyHeld,
    MoveRefused,
    NoSuchTask,
    NotEnded,
    NotFound,
    OutOfReach,
    ProofMissing,
    ReplayLive,
    RoleTooLow,
    TokenExists,
    TooBusy,
    TooManyFailures,
    TooManyRequests,
    Unauthenticated,
    UnknownDelivery,
    UnknownEdit,
    UnknownJob,
    UnknownQueue,
    UnknownRun,
    UnknownSchedule,
    UnknownSubscription,
    UnknownToken,
    UnknownUser,
    UnknownWebhook,
    UnknownWorker,
    UnknownWorkflow,
    UserExists,
    WebhookExists,
    WrongPassword,
)
from mainspring.errors.root import (
    MainspringError,
    near,
)
from mainspring.errors.stores import (
    STORE_AWAY,
    EngineTooOld,
    NetworkFilesystem,
    NoDatabase,
    OutcomeUnknown,
    SchemaTooNew,
    SchemaTooOld,
    ServerUnreachable,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreMoved,
    StoreReadOnly,
    StoreUnreachable,
)

__all__ = [
    "STORE_AWAY",
    "AddressRefused",
    "AddressUnavailable",
    "AlreadyUp",
    "AnswerTimeout",
    "AppNotLoadable",
    "BackupRefused",
    "ConditionFailed",
    "Conflict",
    "DestinationRefused",
    "EngineTooOld",
    "Forbidden",
    "ForeignOrigin",
    "HeadTooLarge",
    "IdempotencyKeyReused",
    "IllegalState",
    "InvalidCron",
    "InvalidCursor",
    "InvalidDuration",
    "InvalidInput",
    "InvalidInstant",
    "InvalidJson",
    "InvalidOption",
    "InvalidParameters",
    "InvalidSchedule",
    "InvalidSetting",
    "InvalidTask",
    "InvalidText",
    "InvalidWorkflow",
    "JobCancelled",
    "JobDead",
    "JobNotSucceeded",
    "KeyHeld",
    "MainspringError",
    "MalformedJson",
    "MalformedRequest",
    "MethodNotAllowed",
    "MoveRefused",
    "NetworkFilesystem",
    "NeverFires",
    "NoDatabase",
    "NoSuchTask",
    "NotEnded",
    "NotFound",
    "NotYetSupported",
    "OutOfReach",
    "OutcomeUnknown",
    "OutputFailed",
    "PayloadTooLarge",
    "ProofMissing",
    "ProtocolViolation",
    "ReplayLive",
    "RequestTimeout",
    "RoleTooLow",
    "RunNotSucceeded",
    "SchemaTooNew",
    "SchemaTooOld",
    "ServerUnreachable",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreMoved",
    "StoreReadOnly",
    "StoreUnreachable",
    "TokenExists",
    "TooBusy",
    "TooManyFailures",
    "TooManyJobs",
    "TooManyRequests",
    "Unauthenticated",
    "UnknownDelivery",
    "UnknownEdit",
    "UnknownJob",
    "UnknownQueue",
    "UnknownRun",
    "UnknownSchedule",
    "UnknownSubscription",
    "UnknownTask",
    "UnknownToken",
    "UnknownUser",
    "UnknownWebhook",
    "UnknownWorker",
    "UnknownWorkflow",
    "UnknownZone",
    "UnresolvedReference",
    "UnsupportedMediaType",
    "UserExists",
    "WaitTimeout",
    "WebhookExists",
    "WorkflowNotKnown",
    "WrongPassword",
    "WrongUse",
    "near",
    "of_field",
]
