"""The files of deploy/ against each other, and against the programs that read them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.deploy.server import PostgresServer
from vvb_assets.running import open_instance
from vvb_resources.store.home import CHECKOUT, Home

pytestmark = pytest.mark.xdist_group("postgres")
DEPLOY = CHECKOUT / "deploy"


def read(name: str) -> dict[str, Any]:
    """A YAML file of deploy/, aliases and merge keys resolved."""
    document: dict[str, Any] = YAML(typ="safe").load((DEPLOY / name).read_text())
    return document


@pytest.fixture
def compose() -> dict[str, Any]:
    return read("compose.yaml")


def test_container_runs_use_the_names_of_the_compose_file(
    compose: dict[str, Any], shared_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagster_docker import DockerRunLauncher

    monkeypatch.setenv("VVB_DAGSTER_YAML", str(DEPLOY / "dagster-docker.yaml"))
    monkeypatch.setenv("DAGSTER_CURRENT_IMAGE", "vibevideobench:local")
    with open_instance(shared_home) as instance:
        launcher = instance.run_launcher
        assert isinstance(launcher, DockerRunLauncher)
        assert launcher.image == "vibevideobench:local"
        assert launcher.networks == [network["name"] for network in compose["networks"].values()]
        volume, target = launcher.container_kwargs["volumes"][0].split(":")
        assert compose["volumes"][volume]["name"] == volume
        given = compose["services"]["daemon"]["environment"]
        assert given["VVB_HOME"] == target
        assert instance.compute_log_manager._base_dir.startswith(f"{target}/")  # type: ignore[attr-defined]
        # a run's container gets everything the other processes get, but for what its own image says
        assert set(launcher.env_vars) == set(given) - {"DAGSTER_CURRENT_IMAGE"}


def test_both_settings_files_name_the_same_database() -> None:
    assert read("dagster-postgres.yaml")["storage"] == read("dagster-docker.yaml")["storage"]


def test_the_code_location_is_where_the_workspace_looks(compose: dict[str, Any]) -> None:
    server = read("workspace.yaml")["load_from"][0]["grpc_server"]
    command = compose["services"][server["host"]]["command"]
    assert command[command.index("-p") + 1] == str(server["port"])
    assert command[-2:] == ["-m", "vvb_assets.definitions"]
    for name in ("webserver", "daemon"):
        assert compose["services"][name]["command"][-2:] == ["-w", "/app/deploy/workspace.yaml"]
        assert compose["services"][name]["depends_on"]["postgres"] == {"condition": "service_healthy"}


def test_nothing_is_open_to_the_network_and_no_password_is_written_down(compose: dict[str, Any]) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:3000:3000"]
    for service in compose["services"].values():
        secrets = {k: v for k, v in service["environment"].items() if k.endswith(("PASSWORD", "API_KEY"))}
        assert secrets
        assert all(value.startswith("${") for value in secrets.values()), secrets


def test_the_image_has_what_its_settings_name() -> None:
    lines = (DEPLOY / "Dockerfile").read_text()
    copied = [line.split()[1:-1] for line in lines.splitlines() if line.startswith("COPY ") and "COPY . ." not in line]
    assert [name for names in copied for name in names if not (CHECKOUT / name).exists()] == []
    assert "'.[judges,postgres,docker]'" in lines
    assert "cp deploy/dagster-docker.yaml /opt/dagster/dagster.yaml" in lines
    assert "DAGSTER_HOME=/opt/dagster" in lines


def test_scripts_can_be_started() -> None:
    for script in ("install-bubblewrap", "install-postgresql"):
        assert os.access(DEPLOY / script, os.X_OK)


def test_an_instance_opens_on_sqlite_without_any_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VVB_DAGSTER_YAML", raising=False)
    monkeypatch.setenv("DAGSTER_HOME", "")
    with open_instance(Home(tmp_path, "world")) as instance:
        assert type(instance.event_log_storage).__name__ == "BatchSqliteEventLogStorage"


def test_the_server_refuses_a_wrong_password(postgres: PostgresServer) -> None:
    """Otherwise the tests above would prove nothing about the password's way through the settings."""
    import psycopg2

    with pytest.raises(psycopg2.OperationalError, match="password"):
        psycopg2.connect(host="127.0.0.1", port=postgres.port, dbname="vvb", user="vvb", password="wrong")
