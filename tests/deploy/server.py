"""A PostgreSQL of the tests' own: on loopback, on a free port, in a temporary folder, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg2

from vvb_resources.store.home import CHECKOUT

DEBIAN = Path("/usr/lib/postgresql")
PASSWORD = "a p@ss/word: 100%"


def find_programs() -> Path | None:
    """The folder of `initdb` and `postgres`: what PATH names, else Debian's newest release."""
    found = shutil.which("initdb")
    if found and (Path(found).resolve().parent / "postgres").exists():
        return Path(found).resolve().parent
    releases = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])) if DEBIAN.is_dir() else []
    return releases[-1].parent if releases else None


def install_programs() -> str:
    """Install PostgreSQL's programs where that needs no question; returns what the attempt said."""
    done = subprocess.run([CHECKOUT / "deploy" / "install-postgresql"], capture_output=True, text=True, check=False)
    return done.stderr.strip()


class PostgresServer:
    """One cluster with a database `vvb`; PostgreSQL refuses to run as root, so root becomes another user for it."""

    def __init__(self, programs: Path, *, fsync: bool = False) -> None:
        self.programs, self.fsync = programs, fsync
        self.folder = Path(tempfile.mkdtemp(prefix="vvb-postgres-"))
        self.log = self.folder / "server.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            names = {entry.pw_name: entry for entry in pwd.getpwall()}
            user = names.get("postgres") or names["nobody"]
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self._create()
        except BaseException:
            self.close()
            raise

    def _create(self) -> None:
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        if self.as_user:
            os.chown(secret, self.as_user["user"], self.as_user["group"])
        command = [self.programs / "initdb", "-D", self.folder / "data", "-U", "vvb", "--pwfile", secret, "--no-sync"]
        done = subprocess.run(
            [*command, "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C"],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            **self.as_user,
        )
        assert done.returncode == 0, done.stderr
        self.start()
        connection = self.connect("postgres")
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE vvb")
        connection.close()

    @property
    def environment(self) -> dict[str, str]:
        """The variables that deploy/*.yaml read."""
        where = {"HOST": "127.0.0.1", "PORT": str(self.port), "DB": "vvb", "USER": "vvb", "PASSWORD": PASSWORD}
        return {f"VVB_POSTGRES_{name}": value for name, value in where.items()}

    def connect(self, database: str = "vvb") -> Any:
        """A connection of psycopg2."""
        return psycopg2.connect(host="127.0.0.1", port=self.port, dbname=database, user="vvb", password=PASSWORD)

    @property
    def url(self) -> str:
        """The database as SQLAlchemy names it."""
        return f"postgresql+psycopg2://vvb:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/vvb"

    def empty(self) -> None:
        """Drop every table."""
        connection = self.connect()
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.close()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        # Without fsync a crash of the machine loses data; a crash of the server, which is what tests cause, does not.
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        settings["fsync"] = "on" if self.fsync else "off"
        command: list[Any] = [self.programs / "postgres", "-D", self.folder / "data"]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd="/", stdout=log, stderr=log, **self.as_user)
        until = time.monotonic() + 30
        while True:
            try:
                self.connect("postgres").close()
                return
            except psycopg2.OperationalError:
                assert self.process.poll() is None, self.log.read_text()
                assert time.monotonic() < until, self.log.read_text()
                time.sleep(0.05)

    def crash(self) -> None:
        """End the server at once, in the middle of whatever it does; the next start recovers from its log."""
        self._end(signal.SIGQUIT)

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:  # an overloaded machine; the cluster is thrown away anyway
                self.process.kill()
                self.process.wait(30)

    def close(self) -> None:
        """End the server and remove its files."""
        self._end(signal.SIGINT)
        shutil.rmtree(self.folder, ignore_errors=True)
