"""Where kube-apiserver is and with which credentials, as the Kubernetes client reads it."""

from pathlib import Path

import yaml
from kubernetes.aio.client import Configuration
from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

from adapter.errors import InputError, Problem

_UNREADABLE = (
    ConfigException,
    yaml.YAMLError,
    OSError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
)


async def load(kubeconfig: Path | None) -> Configuration:
    """Read `kubeconfig`, or with None what a pod is given by its service account.

    Raises InputError with one line that says what is missing. A credential plugin is run.
    """
    configuration = Configuration()
    try:
        if kubeconfig is None:
            _load_service_account(configuration)
        else:
            await _load_file(kubeconfig, configuration)
    except _UNREADABLE as error:
        raise InputError([_problem(kubeconfig, error)]) from error
    return configuration


async def authorization(configuration: Configuration) -> str:
    """Give the Authorization value to send now, empty when there is none."""
    bearer = (await configuration.auth_settings()).get("BearerToken")
    return str(bearer["value"]).strip() if bearer else ""


def _load_service_account(configuration: Configuration) -> None:
    load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]  # the client has no types here


async def _load_file(kubeconfig: Path, configuration: Configuration) -> None:
    kubeconfig.stat()  # noqa: ASYNC240  (once at start; the client itself would say less)
    await load_kube_config(  # type: ignore[no-untyped-call]  # the client has no types here
        config_file=str(kubeconfig), client_configuration=configuration, persist_config=False
    )


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, TypeError | KeyError | AttributeError):
        return "it does not have the shape of one"
    return " ".join(str(error).split()).removesuffix(".")


def _problem(kubeconfig: Path | None, error: Exception) -> Problem:
    words = _words(error)
    if kubeconfig is None:
        return Problem(
            file="service account",
            fault=f"kube-apiserver cannot be found: {words}",
            cure="run in a pod with a service account, or give --lister-kubeconfig",
        )
    return Problem(
        file=str(kubeconfig),
        fault=f"not a usable kubeconfig: {words}",
        cure="give one whose current context names a cluster and a user",
    )
