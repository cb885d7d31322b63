# SPDX-License-Identifier: Apache-2.0

"""What the forms of the panel have in common."""

from collections.abc import Mapping
import typing

from django import http
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms
from horizon import messages

from pcloud_dashboard import api
from pcloud_dashboard import fields

from pcloud.client import resources
from pcloud.client import v1


class ApiForm(forms.SelfHandlingForm):
    """A form that shows the words of the API where the API refuses.

    A subclass has ``send``, which makes the calls.

    :ivar at: what the address of the form names: name -> value
    """

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 at: Mapping[str, typing.Any],
                 **kwargs: typing.Any) -> None:
        self.at = at
        super().__init__(request, *args, **kwargs)

    def send(self, client: v1.Client, data: dict) -> typing.Any:
        """Make the calls of the form.

        :param data: the cleaned values
        :returns: a value that is true; the sentence of success, or the new
            resource
        """
        raise NotImplementedError

    def handle(self, request: http.HttpRequest, data: dict) -> typing.Any:
        """Make the calls, and show how they ended."""
        try:
            done = self.send(api.client(request), data)
        except api.FAILURES as error:
            self.api_error(api.words(error))
            return False
        if isinstance(done, str):
            messages.success(request, done)
        return done


class PcloudForm(ApiForm):
    """A form about one Pcloud."""

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 pcloud: resources.Pcloud, **kwargs: typing.Any) -> None:
        self.pcloud = pcloud
        super().__init__(request, *args, **kwargs)


class CreateForm(ApiForm):
    """The name of a new Pcloud."""

    name = fields.NameField(
        label=_('Name'),
        widget=forms.TextInput(attrs={'autofocus': 'autofocus'}))

    def send(self, client: v1.Client, data: dict) -> resources.Pcloud:
        """Create the Pcloud."""
        return client.create_pcloud(data['name'])


class ForcedForm(PcloudForm):
    """The user confirms, and may leave shelved instances without a home."""

    force = forms.BooleanField(
        label=_('Even if shelved instances can never be unshelved then'),
        required=False)


class DeleteForm(ForcedForm):
    """The user confirms that a Pcloud is to be deleted."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Delete the Pcloud."""
        client.delete_pcloud(self.pcloud.id, force=data['force'])
        return gettext('Pcloud "%s" was deleted.') % self.pcloud.name
