"""Jobs with a process of their own, as the runner sees them: started by the spawner, owned by a minder, read out.

The runner holds the reading ends of their output, a line to each minder and, for Python tasks, the socket on which
these speak frames. It signals no process itself: only a minder, as the parent, knows that a pid is still its job's.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable

import msgspec

from mainspring import process
from mainspring.domain.frame import Answer, Ended, FromRunner, Log, Progress, Request
from mainspring.domain.parameters import filled
from mainspring.domain.task import Executor
from mainspring.errors import MainspringError, ProtocolViolation
from mainspring.runner import autopsy
from mainspring.runner.client import Answers
from mainspring.runner.conclusion import refused
from mainspring.runner.environment import CLAIM, job_environment
from mainspring.runner.link import Link
from mainspring.runner.orders import Exited, Kill, Refused, Signal, Spawn, from_minder
from mainspring.runner.outlet import Outlet
from mainspring.runner.pipes import Pipe
from mainspring.runner.running import Running
from mainspring.runner.spawning import SpawnerLink
from mainspring.worker.frames import Channel, from_runner

DRAIN = 0.5
"""Seconds that output is still read after the end, should something that we could not kill hold a pipe open."""
_TERM = 15


class ProcessJob:
    """One of them."""

    def __init__(
        self, running: Running, pipes: tuple[Pipe, Pipe], line: socket.socket, frames: socket.socket | None
    ) -> None:
        self.running = running
        self.output, self.errors = pipes
        self.line: Channel[Refused | Exited] = Channel(line, from_minder)
        self.frames: Channel[FromRunner] | None = None if frames is None else Channel(frames, from_runner)
        self.said: Refused | Exited | None = None
        self.ended: Ended | None = None
        self.over = False

    @property
    def read_out(self) -> bool:
        """Whether nothing more can come from it."""
        return self.output.closed and self.errors.closed and (self.frames is None or self.frames.closed)


class Processes:
    """All of a runner. ``over`` is called with each attempt's end."""

    def __init__(
        self, target: str, link: Link, answers: Answers, outlet: Outlet, over: Callable[[Running, Ended], None]
    ) -> None:
        self._link = link
        self._answers = answers
        self._outlet = outlet
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._spawner = SpawnerLink(target)

    def start(self, running: Running, params: bytes) -> None:
        """Start its process."""
        argv = None
        if running.task.declaration.executor is Executor.COMMAND:
            try:
                argv = filled(running.task.declaration.argv, msgspec.json.decode(params))
            except MainspringError as error:
                self._over(running, refused(running, error))
                return
        output, its_output = Pipe.make(running, "stdout")
        errors, its_errors = Pipe.make(running, "stderr")
        line, its_line = socket.socketpair()
        descriptors = [its_output, its_errors, its_line.detach()]
        frames = None
        if argv is None:
            frames, its_frames = socket.socketpair()
            descriptors.append(its_frames.detach())
        job = running.handle = ProcessJob(running, (output, errors), line, frames)
        self._watch(job)
        if job.frames is not None:
            job.frames.put(msgspec.structs.replace(running.start, params=msgspec.Raw(params), bulk=False))
            self._flush_frames(job)
        env, work = job_environment(running.start), os.environ.get("MAINSPRING_WORK", "")
        self._spawner.send(Spawn(running.job, running.claim, running.task.name, env, work, argv), descriptors)

    def interrupt(self, running: Running, grace: float) -> None:
        """SIGTERM to its group, and after the grace SIGKILL to all of it."""
        job: ProcessJob = running.handle
        if grace > 0:
            job.line.put(Signal(_TERM))
            job.line.flush()
            self._loop.call_later(grace, self._kill, job)
        else:
            self._kill(job)

    def _kill(self, job: ProcessJob) -> None:
        if not job.over:
            job.line.put(Kill())
            job.line.flush()

    # --- reading ----------------------------------------------------------------------------------------------

    def _watch(self, job: ProcessJob) -> None:
        for pipe in (job.output, job.errors):
            self._loop.add_reader(pipe.descriptor, self._read_pipe, job, pipe)
        self._loop.add_reader(job.line.fileno(), self._read_line, job)
        if job.frames is not None:
            self._loop.add_reader(job.frames.fileno(), self._read_frames, job, job.frames)

    def _read_pipe(self, job: ProcessJob, pipe: Pipe) -> None:
        descriptor = pipe.descriptor
        if not pipe.read():
            self._loop.remove_reader(descriptor)
            pipe.close()
            self._settle(job)

    def _read_line(self, job: ProcessJob) -> None:
        for frame in job.line.read():
            job.said = frame
        if job.line.closed and job.said is None:
            for pid in process.carriers(CLAIM, str(job.running.claim)):
                process.kill_groups([pid])
        if job.line.closed or job.said is not None:
            self._loop.remove_reader(job.line.fileno())
            job.line.closed = True
            self._loop.call_later(DRAIN, self._conclude, job)
            self._settle(job)

    def _read_frames(self, job: ProcessJob, frames: Channel[FromRunner]) -> None:
        try:
            for frame in frames.read():
                self._receive(job, frame)
        except ProtocolViolation:
            frames.closed = True  # what it wrote there itself; without an ``ended`` its exit is a crash
        if frames.closed:
            self._loop.remove_reader(frames.fileno())
            self._loop.remove_writer(frames.fileno())
            self._settle(job)

    def _receive(self, job: ProcessJob, frame: FromRunner) -> None:
        match frame:
            case Log():
                for chunk in frame.chunks:
                    job.running.write(chunk.stream, chunk.text, chunk.level)
            case Progress():
                self._outlet.report(job.running, bytes(frame.details))
            case Ended():
                job.ended = autopsy.reported(job.running, frame)
            case Request():
                self._relay(job, frame)
            case _:
                pass

    def _relay(self, job: ProcessJob, request: Request) -> None:
        """Ask in its name, under a number of our own."""

        def answer(answered: Answer) -> None:
            if job.frames is not None and not job.frames.closed:
                job.frames.put(msgspec.structs.replace(answered, number=request.number))
                self._flush_frames(job)

        number = self._answers.expect(answer)
        self._link.send(Request(number, job.running.job, job.running.claim, request.verb, request.body))

    def _flush_frames(self, job: ProcessJob) -> None:
        frames = job.frames
        if frames is None or frames.closed:
            return
        if frames.flush():
            self._loop.remove_writer(frames.fileno())
        else:
            self._loop.add_writer(frames.fileno(), self._flush_frames, job)

    # --- ending -----------------------------------------------------------------------------------------------

    def _settle(self, job: ProcessJob) -> None:
        """Conclude once its minder has spoken and all it wrote is read."""
        if job.line.closed and job.read_out:
            self._conclude(job)

    def _conclude(self, job: ProcessJob) -> None:
        if job.over:
            return
        job.over = True
        for pipe in (job.output, job.errors):
            if not pipe.closed:
                self._loop.remove_reader(pipe.descriptor)
                pipe.close()
        if job.frames is not None:
            self._loop.remove_reader(job.frames.fileno())
            self._loop.remove_writer(job.frames.fileno())
            job.frames.close()
        job.line.close()
        self._over(job.running, autopsy.concluded(job.running, job.said, job.ended, job.output.last, job.errors.last))
