# SPDX-License-Identifier: Apache-2.0

"""What all filters do, whatever their rule."""

import ddt
from nova import exception as nova_exception
from nova import objects
import testtools

from pcloud import exception
from pcloud.scheduler import filters
from pcloud.scheduler.filters import base

HOSTS = ['h1', 'h2', 'h3']


class FirstFilter(base.ListFilter):
    """Keep the first host."""

    def passing_hosts(self, host_states, spec):
        return host_states[:1]

    def why(self, host_states, spec):
        return [None] * len(host_states)


class FailingFilter(FirstFilter):
    """Fail."""

    refusals = (exception.HostsRefused, exception.Invalid)

    def __init__(self, error):
        self.error = error

    def passing_hosts(self, host_states, spec):
        raise self.error


def _spec(**hints):
    return objects.RequestSpec(scheduler_hints=hints, project_id='alice')


@ddt.ddt
class ListFilterTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        objects.register_all()

    def test_the_rule_decides(self):
        self.assertEqual(['h1'], list(FirstFilter().filter_all(
            HOSTS, _spec())))

    def test_a_rebuild_stays(self):
        rebuild = _spec(_nova_check_type=['rebuild'])
        rebuild.force_hosts = ['h1']
        for each in (FirstFilter(), FailingFilter(KeyError())):
            self.assertEqual(HOSTS, list(each.filter_all(HOSTS, rebuild)))

    def test_a_user_who_says_that_it_is_a_rebuild(self):
        boot = _spec(_nova_check_type=['rebuild'])
        move = _spec(_nova_check_type=['rebuild'])
        move.id, move.force_hosts = 1, ['h1']
        for spec in boot, move:
            self.assertEqual(['h1'], list(FirstFilter().filter_all(
                HOSTS, spec)))

    def test_no_host(self):
        self.assertEqual([], list(FailingFilter(KeyError()).filter_all(
            [], _spec())))

    @ddt.data(exception.HostsRefused('Nobody is there.'),
              exception.InvalidValue('Scheduler hint in', '?', 'a text'))
    def test_a_refusal_ends_the_request(self, error):
        found = self.assertRaises(
            nova_exception.NoValidHost, FailingFilter(error).filter_all,
            HOSTS, _spec())
        self.assertEqual(str(error), found.kwargs['reason'])

    @ddt.data(exception.Unavailable(), KeyError('h1'))
    def test_other_errors_pass_on(self, error):
        self.assertRaises(type(error), FailingFilter(error).filter_all,
                          HOSTS, _spec())

    def test_a_rule_is_needed(self):
        class Ruleless(base.ListFilter):
            pass

        self.assertRaises(TypeError, Ruleless)

    @ddt.data(*filters.all_filters())
    def test_none_of_ours_goes_round_it(self, filter_):
        self.assertIs(base.ListFilter.filter_all, filter_.filter_all)
