(function () {
  'use strict';

  angular
    .module('pcloud.dashboard')
    .factory('pcloud.dashboard.launch.words', words);

  /* What the step "Pcloud" of Launch Instance says. */
  function words() {
    return {
      fixed: fixed,
      card: card,
      choices: choices,
      capacity: capacity,
      summary: summary,
      unseen: unseen,
      more: more,
      name: name,
      rack: rack,
      place: place,
      where: where,
      elsewhere: elsewhere
    };

    function text(format, values) {
      return interpolate(format, values, true);
    }

    function counted(format, count) {
      return text(format, {count: count});
    }

    function fixed() {
      return {
        filter: gettext('Filter by name'),
        named: gettext('Name or tag of an instance')
      };
    }

    // The choice that is made, as the card shows it.
    function card(choice, pcloud, byDefault, isLoaded) {
      if (choice === 'none') {
        return {title: gettext('Outside of Pclouds'), lines: []};
      }
      if (choice) {
        return pcloud ? described(pcloud)
          : {title: isLoaded ? unknown() : gettext('Reading the Pclouds …'), lines: []};
      }
      if (!byDefault) {
        return {title: gettext('Outside of Pclouds'), lines: isLoaded
          ? [gettext('Your project has no default Pcloud.')] : []};
      }
      return {title: pcloud ? pcloud.name : unknown(),
              lines: [gettext('The default of your project.'), modes()[byDefault.mode]]
                .concat(pcloud ? amounts(pcloud) : [])};
    }

    function unknown() {
      return gettext('A Pcloud that your project cannot see');
    }

    function modes() {
      return {
        strict: gettext('Instances start there, or not at all.'),
        prefer: gettext('What does not fit starts outside of Pclouds.'),
        grow: gettext('Hosts are added for what does not fit.')
      };
    }

    function described(pcloud) {
      return {title: pcloud.name, lines: amounts(pcloud)};
    }

    function amounts(pcloud) {
      var lines = [];
      if (!pcloud.is_own) {
        return [gettext('lent to you: its owner alone sees how full it is')];
      }
      lines.push(counted(ngettext('%(count)s host', '%(count)s hosts', pcloud.hosts), pcloud.hosts));
      if (pcloud.free_memory) {
        lines.push(text(gettext('%(vcpus)s vCPUs and %(memory)s free'), {
          vcpus: pcloud.free_vcpus, memory: pcloud.free_memory}));
      }
      return lines;
    }

    // Everything that can be chosen: no choice first, what is full last.
    function choices(items, byDefault, flavor) {
      var known = items.filter(function (each) {
        return byDefault && each.id === byDefault.id;
      })[0];
      var first = byDefault
        ? {id: '', title: text(gettext('The default of your project: %(name)s'), {
          name: known ? known.name : unknown()}),
           lines: [modes()[byDefault.mode]]}
        : {id: '', title: gettext('No choice'),
           lines: [gettext('Outside of Pclouds, for your project has no default.')]};
      var all = items.map(function (each, number) {
        var full = isFull(each, flavor);
        var found = described(each);
        return {id: each.id, title: found.title, full: full, number: number,
                lines: full ? [gettext('full')].concat(found.lines) : found.lines};
      });
      // Not every browser's own sort keeps the order of equals.
      all.sort(function (one, other) {
        return one.full - other.full || one.number - other.number;
      });
      return [first, {id: 'none', title: gettext('Outside of Pclouds'), lines: [
        gettext('whatever the default is')]}].concat(all);
    }

    // What is free on all hosts together is too little for a single server.
    function isFull(pcloud, flavor) {
      if (!pcloud.is_own) {
        return false;
      }
      if (!pcloud.hosts) {
        return true;
      }
      return pcloud.free_memory !== null && (
        pcloud.free_vcpus < (flavor ? flavor.vcpus : 1) ||
        pcloud.free_mebibytes < (flavor ? flavor.ram : 1));
    }

    // How many of those that are asked for fit, on the hosts that may be used.
    function capacity(room, count, pinned, kept) {
      if (!room || room.failure) {
        return null;
      }
      var fits = room.fits;
      var only = pinned ? [pinned] : kept;
      if (only) {
        fits = only.reduce(function (sum, host) {
          return sum + (room.fits_on[host] || 0);
        }, 0);
      }
      count = Math.max(1, count || 1);
      var found = {enough: fits >= count, percent: Math.min(100, Math.round(100 * fits / count))};
      if (fits >= count) {
        found.words = text(ngettext('%(fits)s more of this flavor fits; you ask for %(count)s.', '%(fits)s more of this flavor fit; you ask for %(count)s.', fits),
                           {fits: fits, count: count});
      } else if (fits) {
        found.words = text(ngettext('Only %(fits)s of the %(count)s that you ask for fits. All of them start, or none.', 'Only %(fits)s of the %(count)s that you ask for fit. All of them start, or none.', fits),
                           {fits: fits, count: count});
      } else {
        found.words = gettext('No more of this flavor fit.');
      }
      if (pinned) {
        found.words = text(gettext('On host %(host)s alone:'), {host: pinned}) + ' ' + found.words;
      } else if (kept) {
        found.words = gettext('Where you wish it strictly:') + ' ' + found.words;
      }
      if (!room.fits) {
        found.refused = room.refused;
        found.hosts = room.hosts.slice(0, 5);
        found.changes = room.changes;
      }
      return found;
    }

    function namesOf(named) {
      return Object.keys(named).map(function (hint) {
        return named[hint];
      }).join(', ');
    }

    // What is wished, while the part of the step is closed.
    function summary(wish, pinned) {
      var parts = [];
      if (pinned) {
        parts.push(text(gettext('on host %(host)s alone'), {host: pinned}));
      }
      if (Object.keys(wish.near).length) {
        parts.push(text(gettext('near to %(names)s'), {names: namesOf(wish.near)}));
      }
      if (Object.keys(wish.far).length) {
        parts.push(text(gettext('far from %(names)s'), {names: namesOf(wish.far)}));
      }
      if (wish.strict && parts.length > (pinned ? 1 : 0)) {
        parts.push(gettext('strict'));
      }
      return parts.join(', ');
    }

    function unseen(pcloud) {
      return pcloud
        ? gettext('The owner of the Pcloud alone sees its hosts; your wishes count all the same.')
        : gettext('Outside of Pclouds no hosts are shown; your wishes count all the same.');
    }

    function more(count) {
      return count > 0 ? counted(ngettext('%(count)s more: write a part of the name.', '%(count)s more: write a part of the name.', count), count) : '';
    }

    // Gives a tag or an instance the texts of its line.
    function name(each) {
      each.title = each.tag
        ? text(ngettext('tag %(tag)s (%(count)s instance)', 'tag %(tag)s (%(count)s instances)', each.servers),
               {tag: each.tag, count: each.servers})
        : each.name;
      each.near = text(gettext('near to %(names)s'), {names: each.title});
      each.far = text(gettext('far from %(names)s'), {names: each.title});
    }

    function rack(number) {
      return number === null ? gettext('Rack not known')
        : text(gettext('Rack %(number)s'), {number: number});
    }

    function place(host, count, kind) {
      return host + ': ' + counted(ngettext('%(count)s instance', '%(count)s instances', count), count) + '; ' + {
        may: gettext('the instance may go there'),
        'else': gettext('only when nothing else is left'),
        no: gettext('not there')
      }[kind];
    }

    function where(kept, count) {
      if (!kept.length) {
        return gettext('No host is left for the instance.');
      }
      var names = kept.slice(0, 6).join(', ') + (kept.length > 6 ? ', …' : '');
      return text(gettext('The instance may go to %(kept)s of %(count)s hosts: %(names)s.'),
                  {kept: kept.length, count: count, names: names}).replace('….', '…');
    }

    // What is named, and is on no host that is shown.
    function elsewhere(hosts, wish) {
      var here = {};
      hosts.forEach(function (host) {
        host.servers.forEach(function (server) {
          server.hints.forEach(function (hint) {
            here[hint] = true;
          });
        });
      });
      var away = angular.extend({}, wish.near, wish.far);
      angular.forEach(here, function (_is, hint) {
        delete away[hint];
      });
      return Object.keys(away).length ? text(
        gettext('Not on a host of this Pcloud, so not judged here: %(names)s.'),
        {names: namesOf(away)}) : '';
    }
  }
})();
