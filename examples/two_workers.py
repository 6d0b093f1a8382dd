"""System 2: two workers, alpha and beta. A backup is submitted, its status is asked until it is done, and verified.

python examples/two_workers.py
"""

import hashlib
import sys
import tarfile
import time
from pathlib import Path

from mainspring import Mainspring

app = Mainspring("system2")

backup = app.command(
    "backup",
    ["tar", "-czf", "{dest}", "-C", "{src}", "."],
    params={"src": str, "dest": str},
    timeout="1m",
    description="Archive a directory.",
)


def main():
    from driver import Platform

    with Platform(__file__) as platform:
        platform.server()
        platform.worker("alpha")
        platform.worker("beta")
        names = platform.wait_for_workers(2)
        platform.check(names == ["alpha", "beta"], f"two workers are up: {', '.join(names)}")

        source, archive = make_files(platform.folder / "data"), platform.folder / "backup.tar.gz"
        job = backup.submit(src=str(source), dest=str(archive))
        print(f"      job {job.id} submitted")
        seen = ask_until_done(job)
        platform.check(seen[-1] == "succeeded", f"its status, asked until done: {' -> '.join(seen)}")

        attempts = job.attempts()
        platform.check([one.outcome for one in attempts] == ["succeeded"], "it took one attempt")
        platform.check(attempts[0].worker in names, f"it ran on {attempts[0].worker}")
        steps = [event.target for event in job.watch()]
        platform.check(steps == ["queued", "running", "succeeded"], f"its events in order: {', '.join(steps)}")

        before, after = checksums_of_folder(source), checksums_of_archive(archive)
        platform.check(before == after, f"the archive holds all {len(before)} files, with the same SHA-256 each")
        return platform.verdict()


def ask_until_done(job):
    seen = []
    while True:
        state = str(job.refresh().state)
        if seen[-1:] != [state]:
            seen.append(state)
        if job.done:
            return seen
        time.sleep(0.01)


def make_files(folder):
    """A directory worth a backup: 200 files of text and bytes in ten folders, some 8 MB."""
    for number in range(200):
        path = folder / f"part {number % 10}" / f"file-{number:03}.dat"
        path.parent.mkdir(parents=True, exist_ok=True)
        seed = hashlib.sha256(str(number).encode()).digest()
        path.write_bytes(b"".join(hashlib.sha256(seed + bytes([block])).digest() * 5 for block in range(256)))
    (folder / "grüße.txt").write_text("Unicode in names and content: ✓\n", encoding="utf-8")
    (folder / "empty").touch()
    return folder


def checksums_of_folder(folder):
    files = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def checksums_of_archive(archive):
    with tarfile.open(archive) as tar:
        return {
            member.name.removeprefix("./"): hashlib.sha256(tar.extractfile(member).read()).hexdigest()
            for member in tar
            if member.isfile()
        }


if __name__ == "__main__":
    sys.exit(main())
