# SPDX-License-Identifier: Apache-2.0

"""What the owner does with a plan that moves servers."""

import dataclasses
import typing
from urllib import parse

from django import http
from django.utils.translation import gettext
from django.utils.translation import ngettext
from django.views import generic
from horizon import messages

from pcloud_dashboard import api
from pcloud_dashboard.project import pages
from pcloud_dashboard.project.planning import moves


class BeginView(pages.OfPcloud, generic.View):
    """Has the moves of a plan made, for a button of the tab Moves."""

    tab = 'moves'
    http_method_names = ['post']

    def post(self, request: http.HttpRequest,
             **kwargs: typing.Any) -> http.HttpResponse:
        """Begin the moves, and show the tab again, with a fresh plan."""
        question = moves.question(request.POST)
        try:
            begun = api.client(request).rebalance(
                self.pcloud_id, request.POST.get('valid_for', ''),
                **question.wish)
            messages.success(request, ngettext(
                '%d instance is being moved.', '%d instances are being moved.',
                len(begun.under_way)) % len(begun.under_way))
        except api.FAILURES as error:
            messages.error(request, api.words(error))
        query = parse.urlencode(dataclasses.asdict(question))
        return http.HttpResponseRedirect(f'{self.page}&{query}')


class EndView(pages.OfPcloud, generic.View):
    """Ends the moves that have not begun, for a button of the tab Moves."""

    tab = 'moves'
    http_method_names = ['post']

    def post(self, request: http.HttpRequest,
             **kwargs: typing.Any) -> http.HttpResponse:
        """End the moves, and show the tab again."""
        try:
            api.client(request).end_rebalance(self.pcloud_id)
            messages.success(request, gettext(
                'No more instances are moved. Those on their way arrive.'))
        except api.FAILURES as error:
            messages.error(request, api.words(error))
        return http.HttpResponseRedirect(self.page)
