# SPDX-License-Identifier: Apache-2.0

"""Plans that move servers: beside every order there is, in small worlds."""

import collections
import random

import ddt
import testtools

from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import relocation
from pcloud.planning.programs import relocation_order
from pcloud.planning.programs import relocation_search
from pcloud.planning.programs import solvers

WORLDS = 2000
NEEDS_SOLVER = testtools.skipUnless(
    solvers.is_there(), 'highspy is not installed')


def world_of(chance):
    """Return a small world and a goal."""
    number = chance.randint(2, 4)
    sizes = sorted({(chance.randint(1, 4), chance.randint(1, 3))
                    for _ in range(chance.randint(1, 3))})
    there = [[0] * number for _ in sizes]
    for _ in range(chance.randint(2, 6)):
        chance.choice(there)[chance.randrange(number)] += 1
    kinds = [relocation.MovableKind(
        {'MEMORY_MB': memory, 'VCPU': cpus}, tuple(numbers),
        frozenset(host for host in range(number) if chance.random() < .05))
        for (memory, cpus), numbers in zip(sizes, there)]
    amounts = chance.choice([(0, 1, 2), (0, 1, 2, 3, 4), (1, 2), (1, 3)])
    hosts = [relocation.MovingHost(
        {'MEMORY_MB': chance.choice(amounts),
         'VCPU': chance.choice((2, 4, 6))},
        {'VCPU': 2} if chance.random() < .04 else {},
        takes=chance.random() < .97,
        can_be_freed=any(numbers[host] for numbers in there) and
        chance.random() < .7,
        takes_new=chance.random() < .9) for host in range(number)]
    most = chance.choice((1, 2, 3, 1000))
    goal = relocation.Goal(most) if chance.random() < .5 else (
        relocation.Goal(most, chance.randint(1, 3), {
            'MEMORY_MB': chance.randint(1, 6),
            'VCPU': chance.randint(1, 4)}))
    return relocation.World(hosts, kinds), goal


def best(world, goal):
    """Return the best score of all plans, None where none is right.

    Every server is told from every other, and moved alone.
    """
    servers = [(kind, host) for kind, its in enumerate(world.kinds)
               for host, number in enumerate(its.there)
               for _ in range(number)]
    start = tuple(host for _, host in servers)
    seen, left, found = {start}, collections.deque([(start, ())]), None
    while left:
        places, order = left.popleft()
        if not goal.count or relocation.room_for_new(
                world, order, goal) >= goal.count:
            score = relocation.score(world, goal, order)
            found = score if found is None else max(found, score)
        if len(order) == goal.max_moves:
            continue
        free = relocation.amounts_left(world)
        for place, (kind, host) in zip(places, servers):
            if place != host:
                relocation.take(free[host], world.kinds[kind].amounts, -1)
                relocation.take(free[place], world.kinds[kind].amounts)
        for number, (kind, host) in enumerate(servers):
            for target in range(len(world.hosts)):
                after = (*places[:number], target, *places[number + 1:])
                if (places[number] == host != target and after not in seen and
                        world.takes(target, kind) and relocation.has_room(
                            free[target], world.kinds[kind].amounts)):
                    seen.add(after)
                    left.append((after, (*order, relocation.Move(
                        kind, host, target))))
    return found


@ddt.ddt
class RandomTest(testtools.TestCase):

    @NEEDS_SOLVER
    def test_with_a_solver(self):
        """Plans that are said to be proven are the best there are."""
        numbers = collections.Counter()
        for seed in range(WORLDS):
            world, goal = world_of(random.Random(seed))
            found = relocation_search.best(
                world, goal, solvers.Solver(60).within(30))
            self.check(world, goal, found, seed)
            numbers[found.exact] += 1
            numbers['steps'] += len(found.steps) > 1
        self.assertGreater(numbers[True], WORLDS * .99)
        self.assertGreater(numbers['steps'], WORLDS * .005)

    def test_without_a_solver(self):
        """Plans can be made without a solver."""
        numbers = collections.Counter()
        for seed in range(WORLDS):
            world, goal = world_of(random.Random(seed))
            found = relocation_search.best(
                world, goal, integer_programs.no_solver)
            self.check(world, goal, found, seed)
            numbers[bool(found.steps)] += 1
        self.assertGreater(numbers[True], WORLDS * .1)

    def check(self, world, goal, found, seed):
        self.assertTrue(
            relocation.is_executable(world, found.steps), seed)
        self.assertLessEqual(len(found.moves), goal.max_moves)
        self.assertEqual(
            found.reached,
            relocation.reaches(world, found.steps, goal), seed)
        if not found.reached:
            self.assertEqual((), found.steps)
        right = best(world, goal)
        if found.reached:
            score = relocation.score(world, goal, found.moves)
            self.assertLessEqual(score, right, seed)
            self.assertTrue(not found.exact or score == right, seed)
        elif found.exact:
            self.assertIsNone(right, seed)

    @ddt.data(integer_programs.no_solver, solvers.Solver(3600).within(.1))
    def test_large_worlds(self, solver):
        chance = random.Random(1)
        kinds = [relocation.MovableKind(
            {'MEMORY_MB': memory, 'VCPU': cpus},
            tuple(chance.randint(0, 2) for _ in range(40)))
            for memory, cpus in ((2, 1), (4, 2), (8, 3))]
        world = relocation.World([relocation.MovingHost(
            {'MEMORY_MB': chance.randint(0, 16), 'VCPU': chance.randint(0, 8)},
            can_be_freed=any(kind.there[host] for kind in kinds),
            takes_new=True) for host in range(40)], kinds)
        for goal in (relocation.Goal(1000), relocation.Goal(5),
                     relocation.Goal(1000, 3, {'MEMORY_MB': 20, 'VCPU': 8})):
            found = relocation_search.best(world, goal, solver)
            self.assertTrue(relocation.is_executable(world, found.steps))
            self.assertTrue(found.moves)


def two_hosts_that_change(spare):
    """Return servers that fill two hosts each, and capacity on a third."""
    return relocation.World(
        [relocation.MovingHost({'MEMORY_MB': free}) for free in (0, 0, spare)],
        [relocation.MovableKind({'MEMORY_MB': 2}, (1, 0, 0)),
         relocation.MovableKind({'MEMORY_MB': 2, 'VCPU': 0}, (0, 1, 0))])


class OrderTest(testtools.TestCase):

    def test_a_circle_has_no_order(self):
        flows = relocation_order.Flows(
            [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [1, 0, 0]])
        self.assertIsNone(
            relocation_order.in_steps(two_hosts_that_change(9), flows))

    def test_who_waits_for_room(self):
        """The first server frees capacity for the second, and so on."""
        world = relocation.World(
            [relocation.MovingHost({'MEMORY_MB': free}) for free in (0, 0, 2)],
            [relocation.MovableKind({'MEMORY_MB': 2}, (1, 0, 0)),
             relocation.MovableKind({'MEMORY_MB': 2}, (0, 1, 0))])
        flows = relocation_order.Flows(
            [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]])
        self.assertEqual(
            (((1, 1, 2),), ((0, 0, 1),)),
            relocation_order.in_steps(world, flows))

    def test_moves_that_run_at_once(self):
        world = relocation.World(
            [relocation.MovingHost({'MEMORY_MB': free}) for free in (0, 4, 2)],
            [relocation.MovableKind({'MEMORY_MB': 2}, (3, 0, 0))])
        flows = relocation_order.Flows([[3, 0, 0]], [[0, 2, 1]])
        step, = relocation_order.in_steps(world, flows)
        self.assertEqual(3, len(step))

    def test_who_would_come_back_stays(self):
        flows = relocation_order.net([[2, 0]], [[1, 1]])
        self.assertEqual(([[1, 0]], [[0, 1]]), (flows.out, flows.into))


@ddt.ddt
class ExecutableTest(testtools.TestCase):
    """A server needs capacity on both hosts while it is moved."""

    world = relocation.World(
        [relocation.MovingHost({'MEMORY_MB': 0}), relocation.MovingHost(
            {'MEMORY_MB': 2}), relocation.MovingHost({'MEMORY_MB': 1}),
         relocation.MovingHost({'MEMORY_MB': 9}, takes=False)],
        [relocation.MovableKind({'MEMORY_MB': 2}, (1, 1, 0, 0)),
         relocation.MovableKind({'MEMORY_MB': 1}, (1, 1, 0, 0))])

    @ddt.data(
        ((), True), ((((0, 0, 1),),), True), ((((0, 0, 2),),), False),
        ((((0, 0, 0),),), False), ((((0, 2, 1),),), False),
        ((((0, 0, 3),),), False),
        # Twice the capacity.
        ((((0, 0, 1), (1, 0, 1)),), False),
        # What leaves in a step counts from the next step on.
        ((((0, 0, 1), (1, 1, 2), (1, 0, 1)),), False),
        ((((0, 0, 1), (1, 1, 2)), ((1, 0, 1),)), True),
        # A server is moved once.
        ((((1, 1, 2),), ((1, 2, 0),)), False))
    @ddt.unpack
    def test_steps(self, steps, is_right):
        self.assertEqual(is_right, relocation.is_executable(
            self.world, tuple(tuple(
                relocation.Move(*move) for move in step) for step in steps)))
