# SPDX-License-Identifier: Apache-2.0

"""Many clients at once, whose answers are counted."""

import collections
from collections.abc import Callable
from collections.abc import Iterable
import concurrent.futures
import itertools
import json

import requests


class User:
    """A project's calls, spread over all API processes.

    :cvar answers: (method, status code) -> number of answers to all users
    """

    answers: collections.Counter = collections.Counter()
    _turn = itertools.count()

    def __init__(self, urls: list[str], project_id: str,
                 admin: bool = False) -> None:
        self._urls = urls
        self.project_id = project_id
        self._headers = {
            'X-Project-Id': project_id,
            'X-Roles': 'reader,member,admin' if admin else 'reader,member',
            'Content-Type': 'application/json'}

    def call(self, method: str, path: str, body: dict | None = None,
             **headers: str) -> requests.Response:
        """Make a call to the next process in turn.

        :raises: `requests.ConnectionError` when the process is killed
        """
        response = self.call_at(next(self._turn), method, path, body,
                                **headers)
        self.answers[method, response.status_code] += 1
        return response

    def call_at(self, number: int, method: str, path: str,
                body: dict | None = None, *, timeout: float = 600,
                **headers: str) -> requests.Response:
        """Make a call to a process.

        :param number: the number of the process, modulo the number of
            processes
        :param timeout: seconds to wait for the answer
        :raises: `requests.ConnectionError` when the process is killed,
            `requests.Timeout` when the answer is late
        """
        url = self._urls[number % len(self._urls)]
        return requests.request(
            method, f'{url}/v2.1{path}', timeout=timeout,
            data=None if body is None else json.dumps(body),
            headers={**self._headers, **headers})

    def make_pcloud(self, name: str = 'mine') -> str:
        """Create a Pcloud and return the id."""
        response = self.call('POST', '/os-pclouds',
                             {'pcloud': {'name': name}})
        assert response.status_code == 201, response.text
        return response.json()['pcloud']['id']

    def add_host(self, pcloud: str, name: str, flavor_id: str,
                 **headers: str) -> requests.Response:
        """Add a host to a Pcloud."""
        return self.call('POST', f'/os-pclouds/{pcloud}/hosts', {
            'host': {'name': name, 'host_flavor': flavor_id}}, **headers)

    def remove_host(self, pcloud: str, name: str,
                    **headers: str) -> requests.Response:
        """Remove a host from a Pcloud."""
        return self.call('DELETE', f'/os-pclouds/{pcloud}/hosts/{name}',
                         **headers)

    def set_state(self, pcloud: str, name: str,
                  state: str) -> requests.Response:
        """Enable or disable a host."""
        return self.call('PUT', f'/os-pclouds/{pcloud}/hosts/{name}',
                         {'host': {'state': state}})


def at_once(work: Iterable[Callable]) -> list:
    """Call all functions at the same moment, and return all results."""
    work = list(work)
    with concurrent.futures.ThreadPoolExecutor(len(work) or 1) as pool:
        return [each.result() for each in [
            pool.submit(one) for one in work]]


def codes(responses: list[requests.Response]) -> dict[int, int]:
    """Count the status codes of answers."""
    return dict(sorted(collections.Counter(
        each.status_code for each in responses).items()))
