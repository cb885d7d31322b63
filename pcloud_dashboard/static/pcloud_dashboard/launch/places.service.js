(function () {
  'use strict';

  angular
    .module('pcloud.dashboard')
    .factory('pcloud.dashboard.launch.places', places);

  places.$inject = ['pcloud.dashboard.launch.words'];

  // Dots of a host; more would make the box of the host too high.
  var MOST_DOTS = 12;

  /* The hosts of a Pcloud in their racks, and where a new server may go. */
  function places(words) {
    return {question: question, racks: racks};

    function takes(host, room) {
      var fits = room && room.fits_on && room.fits_on[host.name];
      return fits === undefined || fits === null ? host.is_open : fits > 0;
    }

    // What the API of the dashboard is asked; only a pinned host is a choice.
    function question(hosts, wish, pinned, room) {
      return {
        near: Object.keys(wish.near),
        far: Object.keys(wish.far),
        strict: !!wish.strict,
        hosts: hosts.map(function (host) {
          return {
            name: host.name,
            rack: host.rack,
            takes: takes(host, room) && (!pinned || pinned === host.name),
            servers: host.servers
          };
        })
      };
    }

    function racks(hosts, wish, pinned, room, kept) {
      var found = {};
      hosts.forEach(function (host) {
        var title = words.rack(host.rack);
        found[title] = found[title] || {title: title, rack: host.rack, hosts: []};
        found[title].hosts.push(place(host, wish, pinned, room, kept));
      });
      return Object.keys(found).map(function (title) {
        return found[title];
      }).sort(function (one, other) {
        // Hosts of which no rack is known come last.
        return (one.rack === null) - (other.rack === null) || one.rack - other.rack;
      });
    }

    function place(host, wish, pinned, room, kept) {
      var isOpen = takes(host, room);
      var kind = kindOf(host, isOpen, wish, pinned, kept);
      var dots = host.servers.map(function (server) {
        return {kind: isNamed(server, wish.near) ? 'near'
          : isNamed(server, wish.far) ? 'far' : 'own'};
      });
      for (var count = 0; count < host.others; count += 1) {
        dots.push({kind: 'other'});
      }
      return {
        name: host.name,
        takes: isOpen,
        kind: kind,
        sign: {may: '✓', 'else': '–', no: '×'}[kind],
        dots: dots.slice(0, MOST_DOTS),
        moreDots: Math.max(0, dots.length - MOST_DOTS),
        label: words.place(host.name, dots.length, kind)
      };
    }

    function kindOf(host, isOpen, wish, pinned, kept) {
      if (kept.indexOf(host.name) >= 0) {
        return 'may';
      }
      return isOpen && !pinned && !wish.strict ? 'else' : 'no';
    }

    function isNamed(server, named) {
      return server.hints.some(function (hint) {
        return named[hint];
      });
    }
  }
})();
